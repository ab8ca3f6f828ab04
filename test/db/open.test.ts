import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { PooledDatabase } from '../../src/db/database.js';
import {
  DatabaseUnreachableError,
  openDatabase,
  PgvectorMissingError,
  PostgresTooOldError,
} from '../../src/db/index.js';
import { silentLog } from '../../src/db/log.js';
import { requireVersions } from '../../src/db/server-check.js';
import { UnavailableError } from '../../src/errors.js';
import { newId } from '../../src/ids.js';
import { databaseOn, isPostgres, ownerClient, sharedConnection } from '../support/database.js';

const superuserUrl = process.env['SALIENT_TEST_SUPERUSER_URL'];

/** A port on which nothing listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function failure(databaseUrl: string, connectTimeoutMs?: number): Promise<Error> {
  const error = await openDatabase({ databaseUrl, ...(connectTimeoutMs && { connectTimeoutMs }) }).catch(
    (e: unknown) => e,
  );
  expect(error).toBeInstanceOf(DatabaseUnreachableError);
  return error as Error;
}

describe('a server that cannot be used', () => {
  it('is named when nothing listens, without the password', async () => {
    const port = await freePort();
    const error = await failure(`postgres://someone:s3cret@127.0.0.1:${port}/memories`);
    expect(error.message).toContain(`127.0.0.1:${port}/memories`);
    expect(error.message).toContain('ECONNREFUSED');
    expect(JSON.stringify([error.message, error.stack, error.cause])).not.toContain('s3cret');
  });

  it('is named when it accepts and never answers', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const error = await failure(`postgres://someone:s3cret@127.0.0.1:${port}/memories`, 200);
    expect(error.message).toContain(`127.0.0.1:${port}/memories`);
    silent.close();
  });

  it('is reported when the URL is none, without the URL', async () => {
    const error = await failure('postgres://someone:s3cret@[bad');
    expect(error.message).toContain('not a valid URL');
    expect(JSON.stringify([error.message, error.stack, error.cause])).not.toContain('s3cret');
  });

  it.runIf(isPostgres)('is named when it knows neither the user nor the database', async () => {
    const url = new URL(process.env['SALIENT_TEST_DATABASE_URL']!);
    const address = `${url.host}/nowhere`;
    expect((await failure(databaseOn(url.href, 'nowhere'))).message).toContain(address);
    url.password = 's3cret';
    const error = await failure(databaseOn(url.href, 'nowhere'));
    expect(error.message).toMatch(/authentication|does not exist/);
    expect(error.message).not.toContain('s3cret');
  });

  it.each([
    ['PostgreSQL 14', { number: 140_011, version: '14.11', pgvector: '0.8.0' }, PostgresTooOldError],
    ['no pgvector', { number: 150_000, version: '15.0', pgvector: null }, PgvectorMissingError],
    [
      'a pgvector without halfvec',
      { number: 180_000, version: '18.0', pgvector: '0.6.2' },
      PgvectorMissingError,
    ],
  ])('is refused for %s', (_, server, refusal) => {
    expect(() => requireVersions(server)).toThrow(refusal);
  });

  it.each(['0.7.0', '0.8.1', '0.10.0', '1.0'])('is accepted with pgvector %s', (pgvector) => {
    expect(() => requireVersions({ number: 150_000, version: '15.0', pgvector })).not.toThrow();
  });
});

describe('openDatabase', () => {
  it('needs to know which database', async () => {
    await expect(openDatabase({})).rejects.toThrow(TypeError);
  });
});

describe('a database that went away', () => {
  it('makes requests fail as unavailable, to be sent again', async () => {
    const connection = { host: '127.0.0.1', port: await freePort(), user: 'nobody', database: 'none' };
    const db = new PooledDatabase(
      'postgres',
      { connection, size: 1, connectTimeoutMs: 500, log: silentLog },
      async () => {},
    );
    const error = await db.withTenant(newId(), async () => 1).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
    await db[Symbol.asyncDispose]();
  });

  it.runIf(isPostgres)('serves again when its connections come back', async () => {
    const connection = sharedConnection();
    const db = new PooledDatabase(
      'postgres',
      { connection, size: 2, connectTimeoutMs: 5_000, log: silentLog },
      async () => {},
    );
    const owner = await ownerClient();
    const broken = db.withTenant(newId(), async (tx) => {
      const [row] = await tx.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
      await owner.query('SELECT pg_terminate_backend($1)', [row!.pid]);
      await tx.$queryRaw`SELECT 1`;
    });
    await expect(broken).rejects.toBeInstanceOf(UnavailableError);
    expect(await db.withTenant(newId(), async () => 'back')).toBe('back');
    await owner.end();
    await db[Symbol.asyncDispose]();
  });
});

describe('a connection as superuser', () => {
  it.runIf(superuserUrl !== undefined)("does not see other tenants' rows either", async () => {
    const database = new URL(sharedConnection().connectionString!).pathname.slice(1);
    const connection = { connectionString: databaseOn(superuserUrl!, database) };
    const db = new PooledDatabase(
      'postgres',
      { connection, size: 1, connectTimeoutMs: 5_000, log: silentLog },
      async () => {},
    );
    const tenantId = newId();
    await db.withTenant(
      tenantId,
      (tx) => tx.$executeRaw`
        INSERT INTO tenant (id, slug, name, hash_key, created_at, updated_at)
        VALUES (${tenantId}::uuid, ${`s-${tenantId}`}, 'Mine', '\\x00', now(), now())`,
    );
    expect(await db.withTenant(tenantId, (tx) => tx.tenant.count())).toBe(1);
    expect(await db.withTenant(newId(), (tx) => tx.tenant.count({ where: { id: tenantId } }))).toBe(0);
    await db[Symbol.asyncDispose]();
  });
});
