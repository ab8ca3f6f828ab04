/**
 * From a message to the sentences that its author states (SPEC §2.3): without code, quotes, logs, tables and
 * examples, which are someone else's words or nobody's, and without greetings and fillers.
 */

import nlp from 'compromise/one';
import { TECHNICAL_NAMES } from './rules-entities.js';

/** A message's own prose. */
export interface Prose {
  /** Each a block of running text without line breaks. */
  paragraphs: string[];
  /** Looks like a document that was pasted in: what it states may be another's. */
  pasted: boolean;
}

const FENCE = /^\s{0,3}(?:```|~~~)/;
const EXAMPLE = /^(?:for )?(?:an? )?(?:examples?|e\.g\.|sample|template|instance)(?: \w+){0,3}\s*:/i;
const LIST_MARK = /^\s*(?:[-*+•–]|\d{1,3}[.)]|\[[ x]\])\s+/;
const NOT_PROSE = [
  /^\s*>/, // a quotation
  /^\s*#{1,6}\s/, // a heading
  /^\s*\|/, // a table
  /^\s*(?:\$|%|PS [A-Z]:|[\w.-]+@[\w.-]+[:~])\s?\S/, // a shell
  /^\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:/, // a log
  /^\s*\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b/,
  /^\s+at \S+/, // a stack trace
  /^\s*(?:diff --git|@@ |index [0-9a-f]{7}|\+\+\+ |--- )/,
  /^\s*(?:import|export|const|let|var|function|class|def|public|private|return|if|for|while)\b.*[{;)]\s*$/, // code
  /^\s*<\/?[a-z][^>]*>\s*$/i,
];

/** Wrapped text has lines of about this length or more. */
const WRAPPED_LINE = 60;
/** A message beyond this, in characters, is rarely typed. */
const TYPED_LENGTH = 3_000;

/** The running text of a message. */
export function proseOf(content: string): Prose {
  const paragraphs: string[] = [];
  let headings = 0;
  let fenced = false;
  let example = false;
  let previous = '';
  for (const line of content.normalize('NFC').split(/\r\n|[\n\r\u2028\u2029]/)) {
    if (FENCE.test(line)) {
      fenced = !fenced;
      previous = '';
      continue;
    }
    if (/^\s*#{1,6}\s/.test(line)) headings += 1;
    if (line.trim() === '') example = false;
    if (EXAMPLE.test(line.trim())) example = true;
    const text = fenced || example || isNotProse(line, previous) ? '' : plainText(line);
    if (text === '') {
      previous = line.trim() === '' ? '' : previous;
      if (paragraphs.at(-1) !== '') paragraphs.push('');
      continue;
    }
    const wrapped =
      previous.length >= WRAPPED_LINE && !/[.!?:;…]["')]?$/.test(previous) && !LIST_MARK.test(line);
    const last = paragraphs.length - 1;
    if (wrapped && paragraphs[last]) paragraphs[last] += ` ${text}`;
    else paragraphs.push(text);
    previous = text;
  }
  return { paragraphs: paragraphs.filter(Boolean), pasted: headings > 1 || content.length > TYPED_LENGTH };
}

function isNotProse(line: string, previous: string): boolean {
  if (NOT_PROSE.some((pattern) => pattern.test(line))) return true;
  if (/^(?: {4}|\t)/.test(line) && previous === '' && !LIST_MARK.test(line)) return true;
  const signs = line.match(/[{}();=<>[\]|\\]/g)?.length ?? 0;
  return signs > 3 && signs > line.length * 0.08;
}

/** Markdown, mark-up and ornament gone; what could stall a parser cut. */
function plainText(line: string): string {
  return line
    .replace(LIST_MARK, '')
    .replace(/<\/?[a-z][^<>]{0,200}>/gi, ' ')
    .replace(/!?\[([^[\]]{1,200})\]\([^()\s]{1,500}\)/g, '$1')
    .replace(/[*_]{2,3}|`/g, '')
    .replace(/([^\p{L}\p{N}])\1{3,}/gu, '$1$1$1')
    .replace(/[!-~]{120,}/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Characters of text given to the sentence splitter at once. */
const LONGEST_BLOCK = 1_000;

/** The sentences of a paragraph, as written, abbreviations respected. */
export function sentencesOf(paragraph: string): string[] {
  const found: string[] = [];
  for (let rest = paragraph; rest !== ''; ) {
    const cut = rest.length <= LONGEST_BLOCK ? rest.length : boundaryBefore(rest, LONGEST_BLOCK);
    for (const sentence of splitBlock(rest.slice(0, cut))) found.push(...splitClauses(sentence));
    rest = rest.slice(cut);
  }
  return found.map((sentence) => sentence.trim()).filter(Boolean);
}

function boundaryBefore(text: string, limit: number): number {
  const head = text.slice(0, limit);
  const end = Math.max(...['. ', '! ', '? ', '。', '！', '？', '। '].map((mark) => head.lastIndexOf(mark)));
  if (end > 0) return end + 1;
  const space = head.lastIndexOf(' ');
  return space > 0 ? space + 1 : limit - (/[\ud800-\udbff]$/.test(head) ? 1 : 0);
}

const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

function splitBlock(block: string): string[] {
  // The splitter knows English abbreviations; other scripts have their own full stops.
  if (/[。！？।؟]|[^\p{Script=Latin}\P{L}]/u.test(block)) {
    return [...sentenceSegmenter.segment(block)].map(({ segment }) => segment);
  }
  return (nlp.tokenize(block).out('array') as string[]).flatMap((text) =>
    text.split(/(?<=[!?])(?=\p{Lu}\p{Ll})/u),
  );
}

/** "thanks - I moved to Oslo", "hi; I use vim": the parts stand alone. */
function splitClauses(sentence: string): string[] {
  return sentence.split(/(?<=\p{L}{2})(?:\s+[-–—]+\s+|;\s+)(?=(?:I|I'm|I’m|we|my|our)\b)/iu);
}

const GREETING =
  /^(?:[Hh]i|[Hh]ey|[Hh]ello|[Hh]iya|[Yy]o|[Gg]reetings|[Gg]ood (?:morning|afternoon|evening|day))(?: (?:there|all|everyone|everybody|guys|team|folks|again|my friend))?(?: \p{Lu}[\p{L}'-]+)?(?:\s*[,!.…:–—-]+\s*|\s+(?=(?:I|i|I'm|i'm|my|My|we|We)\b))/u;
const GREETING_ANY_CASE = new RegExp(GREETING.source.replace(String.raw`(?: \p{Lu}[\p{L}'-]+)?`, ''), 'iu');

/** Fillers that may go before a space alone. */
const LIGHT =
  'oh|ah|so|ok|okay|yeah|yep|yup|btw|by the way|fyi|also|and|but|plus|hmm+|um+|uh+|haha+|lol|actually|honestly|basically|tbh|' +
  'just so you know|on (?:a different|another|a side|a related|a happier|a lighter) note|side note|for the record|for your information|turns out|it turns out|i mean|' +
  '(?:please )?(?:remember|note|keep in mind|bear in mind|know)(?: this)?(?: that)?(?! when| the time| how| who| what| to | me )|' +
  "(?:please )?don't forget(?: that)(?! to )|i should (?:mention|add|say)(?: that)?|i forgot to (?:mention|say)(?: that)?|" +
  "i(?: want|'d like| would like| wanted) you to (?:know|remember)(?: that)?|let me (?:tell|remind) you(?: that)?|" +
  '(?:the )?(?:thing|fact|truth) is(?: that)?|as (?:you know|i said|mentioned)|like i said';
/** Fillers that need a comma or the like, since they also begin sentences. */
const HEAVY =
  'well|yes|no|nope|nah|right|sure|anyway|anyways|wow|thanks(?: a lot| so much)?|thank you(?: so much)?|cool|great|nice|awesome|' +
  'alright|look|listen|see|you know|to be honest|in fact|of course|definitely|absolutely|exactly|true|sorry|unfortunately|luckily|' +
  'fortunately|sadly|one (?:more |last )?thing|quick note|reminder|update|another thing|guess what|for context|for reference|' +
  "note to self|same here|me too|sounds good|good question|speaking of which|no worries|that's right|in that case|correction|clarification";
const FILLER = new RegExp(
  `^(?:please,? (?=\\p{L})|(?:${LIGHT})(?:\\s*[,:!.…–—-]+\\s*|\\s+)|(?:${HEAVY})(?: \\p{Lu}[\\p{L}'-]+)?\\s*[,:!.…–—-]+\\s*)`,
  'iu',
);
const TRAILING =
  /(?:,? (?:please )?(?:keep|bear) (?:that|this|it) in mind|,? (?:just )?(?:so you know|fyi|btw|by the way|thanks|thank you|haha+|lol|as well)|, (?:please|though|you know|ok|okay|right)|[\s.!…,;:–—-]+|\p{Extended_Pictographic}|[\u{1f3fb}-\u{1f3ff}]|\ufe0f|\u200d|\s[:;]-?[()DPp])$/iu;

/**
 * The sentence without what is said to the listener and not for the record: greetings, fillers, "remember
 * that", thanks, the closing full stop. The words between are the author's.
 */
export function cleanSentence(sentence: string): string {
  let text = sentence.replace(/[\u2018\u2019\u02bc]/g, "'").trim();
  for (let round = 0; round < 6; round += 1) {
    const before = text;
    text = text
      .replace(GREETING, '')
      .replace(GREETING_ANY_CASE, '')
      .replace(FILLER, '')
      .replace(TRAILING, '')
      .trim();
    if (text === before) break;
  }
  return /^\p{Ll}+\b/u.test(text) && !/^\p{Ll}+\p{Lu}/u.test(text) ? capitalise(text) : text;
}

function capitalise(text: string): string {
  const word = /^\S+/.exec(text)![0];
  // A command or a name that is written small stays so.
  if (TECHNICAL_NAMES.has(word) || /[./@_\d]/.test(word.slice(0, -1)) || /[@_\d]$/.test(word)) return text;
  return text[0]!.toUpperCase() + text.slice(1);
}
