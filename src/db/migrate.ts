import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { DatabaseAheadError, MigrationEditedError, MigrationFailedError } from './errors.js';
import type { DatabaseLog } from './log.js';
import { MIGRATIONS_DIRECTORY, type MigrationFile, readMigrations } from './migration-files.js';
import { openSchemaEngine } from './schema-engine.js';
import { connectClient } from './server-check.js';

/** The first half of Salient's advisory locks; the second says what for. */
const LOCK_CLASS = 0x5a11e47;
const LOCK_MIGRATE = 1;
/** Another server may be migrating: wait for it this long. */
const LOCK_WAIT_MS = 10 * 60_000;
const LOCK_POLL_MS = 250;

/** All that the engine needs to know in order to run scripts. */
const DATASOURCE = 'datasource db {\n  provider = "postgresql"\n}\n';
const NO_FILTER = { externalTables: [], externalEnums: [] };

export interface MigrateOptions {
  readonly connection: pg.ClientConfig;
  readonly log: DatabaseLog;
  /** Default: the migrations of this package. */
  readonly directory?: string;
}

/** What `_prisma_migrations` says, compared with the files. */
interface History {
  readonly pending: readonly MigrationFile[];
  /** Applied migrations whose file has another text by now. */
  readonly edited: readonly string[];
}

/**
 * Brings a database to the newest migration. Each migration is one transaction together with its record, so one that
 * fails, or a process that is killed, leaves the database as it was before it. Servers that start together wait for
 * each other. Migrations therefore may not use what PostgreSQL refuses inside a transaction (CREATE INDEX
 * CONCURRENTLY).
 *
 * Runs as the connecting user, who owns the tables.
 *
 * @returns the names of the migrations applied now
 * @throws DatabaseAheadError
 * @throws MigrationEditedError
 * @throws MigrationFailedError
 */
export async function applyMigrations(options: MigrateOptions): Promise<string[]> {
  const files = await readMigrations(options.directory ?? MIGRATIONS_DIRECTORY);
  const client = await connectClient(options.connection);
  try {
    const before = await compareHistory(client, files);
    if (before.edited.length > 0) throw new MigrationEditedError(before.edited);
    if (before.pending.length === 0) return [];
    await waitForLock(client, options.log);
    // Another server may have applied them meanwhile.
    const { pending } = await compareHistory(client, files);
    return pending.length === 0 ? [] : await applyPending(options, files, pending);
  } finally {
    // Closing the session frees the lock.
    await client.end();
  }
}

async function compareHistory(client: pg.Client, files: readonly MigrationFile[]): Promise<History> {
  const table = await client.query<{ found: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS found`,
  );
  if (!table.rows[0]?.found) return { pending: files, edited: [] };
  const records = await client.query<{ name: string; checksum: string; finished: boolean }>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
       FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  const failed = records.rows.find((record) => !record.finished);
  if (failed !== undefined) {
    throw new MigrationFailedError(
      failed.name,
      `The migration ${failed.name} began in this database and did not finish. Undo by hand what it did, or restore a backup; then mark it with "prisma migrate resolve --rolled-back ${failed.name}" and start again.`,
    );
  }
  const known = new Map(files.map((file) => [file.name, file]));
  const unknown = records.rows.filter((record) => !known.has(record.name)).map((record) => record.name);
  if (unknown.length > 0) throw new DatabaseAheadError(unknown);
  const applied = new Map(records.rows.map((record) => [record.name, record.checksum]));
  return {
    pending: files.filter((file) => !applied.has(file.name)),
    edited: files
      .filter((file) => applied.has(file.name) && applied.get(file.name) !== file.checksum)
      .map((file) => file.name),
  };
}

async function applyPending(
  options: MigrateOptions,
  files: readonly MigrationFile[],
  pending: readonly MigrationFile[],
): Promise<string[]> {
  await using session = await openSchemaEngine(options.connection, DATASOURCE);
  const { engine, client } = session;
  const applied: string[] = [];
  for (const migration of pending) {
    options.log('info', 'applying a migration', { migration: migration.name });
    await client.query('BEGIN');
    try {
      // The engine applies all that are pending, so it is shown one more each time.
      const visible = files.filter((file) => file.name <= migration.name || applied.includes(file.name));
      await engine.applyMigrations({ migrationsList: migrationsList(visible), filters: NO_FILTER });
      await commit(client);
    } catch (thrown) {
      await client.query('ROLLBACK').catch(() => {});
      const error = session.scriptError() ?? thrown;
      throw new MigrationFailedError(
        migration.name,
        `The migration ${migration.name} failed and was undone; the database is as it was before: ${reasonOf(error)}`,
        { cause: error },
      );
    }
    applied.push(migration.name);
  }
  return applied;
}

/** PostgreSQL answers COMMIT with ROLLBACK when a statement had failed. */
async function commit(client: pg.Pool): Promise<void> {
  const result = await client.query('COMMIT');
  if (result.command !== 'COMMIT') throw new Error('a statement failed');
}

function migrationsList(files: readonly MigrationFile[]) {
  return {
    baseDir: 'prisma/migrations',
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
    shadowDbInitScript: '',
    migrationDirectories: files.map((file) => ({
      path: file.name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value: file.sql } },
    })),
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Takes the lock by asking again and again: a statement that waits inside the server would hold a snapshot, for which
 * some migrations would wait in turn.
 */
async function waitForLock(client: pg.Client, log: DatabaseLog): Promise<void> {
  const deadline = Date.now() + LOCK_WAIT_MS;
  for (let told = false; ; told = true) {
    const answer = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS locked', [
      LOCK_CLASS,
      LOCK_MIGRATE,
    ]);
    if (answer.rows[0]?.locked) return;
    if (Date.now() > deadline) {
      throw new MigrationFailedError('', 'Another process has been migrating the database for ten minutes.');
    }
    if (!told) log('info', 'waiting for another process that migrates the database', {});
    await sleep(LOCK_POLL_MS);
  }
}
