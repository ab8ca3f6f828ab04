/** Stretches of a text that may be the name of something, of one word or several. Pure. */

import { normalizeFactText } from './fact-text.js';

/** How much of a text is looked at, in UTF-16 code units, and how many of its words. */
const LONGEST_TEXT = 2_000;
const MOST_WORDS = 48;
/** Most words of a name: "The United Kingdom of Great Britain". */
const LONGEST_NAME = 6;

const words = new Intl.Segmenter('en', { granularity: 'word' });
const POSSESSIVE = /['’]s$/iu;
/** What surrounds a name and is none of it; what follows a letter, as in "C++" and "C#", may be. */
const BEFORE = /^[\p{P}]+/u;
const AFTER = /[.,;:!?…"'’”»)\]}]+$/u;

/**
 * Every stretch of up to six words that may be a name, normalised as names are compared (SPEC §2.4), each once. The
 * names of a query are among them, however they are written: "where does Ada Lovelace's aunt live" holds "ada lovelace".
 */
export function namePhrases(text: string): string[] {
  const looked = text.slice(0, LONGEST_TEXT).toWellFormed();
  const places = [...words.segment(looked)]
    .filter(({ isWordLike }) => isWordLike)
    .slice(0, MOST_WORDS)
    .map(({ segment, index }) => ({ start: index, end: index + segment.length }));
  const phrases = new Set<string>();
  const add = (phrase: string) => {
    for (const one of [phrase, phrase.replace(POSSESSIVE, '')]) {
      const normal = normalizeFactText(one);
      if (normal !== '') phrases.add(normal);
    }
  };
  for (const [first, { start }] of places.entries())
    for (const { end } of places.slice(first, first + LONGEST_NAME)) add(looked.slice(start, end));
  const chunks = looked.split(/\s+/u).slice(0, MOST_WORDS);
  for (const chunk of chunks) add(chunk.replace(BEFORE, '').replace(AFTER, ''));
  return [...phrases];
}
