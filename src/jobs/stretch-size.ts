/** By how much a stretch is cut that fails, until it is one fact. */
const CUT = 16;
/** Stretches that have to succeed in a row before a longer one is tried: more than a search for one bad fact needs. */
const STEADY = 20;

/**
 * How many facts to do at a time. A stretch fails by one bad fact in it, which is found by shorter ones and passed over,
 * or by its size, as where a statement takes too long: then the size that worked is kept, and grows slowly again.
 */
export class StretchSize {
  #current: number;
  /** What failed first in the search for a bad fact; null where there is none. */
  #failed: number | null = null;
  #succeeded = 0;

  /** @param most facts at a time, 1 or more */
  constructor(private readonly most: number) {
    this.#current = most;
  }

  get current(): number {
    return this.#current;
  }

  failed(): void {
    this.#failed ??= this.#current;
    this.#current = Math.max(1, Math.floor(this.#current / CUT));
    this.#succeeded = 0;
  }

  succeeded(): void {
    this.#succeeded++;
    if (this.#succeeded < STEADY) return;
    // It was not one fact: the shorter ones went past whatever failed.
    this.#failed = null;
    this.#succeeded = 0;
    this.#current = Math.min(this.most, this.#current * 2);
  }

  /** A fact was to blame, and is behind. */
  skipped(): void {
    this.#current = this.#failed ?? this.#current;
    this.#failed = null;
    this.#succeeded = 0;
  }
}
