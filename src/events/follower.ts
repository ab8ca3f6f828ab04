import type { EventPage, EventRecord, EventSelection } from '../db/index.js';
import { CursorExpiredError, UnauthenticatedError } from '../errors.js';
import type { TenantChannel } from './channel.js';
import { type Cursor, encodeCursor } from './cursor.js';
import type { Seat } from './fan-out.js';
import { selects } from './selection.js';

/** What a feed delivers: an event, or only the news that all up to here was delivered. Each is a place to resume. */
export type FeedEntry =
  | { readonly kind: 'event'; readonly cursor: Cursor; readonly event: EventRecord }
  | { readonly kind: 'checkpoint'; readonly cursor: Cursor; readonly at: Date };

/**
 * Those who wait ask at the same moments whether they may go on: any number of keys is then asked after by few statements.
 * In ms.
 */
export const CHECK_TICK_MS = 250;

export interface FollowerOptions {
  readonly channel: TenantChannel;
  /** The last event that is not to be delivered. */
  readonly position: bigint;
  readonly selection: EventSelection;
  /** Begin with a checkpoint: the client has no cursor yet, and learns that it is connected. */
  readonly checkpointFirst: boolean;
  /** Between two entries at most, in ms. */
  readonly checkpointEveryMs: number;
  /** How often it is asked while nothing is delivered whether the actor may still listen, in ms. */
  readonly idleCheckMs: number;
  readonly stillAllowed: () => Promise<boolean>;
  /** Reads selected events after a sequence number. */
  readonly readLog: (after: bigint) => Promise<EventPage | null>;
  readonly now: () => Date;
}

/**
 * One subscription's walk along the stream: from the log while it is behind the channel's window (backfill), then
 * from the window, which is shared (live). Its position is a sequence number throughout, so the cutover can neither
 * lose nor repeat an event. It reads only when asked for the next entry.
 */
export class Follower {
  #position: bigint;
  /** Selected events of the log that were read and not yet delivered; behind them all is known up to #pageThrough. */
  #page: EventRecord[] = [];
  #pageThrough: bigint;
  #greet: boolean;
  #checkpointAt: number;
  #checkAt = 0;
  #seat: Seat | undefined;

  constructor(private readonly options: FollowerOptions) {
    this.#position = options.position;
    this.#pageThrough = options.position;
    this.#greet = options.checkpointFirst;
    this.#checkpointAt = performance.now() + options.checkpointEveryMs;
  }

  /**
   * The next entry; waits for it.
   * @returns undefined when the signal aborts
   * @throws UnauthenticatedError when the actor may no longer listen
   * @throws CursorExpiredError when the events after the position are no longer kept
   * @throws UnavailableError when the server closes or the database does not answer
   */
  async next(signal: AbortSignal): Promise<FeedEntry | undefined> {
    const { channel } = this.options;
    while (!signal.aborted) {
      if (channel.failure) throw channel.failure;
      if (this.#greet) {
        this.#greet = false;
        return this.#deliver(this.#checkpoint());
      }
      const event = await this.#take();
      if (event) {
        this.#position = event.seq;
        return this.#deliver({ kind: 'event', cursor: this.#cursor(), event });
      }
      if (performance.now() >= this.#checkpointAt) return this.#deliver(this.#checkpoint());
      if (performance.now() >= this.#checkAt) await this.#authorise();
      // From here to the wait nothing else runs: what comes from now on, the channel tells.
      if (signal.aborted || channel.failure || !this.#caughtUp()) continue;
      const due = Math.min(this.#checkpointAt, this.#checkAt) - performance.now();
      const passed = await channel.wait(this.#takeSeat(signal), Math.max(1, due));
      // The channel may stand before a place that this one read to in the log.
      if (passed > this.#position) this.#position = passed;
    }
    return undefined;
  }

  #takeSeat(signal: AbortSignal): Seat {
    if (this.#seat) return this.#seat;
    const seat = this.options.channel.fanOut.join(this.options.selection);
    signal.addEventListener('abort', () => seat.leave(), { once: true });
    this.#seat = seat;
    return seat;
  }

  /** An event that is at hand, else reads once and may find none although there are more. */
  async #take(): Promise<EventRecord | undefined> {
    const { channel, selection } = this.options;
    if (this.#page.length > 0) return this.#page.shift();
    if (this.#pageThrough > this.#position) this.#position = this.#pageThrough;
    if (this.#position < channel.start) {
      await this.#backfill();
      return this.#page.shift();
    }
    for (;;) {
      const event = channel.eventAfter(this.#position);
      if (!event) break;
      this.#position = event.seq;
      if (selects(selection, event)) return event;
    }
    if (channel.stale) await channel.advance();
    return undefined;
  }

  async #backfill(): Promise<void> {
    const page = await this.options.readLog(this.#position);
    if (!page) throw new UnauthenticatedError();
    const { epoch, floor, head } = page.stream;
    if (epoch !== this.options.channel.epoch || floor > this.#position || head < this.#position) {
      throw new CursorExpiredError();
    }
    this.#page = [...page.events];
    this.#pageThrough = page.through;
  }

  #caughtUp(): boolean {
    const { channel } = this.options;
    return (
      this.#page.length === 0 &&
      this.#pageThrough <= this.#position &&
      this.#position >= channel.start &&
      channel.eventAfter(this.#position) === undefined &&
      !channel.stale
    );
  }

  async #deliver(entry: FeedEntry): Promise<FeedEntry> {
    await this.#authorise();
    this.#checkpointAt = performance.now() + this.options.checkpointEveryMs;
    return entry;
  }

  async #authorise(): Promise<void> {
    if (!(await this.options.stillAllowed())) {
      throw new UnauthenticatedError('The key was revoked or has expired');
    }
    const due = performance.now() + this.options.idleCheckMs;
    this.#checkAt = Math.ceil(due / CHECK_TICK_MS) * CHECK_TICK_MS;
  }

  #checkpoint(): FeedEntry {
    return { kind: 'checkpoint', cursor: this.#cursor(), at: this.options.now() };
  }

  #cursor(): Cursor {
    return encodeCursor({ epoch: this.options.channel.epoch, seq: this.#position });
  }
}
