import { countCharacters } from '../text/index.js';

/** What a window may hold (SPEC §2.2). */
export const WINDOW_MESSAGES = 50;
export const WINDOW_CHARACTERS = 24_000;

/**
 * Cuts messages, in their order, into windows of at most 50 messages and 24,000 characters; a longer message is a
 * window of its own.
 */
export function cutWindows<M extends { readonly content: string }>(messages: readonly M[]): M[][] {
  const windows: M[][] = [];
  let window: M[] = [];
  let characters = 0;
  for (const message of messages) {
    const length = countCharacters(message.content);
    const full = window.length === WINDOW_MESSAGES || characters + length > WINDOW_CHARACTERS;
    if (full && window.length > 0) {
      windows.push(window);
      window = [];
      characters = 0;
    }
    window.push(message);
    characters += length;
  }
  if (window.length > 0) windows.push(window);
  return windows;
}

/**
 * As many of these messages as end with a run, so that a run's outcome is known at the end of a round; all of them
 * where the first run is longer.
 * @param messages in order, the first of what is left to mine
 */
export function cutRound<M extends { readonly seq: number }>(
  messages: readonly M[],
  runs: readonly { readonly fromSeq: number; readonly toSeq: number }[],
): readonly M[] {
  const end = messages.at(-1)?.seq ?? 0;
  const cut = runs.find((run) => run.fromSeq <= end && end < run.toSeq);
  const whole = cut ? messages.filter(({ seq }) => seq < cut.fromSeq) : messages;
  return whole.length > 0 ? whole : messages;
}
