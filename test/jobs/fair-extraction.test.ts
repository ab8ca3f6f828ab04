import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openExtractions, type Transaction } from '../../src/db/index.js';
import { type TestApp, testApp } from '../support/app.js';
import { ownerClient } from '../support/database.js';

let salient: TestApp;
let client: pg.Client;
beforeAll(async () => {
  salient = await testApp();
  client = await ownerClient();
});
afterAll(async () => {
  await client.end();
  await salient[Symbol.asyncDispose]();
});

/** What the repositories need of Prisma, in the client's own transaction: nobody else sees its rows, and none stays. */
const inOwnTransaction = {
  $queryRaw: async (texts: TemplateStringsArray, ...values: unknown[]) => {
    const sql = texts.reduce((text, part, place) => `${text}$${place}${part}`);
    return (await client.query(sql, values)).rows;
  },
} as unknown as Transaction;

it('a tenant with many jobs that wait does not keep another’s one from being found', async () => {
  const [loud, quiet] = [await salient.tenant('loud'), await salient.tenant('quiet')];
  const idOf = async (slug: string) =>
    (await client.query('SELECT id FROM tenant WHERE slug = $1', [slug])).rows[0].id as string;
  const [loudId, quietId] = [await idOf(loud.slug), await idOf(quiet.slug)];
  await client.query('BEGIN');
  try {
    // Older than any that other tests make; the quiet tenant's is the newest of them.
    const add = async (tenantId: string, count: number, at: string) => {
      // The owner of the tables is held to row-level security as well.
      await client.query(`SET LOCAL ROLE salient_app; SET LOCAL app.tenant = '${tenantId}'`);
      await client.query(
        `INSERT INTO job (tenant_id, id, kind, status, subject_id, run_after, requested_at)
         SELECT $1::uuid, gen_random_uuid(), 'EXTRACTION', 'QUEUED', gen_random_uuid(), $3::timestamptz, $3::timestamptz
         FROM generate_series(1, $2::int)`,
        [tenantId, count, at],
      );
    };
    await add(loudId, 10_000, '2001-01-01T00:00:00Z');
    await add(quietId, 1, '2001-01-02T00:00:00Z');
    await client.query('SET LOCAL ROLE NONE; SET LOCAL ROLE salient_platform');
    const open = await openExtractions(inOwnTransaction, new Date('2001-02-01T00:00:00Z'), 20);
    expect(open).toHaveLength(20);
    // Jobs that other tests left may be among them.
    const own = open.map(({ tenantId }) => tenantId).filter((id) => id === loudId || id === quietId);
    expect(own.indexOf(quietId)).toBe(1);
    expect(own.filter((id) => id === loudId).length).toBeGreaterThan(5);
  } finally {
    await client.query('ROLLBACK');
  }
});
