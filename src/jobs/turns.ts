/**
 * Lets a few do something at the same time. The others wait: in the order in which they came within a lane, such as a
 * tenant's, and the lanes take turns. So who comes with ten thousand is no longer before who comes with one than it takes
 * to do one.
 */
export class Turns {
  #free: number;
  readonly #running = new Map<string, number>();
  /** By lane; the one whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /**
   * @param atOnce how many, 1 or more
   * @param eachLane how many of one lane, 1 or more: what takes long must leave room for others
   */
  constructor(
    atOnce: number,
    private readonly eachLane = atOnce,
  ) {
    this.#free = atOnce;
  }

  /** Does `work` when there is room for it. @throws what `work` throws */
  async take<T>(work: () => Promise<T>, lane = ''): Promise<T> {
    if (this.#free > 0 && this.#has(lane)) this.#enter(lane);
    else {
      await new Promise<void>((resolve) => {
        const queue = this.#waiting.get(lane);
        if (queue) queue.push(resolve);
        else this.#waiting.set(lane, [resolve]);
      });
    }
    try {
      return await work();
    } finally {
      this.#leave(lane);
    }
  }

  #has(lane: string): boolean {
    return (this.#running.get(lane) ?? 0) < this.eachLane;
  }

  #enter(lane: string): void {
    this.#free--;
    this.#running.set(lane, (this.#running.get(lane) ?? 0) + 1);
  }

  /** The room is handed over at once, so that nobody who comes now is before those who wait. */
  #leave(lane: string): void {
    this.#free++;
    const left = (this.#running.get(lane) ?? 1) - 1;
    if (left > 0) this.#running.set(lane, left);
    else this.#running.delete(lane);
    for (const [next, queue] of this.#waiting) {
      if (!this.#has(next)) continue;
      const begin = queue.shift();
      this.#waiting.delete(next);
      if (queue.length > 0) this.#waiting.set(next, queue);
      this.#enter(next);
      begin?.();
      return;
    }
  }
}
