import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { PooledDatabase } from '../../src/db/database.js';
import { EmbeddedServer } from '../../src/db/embedded/embedded-server.js';
import type { Database } from '../../src/db/index.js';
import { silentLog } from '../../src/db/log.js';
import { embeddedConnection } from '../../src/db/open.js';

/** True when the tests run on a PostgreSQL server: `describe.runIf(isPostgres)` for what needs several connections. */
export const isPostgres = process.env['SALIENT_TEST_DATABASE_URL'] !== undefined;

/** A new connection to an embedded database may have to wait for another file's transaction. */
const CONNECT_TIMEOUT_MS = 30_000;
const POSTGRES_POOL_SIZE = 8;

/**
 * Connects to a database that test files share; each file closes its own connection. Test files run side by side in it,
 * so a test makes its own tenants and looks at nothing else.
 */
export async function testDatabase(): Promise<Database> {
  const { kind } = inject('salientDatabases');
  const connection = sharedConnection();
  const size = kind === 'embedded' ? 1 : POSTGRES_POOL_SIZE;
  return new PooledDatabase(
    kind,
    { connection, size, connectTimeoutMs: CONNECT_TIMEOUT_MS, log: silentLog },
    async () => {},
  );
}

/** The shared database of this one of vitest's workers. */
export function sharedConnection(): pg.ClientConfig {
  const { connections } = inject('salientDatabases');
  const worker = Number(process.env['VITEST_POOL_ID']);
  return connections[(worker - 1) % connections.length]!;
}

/** A plain connection to the shared database as the owner of its tables, whom row-level security does not stop. */
export async function ownerClient(): Promise<pg.Client> {
  const client = new pg.Client({ ...sharedConnection() });
  await client.connect();
  return client;
}

/** An empty database of the kind under test, without migrations, for one test file. */
export async function emptyDatabase(): Promise<{ connection: pg.ClientConfig } & AsyncDisposable> {
  const server = process.env['SALIENT_TEST_DATABASE_URL'];
  if (server === undefined) {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'salient-empty-'));
    const embedded = await EmbeddedServer.start({ dataDirectory, durable: false, log: silentLog });
    return {
      connection: embeddedConnection(embedded.host),
      [Symbol.asyncDispose]: async () => {
        await embedded[Symbol.asyncDispose]();
        await rm(dataDirectory, { recursive: true, force: true });
      },
    };
  }
  const name = `salient_empty_${process.pid}_${Date.now()}`;
  await onServer(server, `CREATE DATABASE ${name}`);
  return {
    connection: { connectionString: databaseOn(server, name) },
    [Symbol.asyncDispose]: () => onServer(server, `DROP DATABASE ${name} WITH (FORCE)`),
  };
}

/** The URL of another database of the same server. */
export function databaseOn(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Runs one statement in the database that the URL names. */
export async function onServer(serverUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

const TRANSACTION_CONTROL =
  /^\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE SAVEPOINT|SET LOCAL|SELECT set_config)\b/i;

/** Runs `work` and returns the statements that it sent, in order, without those of transaction control. */
export async function countStatements(db: Database, work: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = [];
  const stop = db.onStatement(({ sql }) => {
    if (!TRANSACTION_CONTROL.test(sql)) statements.push(sql);
  });
  try {
    await work();
  } finally {
    stop();
  }
  return statements;
}
