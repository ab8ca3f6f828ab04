/** Longest window, in UTF-16 code units: about what 128 tokens of English prose are, and four sentences. */
export const WINDOW_LENGTH = 480;

/** Most windows of one text: 32 × 480 is about 15,000 characters; at 20–60 ms a window about 1 s of encoding. */
export const MAX_WINDOWS = 32;

/** A cut may be this share of a window away from its ideal place in order to fall between two sentences. */
const SENTENCE_SLACK = 0.35;

/** Windows cut by tokens are made this much shorter than what would just fit: density varies inside a text. */
const DENSITY_MARGIN = 1.1;

/** What the encoder can take in of one text, beyond the limit of {@link WINDOW_LENGTH}. */
export interface EncoderLimit {
  /** Most tokens of one text; whatever follows them has no influence on the vector. */
  readonly maxTokens: number;
  /** Number of tokens of a text. */
  countTokens(text: string): number;
}

const sentences = new Intl.Segmenter('und', { granularity: 'sentence' });
const words = new Intl.Segmenter('und', { granularity: 'word' });
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/**
 * Cuts a normalised text into windows that an encoder reads to their end: at most {@link WINDOW_LENGTH} long
 * and within `limit`, cut between sentences where one ends nearby, else between words, else (a word longer
 * than a window) between graphemes.
 *
 * The windows of a text are of about equal length: in the mean of their vectors each counts the same, and a
 * short remainder must not count as much as all before it. A text that needs more than {@link MAX_WINDOWS} is
 * sampled: that many windows, evenly spaced from its first character to its last. Empty text has none.
 */
export function cutWindows(text: string, limit?: EncoderLimit): string[] {
  if (text.length === 0) return [];
  const byLength =
    text.length <= WINDOW_LENGTH * MAX_WINDOWS ? consecutive(text, WINDOW_LENGTH) : sampled(text);
  const windows = limit ? byLength.flatMap((window) => withinLimit(window, limit)) : byLength;
  return evenlyChosen(windows, MAX_WINDOWS);
}

/** Windows of at most `length` that together are the whole text. */
function consecutive(text: string, length: number): string[] {
  const windows: string[] = [];
  let start = 0;
  while (text.length - start > length) {
    const left = text.length - start;
    const ideal = left / Math.ceil(left / length);
    const end = start + cutNear(text.slice(start, start + length + 1), ideal, length);
    pushTrimmed(windows, text.slice(start, end));
    start = end;
  }
  pushTrimmed(windows, text.slice(start));
  return windows;
}

/** {@link MAX_WINDOWS} full windows; the first begins with the text and the last ends with it. */
function sampled(text: string): string[] {
  const windows: string[] = [];
  const stride = (text.length - WINDOW_LENGTH) / (MAX_WINDOWS - 1);
  for (let i = 0; i < MAX_WINDOWS; i++) {
    const ideal = Math.round(i * stride);
    // One character more in front tells whether a word begins exactly at the ideal place.
    const start = i === 0 ? 0 : ideal - 1 + firstBoundary(text.slice(ideal - 1, ideal + WINDOW_LENGTH));
    const rest = text.slice(start, start + WINDOW_LENGTH + 1);
    const end = rest.length <= WINDOW_LENGTH ? rest.length : cutNear(rest, WINDOW_LENGTH, WINDOW_LENGTH);
    pushTrimmed(windows, rest.slice(0, end));
  }
  return windows;
}

/** Cuts further what has too many tokens: German has twice as many of them in a window as English has. */
function withinLimit(window: string, limit: EncoderLimit): string[] {
  const tokens = limit.countTokens(window);
  if (tokens <= limit.maxTokens) return [window];
  const length = Math.floor((window.length * limit.maxTokens) / (tokens * DENSITY_MARGIN));
  if (length < 1 || length >= window.length) return [window];
  return consecutive(window, length).flatMap((part) =>
    part.length < window.length ? withinLimit(part, limit) : [part],
  );
}

/** Where to cut `slice`, at most at `length` and at least at 1, so that the cut is near `ideal`. */
function cutNear(slice: string, ideal: number, length: number): number {
  const bySentence = nearest(sentences, slice, ideal, length);
  if (bySentence !== null && Math.abs(bySentence - ideal) <= length * SENTENCE_SLACK) return bySentence;
  return (
    nearest(words, slice, ideal, length) ?? nearest(graphemes, slice, ideal, length) ?? Math.max(1, length)
  );
}

function nearest(segmenter: Intl.Segmenter, slice: string, ideal: number, length: number): number | null {
  let best: number | null = null;
  for (const { index } of segmenter.segment(slice)) {
    if (index === 0 || index > length) continue;
    if (best === null || Math.abs(index - ideal) < Math.abs(best - ideal)) best = index;
  }
  return best;
}

/** First boundary between words at 1 or later, not far into the slice; between graphemes when there is none. */
function firstBoundary(slice: string): number {
  for (const segmenter of [words, graphemes]) {
    for (const { index } of segmenter.segment(slice)) {
      if (index >= 1 && index <= WINDOW_LENGTH / 4) return index;
    }
  }
  return 1;
}

function evenlyChosen<T>(items: T[], most: number): T[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, i) => items[Math.round((i * (items.length - 1)) / (most - 1))]!);
}

function pushTrimmed(windows: string[], window: string): void {
  const trimmed = window.trim();
  if (trimmed.length > 0) windows.push(trimmed);
}
