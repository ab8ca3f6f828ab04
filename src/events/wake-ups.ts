import type { Database, Notifications, NotificationTimings } from '../db/index.js';

/** News of many writes within this long are told to other processes together, in ms. */
const DEBOUNCE_MS = 20;

/** What was told and heard since the start, to see whether hints do their part. */
export interface WakeUpCounts {
  /** Writes in this process. */
  readonly own: number;
  /** Tenants of which other processes were told; many writes of a tenant within 20 ms count once. */
  readonly told: number;
  /** Tenants of which other processes told. */
  readonly heard: number;
  /** How often it began to listen to other processes: more than once after losses. */
  readonly connected: number;
}

export interface WakeUpOptions {
  /** False: nothing is told or heard, in this process neither; the poll alone serves. */
  readonly enabled: boolean;
  /** This tenant has news. */
  readonly onNews: (tenantId: string) => void;
  /** News may have been missed until now: look at every followed tenant. */
  readonly onGap: () => void;
  readonly timings?: Partial<NotificationTimings>;
}

/**
 * Hints that tenants have news, between writers and followers: at once in this process and, where others may be on the
 * same database, by messages of all tenants of the last {@link DEBOUNCE_MS} together. They only make things faster:
 * whoever waits for one also polls.
 */
export class WakeUps implements AsyncDisposable {
  readonly #notifications: Notifications | undefined;
  readonly #untold = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #closed = false;
  readonly #counts = { own: 0, told: 0, heard: 0, connected: 0 };

  constructor(
    db: Pick<Database, 'openNotifications'>,
    private readonly options: WakeUpOptions,
  ) {
    if (!options.enabled) return;
    this.#notifications = db.openNotifications({
      onTenants: (tenantIds) => {
        this.#counts.heard += tenantIds.length;
        for (const tenantId of tenantIds) options.onNews(tenantId);
      },
      onListening: () => {
        this.#counts.connected++;
        options.onGap();
      },
      timings: options.timings,
    });
  }

  get counts(): WakeUpCounts {
    return { ...this.#counts };
  }

  /** Whether other processes are heard, as far as is known; false where there can be none. */
  get listening(): boolean {
    return this.#notifications?.listening ?? false;
  }

  /** Somebody follows in this process: other processes are listened to from now on. */
  begin(): void {
    this.#notifications?.listen();
  }

  /** Other processes are told that this one wrote, after its commit. */
  tell(tenantId: string): void {
    if (!this.options.enabled || this.#closed) return;
    this.#counts.own++;
    if (!this.#notifications) return;
    this.#untold.add(tenantId);
    if (!this.#sending) this.#timer ??= setTimeout(() => this.#flush(), DEBOUNCE_MS).unref();
  }

  /** Tells what is still to be told and ends both connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#sending;
    this.#flush();
    await this.#sending;
    await this.#notifications?.[Symbol.asyncDispose]();
  }

  /** One at a time; what comes meanwhile goes together. */
  #flush(): void {
    this.#timer = undefined;
    const tenantIds = [...this.#untold];
    this.#untold.clear();
    if (!this.#notifications || tenantIds.length === 0) return;
    this.#counts.told += tenantIds.length;
    this.#sending = this.#notifications.tell(tenantIds).finally(() => {
      this.#sending = undefined;
      if (this.#untold.size > 0 && !this.#closed) {
        this.#timer ??= setTimeout(() => this.#flush(), DEBOUNCE_MS).unref();
      }
    });
  }
}
