interface Waiting<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * An async iterator that asks for one item at a time and can be ended while it waits. An async generator cannot: its
 * return() stands in line behind the `await` it hangs in, so a subscription without events would never end.
 */
export class PullIterator<T> implements AsyncGenerator<T, undefined, undefined> {
  readonly #controller = new AbortController();
  readonly #waiting = new Set<Waiting<T>>();
  #failure: { readonly error: unknown } | undefined;
  #tail: Promise<void> = Promise.resolve();

  /**
   * @param pull the next item, or undefined at the end; called again only when the item before was taken. Its signal
   *   aborts when the iterator is ended.
   * @param closed called once, when the iterator ends for whatever reason
   */
  constructor(
    private readonly pull: (signal: AbortSignal) => Promise<T | undefined>,
    private readonly closed: () => void,
  ) {}

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#controller.signal.aborted) return this.#last();
    return new Promise((resolve, reject) => {
      const waiting = { resolve, reject };
      this.#waiting.add(waiting);
      this.#tail = this.#tail.then(() => this.#serve(waiting));
    });
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#close();
    return Promise.resolve(DONE);
  }

  throw(error: unknown): Promise<IteratorResult<T, undefined>> {
    this.#close();
    return Promise.reject(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
  }

  /** Ends the iteration with an error: for who waits now, else for who asks next. */
  fail(error: unknown): void {
    if (this.#controller.signal.aborted) return;
    const [first] = this.#waiting;
    if (first) {
      this.#waiting.delete(first);
      first.reject(error);
    } else {
      this.#failure = { error };
    }
    this.#close();
  }

  /** Resolves when what was asked for up to now has been answered and no pull is under way. */
  settled(): Promise<void> {
    return this.#tail;
  }

  async #serve(waiting: Waiting<T>): Promise<void> {
    if (!this.#waiting.has(waiting)) return;
    try {
      const value = await this.pull(this.#controller.signal);
      if (value === undefined) this.#close();
      else if (this.#waiting.delete(waiting)) waiting.resolve({ done: false, value });
    } catch (error) {
      if (this.#waiting.delete(waiting)) waiting.reject(error);
      this.#close();
    }
  }

  #last(): Promise<IteratorResult<T, undefined>> {
    const failure = this.#failure;
    if (!failure) return Promise.resolve(DONE);
    this.#failure = undefined;
    return Promise.reject(failure.error);
  }

  #close(): void {
    if (this.#controller.signal.aborted) return;
    this.#controller.abort();
    for (const { resolve } of this.#waiting) resolve(DONE);
    this.#waiting.clear();
    this.closed();
  }
}
