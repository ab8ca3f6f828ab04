/**
 * The salience gate (SPEC §2.1): a cheap test, before any extractor runs, of whether a window of messages
 * may hold something worth remembering. It drops only what is clearly throw-away (greetings,
 * acknowledgements, bare command words); the extractor remains the real judge.
 */

import { segmentWords } from '../text/index.js';

/** What a tenant may add to the built-in lists. Neither replaces them. */
export interface GateSettings {
  /** Literal phrases that always make a window salient; matched as whole words, case ignored. */
  extraSignals?: readonly string[];
  /** Words that are not counted as informative. */
  extraTrivialWords?: readonly string[];
}

/** Words that never carry something durable by themselves: greetings, acknowledgements, command reflexes. */
const TRIVIAL_WORDS: ReadonlySet<string> = new Set(
  (
    'help commands ? h hi hey hello yo sup yes no ok okay yeah yep nope nah ' +
    'thanks thank ty thx please cool nice great done quit exit bye q :q :wq ' +
    'continue go next stop wait what why how when who'
  ).split(' '),
);

/** A window without a signal needs this many informative words. */
const MIN_INFORMATIVE_WORDS = 3;

// `\b` knows ASCII only; these are its Unicode form, so that "éi am" holds no "i am".
const WORD_START = String.raw`(?<![\p{L}\p{M}\p{N}_])`;
const WORD_END = String.raw`(?![\p{L}\p{M}\p{N}_])`;

/** First-person statements, preferences, decisions, corrections: each makes a window salient at once. */
const DURABLE_SIGNALS: readonly RegExp[] = [
  'my name is',
  `i(?:'m| am)`,
  `i (?:prefer|like|love|hate|want|need|use|always|never|usually|work|deploy|run|don't|do not)`,
  'we (?:use|prefer|decided|always|never|deploy|run|agreed)',
  'call me',
  `(?:please )?(?:always|never|don't ever|do not ever) (?:use|do|run|call|assume)`,
  'remember (?:that|this)',
  'the (?:project|repo|codebase|team|convention|standard) (?:uses|is|prefers|requires)',
]
  .map((source) => new RegExp(`${WORD_START}(?:${source})${WORD_END}`, 'iu'))
  .concat(new RegExp(`${WORD_START}remember ?:`, 'iu'));

/** NFC, one apostrophe, single spaces: so that a signal is found however it was typed or wrapped. */
function normalise(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[\u2018\u2019\u02bc\uff07]/gu, "'")
    .replace(/\s+/gu, ' ')
    .trim();
}

/**
 * Whether the user messages of a window may state something durable.
 *
 * In this order: no text → false; a durable signal anywhere → true; otherwise at least three informative
 * words, counted over all the messages and all their lines.
 *
 * @param userMessages texts of the window's USER messages; other roles never count
 */
export function isSalient(userMessages: readonly string[], settings: GateSettings = {}): boolean {
  const joined = normalise(userMessages.join('\n'));
  if (joined === '') return false;
  if (DURABLE_SIGNALS.some((signal) => signal.test(joined))) return true;
  if ((settings.extraSignals ?? []).some((phrase) => containsPhrase(joined, phrase))) return true;
  return hasInformativeWords(joined, settings.extraTrivialWords ?? [], MIN_INFORMATIVE_WORDS);
}

/** Scripts written without spaces have no word edge to insist on. */
const UNSPACED =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]$/u;
const WORD_CHARACTER = /^[\p{L}\p{M}\p{N}_]$/u;

function containsPhrase(joined: string, rawPhrase: string): boolean {
  const phrase = normalise(rawPhrase).toLowerCase();
  if (phrase === '') return false;
  const text = joined.toLowerCase();
  const characters = [...phrase];
  const needsEdge = (character: string) => WORD_CHARACTER.test(character) && !UNSPACED.test(character);
  const edgeBefore = needsEdge(characters[0]!);
  const edgeAfter = needsEdge(characters.at(-1)!);
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1)) {
    const before = edgeBefore ? lastCharacter(text.slice(Math.max(0, at - 2), at)) : '';
    const after = edgeAfter ? firstCharacter(text.slice(at + phrase.length, at + phrase.length + 2)) : '';
    if (!WORD_CHARACTER.test(before) && !WORD_CHARACTER.test(after)) return true;
  }
  return false;
}

function firstCharacter(text: string): string {
  return [...text][0] ?? '';
}

function lastCharacter(text: string): string {
  return [...text].at(-1) ?? '';
}

/** Stops counting as soon as the answer is known: a pasted file need not be segmented to its end. */
function hasInformativeWords(joined: string, extraTrivial: readonly string[], minimum: number): boolean {
  const trivial = new Set(extraTrivial.map((word) => normalise(word).toLowerCase()));
  let count = 0;
  for (const segment of segmentWords(joined.toLowerCase())) {
    // The segmenter keeps `node_modules` and `example.com` whole; a word is letters, digits, apostrophes.
    for (const [word] of segment.matchAll(/[\p{L}\p{M}\p{N}']+/gu)) {
      if (TRIVIAL_WORDS.has(word) || trivial.has(word)) continue;
      count += 1;
      if (count >= minimum) return true;
    }
  }
  return false;
}
