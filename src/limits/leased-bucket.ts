/** What asking the shared bucket gave, in points. */
export interface BucketAnswer {
  readonly granted: number;
  readonly left: number;
}

/** Asks the bucket that all processes share. @param back returned unused; see takeFromBucket */
export type AskBucket = (ask: {
  readonly capacity: number;
  readonly back: number;
  readonly need: number;
  readonly want: number;
}) => Promise<BucketAnswer>;

/** Part of a minute's points that a process takes out at a time: a second's worth. */
const LEASES_A_MINUTE = 60;
const MINUTE_MS = 60_000;

/** Whether a cost could be paid, and how the bucket stands. Times in ms from now. */
export interface BucketState {
  readonly paid: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until the bucket is full again. */
  readonly fullInMs: number;
  /** Until the cost could be paid; 0 where it was. */
  readonly retryInMs: number;
}

/**
 * A bucket of points that all processes on a database share, from which this one takes a second's worth at a time and
 * spends that without asking. So nothing is ever spent twice, whatever the number of processes; what is not known is
 * only how much the others hold unspent: a second's worth each, until they have been idle for two seconds.
 */
export class LeasedBucket {
  #held = 0;
  /** What was left in the shared bucket when it was last asked; others can only have taken from it since. */
  #left = Number.POSITIVE_INFINITY;
  #leftAt = 0;
  #asking: Promise<void> | undefined;
  /** As of `performance.now()`. */
  usedAt = 0;

  constructor(
    private readonly ask: AskBucket,
    /** Points a minute, and how many may be spent at once after a rest. May change. */
    public capacity: number,
  ) {}

  /** Points that are held and not spent. */
  get held(): number {
    return this.#held;
  }

  async pay(cost: number): Promise<BucketState> {
    for (;;) {
      const now = performance.now();
      this.usedAt = now;
      if (this.#held >= cost) {
        this.#held -= cost;
        return this.#state(true, cost, now);
      }
      // Who is far over its rate is refused without a statement.
      if (this.#held + this.#most(now) < cost) return this.#state(false, cost, now);
      this.#asking ??= this.#lease(cost).finally(() => {
        this.#asking = undefined;
      });
      await this.#asking;
    }
  }

  /** Takes back what was paid and not used. */
  refund(points: number): void {
    this.#held += points;
  }

  /** Gives the shared bucket what is held. */
  async giveBack(): Promise<void> {
    const back = this.#held;
    this.#held = 0;
    if (back > 0) await this.ask({ capacity: this.capacity, back, need: 0, want: 0 });
  }

  async #lease(cost: number): Promise<void> {
    const { capacity } = this;
    const need = cost - this.#held;
    const { granted, left } = await this.ask({
      capacity,
      back: 0,
      need,
      want: Math.max(need, capacity / LEASES_A_MINUTE),
    });
    this.#held += granted;
    this.#left = left;
    this.#leftAt = performance.now();
  }

  /** What the shared bucket can hold by now. */
  #most(now: number): number {
    return Math.min(this.capacity, this.#left + (this.capacity * (now - this.#leftAt)) / MINUTE_MS);
  }

  #state(paid: boolean, cost: number, now: number): BucketState {
    const { capacity } = this;
    const total = Math.min(capacity, this.#held + this.#most(now));
    const msFor = (points: number) => (Math.max(0, points) * MINUTE_MS) / capacity;
    return {
      paid,
      limit: capacity,
      remaining: Math.floor(total),
      fullInMs: msFor(capacity - total),
      retryInMs: paid ? 0 : Math.max(1, msFor(cost - total)),
    };
  }
}
