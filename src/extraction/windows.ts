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
    const full = window.length === WINDOW_MESSAGES || characters + message.content.length > WINDOW_CHARACTERS;
    if (full && window.length > 0) {
      windows.push(window);
      window = [];
      characters = 0;
    }
    window.push(message);
    characters += message.content.length;
  }
  if (window.length > 0) windows.push(window);
  return windows;
}
