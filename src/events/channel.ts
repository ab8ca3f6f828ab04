import type { AppendedEvents, EventPage, EventRecord } from '../db/index.js';
import { CursorExpiredError, type SalientError, UnauthenticatedError } from '../errors.js';
import type { Place } from './cursor.js';
import { FanOut, type Seat } from './fan-out.js';

/** Most of the newest events of a tenant that are kept for its followers; who is further behind reads for itself. */
export const WINDOW = 1_000;
/**
 * After a read as long passes as it took, and this at most, before the next: a burst of writes is read in few
 * statements, a tenant's stream keeps a connection busy half of the time at most, and news still comes at once. In ms.
 */
const READ_PAUSE_MS = 20;

/**
 * The one reader of a tenant's stream in this process. It holds the newest events that it read, gapless, for all
 * followers to take from at their own pace, and reads on only when one of them has taken all and there is news. So a
 * slow follower holds up nobody and costs no memory: it falls out of the window and reads from the log.
 */
export class TenantChannel {
  readonly epoch: number;
  /** How many follow; the feed drops a channel without. */
  followers = 0;
  /** Who waits for what. */
  readonly fanOut = new FanOut();
  /** Writes to the tenant that this process knows of, counted: the number is another after each. */
  writes = 0;
  /** The same of those writes of this process that removed something for good. */
  removals = 0;
  /** Why the channel ended, for all that follow it. */
  failure: SalientError | undefined;

  #events: EventRecord[] = [];
  #end: bigint;
  #stale = true;
  #reading: Promise<void> | undefined;
  #readOnAt = 0;
  #watching = false;

  /** @param load reads the page after a sequence number, unfiltered */
  constructor(
    place: Place,
    private readonly load: (after: bigint) => Promise<EventPage | null>,
  ) {
    this.epoch = place.epoch;
    this.#end = place.seq;
  }

  /** The window holds the events in `(start, end]`. */
  get start(): bigint {
    return this.#end - BigInt(this.#events.length);
  }

  /** Whether there may be events beyond the window; so it is until a read has ended, not only begun. */
  get stale(): boolean {
    return this.#stale || this.#reading !== undefined;
  }

  /** The event after `seq` in the window, which must not begin later; undefined: all was taken. */
  eventAfter(seq: bigint): EventRecord | undefined {
    return this.#events[Number(seq - this.start)];
  }

  /** Reads on, once for all that ask meanwhile. */
  advance(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /**
   * A commit of this process added to the stream. What comes right behind all that was read needs no read; anything else
   * is a hint.
   */
  saved(known: AppendedEvents['known']): void {
    if (!known || known.epoch !== this.epoch || known.events[0]?.seq !== this.#end + 1n) {
      this.hint();
      return;
    }
    this.writes++;
    this.#add(known.events, known.events.at(-1)?.seq ?? this.#end);
  }

  /** There may be news. */
  hint(): void {
    this.writes++;
    this.#stale = true;
    void this.#watch();
  }

  /** Somebody who begins to follow has seen the stream's head: what was known before is out of date when that is new. */
  seen(head: bigint): void {
    if (head > this.#end) this.hint();
  }

  /**
   * Where the stream was seen; undefined: there is none any more. The next read finds out what it means.
   * @returns whether that is elsewhere than where it was read to
   */
  told(stream: { readonly epoch: number; readonly head: bigint } | undefined): boolean {
    // What was committed here since the look is known already.
    const news = stream?.epoch !== this.epoch || stream.head > this.#end;
    if (news) this.hint();
    return news;
  }

  /** Ends the channel for all of its followers. */
  fail(failure: SalientError): void {
    this.failure ??= failure;
    this.fanOut.wakeAll();
  }

  /**
   * Waits for the first event that the seat's selection lets pass; for who has taken all. The channel reads for those
   * who wait, and goes past what none of them wants without their doing.
   * @param ms how long at most
   * @returns the number up to which there was nothing to take; also when the time is up, the channel ended or the
   *   seat was left
   */
  wait(seat: Seat, ms: number): Promise<bigint> {
    const from = this.#end;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        seat.rest();
        resolve(this.#end);
      }, ms);
      seat.listen((first) => {
        clearTimeout(timer);
        resolve(first === undefined ? from : first - 1n);
      });
      if (this.#stale) void this.#watch();
    });
  }

  /** Reads on as long as there is news and somebody waits for it. */
  async #watch(): Promise<void> {
    if (this.#watching) return;
    this.#watching = true;
    try {
      while (this.#stale && !this.failure && this.fanOut.listening > 0) await this.advance();
    } catch {
      // Each meets the failure in a read of its own, and tells its client.
      this.fanOut.wakeAll();
    } finally {
      this.#watching = false;
    }
  }

  async #read(): Promise<void> {
    const pause = this.#readOnAt - performance.now();
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    // Before the read: a hint that comes during it is about what the read may not have seen.
    this.#stale = false;
    const begun = performance.now();
    try {
      const page = await this.load(this.#end);
      this.#take(page);
    } catch (error) {
      this.#stale = true;
      throw error;
    } finally {
      const ended = performance.now();
      this.#readOnAt = ended + Math.min(ended - begun, READ_PAUSE_MS);
    }
  }

  #take(page: EventPage | null): void {
    if (!page) {
      this.fail(new UnauthenticatedError());
      return;
    }
    const { epoch, head, floor } = page.stream;
    if (epoch !== this.epoch || head < page.after) {
      this.fail(new CursorExpiredError());
      return;
    }
    if (floor > this.#end) {
      // Nobody read for so long that events were dropped: who needs them learns of it by its own read.
      this.#events = [];
      this.#end = floor;
      this.#stale = true;
      this.fanOut.wakeAll();
      return;
    }
    if (page.through < head) this.#stale = true;
    // What was committed here while the read was under way is known already.
    if (page.through > this.#end)
      this.#add(
        page.events.filter(({ seq }) => seq > this.#end),
        page.through,
      );
  }

  /** @param events all that follow the window up to `through`, without a gap */
  #add(events: readonly EventRecord[], through: bigint): void {
    this.#events = [...this.#events, ...events].slice(-WINDOW);
    this.#end = through;
    for (const event of events) this.fanOut.publish(event);
  }
}
