import type pg from 'pg';
import { CONNECT_TIMEOUT_MS } from './connection.js';
import { type Database, PooledDatabase } from './database.js';
import { EmbeddedServer } from './embedded/embedded-server.js';
import { startMaintenance } from './embedded/maintenance.js';
import { type DatabaseLog, silentLog } from './log.js';
import { applyMigrations } from './migrate.js';
import { checkServer } from './server-check.js';
import { STATEMENT_TIMEOUT_MS } from './transaction-scope.js';

export interface DatabaseOptions {
  /** A PostgreSQL server, 15 or newer with pgvector: `postgres://user:password@host:5432/database`. */
  readonly databaseUrl?: string;
  /** Without a URL: the directory of the embedded database, made where it does not exist. */
  readonly dataDirectory?: string;
  /** The most connections to a PostgreSQL server. Default {@link DEFAULT_POOL_SIZE}; the embedded database has one. */
  readonly poolSize?: number;
  /** How long a new connection may take, in milliseconds. Default 15,000. */
  readonly connectTimeoutMs?: number;
  /**
   * How long a PostgreSQL server may take to answer a statement before its connection counts as lost, in milliseconds.
   * Default 40,000: 10,000 more than a statement may take.
   */
  readonly answerTimeoutMs?: number;
  /** False: the caller has migrated. Default true. */
  readonly migrate?: boolean;
  /** Embedded: whether commits survive a power cut, for about 0.7 ms each. Default true. */
  readonly durable?: boolean;
  readonly log?: DatabaseLog;
}

/** Ten transactions at a time keep four cores of a database server busy. */
export const DEFAULT_POOL_SIZE = 10;

/** The one backend of the embedded database serves one transaction at a time. */
const EMBEDDED_POOL_SIZE = 1;
/** PostgreSQL cancels a statement before that. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 10_000;

/**
 * Opens the database and brings it to the newest migration. It is to be closed (`await using`), or the process stays.
 *
 * @throws DatabaseError of any code but those of transactions
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const log = options.log ?? silentLog;
  const connectTimeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
  if (options.databaseUrl !== undefined) {
    const connection = serverConnection(options.databaseUrl);
    await checkServer(connection, connectTimeoutMs);
    if (options.migrate ?? true) await applyMigrations({ connection, log });
    const size = options.poolSize ?? DEFAULT_POOL_SIZE;
    const answerTimeoutMs = options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS;
    const pool = { connection, size, connectTimeoutMs, answerTimeoutMs, log };
    return new PooledDatabase('postgres', pool, async () => {});
  }
  const server = await EmbeddedServer.start({
    dataDirectory: requireDirectory(options),
    durable: options.durable ?? true,
    log,
  });
  try {
    const connection = embeddedConnection(server.host);
    if (options.migrate ?? true) await applyMigrations({ connection, log });
    const maintenance = startMaintenance({ connection, log });
    return new PooledDatabase(
      'embedded',
      { connection, size: EMBEDDED_POOL_SIZE, connectTimeoutMs, log },
      async () => {
        await maintenance.stop();
        await server[Symbol.asyncDispose]();
      },
    );
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/** Brings the database to the newest migration and closes it: `salient migrate`. Takes and throws the same. */
export async function migrateDatabase(options: DatabaseOptions): Promise<{ applied: string[] }> {
  const log = options.log ?? silentLog;
  if (options.databaseUrl !== undefined) {
    const connection = serverConnection(options.databaseUrl);
    await checkServer(connection, options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS);
    return { applied: await applyMigrations({ connection, log }) };
  }
  await using server = await EmbeddedServer.start({
    dataDirectory: requireDirectory(options),
    durable: options.durable ?? true,
    log,
  });
  return { applied: await applyMigrations({ connection: embeddedConnection(server.host), log }) };
}

function serverConnection(databaseUrl: string): pg.ClientConfig {
  return { connectionString: databaseUrl, application_name: 'salient' };
}

/** How clients on this machine reach an embedded server by the directory of its socket. */
export function embeddedConnection(host: string): pg.ClientConfig {
  return { host, port: 5432, user: 'postgres', database: 'postgres' };
}

function requireDirectory(options: DatabaseOptions): string {
  if (options.dataDirectory !== undefined) return options.dataDirectory;
  throw new TypeError('openDatabase needs a databaseUrl or a dataDirectory');
}
