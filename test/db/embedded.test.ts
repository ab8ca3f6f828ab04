import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { EmbeddedServer } from '../../src/db/embedded/embedded-server.js';
import { maintain } from '../../src/db/embedded/maintenance.js';
import { packTemplate, templateMadeBy, unpackTemplate } from '../../src/db/embedded/template.js';
import { DataDirectoryInUseError, migrateDatabase, openDatabase } from '../../src/db/index.js';
import { silentLog } from '../../src/db/log.js';
import { embeddedConnection } from '../../src/db/open.js';
import { newId } from '../../src/ids.js';
import { isPostgres } from '../support/database.js';

// These start databases of their own, each a second of work on a free machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** A migrated data directory that each test copies: making one takes some seconds. */
let migrated: string;
let directory: string;

beforeAll(async () => {
  migrated = await mkdtemp(join(tmpdir(), 'salient-embedded-'));
  await migrateDatabase({ dataDirectory: migrated, durable: false });
});
afterAll(() => rm(migrated, { recursive: true, force: true }));
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salient-embedded-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function copyOfMigrated(): Promise<string> {
  await cp(migrated, directory, { recursive: true });
  return directory;
}

async function query(host: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(embeddedConnection(host));
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function start(dataDirectory: string, durable = false): Promise<EmbeddedServer> {
  return EmbeddedServer.start({ dataDirectory, durable, log: silentLog });
}

describe.skipIf(isPostgres)('a data directory', () => {
  it('is private, keeps its data, and is free and tidy after closing', async () => {
    const dataDirectory = join(await copyOfMigrated(), 'a', 'b');
    await cp(join(directory, 'pg'), join(dataDirectory, 'pg'), { recursive: true });
    const tenantId = newId();
    {
      await using db = await openDatabase({ dataDirectory, durable: false });
      expect(db.kind).toBe('embedded');
      await db.withTenant(
        tenantId,
        (tx) => tx.$executeRaw`
          INSERT INTO tenant (id, slug, name, hash_key, created_at, updated_at)
          VALUES (${tenantId}::uuid, 'kept', 'Kept', '\\x00', now(), now())`,
      );
      await expect(openDatabase({ dataDirectory })).rejects.toThrow(DataDirectoryInUseError);
    }
    expect((await readdir(dataDirectory)).sort()).toEqual(['lock', 'pg']);
    expect(await readdir(join(dataDirectory, 'lock'))).toEqual([]);
    expect((await stat(join(dataDirectory, 'lock'))).mode & 0o077).toBe(0);
    await using db = await openDatabase({ dataDirectory, durable: false });
    const found = await db.withTenant(tenantId, (tx) => tx.tenant.findMany({ select: { slug: true } }));
    expect(found).toEqual([{ slug: 'kept' }]);
  });

  it('that is too deep for sockets works all the same', async () => {
    const dataDirectory = join(directory, 'x'.repeat(120));
    await cp(join(migrated, 'pg'), join(dataDirectory, 'pg'), { recursive: true });
    await using server = await start(dataDirectory);
    expect(server.host.startsWith(dataDirectory)).toBe(false);
    expect((await stat(server.host)).mode & 0o077).toBe(0);
    expect(await query(server.host, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('of another PostgreSQL, or a file, is refused by name', async () => {
    const dataDirectory = await copyOfMigrated();
    await writeFile(join(dataDirectory, 'pg', 'PG_VERSION'), '17\n');
    await expect(start(dataDirectory)).rejects.toMatchObject({
      code: 'DATA_DIRECTORY_UNUSABLE',
      message: expect.stringMatching(/holds data of PostgreSQL 17.*reads 18/),
    });
    const file = join(directory, 'file');
    await writeFile(file, '');
    await expect(start(file)).rejects.toMatchObject({ code: 'DATA_DIRECTORY_UNUSABLE' });
  });

  it('whose first start was cut off starts anew', async () => {
    await cp(join(migrated, 'pg', 'base'), join(directory, 'pg.new-00000000', 'base'), { recursive: true });
    await using server = await start(directory);
    expect(await query(server.host, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect((await readdir(directory)).filter((name) => name.startsWith('pg.new'))).toEqual([]);
  });
});

describe.skipIf(isPostgres)('a process that is killed', () => {
  it('has lost nothing that was committed', async () => {
    const dataDirectory = await copyOfMigrated();
    const script = `
      import { openDatabase } from './dist/db/index.js';
      const [dataDirectory] = process.argv.slice(1);
      const db = await openDatabase({ dataDirectory });
      for (let n = 1; ; n++) {
        await db.withTenant('${newId()}', (tx) => tx.$executeRaw\`INSERT INTO ledger VALUES (\${n}::int)\`);
        process.stdout.write(n + '\\n');
      }`;
    {
      await using server = await start(dataDirectory);
      await query(server.host, 'CREATE TABLE ledger (n int); GRANT ALL ON ledger TO salient_app');
    }
    const child = spawn('node', ['--input-type=module', '-e', script, dataDirectory]);
    let acknowledged = 0;
    let output = '';
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (data: Buffer) => {
        output += data.toString();
        const lines = output.split('\n');
        acknowledged = Number(lines.at(-2) ?? 0);
        if (acknowledged >= 30) child.kill('SIGKILL');
      });
      child.once('exit', () => resolve());
    });
    expect(acknowledged).toBeGreaterThanOrEqual(30);
    await using server = await start(dataDirectory);
    const rows = await query(server.host, 'SELECT n FROM ledger ORDER BY n');
    expect(rows.length).toBeGreaterThanOrEqual(acknowledged);
    expect(rows.map((row) => row['n'])).toEqual(rows.map((_, index) => index + 1));
  });
});

describe.skipIf(isPostgres)('the thread of the database', () => {
  it('is started again when it crashes, with all that was committed', async () => {
    const log: string[] = [];
    await using server = await EmbeddedServer.start({
      dataDirectory: await copyOfMigrated(),
      durable: false,
      log: (level) => log.push(level),
    });
    await query(server.host, 'CREATE TABLE survivor (n int); INSERT INTO survivor VALUES (1)');
    await server.crash();
    let rows: Record<string, unknown>[] = [];
    for (let attempt = 0; attempt < 200 && rows.length === 0; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      rows = await query(server.host, 'SELECT n FROM survivor').catch(() => []);
    }
    expect(rows).toEqual([{ n: 1 }]);
    expect(log).toEqual(['error', 'warn']);
  });

  it('takes deep expressions', async () => {
    await using server = await start(await copyOfMigrated());
    const deep = `SELECT ${'('.repeat(2000)}1${')'.repeat(2000)} AS one`;
    expect(await query(server.host, deep)).toEqual([{ one: 1 }]);
  });

  it.each([true, false])('waits for the disk at each commit when durable (%s)', async (durable) => {
    await using server = await start(await copyOfMigrated(), durable);
    const rows = await query(
      server.host,
      `SELECT current_setting('fsync') AS fsync, current_setting('wal_sync_method') AS method`,
    );
    expect(rows).toEqual([
      durable ? { fsync: 'on', method: 'fsync' } : { fsync: 'off', method: 'fdatasync' },
    ]);
  });
});

describe.skipIf(isPostgres)('several clients', () => {
  it('see only whole transactions of each other, and one that disappears is undone', async () => {
    await using server = await start(await copyOfMigrated());
    await query(server.host, 'CREATE TABLE counter (n int); INSERT INTO counter VALUES (0)');
    const clients = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const client = new pg.Client(embeddedConnection(server.host));
        client.on('error', () => {});
        await client.connect();
        return client;
      }),
    );
    const increment = async (client: pg.Client) => {
      for (let round = 0; round < 20; round++) {
        await client.query('BEGIN');
        const { rows } = await client.query('SELECT n FROM counter WHERE n >= $1', [0]);
        await client.query('UPDATE counter SET n = $1', [rows[0].n + 1]);
        await client.query('COMMIT');
      }
    };
    await Promise.all(clients.map(increment));
    const [leaver, ...others] = clients;
    await leaver!.query('BEGIN');
    await leaver!.query('UPDATE counter SET n = -1');
    (leaver as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    const { rows } = await others[0]!.query('SELECT n FROM counter');
    expect(rows).toEqual([{ n: 120 }]);
    await Promise.all(others.map((client) => client.end()));
  });
});

/** A message of PostgreSQL's protocol: its letter, its length, its fields. Texts end with a zero byte. */
function message(letter: string, ...fields: (string | number[])[]): Buffer {
  const body = Buffer.concat(
    fields.map((field) => (typeof field === 'string' ? Buffer.from(`${field}\0`) : Buffer.from(field))),
  );
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(letter), length, body]);
}

describe.skipIf(isPostgres)('a statement with parameters outside of a transaction', () => {
  /** A client that has sent the first of its messages and lets another client come between. */
  async function halfSent(host: string): Promise<{ socket: Socket; received: () => string }> {
    const socket = connect(join(host, '.s.PGSQL.5432'));
    let received = '';
    socket.on('data', (data) => {
      received += data.toString('latin1');
    });
    const parameters = Buffer.from('\0\u0003\0\0user\0postgres\0database\0postgres\0\0', 'latin1');
    const start = Buffer.alloc(4);
    start.writeInt32BE(parameters.length + 4);
    socket.write(Buffer.concat([start, parameters]));
    await vi.waitUntil(() => received.includes('Z'), { timeout: 60_000 });
    received = '';
    socket.write(Buffer.concat([message('P', '', "SELECT 'mine' AS answer", [0, 0]), message('H')]));
    await vi.waitUntil(() => received.startsWith('1'), { timeout: 60_000 });
    return { socket, received: () => received };
  }

  it("is not replaced by another client's", async () => {
    await using server = await start(await copyOfMigrated());
    const { socket, received } = await halfSent(server.host);
    const other = query(server.host, "SELECT 'theirs' AS answer");
    await new Promise((resolve) => setTimeout(resolve, 200));
    const none = [0, 0];
    socket.write(
      Buffer.concat([message('B', '', '', none, none, none), message('E', '', [0, 0, 0, 0]), message('S')]),
    );
    expect(await other).toEqual([{ answer: 'theirs' }]);
    await vi.waitUntil(() => received().includes('Z'), { timeout: 60_000 });
    expect(received()).toContain('mine');
    socket.destroy();
  });

  it('does not stop the others when its client leaves in the middle', async () => {
    await using server = await start(await copyOfMigrated());
    const { socket } = await halfSent(server.host);
    const other = query(server.host, "SELECT 'theirs' AS answer");
    socket.destroy();
    expect(await other).toEqual([{ answer: 'theirs' }]);
  });
});

describe.skipIf(isPostgres)('maintenance', () => {
  it('vacuums and analyzes what changed, and writes a checkpoint when the log is long', async () => {
    await using server = await start(await copyOfMigrated());
    const connection = embeddedConnection(server.host);
    expect((await maintain(connection)).vacuumed).toEqual([]);
    await query(
      server.host,
      `CREATE TABLE churn AS SELECT n, repeat('x', 1000) AS filler FROM generate_series(1, 20000) n`,
    );
    const grown = await maintain(connection);
    expect(grown).toEqual({ vacuumed: [], analyzed: ['public.churn'], checkpointed: true });
    await query(server.host, 'DELETE FROM churn WHERE n % 2 = 0');
    const shrunk = await maintain(connection);
    expect(shrunk.vacuumed).toEqual(['public.churn']);
    expect(await maintain(connection)).toEqual({ vacuumed: [], analyzed: [], checkpointed: false });
    const [row] = await query(
      server.host,
      `SELECT reltuples::int AS rows FROM pg_class WHERE relname = 'churn'`,
    );
    expect(row).toEqual({ rows: 10000 });
  });
});

describe.skipIf(isPostgres)('the template of a cluster', () => {
  it('is made by the packages that are installed', async () => {
    const version = async (name: string) =>
      (JSON.parse(await readFile(`node_modules/${name}/package.json`, 'utf8')) as { version: string })
        .version;
    const names = ['@electric-sql/pglite', '@electric-sql/pglite-pgvector'];
    const versions = await Promise.all(names.map(async (name) => `${name}@${await version(name)}`));
    expect(await templateMadeBy()).toBe(versions.join(' '));
  });

  it('gives back what was packed, or nothing when it is damaged', async () => {
    const source = join(directory, 'source');
    await mkdir(join(source, 'base', 'empty'), { recursive: true });
    await writeFile(join(source, 'base', 'one'), Buffer.alloc(100_000, 'abc'));
    await writeFile(join(source, 'nothing'), '');
    await writeFile(join(source, 'postmaster.pid'), '1');
    const packed = await packTemplate(source, 'test');
    const template = join(directory, 'template');
    await writeFile(template, packed);
    const target = join(directory, 'unpacked');
    expect(await unpackTemplate(target, template)).toBe(true);
    expect((await readdir(target, { recursive: true })).sort()).toEqual([
      'base',
      'base/empty',
      'base/one',
      'nothing',
    ]);
    expect(await readFile(join(target, 'base', 'one'))).toEqual(Buffer.alloc(100_000, 'abc'));
    expect((await stat(target)).mode & 0o077).toBe(0);

    for (const damaged of [packed.subarray(0, packed.length / 2), Buffer.from('nonsense')]) {
      await writeFile(template, damaged);
      const other = join(directory, 'other');
      expect(await unpackTemplate(other, template)).toBe(false);
      await expect(stat(other)).rejects.toThrow();
    }
    expect(await unpackTemplate(join(directory, 'none'), join(directory, 'missing'))).toBe(false);
  });
});
