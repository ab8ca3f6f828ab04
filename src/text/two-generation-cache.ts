/** A cache of what is cheap to make again: it keeps what was asked for lately without any bookkeeping of when. */
export class TwoGenerationCache<V> {
  readonly #size: number;
  #recent = new Map<string, V>();
  #older = new Map<string, V>();

  /** @param size entries of a generation; two are held */
  constructor(size: number) {
    this.#size = size;
  }

  /** The value of a key, made where it is not held. */
  get(key: string, make: () => V): V {
    const known = this.#recent.get(key);
    if (known !== undefined) return known;
    const value = this.#older.get(key) ?? make();
    if (this.#recent.size >= this.#size) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, value);
    return value;
  }
}
