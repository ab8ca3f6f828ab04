import {
  type AppendedEvents,
  type EventPage,
  type EventSelection,
  inTenant,
  type NotificationTimings,
  readEvents,
  streamHeads,
  streamState,
} from '../db/index.js';
import { CursorExpiredError, UnauthenticatedError, UnavailableError } from '../errors.js';
import type { Services } from '../services.js';
import type { TenantActor } from '../tenancy/index.js';
import { TenantChannel } from './channel.js';
import type { Cursor, EARLIEST } from './cursor.js';
import type { EventType } from './event-types.js';
import { type FeedEntry, Follower } from './follower.js';
import { beginAfter } from './place.js';
import { PullIterator } from './pull-iterator.js';
import { Standing } from './standing.js';
import { type WakeUpCounts, WakeUps } from './wake-ups.js';

export interface FollowOptions {
  /** Deliver what comes after; null: what is committed from now on, with a checkpoint as the first entry. */
  readonly after: Cursor | typeof EARLIEST | null;
  readonly selection: EventSelection;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

/** What a process tells its subscribers (SPEC §11). */
export interface EventFeed extends AsyncDisposable {
  /**
   * A writer's hint after its commit: this tenant's memory changed. Events need none: those of this process are known by
   * their commit ({@link Database.onAppended}), and other processes are told then. Only what {@link news} says depends on
   * it, for changes that are not told as events.
   */
  wake(tenantId: string): void;
  /**
   * What is known now of a tenant that is followed in this process. Equal numbers at two times: no write that this
   * process knows of came between. Its own count from the moment that they have woken the feed.
   * @returns undefined when nobody follows the tenant
   */
  news(tenantId: string): StreamNews | undefined;
  /**
   * Follows the tenant's stream as this actor: selected events in order, without gap or repeat, and checkpoints. The
   * place is taken when the promise resolves. Nothing is read ahead of what is asked for, and no transaction is held.
   * The iterator fails with UNAUTHENTICATED soon after the actor's key was revoked or has expired, with CURSOR_EXPIRED
   * when it was so slow that its next events are no longer kept, with UNAVAILABLE when the server closes.
   *
   * @throws BadInputError for a malformed cursor
   * @throws CursorExpiredError for one whose successors are no longer kept
   */
  follow(
    actor: TenantActor,
    options: FollowOptions,
  ): Promise<AsyncGenerator<FeedEntry, undefined, undefined>>;
  /** How many follow now, and over how many tenants. */
  stats(): { readonly tenants: number; readonly followers: number };
  /** By what followers learned that there is news, since the start. */
  wakeUps(): FeedWakeUps;
}

/** Counters of a tenant's writes; their values mean nothing but by being equal or not. */
export interface StreamNews {
  /** Writes of any sort, of this process and of those others that it has heard of. */
  readonly writes: number;
  /** Those of this process that removed content for good. */
  readonly removals: number;
}

export interface FeedWakeUps extends WakeUpCounts {
  /** Whether other processes are heard at once, as far as is known; false where there can be none. */
  readonly listening: boolean;
  /** Looks at the heads of followed tenants. */
  readonly polls: number;
  /** Followed streams that such a look found elsewhere than they were read to. */
  readonly found: number;
}

/** All in ms. */
export interface FeedTimings {
  /** How often the heads of followed tenants are looked at, in case a hint was lost: 1,500. */
  readonly pollMs: number;
  /** A checkpoint follows the last entry at the latest after this: 15,000. */
  readonly checkpointMs: number;
  /**
   * How old the knowledge may be that an actor may listen: 1,000. With {@link idleCheckMs} and the tick of a follower's checks it is
   * less than the 2 s within which a revoked key's streams end.
   */
  readonly standingMs: number;
  /** How often that is asked while nothing is delivered: 700. */
  readonly idleCheckMs: number;
}

export interface FeedOptions extends FeedTimings {
  /** Whether writers' hints are given and heard, in this process and across; true. The poll alone serves without. */
  readonly hints: boolean;
  /** How the connections to other processes are kept. */
  readonly notifications?: Partial<NotificationTimings>;
}

/** How feeds are kept when nothing else is said. */
export const FEED_OPTIONS: FeedOptions = {
  pollMs: 1_500,
  checkpointMs: 15_000,
  standingMs: 1_000,
  idleCheckMs: 700,
  hints: true,
};

/** Events of content that is gone for good: whoever is about to be shown it must not be any more. */
const REMOVING: ReadonlySet<string> = new Set<EventType>(['FACT_FORGOTTEN']);

/** Most events per statement. */
const PAGE = 500;
/** Most events that one statement looks at for a filter. */
export const SPAN = 20_000;

type Deps = Pick<Services, 'db' | 'log' | 'now'>;

export function createEventFeed(deps: Deps, options: Partial<FeedOptions> = {}): EventFeed {
  return new TenantFeeds(deps, { ...FEED_OPTIONS, ...options });
}

class TenantFeeds implements EventFeed {
  readonly #channels = new Map<string, TenantChannel>();
  readonly #open = new Set<PullIterator<FeedEntry>>();
  readonly #standing: Standing;
  readonly #wakeUps: WakeUps;
  readonly #looks = { polls: 0, found: 0 };
  #deaf: () => void = () => {};
  #pollTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    private readonly deps: Deps,
    private readonly options: FeedOptions,
  ) {
    this.#standing = new Standing(deps.db, deps.now, options.standingMs);
    this.#wakeUps = new WakeUps(deps.db, {
      enabled: options.hints,
      onNews: (tenantId) => this.#channels.get(tenantId)?.hint(),
      onGap: () => this.#pollNow(),
      timings: options.notifications,
    });
    this.#deaf = deps.db.onAppended((appended) => this.#appended(appended));
  }

  wake(tenantId: string): void {
    const channel = this.#channels.get(tenantId);
    if (channel) channel.writes++;
  }

  news(tenantId: string): StreamNews | undefined {
    const channel = this.#channels.get(tenantId);
    return channel && { writes: channel.writes, removals: channel.removals };
  }

  async follow(
    actor: TenantActor,
    { after, selection, signal }: FollowOptions,
  ): Promise<AsyncGenerator<FeedEntry, undefined, undefined>> {
    const { tenant } = actor;
    const stream = await inTenant(this.deps.db, tenant, streamState);
    if (!stream) throw new UnauthenticatedError();
    const position = after === null ? stream.head : beginAfter(stream, after);
    if (this.#closed) throw closing();
    const channel = this.#join(actor, { epoch: stream.epoch, seq: stream.head });
    const follower = new Follower({
      channel,
      position,
      selection,
      checkpointFirst: after === null,
      checkpointEveryMs: this.options.checkpointMs,
      idleCheckMs: this.options.idleCheckMs,
      stillAllowed: () => this.#standing.holds(actor),
      readLog: (from) => this.#read(actor, from, selection),
      now: this.deps.now,
    });
    const end = () => void entries.return();
    const entries = new PullIterator<FeedEntry>(
      (ended) => follower.next(ended),
      () => {
        signal?.removeEventListener('abort', end);
        this.#open.delete(entries);
        this.#leave(tenant.id, channel);
      },
    );
    this.#open.add(entries);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
    return entries;
  }

  stats(): { tenants: number; followers: number } {
    return { tenants: this.#channels.size, followers: this.#open.size };
  }

  wakeUps(): FeedWakeUps {
    return { ...this.#wakeUps.counts, ...this.#looks, listening: this.#wakeUps.listening };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#pollTimer);
    for (const channel of this.#channels.values()) channel.fail(closing());
    // Who waits is told now, who asks later is told then; only statements under way have to end.
    await Promise.all([...this.#open].map((entries) => entries.settled()));
    await this.#wakeUps[Symbol.asyncDispose]();
    this.#deaf();
  }

  /** Those who follow in this process see it before the writer's own call resolves. */
  #appended({ tenantId, known }: AppendedEvents): void {
    const channel = this.#channels.get(tenantId);
    // Before anything of the event is delivered: what was made ready from before it must not be.
    if (channel && known?.events.some(({ type }) => REMOVING.has(type))) channel.removals++;
    if (!this.options.hints) {
      // Whoever shares an answer has to know of the write; followers are left to the poll.
      if (channel) channel.writes++;
      return;
    }
    channel?.saved(known);
    this.#wakeUps.tell(tenantId);
  }

  #read(actor: TenantActor, after: bigint, selection: EventSelection): Promise<EventPage | null> {
    return inTenant(this.deps.db, actor.tenant, (unit) =>
      readEvents(unit, { after, limit: PAGE, span: SPAN, selection }),
    );
  }

  #join(actor: TenantActor, head: { epoch: number; seq: bigint }): TenantChannel {
    const { id } = actor.tenant;
    let channel = this.#channels.get(id);
    // Nobody tells a channel of another history anything any more: who follows it has to know.
    if (!channel || channel.failure || channel.epoch !== head.epoch) {
      channel?.fail(new CursorExpiredError());
      channel = new TenantChannel(head, (after) => this.#read(actor, after, { range: {} }));
      this.#channels.set(id, channel);
      this.#pollTimer ??= this.#schedulePoll();
      this.#wakeUps.begin();
    }
    channel.followers++;
    channel.seen(head.seq);
    return channel;
  }

  #leave(tenantId: string, channel: TenantChannel): void {
    channel.followers--;
    if (channel.followers > 0 || this.#channels.get(tenantId) !== channel) return;
    this.#channels.delete(tenantId);
    if (this.#channels.size > 0) return;
    clearTimeout(this.#pollTimer);
    this.#pollTimer = undefined;
  }

  #schedulePoll(): NodeJS.Timeout {
    return setTimeout(() => void this.#poll(), this.options.pollMs).unref();
  }

  /** A look that begins now: one under way may have looked before the news came. */
  #pollNow(): void {
    if (this.#closed || this.#channels.size === 0) return;
    clearTimeout(this.#pollTimer);
    void this.#poll();
  }

  /** One statement for all followed tenants. */
  async #poll(): Promise<void> {
    const followed = [...this.#channels];
    this.#looks.polls++;
    try {
      const heads = await this.deps.db.withPlatform((tx) =>
        streamHeads(
          tx,
          followed.map(([id]) => id),
        ),
      );
      for (const [id, channel] of followed) {
        if (channel.told(heads.get(id))) this.#looks.found++;
      }
    } catch (error) {
      const code = (error as { code?: unknown } | null)?.code;
      this.deps.log.warn(
        { code: typeof code === 'string' ? code : undefined },
        'event streams could not be polled',
      );
    } finally {
      // Who joined meanwhile, after the last had left, began a chain of polls: one goes on.
      clearTimeout(this.#pollTimer);
      this.#pollTimer = this.#closed || this.#channels.size === 0 ? undefined : this.#schedulePoll();
    }
  }
}

function closing(): UnavailableError {
  return new UnavailableError('The server is closing: subscribe again, from the last cursor');
}
