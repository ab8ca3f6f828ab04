import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { UnavailableError } from '../errors.js';
import { createPool, type PoolOptions } from './connection.js';
import { DatabaseClosedError, NestedTransactionError, sqlState } from './errors.js';
import { type Prisma, PrismaClient } from './generated/client.js';
import { createNotifications, type NotificationOptions, type Notifications } from './notifications.js';
import type { AppendedEvents } from './repositories/event-log.js';
import { runInScope, TransactionScope } from './transaction-scope.js';

/** What repositories get: Prisma's client bound to one open transaction. */
export type Transaction = Prisma.TransactionClient;

/** A statement as it was sent: without parameters, or with what it holds instead, which is no content. */
export interface StatementEvent {
  readonly sql: string;
}

/** `tenant` and `read` work in one tenant; `platform` sees no content. */
export type TransactionKind = 'tenant' | 'read' | 'platform';

/** The one way to the data. Closing it waits for the transactions under way. */
export interface Database extends AsyncDisposable {
  readonly kind: 'embedded' | 'postgres';
  /**
   * Runs `work` in one short transaction as the role `salient_app`, with row-level security bound to the tenant. All
   * of it is saved, or nothing: it rejects when `work` does, and also when a statement failed and `work` hid that.
   * After a serialization failure or a deadlock `work` is run again, up to {@link MAX_RETRIES} times, so it must not
   * have effects outside of the transaction.
   *
   * @param tenantId the tenant's UUID
   * @throws NestedTransactionError inside another transaction
   * @throws UnavailableError when no connection came free in time, the server is gone, or it cancelled a statement that
   *   took too long or waited too long for a lock. When the connection was lost during the COMMIT, all may be saved
   *   nevertheless: nobody knows, and it is not run again
   */
  withTenant<T>(tenantId: string, work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * Reads in one short transaction: all its statements see the tenant as it was at the first one, and none may write.
   * Roles, row-level security and errors as in `withTenant`.
   */
  readTenant<T>(tenantId: string, work: (tx: Transaction) => Promise<T>): Promise<T>;
  /**
   * The same as the role `salient_platform`: it may see tenants, keys, jobs and stream heads of all tenants, and never
   * content.
   */
  withPlatform<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Observes every statement sent, those of transaction control included. Returns the way to stop. */
  onStatement(listener: (event: StatementEvent) => void): () => void;
  /**
   * Observes the events that this process's transactions append, after each commit and before its `withTenant` resolves.
   * Returns the way to stop.
   */
  onAppended(listener: (appended: AppendedEvents) => void): () => void;
  /**
   * Observes every transaction: called when one is asked for, in the context of who asks; what it returns is called when
   * that has ended, however it did. Returns the way to stop.
   */
  onTransaction(listener: (kind: TransactionKind) => () => void): () => void;
  /** Connections that are in use and idle, and transactions that wait for one. */
  connections(): { readonly busy: number; readonly idle: number; readonly waiting: number };
  /**
   * The way in which processes on this database tell each other of news; the caller closes it. It connects when it is
   * used. Undefined for the embedded database, which has one process.
   */
  openNotifications(options: NotificationOptions): Notifications | undefined;
}

/** How long a transaction may wait for a connection: the embedded database has one, and bursts stand in line. */
export const TRANSACTION_MAX_WAIT_MS = 60_000;
/** How long a transaction may take, from its BEGIN on. */
export const TRANSACTION_TIMEOUT_MS = 60_000;
/** How often the work is run again after PostgreSQL asked for it. */
export const MAX_RETRIES = 3;
/** The wait before the first retry, at most; it doubles each time, and a random part of it is taken. */
const RETRY_WAIT_MS = 25;
/** How long closing waits for the transactions under way. */
const CLOSE_GRACE_MS = 10_000;

/** serialization_failure and deadlock_detected: the same work may succeed when run again. */
const RETRYABLE_STATES = new Set(['40001', '40P01']);
/**
 * too_many_connections, admin_shutdown, crash_shutdown, cannot_connect_now, and read_only_sql_transaction, which a primary
 * answers that is one no more.
 */
const UNAVAILABLE_STATES = new Set(['53300', '57P01', '57P02', '57P03', '25006']);
/** query_canceled (a statement took too long, or waited too long for others) and lock_not_available. */
const TOO_SLOW_STATES = new Set(['57014', '55P03']);

/** A pool with Prisma in front, and what has to be closed after it. */
export class PooledDatabase implements Database {
  readonly #pool: pg.Pool;
  readonly #prisma: PrismaClient;
  readonly #listeners = new Set<(event: StatementEvent) => void>();
  readonly #appendListeners = new Set<(appended: AppendedEvents) => void>();
  readonly #observers = new Set<(kind: TransactionKind) => () => void>();
  readonly #running = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  constructor(
    readonly kind: 'embedded' | 'postgres',
    private readonly pool: Omit<PoolOptions, 'onStatement'>,
    private readonly closeServer: () => Promise<void>,
  ) {
    this.#pool = createPool({ ...pool, onStatement: (sql) => this.#tell(sql) });
    this.#prisma = new PrismaClient({
      adapter: new PrismaPg(this.#pool),
      errorFormat: 'minimal',
      transactionOptions: { maxWait: TRANSACTION_MAX_WAIT_MS, timeout: TRANSACTION_TIMEOUT_MS },
    });
  }

  withTenant<T>(tenantId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#track('tenant', () => this.#withRetries(() => TransactionScope.tenant(tenantId), work));
  }

  readTenant<T>(tenantId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#track('read', () => this.#withRetries(() => TransactionScope.tenant(tenantId, true), work));
  }

  withPlatform<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#track('platform', () => this.#withRetries(() => TransactionScope.platform(), work));
  }

  onStatement(listener: (event: StatementEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onAppended(listener: (appended: AppendedEvents) => void): () => void {
    this.#appendListeners.add(listener);
    return () => this.#appendListeners.delete(listener);
  }

  onTransaction(listener: (kind: TransactionKind) => () => void): () => void {
    this.#observers.add(listener);
    return () => this.#observers.delete(listener);
  }

  connections(): { busy: number; idle: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  openNotifications(options: NotificationOptions): Notifications | undefined {
    if (this.kind === 'embedded') return undefined;
    return createNotifications(this.pool.connection, this.pool.log, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await settledWithin([...this.#running], CLOSE_GRACE_MS);
      await this.#prisma.$disconnect();
      await this.#pool.end();
    } finally {
      await this.closeServer();
    }
  }

  #tell(sql: string): void {
    for (const listener of this.#listeners) listener({ sql });
  }

  async #track<T>(kind: TransactionKind, run: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new DatabaseClosedError();
    const ends = [...this.#observers].map((begin) => begin(kind));
    const running = run();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      for (const end of ends) end();
      this.#running.delete(running);
    }
  }

  async #withRetries<T>(open: () => TransactionScope, work: (tx: Transaction) => Promise<T>): Promise<T> {
    for (let retry = 0; ; retry++) {
      // One of its own for each attempt: it remembers what failed.
      const scope = open();
      let result: T;
      try {
        result = await runInScope(scope, () => this.#prisma.$transaction(work));
      } catch (error) {
        if (error instanceof NestedTransactionError) throw error;
        if (isUnavailable(scope, error))
          throw unavailable('The database is not available at the moment', error);
        const state = sqlState(error) ?? '';
        if (TOO_SLOW_STATES.has(state)) {
          this.pool.log('warn', 'a statement was cancelled, for it took too long', { sqlState: state });
          throw unavailable('The database took too long to answer: try again', error);
        }
        if (retry >= MAX_RETRIES || !RETRYABLE_STATES.has(state)) throw error;
        await sleep(Math.random() * RETRY_WAIT_MS * 2 ** retry);
        continue;
      }
      for (const appended of scope.appended) {
        for (const listener of this.#appendListeners) listener(appended);
      }
      return result;
    }
  }
}

/** No connection in time, a lost one, or a server without room or in shutdown: no fault of the request. */
function isUnavailable(scope: TransactionScope, error: unknown): boolean {
  return !scope.connected || scope.connectionLost || UNAVAILABLE_STATES.has(sqlState(error) ?? '');
}

function unavailable(message: string, cause: unknown): UnavailableError {
  const error = new UnavailableError(message);
  error.cause = cause;
  return error;
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function settledWithin(running: readonly Promise<unknown>[], milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([Promise.allSettled(running), deadline]);
  clearTimeout(timer);
}
