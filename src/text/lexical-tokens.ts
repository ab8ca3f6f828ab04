/**
 * Cutting a text into searchable words (SPEC §8.1): whatever a person may later type for it must be among
 * them. So a compound (`node_modules`, `e-mail`, `v18.2.1`, an address) gives its parts and its whole, and
 * scripts without spaces give dictionary words and pairs of characters.
 */

/** Compounds longer than this are found by their parts alone. */
const LONGEST_WHOLE = 64;

/** Characters given to the dictionary segmenter at once: its time is not linear beyond some ten thousand. */
const LONGEST_SEGMENTED = 2_000;

const UNSPACED_LETTER =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const UNSPACED_RUNS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{M}ー]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{M}ー]+\p{M}*/gu;
/** Scripts whose pairs of characters are indexed too, since dictionaries cut one word differently by context. */
const PAIRED_LETTER = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]$/u;

const segmenter = new Intl.Segmenter('ja', { granularity: 'word' });

/** Letters that decompose into nothing. */
const LATIN_LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
  ς: 'σ',
  ё: 'е',
};

/** Lower case, accents gone from Latin and Greek letters; marks of other scripts are letters there and stay. */
export function foldWord(word: string): string {
  const lower = word.toLowerCase();
  if (/^[\0-\x7f]*$/.test(lower)) return lower;
  return lower
    .replace(/[ßæœøđðþłħıςё]/g, (letter) => LATIN_LETTERS[letter]!)
    .normalize('NFD')
    .replace(/([\p{Script=Latin}\p{Script=Greek}])[\u0300-\u036f]+/gu, '$1')
    .normalize('NFC')
    .replace(/[ßæœøđðþłħıςё]/g, (letter) => LATIN_LETTERS[letter]!);
}

/**
 * The folded, unstemmed words of a chunk of text without white space, in order, compounds followed by their
 * whole. The chunk must be NFKC. Linear in its length.
 */
export function wordsOfChunk(chunk: string): string[] {
  if (/^[a-z]+[.,!?;:]?$/.test(chunk)) return [/[a-z]$/.test(chunk) ? chunk : chunk.slice(0, -1)];
  const bare = chunk
    .replace(/^[a-z][a-z0-9+.-]{1,15}:\/\/(?:www\.)?/i, '')
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/(\d),(?=\d{3}(?!\d))/g, '$1');
  const pieces = bare.split(/[^\p{L}\p{M}\p{N}._'+#%$&~-]+/u).filter((piece) => /[\p{L}\p{N}]/u.test(piece));
  const found: string[] = [];
  for (const piece of pieces) addPiece(found, piece);
  // `ann.lee@example.com`, `src/main.ts`: also the whole of it, so that it ranks above what shares a part.
  if (pieces.length > 1 && !/[()[\]{}<>"“”«»,;!|]/.test(bare)) addWhole(found, bare);
  return found;
}

function addWhole(found: string[], compound: string): void {
  const whole = foldWord(compound).replace(/[^\p{L}\p{M}\p{N}]+/gu, '');
  if (whole.length <= LONGEST_WHOLE && !UNSPACED_LETTER.test(whole)) found.push(whole);
}

/** A piece has no separators but `.`, `_`, `'`, `-` and the like. */
function addPiece(found: string[], rawPiece: string): void {
  const piece = trimPiece(rawPiece);
  const parts = piece.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  if (addContraction(found, piece, parts)) return;
  // `U.S.`, `e.g.`: single letters find nothing worth finding.
  if (parts.length > 1 && parts.every((part) => /^\p{L}$/u.test(part)) && piece.includes('.')) {
    found.push(foldWord(parts.join('')));
    return;
  }
  for (const part of parts) addPart(found, part);
  const special = specialName(piece);
  const number = /^v?(\d+(?:\.\d+)+)$/i.exec(piece);
  if (special) found.push(special);
  else if (number) found.push(number[1]!);
  else if (parts.length > 1) addWhole(found, piece);
}

/** Without the punctuation round it; a dot before and `+`, `#` after may belong to a name. Also without `'s`. */
function trimPiece(piece: string): string {
  let start = 0;
  let end = piece.length;
  while (start < end && /[_'+#%$&~-]/.test(piece[start]!)) start += 1;
  while (end > start && /[._'%$&~-]/.test(piece[end - 1]!)) end -= 1;
  const trimmed = piece.slice(start, end).replace(/^\.{2,}/, '');
  return /'s$/i.test(trimmed) ? trimmed.slice(0, -2) : trimmed;
}

/** Names whose sign is part of them: C++, C#, .NET, .env. */
function specialName(piece: string): string | undefined {
  return /^(?:[a-z]{1,3}(?:\+\+|#)|\.[a-z]{2,12})$/i.exec(piece)?.[0].toLowerCase();
}

/** `don't` is do not, `we've` is we. */
function addContraction(found: string[], piece: string, parts: readonly string[]): boolean {
  if (parts.length !== 2 || piece.length > 32) return false;
  const match = /^(.+?)(n't|'(?:m|re|ve|ll|d|t))$/iu.exec(piece);
  if (!match) return false;
  const base = foldWord(match[1]!);
  if (match[2]!.toLowerCase() === "n't") {
    found.push(base === 'wo' ? 'will' : base === 'ca' ? 'can' : base, 'not');
  } else {
    addPart(found, match[1]!);
  }
  return true;
}

/** One run of letters and digits. */
function addPart(found: string[], part: string): void {
  if (UNSPACED_LETTER.test(part)) {
    addUnspaced(found, part);
    return;
  }
  const word = foldWord(part);
  const version = /^v(\d{1,4})$/.exec(word);
  if (/^\d+$/.test(word)) {
    found.push(word.replace(/^0+(?=\d)/, ''));
    return;
  }
  // `useEffect`, `PostgreSQL`: parts of two capitals or three letters, and the whole; `iPhone` is whole only.
  const humps = part.match(HUMPS);
  if (humps && humps.length > 1 && humps.join('').length === part.length) {
    for (const hump of humps) found.push(foldWord(hump));
  }
  found.push(word);
  if (version) found.push(version[1]!);
}

const HUMPS = /^\p{Lu}?[\p{Ll}\p{N}]{2,}(?=\p{Lu})|\p{Lu}[\p{Ll}\p{N}]{2,}|\p{Lu}{2,}$/gu;

/** What follows a noun without a space. Nouns of one syllable have no pair of their own to be found by. */
const KOREAN_PARTICLES = new Set(
  '은 는 이 가 을 를 에 의 도 만 와 과 로 으로 에서 에게 한테 부터 까지 보다 처럼 이나 이랑 랑 하고'.split(
    ' ',
  ),
);

function addUnspaced(found: string[], part: string): void {
  for (const [run] of part.matchAll(UNSPACED_RUNS)) {
    if (!UNSPACED_LETTER.test(run)) {
      addPart(found, run);
      continue;
    }
    const characters = [...run];
    const dictionary = new Set<string>();
    for (let at = 0; at < characters.length; at += LONGEST_SEGMENTED) {
      for (const { segment } of segmenter.segment(characters.slice(at, at + LONGEST_SEGMENTED).join(''))) {
        dictionary.add(segment);
        found.push(foldWord(segment));
      }
    }
    if (characters.length > 1) {
      const noun = characters[0]!;
      if (KOREAN_PARTICLES.has(characters.slice(1).join('')) && /\p{Script=Hangul}/u.test(noun))
        found.push(noun);
    }
    for (let at = 0; at + 1 < characters.length; at += 1) {
      const [one, two] = [characters[at]!, characters[at + 1]!];
      if (dictionary.has(one + two)) continue;
      if (PAIRED_LETTER.test(one) && PAIRED_LETTER.test(two)) found.push(one + two);
    }
  }
}
