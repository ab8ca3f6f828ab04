/** What a fact says, as far as self-relevance looks at it. */
export interface FactWords {
  readonly text: string;
  /** Names of the entities that the fact mentions. */
  readonly entities: readonly string[];
}

/**
 * Whether an identity term is named by a fact: it equals an entity, or it occurs in the text as whole words
 * (SPEC §4.4.4; the third way, similarity, needs an embedding and is decided by the caller).
 *
 * Compared after NFKC, case folding and collapsing of white space. A possessive still names ("Sam's car"
 * names Sam), a part of a word does not ("audit" is not in "auditorium"), and in scripts without spaces the
 * words are those of `Intl.Segmenter`. A blank term names nothing.
 */
export function namesIdentity(term: string, fact: FactWords): boolean {
  const needle = fold(term);
  if (needle === '') return false;
  if (fact.entities.some((entity) => fold(entity) === needle)) return true;
  const text = fold(fact.text);
  let breaks: ReadonlySet<number> | undefined;
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + 1)) {
    const end = at + needle.length;
    // Cutting a text into words is dear and most texts do not hold the term, so it is done on demand.
    const isBreak = (offset: number): boolean => {
      breaks ??= wordBreaks(text);
      return breaks.has(offset);
    };
    if ((startsClean(text, at) || isBreak(at)) && (endsClean(text, end) || isBreak(end))) return true;
  }
  return false;
}

/**
 * NFKC, case folded, white space collapsed, trimmed. Cases are folded by way of the upper case, so that ß equals
 * ss, and that by way of the lower case, so that ẞ does too. This may take composed letters apart, hence the
 * second NFKC, and picks one of two small sigmas by what follows, hence the last replacement.
 */
export function fold(text: string): string {
  const cased = text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
  return cased
    .normalize('NFKC')
    .replace(/[\s\u0085]+/gu, ' ')
    .trim();
}

const WORD_BEFORE = /[\p{L}\p{M}\p{N}_]$/u;
const WORD_AFTER = /^[\p{L}\p{M}\p{N}_]/u;
const POSSESSIVE = /^['’]s?(?![\p{L}\p{M}\p{N}_])/u;
const CONTRACTION = /^['’][\p{L}\p{M}\p{N}_]/u;

function startsClean(text: string, at: number): boolean {
  // Two code units hold any one character, so a surrogate pair is seen whole.
  return !WORD_BEFORE.test(text.slice(Math.max(0, at - 2), at));
}

function endsClean(text: string, end: number): boolean {
  const rest = text.slice(end, end + 4);
  if (POSSESSIVE.test(rest)) return true;
  return !WORD_AFTER.test(rest) && !CONTRACTION.test(rest);
}

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

function wordBreaks(text: string): ReadonlySet<number> {
  const breaks = new Set<number>([text.length]);
  for (const { index } of segmenter.segment(text)) breaks.add(index);
  return breaks;
}
