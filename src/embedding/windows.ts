/**
 * Longest window, in UTF-16 code units. The bundled encoder's vector does not change any more after about 500
 * characters, so a window must end before.
 */
export const WINDOW_LENGTH = 480;

/** Most windows of one text: 32 × 480 is about 15,000 characters, at 20 ms a window 0.6 s of encoding. */
export const MAX_WINDOWS = 32;

/** A cut may be this share of a window away from its ideal place in order to fall between two sentences. */
const SENTENCE_SLACK = 0.35;

const sentences = new Intl.Segmenter('und', { granularity: 'sentence' });
const words = new Intl.Segmenter('und', { granularity: 'word' });
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/**
 * Cuts a normalised text into windows of at most {@link WINDOW_LENGTH}, between sentences where one ends
 * nearby, else between words, else (a word longer than a window) between graphemes.
 *
 * The windows of a text are of about equal length: in the mean of their vectors each counts the same, and a
 * short remainder must not count as much as all before it. A text that needs more than {@link MAX_WINDOWS}
 * is sampled: that many windows, evenly spaced from its first character to its last. Empty text has none.
 */
export function cutWindows(text: string): string[] {
  if (text.length === 0) return [];
  if (text.length <= WINDOW_LENGTH) return [text];
  const windows = consecutiveWindows(text, MAX_WINDOWS);
  return windows ?? sampledWindows(text);
}

/** Windows that cover the whole text, or null when they would be more than `most`. */
function consecutiveWindows(text: string, most: number): string[] | null {
  const windows: string[] = [];
  let start = 0;
  while (start < text.length) {
    const left = text.length - start;
    const needed = Math.ceil(left / WINDOW_LENGTH);
    if (windows.length + needed > most) return null;
    const end =
      needed === 1
        ? text.length
        : start + cutNear(text.slice(start, start + WINDOW_LENGTH + 1), left / needed);
    pushTrimmed(windows, text.slice(start, end));
    start = end;
  }
  return windows;
}

function sampledWindows(text: string): string[] {
  const windows: string[] = [];
  const stride = (text.length - WINDOW_LENGTH) / (MAX_WINDOWS - 1);
  for (let i = 0; i < MAX_WINDOWS; i++) {
    const ideal = Math.round(i * stride);
    // The last window ends with the text; the others start and end at a boundary near their place.
    const start = ideal === 0 ? 0 : ideal + firstBoundary(text.slice(ideal - 1, ideal + WINDOW_LENGTH)) - 1;
    const rest = text.slice(start, start + WINDOW_LENGTH + 1);
    const end = start + (rest.length <= WINDOW_LENGTH ? rest.length : cutNear(rest, WINDOW_LENGTH));
    pushTrimmed(windows, text.slice(start, end));
  }
  return windows;
}

/** Where to cut `slice`, at most at {@link WINDOW_LENGTH}, so that the cut is near `ideal`; at least 1. */
function cutNear(slice: string, ideal: number): number {
  const slack = WINDOW_LENGTH * SENTENCE_SLACK;
  const bySentence = nearest(sentences, slice, ideal);
  if (bySentence !== null && Math.abs(bySentence - ideal) <= slack) return bySentence;
  return nearest(words, slice, ideal) ?? nearest(graphemes, slice, ideal) ?? WINDOW_LENGTH;
}

function nearest(segmenter: Intl.Segmenter, slice: string, ideal: number): number | null {
  let best: number | null = null;
  for (const { index } of segmenter.segment(slice)) {
    if (index === 0 || index > WINDOW_LENGTH) continue;
    if (best === null || Math.abs(index - ideal) < Math.abs(best - ideal)) best = index;
  }
  return best;
}

/** First boundary between words at 1 or later: a slice begins one character before the place looked for. */
function firstBoundary(slice: string): number {
  for (const segmenter of [words, graphemes]) {
    for (const { index } of segmenter.segment(slice)) {
      if (index >= 1 && index <= WINDOW_LENGTH / 4) return index;
    }
  }
  return 1;
}

function pushTrimmed(windows: string[], window: string): void {
  const trimmed = window.trim();
  if (trimmed.length > 0) windows.push(trimmed);
}
