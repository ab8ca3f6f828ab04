import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DatabaseAheadError, MigrationFailedError } from '../../src/db/index.js';
import { silentLog } from '../../src/db/log.js';
import { applyMigrations } from '../../src/db/migrate.js';
import { MIGRATIONS_DIRECTORY, readMigrations } from '../../src/db/migration-files.js';
import { emptyDatabase, isPostgres } from '../support/database.js';

let database: Awaited<ReturnType<typeof emptyDatabase>>;
let client: pg.Client;
let directory: string;

beforeAll(async () => {
  database = await emptyDatabase();
  client = new pg.Client(database.connection);
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await client.query('DROP TABLE IF EXISTS _prisma_migrations, item, other');
  await client.query('DROP FUNCTION IF EXISTS shout(text)');
  directory = await mkdtemp(join(tmpdir(), 'salient-migrations-'));
  return () => rm(directory, { recursive: true, force: true });
});

async function write(name: string, sql: string): Promise<void> {
  await mkdir(join(directory, name), { recursive: true });
  await writeFile(join(directory, name, 'migration.sql'), sql);
}

function migrate(log = silentLog): Promise<string[]> {
  return applyMigrations({ connection: database.connection, log, directory });
}

async function tables(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1`,
  );
  return rows.map((row) => row.name);
}

describe('migrations', () => {
  it('are applied in order, once, and recorded as the Prisma CLI records them', async () => {
    await write('0002_more', 'ALTER TABLE item ADD COLUMN more text;');
    await write('0001_first', 'CREATE TABLE item (id int PRIMARY KEY);');
    expect(await migrate()).toEqual(['0001_first', '0002_more']);
    expect(await migrate()).toEqual([]);
    await write('0003_other', 'CREATE TABLE other (id int);');
    expect(await migrate()).toEqual(['0003_other']);
    const { rows } = await client.query(
      'SELECT migration_name, finished_at IS NOT NULL AS finished, applied_steps_count, checksum FROM _prisma_migrations ORDER BY started_at',
    );
    const files = await readMigrations(directory);
    expect(rows).toEqual(
      files.map(({ name, checksum }) => ({
        migration_name: name,
        finished: true,
        applied_steps_count: 1,
        checksum,
      })),
    );
  });

  it('may hold semicolons inside of functions, strings and comments', async () => {
    await write(
      '0001_function',
      `CREATE TABLE item (note text DEFAULT 'a;b'); -- not the end; really
       CREATE FUNCTION shout(t text) RETURNS text LANGUAGE plpgsql AS $$
       BEGIN
         IF t IS NULL THEN RETURN ';'; END IF;
         RETURN upper(t);
       END $$;
       INSERT INTO item DEFAULT VALUES;`,
    );
    await migrate();
    const { rows } = await client.query(`SELECT shout(note) AS shouted FROM item`);
    expect(rows).toEqual([{ shouted: 'A;B' }]);
  });

  it('leave nothing behind when one fails, and tell which and why', async () => {
    await write('0001_first', 'CREATE TABLE item (id int PRIMARY KEY);');
    await write('0002_broken', 'CREATE TABLE other (id int); INSERT INTO item VALUES (1), (1);');
    const error = await migrate().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(MigrationFailedError);
    expect(error).toMatchObject({ code: 'MIGRATION_FAILED', migration: '0002_broken' });
    expect((error as Error).message).toMatch(/0002_broken.*duplicate key/s);
    expect(await tables()).toEqual(['_prisma_migrations', 'item']);

    await write('0002_broken', 'CREATE TABLE other (id int);');
    expect(await migrate()).toEqual(['0002_broken']);
  });

  it('stop at the record of one that another tool left unfinished', async () => {
    await write('0001_first', 'CREATE TABLE item (id int PRIMARY KEY);');
    await migrate();
    await client.query('UPDATE _prisma_migrations SET finished_at = NULL');
    await write('0002_other', 'CREATE TABLE other (id int);');
    const error = await migrate().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'MIGRATION_FAILED', migration: '0001_first' });
    expect((error as Error).message).toContain('prisma migrate resolve --rolled-back 0001_first');
    expect(await tables()).toEqual(['_prisma_migrations', 'item']);
  });

  it('run again when they were rolled back', async () => {
    await write('0001_first', 'CREATE TABLE item (id int PRIMARY KEY);');
    await migrate();
    await client.query('DROP TABLE item');
    await client.query('UPDATE _prisma_migrations SET rolled_back_at = now()');
    expect(await migrate()).toEqual(['0001_first']);
  });

  it('refuse a database that a newer version has migrated', async () => {
    await write('0001_first', 'CREATE TABLE item (id int PRIMARY KEY);');
    await write('0002_newer', 'CREATE TABLE other (id int);');
    await migrate();
    await rm(join(directory, '0002_newer'), { recursive: true });
    const error = await migrate().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DatabaseAheadError);
    expect(error).toMatchObject({ code: 'DATABASE_AHEAD', migrations: ['0002_newer'] });
  });

  it('refuse one that was edited after it had been applied: the tables are not what the code expects', async () => {
    await write('0001_first', 'CREATE TABLE item (id int PRIMARY KEY);');
    await migrate();
    await write('0001_first', 'CREATE TABLE item (id bigint PRIMARY KEY);');
    const error = await migrate().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'MIGRATION_EDITED', migrations: ['0001_first'] });
  });

  it.runIf(isPostgres)('are applied once by servers that start together', async () => {
    await write('0001_first', 'CREATE TABLE item (id int PRIMARY KEY); SELECT pg_sleep(0.3);');
    const applied = await Promise.all([migrate(), migrate(), migrate()]);
    expect(applied.flat()).toEqual(['0001_first']);
  });
});

describe('the migrations of this package', () => {
  it('are read from beside the build as well', async () => {
    const script = `import('./dist/db/migration-files.js').then((m) => console.log(m.MIGRATIONS_DIRECTORY))`;
    const { stdout } = await promisify(execFile)('node', ['-e', script]);
    expect(stdout.trim()).toBe(MIGRATIONS_DIRECTORY);
    expect((await readMigrations(MIGRATIONS_DIRECTORY))[0]?.name).toBe('0001_initial');
  });
});
