import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { isUuid } from '../ids.js';
import type { DatabaseLog } from './log.js';
import { Line, type NotificationTimings, reasonOf, waitBefore } from './notification-line.js';
import { Speaker } from './notification-speaker.js';

export type { NotificationTimings };

/** Where the processes on one database tell each other which tenants have news; PostgreSQL keeps databases apart. */
const CHANNEL = 'salient_events';
/** Tenants in one message: 36 characters each and a comma, below PostgreSQL's limit of 8,000 bytes. */
export const TENANTS_PER_MESSAGE = 200;

const TIMINGS: NotificationTimings = { beatMs: 4_000, retryMs: 250, retryMaxMs: 30_000, answerMs: 10_000 };
export interface NotificationOptions {
  /** Other processes told of news of these tenants. Duplicates, late and missing ones are to be expected. */
  readonly onTenants: (tenantIds: readonly string[]) => void;
  /** From now on it hears of news; what was told before, nobody heard: called each time that it has connected. */
  readonly onListening: () => void;
  readonly timings?: Partial<NotificationTimings>;
}

/**
 * How processes on one PostgreSQL database tell each other which tenants have news, by id and by nothing else. Only a
 * hint, never a fact: messages get lost with connections. Both directions have a connection of their own outside of the
 * pool: a NOTIFY inside a transaction of the application would take a lock of the whole server at its commit.
 *
 * No failure of it is an error of anybody's request: it is logged once, tried again, and told when it is over.
 */
export interface Notifications extends AsyncDisposable {
  /** Connects and listens from now on, for as long as it takes; returns at once. */
  listen(): void;
  /** Tells other processes of these tenants. Resolves when it was sent, or could not be. */
  tell(tenantIds: readonly string[]): Promise<void>;
  /** Whether it hears of news, as far as is known. */
  readonly listening: boolean;
}

/** @param connection to a server, as the pool's */
export function createNotifications(
  connection: pg.ClientConfig,
  log: DatabaseLog,
  options: NotificationOptions,
): Notifications {
  return new PostgresNotifications(connection, log, options, { ...TIMINGS, ...options.timings });
}

class PostgresNotifications implements Notifications {
  /** Heartbeats have a channel of their own for each process: others need not hear them. */
  readonly #beatChannel = `salient_beat_${randomBytes(8).toString('hex')}`;
  readonly #ended = new AbortController();
  readonly #speaker: Speaker;
  #listener: Promise<void> | undefined;
  #listening = false;
  #unanswered = 0;
  /** Whether the present outage was logged. */
  #logged = false;

  constructor(
    private readonly connection: pg.ClientConfig,
    private readonly log: DatabaseLog,
    private readonly options: NotificationOptions,
    private readonly timings: NotificationTimings,
  ) {
    this.#speaker = new Speaker(() => this.#connect('salient notify'), log, timings);
  }

  get listening(): boolean {
    return this.#listening;
  }

  listen(): void {
    if (!this.#ended.signal.aborted) this.#listener ??= this.#keepListening();
  }

  async tell(tenantIds: readonly string[]): Promise<void> {
    const ids = tenantIds.filter(isUuid);
    const messages: string[] = [];
    for (let from = 0; from < ids.length; from += TENANTS_PER_MESSAGE) {
      messages.push(ids.slice(from, from + TENANTS_PER_MESSAGE).join(','));
    }
    if (messages.length > 0) await this.#speaker.send(CHANNEL, messages);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await Promise.all([this.#listener, this.#speaker.close()]);
  }

  #connect(name: string): Promise<Line> {
    return Line.open({ ...this.connection, application_name: name }, this.timings.answerMs);
  }

  async #keepListening(): Promise<void> {
    const { signal } = this.#ended;
    for (let failures = 0; !signal.aborted; failures++) {
      let heard = false;
      try {
        await this.#listenOnce(() => {
          heard = true;
        });
      } catch (error) {
        this.#lost(error);
      }
      if (heard) failures = 0;
      if (!signal.aborted) await pause(waitBefore(failures, this.timings), signal);
    }
  }

  /** Listens until the connection is lost or this is closed. @param proved called when a heartbeat came back */
  async #listenOnce(proved: () => void): Promise<void> {
    const { signal } = this.#ended;
    const line = await this.#connect('salient listen');
    let beats: NodeJS.Timeout | undefined;
    try {
      line.client.on('notification', ({ channel, payload, processId }) => {
        if (channel === this.#beatChannel) {
          this.#unanswered = 0;
          proved();
          this.#restored();
        } else if (channel === CHANNEL && payload && processId !== this.#speaker.processId) {
          this.options.onTenants(payload.split(','));
        }
      });
      await line.client.query(`LISTEN ${CHANNEL}; LISTEN ${this.#beatChannel}`);
      if (signal.aborted) return;
      this.#listening = true;
      this.#unanswered = 0;
      this.options.onListening();
      const beat = () => {
        if (this.#unanswered >= 2) line.fail(new Error('two heartbeats in a row were not heard'));
        this.#unanswered++;
        // By the other connection: a pooler that hands a connection from client to client answers the same one.
        void this.#speaker.send(this.#beatChannel, ['']);
      };
      beats = setInterval(beat, this.timings.beatMs).unref();
      beat();
      await line.lost(signal);
    } finally {
      this.#listening = false;
      clearInterval(beats);
      await line.close();
    }
  }

  #lost(error: unknown): void {
    if (this.#logged || this.#ended.signal.aborted) return;
    this.#logged = true;
    this.log('warn', 'news of other processes are not heard at once: followed tenants are polled', {
      reason: reasonOf(error),
    });
  }

  #restored(): void {
    if (!this.#logged) return;
    this.#logged = false;
    this.log('info', 'news of other processes are heard at once again', {});
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms).unref();
    signal.addEventListener('abort', done);
  });
}
