/** Bytes of one connection that may wait to be sent before its streams wait too. */
export const MAX_UNSENT_BYTES = 1_048_576;
/** How long more than {@link MAX_UNSENT_BYTES} may wait before the connection's streams end, in ms (DESIGN §5). */
export const LAG_MS = 30_000;

/** How long a reader whose streams ended has to take the rest, in ms. */
export const CUT_MS = 10_000;

export interface OutletOptions {
  /** Bytes that were written and have not gone out. */
  readonly unsent: () => number;
  readonly maxUnsentBytes?: number;
  readonly lagMs?: number;
  /** Ends the connection itself, for what waits would else wait for ever. */
  readonly cut: () => void;
  /** How long after its streams were told to end a reader may go on reading nothing, in ms. Default {@link CUT_MS}. */
  readonly cutMs?: number;
}

/**
 * What goes out over one connection, at its reader's pace. Streams write on as long as little waits to be sent; then
 * they wait, and hold no more than their place. Those of a reader that stays behind for too long are told to end; when it
 * reads nothing even then, the connection is cut.
 */
export class Outlet {
  readonly #streams = new Set<() => void>();
  readonly #waiting = new Set<() => void>();
  readonly #maxUnsentBytes: number;
  readonly #lagMs: number;
  #timer: NodeJS.Timeout | undefined;
  #cutTimer: NodeJS.Timeout | undefined;
  /** How often something went out. */
  #taken = 0;
  #closed = false;

  constructor(private readonly options: OutletOptions) {
    this.#maxUnsentBytes = options.maxUnsentBytes ?? MAX_UNSENT_BYTES;
    this.#lagMs = options.lagMs ?? LAG_MS;
  }

  /** Whether streams wait for their reader now. */
  get full(): boolean {
    return this.#timer !== undefined;
  }

  /**
   * Adds a stream.
   * @param lagged ends it
   * @returns removes it
   */
  add(lagged: () => void): () => void {
    this.#streams.add(lagged);
    return () => void this.#streams.delete(lagged);
  }

  /** Resolves when more may be written. */
  room(): Promise<void> {
    if (this.#closed || !this.#over()) return Promise.resolve();
    this.#timer ??= setTimeout(() => this.#lag(), this.#lagMs).unref();
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  /** To be called whenever something has gone out. */
  sent(): void {
    this.#taken++;
    if (this.#waiting.size > 0 && !this.#over()) this.#release();
  }

  /** The connection is gone. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#cutTimer);
    this.#release();
  }

  #over(): boolean {
    return this.options.unsent() > this.#maxUnsentBytes;
  }

  #lag(): void {
    for (const lagged of [...this.#streams]) lagged();
    // Who waits to write goes on, and finds that its stream has ended.
    this.#release();
    const taken = this.#taken;
    this.#cutTimer ??= setTimeout(() => {
      this.#cutTimer = undefined;
      if (!this.#closed && this.#taken === taken) this.options.cut();
    }, this.options.cutMs ?? CUT_MS).unref();
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
