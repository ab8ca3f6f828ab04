/** Signals that ask a process to end. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** 128 and the signal's number, as shells tell of a process that a signal has ended. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * The wish of whoever runs this process that it ends. The first signal begins it; a second one, of either kind, ends the
 * process at once, and so does the limit: what was acknowledged is safe then too, as after `kill -9`.
 */
export class StopRequest {
  /** Resolves with the first signal. */
  readonly received: Promise<void>;
  #isReceived = false;

  /** @param limitMs how long the end may take, in ms; the process then exits with 1 */
  constructor(private readonly limitMs: number) {
    this.received = new Promise((resolve) => {
      for (const signal of SIGNALS)
        process.on(signal, () => {
          if (this.#isReceived) process.exit(EXIT_CODES[signal]);
          this.#isReceived = true;
          this.#limit();
          resolve();
        });
    });
  }

  /** Whether there was one. */
  get isReceived(): boolean {
    return this.#isReceived;
  }

  #limit(): void {
    const timer = setTimeout(() => {
      console.error(`Not everything ended within ${this.limitMs / 1_000} seconds; stopped all the same`);
      process.exit(1);
    }, this.limitMs);
    // What ends in time does not wait for it.
    timer.unref();
  }
}
