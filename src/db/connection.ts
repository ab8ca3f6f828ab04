import type { Duplex } from 'node:stream';
import pg from 'pg';
import { TransactionAbortedError } from './errors.js';
import type { DatabaseLog } from './log.js';
import { requireScope, type TransactionScope } from './transaction-scope.js';

/** How long a new connection may take. Waiting for a free one in the pool is not part of it. */
export const CONNECT_TIMEOUT_MS = 15_000;
/** Connections that nobody used for this long are closed. */
const IDLE_CONNECTION_MS = 30_000;
/** An idle connection shows that it lives each so often. */
const KEEP_ALIVE_MS = 10_000;

/** Called with the text of every statement, before it is sent. */
export type StatementListener = (sql: string) => void;

export interface PoolOptions {
  readonly connection: pg.ClientConfig;
  /** The most connections that are open at a time. */
  readonly size: number;
  readonly connectTimeoutMs: number;
  /**
   * How long a statement's answer may take before its connection counts as lost, in ms: a server that vanished without a
   * word would otherwise be waited for until the kernel gives up, after some 15 minutes. Undefined: for ever.
   */
  readonly answerTimeoutMs?: number | undefined;
  readonly onStatement: StatementListener;
  readonly log: DatabaseLog;
}

/** The pool behind Prisma's adapter. All of its connections are {@link TenantClient}s. */
export function createPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...options.connection,
    max: options.size,
    // Not connectionTimeoutMillis: the pool would apply it to the wait for a free connection as well, which Prisma's
    // maxWait limits.
    idleTimeoutMillis: IDLE_CONNECTION_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    ...(options.answerTimeoutMs !== undefined && { query_timeout: options.answerTimeoutMs }),
    Client: class extends TenantClient {
      constructor(config?: pg.ClientConfig) {
        super({ ...config, connectionTimeoutMillis: options.connectTimeoutMs }, options.onStatement);
      }
    },
  });
  pool.on('error', (error) =>
    options.log('warn', 'an idle database connection was lost', { reason: error.message }),
  );
  return pool;
}

type Query = string | { readonly text: string };
type Send = (query: Query) => Promise<pg.QueryResult>;

/**
 * A connection that makes Prisma's transactions tenant transactions: BEGIN also sets the role and the tenant, in one
 * message; a failed statement is remembered; and a COMMIT that PostgreSQL answers with ROLLBACK is an error instead of
 * a success. Statements outside of a transaction are refused.
 */
class TenantClient extends pg.Client {
  #scope: TransactionScope | undefined;
  /** Statements wait for each other here: pg deprecates its own queue. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(config: pg.ClientConfig, onStatement: StatementListener) {
    super(config);
    const send = super.query.bind(this) as Send;
    const run = (query: Query): Promise<pg.QueryResult> => {
      const result = this.#tail.then(() => this.#run(query, send, onStatement));
      this.#tail = result.catch(() => {});
      return result;
    };
    this.query = run as unknown as pg.Client['query'];
  }

  async #run(query: Query, send: Send, onStatement: StatementListener): Promise<pg.QueryResult> {
    const sql = typeof query === 'string' ? query : query.text;
    if (sql === 'BEGIN') this.#scope = requireScope();
    const scope = this.#scope ?? requireScope();
    scope.connected = true;
    if (sql === 'COMMIT' || sql === 'ROLLBACK') this.#scope = undefined;
    if (sql === 'COMMIT' && scope.closing.length > 0) return this.#close(scope, send, onStatement);
    const message = sql === 'BEGIN' ? scope.begin() : query;
    onStatement(typeof message === 'string' ? message : sql);
    try {
      const result = await send(message);
      if (sql === 'COMMIT' && result.command !== 'COMMIT') throw new TransactionAbortedError(scope.failure);
      this.#passed(scope, sql);
      return result;
    } catch (error) {
      throw this.#noted(scope, error);
    }
  }

  /** What is undone to a savepoint is no failure any more, and what it was to close with goes with it. */
  #passed({ savepoints, closing }: TransactionScope, sql: string): void {
    if (sql.startsWith('SAVEPOINT')) savepoints.push(closing.length);
    else if (sql.startsWith('RELEASE SAVEPOINT')) savepoints.pop();
    else if (sql.startsWith('ROLLBACK TO SAVEPOINT')) {
      closing.length = savepoints.at(-1) ?? closing.length;
      if (this.#scope) this.#scope.failure = undefined;
    }
  }

  /** The transaction's closing statements and its COMMIT, as one message: one that fails leaves the COMMIT undone. */
  async #close(scope: TransactionScope, send: Send, onStatement: StatementListener): Promise<pg.QueryResult> {
    const { failure } = scope;
    const statements = [...scope.closing.map(({ sql }) => sql), 'COMMIT'];
    for (const sql of statements) onStatement(sql);
    let results: pg.QueryResult[];
    try {
      results = (await send(statements.join('; '))) as unknown as pg.QueryResult[];
    } catch (error) {
      const known = this.#noted(scope, error);
      // The transaction is still open, and Prisma believes that its end was sent.
      if (!scope.connectionLost) await send('ROLLBACK').catch((lost) => this.#noted(scope, lost));
      throw failure === undefined ? known : new TransactionAbortedError(failure);
    }
    const committed = results.at(-1) as pg.QueryResult;
    if (committed.command !== 'COMMIT') throw this.#noted(scope, new TransactionAbortedError(scope.failure));
    for (const [place, { saved }] of scope.closing.entries()) saved(results[place]?.rows ?? []);
    return committed;
  }

  /** Remembers what failed first. */
  #noted(scope: TransactionScope, error: unknown): unknown {
    scope.failure ??= error;
    // All that the server itself reports is of this class.
    if (!(error instanceof pg.DatabaseError || error instanceof TransactionAbortedError)) {
      scope.connectionLost = true;
      // Its answer may still come, to whatever statement is sent next.
      (this as unknown as { connection: { stream: Duplex } }).connection.stream.destroy();
    }
    return error;
  }
}
