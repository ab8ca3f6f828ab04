/**
 * Remembers for a while when facts were reinforced by this process, so that a recall of the same facts needs not ask
 * the database. Bounded: the oldest are forgotten first, which costs a question more.
 */
export class Recently {
  /** In the order of their times, the oldest first. */
  readonly #times = new Map<string, number>();

  /**
   * @param forMs how long it remembers
   * @param limit most facts remembered
   */
  constructor(
    private readonly forMs: number,
    private readonly limit: number,
  ) {}

  has(id: string, now: Date): boolean {
    const time = this.#times.get(id);
    return time !== undefined && Math.abs(now.getTime() - time) < this.forMs;
  }

  add(ids: readonly string[], at: Date): void {
    for (const id of ids) {
      this.#times.delete(id);
      this.#times.set(id, at.getTime());
    }
    for (const [id, time] of this.#times) {
      if (this.#times.size <= this.limit && at.getTime() - time < this.forMs) break;
      this.#times.delete(id);
    }
  }
}
