/**
 * Parsed documents by their text, within a bound on the characters that all of them have together: a bound on their
 * number alone would let a stranger fill the memory with long ones. Forgets what was used longest ago.
 */
export class DocumentCache<T> {
  readonly #entries = new Map<string, T>();
  #characters = 0;

  /** @param capacity characters of all documents together */
  constructor(private readonly capacity: number) {}

  get(text: string): T | undefined {
    const value = this.#entries.get(text);
    if (value === undefined) return undefined;
    this.#entries.delete(text);
    this.#entries.set(text, value);
    return value;
  }

  set(text: string, value: T): void {
    if (text.length > this.capacity) return;
    this.#drop(text);
    this.#entries.set(text, value);
    this.#characters += text.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#characters <= this.capacity) break;
      this.#drop(oldest);
    }
  }

  #drop(text: string): void {
    if (this.#entries.delete(text)) this.#characters -= text.length;
  }
}
