/** Lets a few do something at the same time; the others wait for their turn, in the order in which they came. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param atOnce how many, 1 or more */
  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Does `work` when there is room for it. @throws what `work` throws */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The room is handed over, so that nobody who comes now is before those who wait.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
