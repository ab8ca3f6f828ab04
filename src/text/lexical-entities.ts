/**
 * Finding entities by name in a query (SPEC §8.3), names of several words included. Matching is by key: equal
 * keys are the same name, however it was typed.
 */

import { foldWord } from './lexical-tokens.js';
import { COMMON_SUBJECT_WORDS, FUNCTION_WORDS, UBIQUITOUS_WORDS } from './stop-words.js';

/** Names of more words than this are not looked for inside a query. */
const MOST_WORDS = 6;
/** A query's words after these are not looked at. */
const MOST_QUERY_WORDS = 200;
/** Characters of a name in a script without spaces. */
const MOST_UNSPACED = 8;

const UNSPACED =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{M}ー]+$/u;

function keyWords(text: string): { word: string; capital: boolean }[] {
  return [
    ...text
      .normalize('NFKC')
      .replace(/[\u2018\u2019\u02bc]/g, "'")
      .replace(/'s(?![\p{L}\p{N}])/giu, '')
      .matchAll(/[\p{L}\p{M}\p{N}]+(?:\+\+|#(?![\p{L}\p{N}]))?/gu),
  ].map(([word]) => ({ word: foldWord(word), capital: /^\p{Lu}/u.test(word) }));
}

/**
 * The key of a name: folded words joined by single spaces, without possessive, punctuation and leading
 * article, so `Node.js` is `node js` and "The Hague's" is `hague`. Empty for a name without letters or digits.
 */
export function entityKey(name: string): string {
  const words = keyWords(name).map(({ word }) => word);
  if (words.length > 1 && /^(?:the|a|an)$/.test(words[0]!)) words.shift();
  return words.join(' ');
}

/**
 * The keys of all names that may be meant in a query: each run of up to six of its words, longest first, to
 * be looked up among the {@link entityKey}s. Single stop words are left out unless written as a name.
 */
export function entityKeysIn(query: string): string[] {
  const words = keyWords(query).slice(0, MOST_QUERY_WORDS);
  const keys = new Set<string>();
  for (let size = Math.min(MOST_WORDS, words.length); size >= 1; size -= 1) {
    for (let at = 0; at + size <= words.length; at += 1) {
      const run = words.slice(at, at + size);
      if (size > 1 || isNameable(run[0]!, at)) keys.add(run.map(({ word }) => word).join(' '));
    }
  }
  for (const { word } of words) if (UNSPACED.test(word)) addSubstrings(keys, word);
  return [...keys];
}

function isNameable({ word, capital }: { word: string; capital: boolean }, at: number): boolean {
  const common = UBIQUITOUS_WORDS.has(word) || FUNCTION_WORDS.has(word) || COMMON_SUBJECT_WORDS.has(word);
  return !common || (capital && at > 0 && word !== 'i');
}

function addSubstrings(keys: Set<string>, word: string): void {
  const characters = [...word].slice(0, MOST_QUERY_WORDS);
  for (let size = Math.min(MOST_UNSPACED, characters.length); size >= 2; size -= 1) {
    for (let at = 0; at + size <= characters.length; at += 1)
      keys.add(characters.slice(at, at + size).join(''));
  }
}
