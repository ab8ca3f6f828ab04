/** Words of a text that may be names, by how they are written. Pure. */

import { analyzeName } from './lexical-analysis.js';
import { FUNCTION_WORDS, UBIQUITOUS_WORDS } from './stop-words.js';

/** A word that may be a name, or part of one. */
export interface PossibleName {
  /** The terms under which it would be found. */
  readonly terms: readonly string[];
  /** Where it is in the text, without the `'s` of a possessive: UTF-16 code units. */
  readonly start: number;
  readonly end: number;
}

const WORD = /\p{L}[\p{L}\p{M}\p{N}]*(?:[-’'][\p{L}\p{M}\p{N}]+)*/gu;
const POSSESSIVE = /['’]s$/iu;

/** Longest word that is looked at as a name. */
const LONGEST_NAME = 64;

/**
 * The words with a capital, but those that begin a sentence and are common ("Will you …"); every word that is not
 * common where the text has no capital at all, as people type. In order.
 * @param most at most so many
 */
export function possibleNames(text: string, most: number): PossibleName[] {
  const capitals = /\p{Lu}|\p{Lo}/u.test(text);
  const names: PossibleName[] = [];
  for (const match of text.matchAll(WORD)) {
    const word = match[0].replace(POSSESSIVE, '');
    if (word.length > LONGEST_NAME || (capitals && !/^[\p{Lu}\p{Lt}\p{Lo}]/u.test(word))) continue;
    const lower = word.toLowerCase();
    const inside = /[\p{L}\p{N},]\s*$/u.test(text.slice(Math.max(0, match.index - 8), match.index));
    const common = UBIQUITOUS_WORDS.has(lower) || FUNCTION_WORDS.has(lower);
    if (lower === 'i' || (common && !(capitals && inside))) continue;
    const terms = analyzeName(word);
    if (terms.length > 0) names.push({ terms, start: match.index, end: match.index + word.length });
    if (names.length === most) break;
  }
  return names;
}
