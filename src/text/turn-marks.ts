/** What recall knows of a turn of a conversation beside its words (SPEC §8.1): that it asks, and who speaks. Pure. */

import { analyzeName } from './lexical-analysis.js';

/**
 * Marks are kept where terms are, as keyed hashes, so they go when a message is redacted and stay secret where a
 * tenant encrypts. No word of any text has this character, so no word meets a mark.
 */
const MARK = '\0';

/** The mark of a turn that ends by asking. */
export const QUESTION_MARK = `${MARK}question`;

/** Longest part of a turn's end that is looked at: a question mark is followed by hardly more. */
const END_LENGTH = 2_000;

/** What may follow a question mark without being said: quotes and brackets that close, blanks, pictures. */
const AFTER_QUESTION =
  /[?？؟](?:[\s"'”’»)\]*_!.]|\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u200d|\ufe0f)*$/u;

/** A note in brackets at the end, such as of what is attached. */
const NOTE_AT_END = /(?<=\S)\s*\[[^[\]]*\]\s*$/u;

/** Whether a turn ends in a question, which the next one then answers. A note in brackets after it does not count. */
export function endsByAsking(text: string): boolean {
  const end = text.slice(-END_LENGTH).trimEnd();
  return AFTER_QUESTION.test(end) || AFTER_QUESTION.test(end.replace(NOTE_AT_END, ''));
}

/** The mark of turns of a speaker one of whose names has this term. */
export function speakerMark(term: string): string {
  return `${MARK}speaker ${term}`;
}

/** The marks of a turn, without repeats: one for each word of its speaker's name, and one if it ends by asking. */
export function turnMarks(turn: { readonly content: string; readonly speaker: string | null }): string[] {
  const names = turn.speaker === null ? [] : analyzeName(turn.speaker);
  return [...names.map(speakerMark), ...(endsByAsking(turn.content) ? [QUESTION_MARK] : [])];
}
