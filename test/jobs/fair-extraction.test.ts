import { afterAll, beforeAll, expect, it } from 'vitest';
import { openExtractions } from '../../src/db/index.js';
import { type TestApp, testApp } from '../support/app.js';
import { ownerClient } from '../support/database.js';

let salient: TestApp;
beforeAll(async () => {
  salient = await testApp();
});
afterAll(() => salient[Symbol.asyncDispose]());

it('a tenant with many jobs that wait does not keep another’s one from being found', async () => {
  const [loud, quiet] = [await salient.tenant('loud'), await salient.tenant('quiet')];
  const client = await ownerClient();
  try {
    const idOf = async (slug: string) =>
      (await client.query('SELECT id FROM tenant WHERE slug = $1', [slug])).rows[0].id as string;
    const [loudId, quietId] = [await idOf(loud.slug), await idOf(quiet.slug)];
    // Older than any that other tests make; the quiet tenant's is the newest of them.
    const add = (tenantId: string, count: number, at: string) =>
      client.query(
        `INSERT INTO job (tenant_id, id, kind, status, subject_id, run_after, requested_at)
         SELECT $1::uuid, gen_random_uuid(), 'EXTRACTION', 'QUEUED', gen_random_uuid(), $3::timestamptz, $3::timestamptz
         FROM generate_series(1, $2::int)`,
        [tenantId, count, at],
      );
    await add(loudId, 10_000, '2001-01-01T00:00:00Z');
    await add(quietId, 1, '2001-01-02T00:00:00Z');
    const open = await salient.app.services.db.withPlatform((tx) =>
      openExtractions(tx, new Date('2001-02-01T00:00:00Z'), 20),
    );
    expect(open).toHaveLength(20);
    expect(open[1]?.tenantId).toBe(quietId);
    expect(open.filter(({ tenantId }) => tenantId === loudId)).toHaveLength(19);
    await client.query('DELETE FROM job WHERE tenant_id IN ($1, $2)', [loudId, quietId]);
  } finally {
    await client.end();
  }
});
