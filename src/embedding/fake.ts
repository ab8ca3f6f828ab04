import { type Calibration, calibration } from './calibration.js';
import { EmbeddingError } from './errors.js';
import { LruCache } from './lru-cache.js';
import type { EmbeddingProvider } from './provider.js';
import { normaliseText } from './text.js';
import { meanDirection, normalise } from './vector.js';
import { cutWindows } from './windows.js';

/** Weights of a text's words, and of the part that no other text shares (for a text of one word). */
const WORD_WEIGHT = 20;
/** Words of up to three letters are mostly function words: they must not make two texts related. */
const SHORT_WORD_WEIGHT = 6;
const NOISE_WEIGHT = 2;

/** Components that the noise touches: enough to tell two texts apart, and an eighth of the time of all 512. */
const NOISE_COMPONENTS = 64;

/** Vectors of words kept ready; at 512 dimensions 1 kB each. */
const WORD_CACHE = 16_384;

/** Cosines of texts that share nothing have the standard deviation 1/√dimensions; 2% lie beyond 2.05 of it. */
const UNRELATED_DEVIATIONS = 2.6;

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const UNSPACED_SCRIPT = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/**
 * A seeded provider without a model, for tests and benchmarks that need many vectors. The vector of a text is
 * the normalised sum of one pseudo-random direction per distinct word (short words count less) and a little
 * noise of the whole text's own: texts are the closer the more words they share, equal texts are equal, and
 * sentences of the same words in another order are almost equal. It knows nothing of meaning.
 *
 * Its sums are of integers, so that every machine gets the same vectors. Text without a letter or digit has no
 * vector. "Related" (0.5) are texts that share about a third of their words, or more where few dimensions let
 * strangers meet by chance.
 */
export class FakeEmbeddingProvider implements EmbeddingProvider {
  readonly model: string;
  readonly dimensions: number;
  readonly similarity: Calibration;
  readonly #seed: number;
  readonly #words = new LruCache<string, Int16Array>(WORD_CACHE);
  #disposed = false;

  /**
   * @param seed any integer; two seeds are two models.
   * @param dimensions at least 8: below that calibration has no meaning.
   * @throws RangeError
   */
  constructor(seed = 1, dimensions = 512) {
    if (!Number.isSafeInteger(seed)) throw new RangeError('The seed must be an integer.');
    if (!Number.isInteger(dimensions) || dimensions < 8)
      throw new RangeError('At least 8 dimensions are needed.');
    this.#seed = seed;
    this.dimensions = dimensions;
    this.model = `fake/${seed}/${dimensions}`;
    const related = Math.max(0.3, UNRELATED_DEVIATIONS / Math.sqrt(dimensions));
    const familiar = related + (1 - related) * 0.75;
    this.similarity = calibration([
      [0, 0],
      [related, 0.5],
      [familiar, 0.75],
      [1, 1],
    ]);
  }

  async embed(texts: readonly string[]): Promise<(Float32Array | null)[]> {
    this.#assertOpen();
    return texts.map((text) => meanDirection(this.#windows(text)));
  }

  async embedWindows(texts: readonly string[]): Promise<Float32Array[][]> {
    this.#assertOpen();
    return texts.map((text) => this.#windows(text));
  }

  async embedQuery(text: string): Promise<Float32Array | null> {
    this.#assertOpen();
    return meanDirection(this.#windows(text));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    this.#words.clear();
  }

  #assertOpen(): void {
    if (this.#disposed) throw new EmbeddingError('ENCODER_CLOSED', 'The embedding provider is closed.');
  }

  #windows(text: string): Float32Array[] {
    const vectors: Float32Array[] = [];
    for (const window of cutWindows(normaliseText(text))) {
      const vector = this.#vector(window);
      if (vector !== null) vectors.push(vector);
    }
    return vectors;
  }

  #vector(window: string): Float32Array | null {
    const words = new Set(wordsOf(window));
    if (words.size === 0) return null;
    const sum = new Int32Array(this.dimensions);
    for (const word of words) {
      addScaled(sum, this.#direction(word), word.length <= 3 ? SHORT_WORD_WEIGHT : WORD_WEIGHT);
    }
    addNoise(sum, hash(`${this.#seed} text ${window}`), Math.round(NOISE_WEIGHT * Math.sqrt(words.size)));
    return normalise(sum);
  }

  #direction(word: string): Int16Array {
    let direction = this.#words.get(word);
    if (direction === undefined) {
      direction = randomDirection(hash(`${this.#seed} word ${word}`), this.dimensions);
      this.#words.set(word, direction);
    }
    return direction;
  }
}

function addScaled(sum: Int32Array, direction: Int16Array, weight: number): void {
  for (let i = 0; i < sum.length; i++) sum[i] = sum[i]! + weight * direction[i]!;
}

/** Adds to every n-th component only, each by so much more that the noise keeps its length. */
function addNoise(sum: Int32Array, seed: number, weight: number): void {
  const stride = Math.max(1, Math.floor(sum.length / NOISE_COMPONENTS));
  const noise = randomDirection(seed, Math.ceil(sum.length / stride));
  const scale = Math.round(weight * Math.sqrt(stride));
  let i = seed % stride;
  for (let n = 0; i < sum.length; n++, i += stride) sum[i] = sum[i]! + scale * noise[n]!;
}

function wordsOf(text: string): string[] {
  const lower = text.toLowerCase();
  if (!UNSPACED_SCRIPT.test(lower)) return lower.match(WORD) ?? [];
  const found: string[] = [];
  for (const part of segmenter.segment(lower)) if (part.isWordLike) found.push(part.segment);
  return found;
}

/** 32-bit FNV-1a over UTF-16 code units, with a final mix so that near-equal texts get far seeds. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/**
 * Components that are close to normally distributed, in [-510, 510]: each is the sum of the four bytes of a
 * xorshift state. Integers only, so that no platform's logarithm can change a stored vector.
 */
function randomDirection(seed: number, dimensions: number): Int16Array {
  let state = (seed === 0 ? 0x9e3779b9 : seed) | 0;
  const vector = new Int16Array(dimensions);
  for (let i = 0; i < dimensions; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    vector[i] = (state & 255) + ((state >> 8) & 255) + ((state >> 16) & 255) + ((state >> 24) & 255) - 510;
  }
  return vector;
}
