import { LruCache } from './lru-cache.js';
import { normaliseText } from './text.js';

/** Queries kept: some kB of vector each, and the text. */
const KEPT = 2_000;
/** Longer queries are not kept: they hardly ever come twice, and the cache is bounded by number only. */
const KEPT_LENGTH = 1_000;

/** The vectors of recent queries, for a provider that takes its time to encode them. */
export class QueryCache {
  readonly #vectors = new LruCache<string, Promise<Float32Array | null>>(KEPT);

  /**
   * The query's vector, encoded where it is not kept; the caller's own copy. Equal queries at the same time are encoded
   * once, and what fails is not kept.
   * @param encode takes the normalised text
   */
  async vectorOf(
    query: string,
    encode: (text: string) => Promise<Float32Array | null>,
  ): Promise<Float32Array | null> {
    const text = normaliseText(query);
    let answer = this.#vectors.get(text);
    if (answer === undefined) {
      answer = encode(text);
      if (text.length <= KEPT_LENGTH) {
        this.#vectors.set(text, answer);
        answer.catch(() => this.#vectors.delete(text));
      }
    }
    const vector = await answer;
    return vector === null ? null : vector.slice();
  }

  clear(): void {
    this.#vectors.clear();
  }
}
