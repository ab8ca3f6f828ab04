/** A map of bounded size that forgets what was used longest ago. */
export class LruCache<K, V> {
  readonly #capacity: number;
  // A Map iterates in insertion order: re-inserting on use keeps the oldest first.
  readonly #entries = new Map<K, V>();

  /** @param capacity most entries kept, at least 1. */
  constructor(capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 1) throw new RangeError('The capacity must be at least 1.');
    this.#capacity = capacity;
  }

  /** Number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  /** The value, now the most recently used one, or undefined. */
  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Adds or replaces an entry and drops the least recently used one when there are too many. */
  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#capacity) {
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest);
        break;
      }
    }
  }

  /** Removes an entry; nothing happens when there is none. */
  delete(key: K): void {
    this.#entries.delete(key);
  }

  /** Removes all entries. */
  clear(): void {
    this.#entries.clear();
  }
}
