import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { EmbeddedServer } from '../../src/db/embedded/embedded-server.js';
import { silentLog } from '../../src/db/log.js';
import { applyMigrations } from '../../src/db/migrate.js';
import { embeddedConnection } from '../../src/db/open.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** How test files reach the databases of the run; see test/support/database.ts. */
    salientDatabases: { kind: 'embedded' | 'postgres'; connections: pg.ClientConfig[] };
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Before the first test: builds `dist` (worker threads run from it) and starts the databases that the test files share.
 * Each file makes tenants of its own; that keeps them apart.
 *
 * SALIENT_TEST_DATABASE_URL names a PostgreSQL server on which one database is made for the run; without it an embedded
 * database runs in this process for each of vitest's workers, since one serves one connection at a time.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  build();
  const server = process.env['SALIENT_TEST_DATABASE_URL'];
  const databases =
    server === undefined
      ? await Promise.all(Array.from({ length: project.config.maxWorkers }, startEmbedded))
      : [await createDatabase(server)];
  for (const { connection } of databases) await applyMigrations({ connection, log: silentLog });
  project.provide('salientDatabases', {
    kind: server === undefined ? 'embedded' : 'postgres',
    connections: databases.map(({ connection }) => connection),
  });
  return async () => {
    await Promise.all(databases.map(({ remove }) => remove()));
  };
}

interface RunDatabase {
  readonly connection: pg.ClientConfig;
  readonly remove: () => Promise<void>;
}

async function startEmbedded(): Promise<RunDatabase> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'salient-test-'));
  const server = await EmbeddedServer.start({ dataDirectory, durable: false, log: silentLog });
  return {
    connection: embeddedConnection(server.host),
    remove: async () => {
      await server[Symbol.asyncDispose]();
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

async function createDatabase(serverUrl: string): Promise<RunDatabase> {
  const name = `salient_test_${process.pid}_${Date.now()}`;
  await onServer(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    connection: { connectionString: url.href },
    remove: () => onServer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`),
  };
}

async function onServer(serverUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Builds when a source is newer than the last build. A type error is for `npm run check` to report, not for tests. */
function build(): void {
  const stamp = join(root, 'dist/.built');
  const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs);
  const begun = new Date();
  if (existsSync(stamp) && statSync(stamp).mtimeMs > Math.max(...sources)) return;
  spawnSync('npx', ['tsc', '-p', 'tsconfig.build.json'], { cwd: root, encoding: 'utf8' });
  const assets = spawnSync('node', ['scripts/copy-assets.mjs'], { cwd: root, encoding: 'utf8' });
  if (assets.status !== 0) throw new Error(`The build failed: ${assets.stdout}${assets.stderr}`);
  writeFileSync(stamp, '');
  utimesSync(stamp, begun, begun);
}
