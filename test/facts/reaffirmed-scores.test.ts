import type pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { profileCallers } from '../profiles/support.js';
import { changes, ended, startRescore } from '../rescoring/support.js';
import { type TestApp, testApp } from '../support/app.js';
import { callersOf, TestClock } from './support.js';
import { seeingClient, snapshot } from './tables.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
beforeAll(async () => {
  salient = await testApp({ now: clock.now });
  owner = await seeingClient();
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

const TEXT = 'The contract was signed on paper';

test.each<[string, string[], string[], number]>([
  ['names fewer entities', ['Zanzibar Corp', 'Harbour'], [], 2],
  ['names the same', ['Zanzibar Corp'], ['Zanzibar Corp'], 2],
  ['names one that the stored fact does not', [], ['Zanzibar Corp'], 1],
])(
  'a fact that is reaffirmed by a statement that %s scores as a rescoring scores it',
  async (_, stored, said, boost) => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    await profileCallers(salient, tenant).admin.saved(
      { tenant: true },
      { persona: { identity: ['Zanzibar Corp'], selfRelevanceBoost: 2 } },
    );
    const fact = await admin.fact(TEXT, { entities: stored });
    clock.advanceHours(2);
    const repeated = await admin.fact(TEXT, { entities: said });
    expect(repeated.id).toBe(fact.id);
    const { rows } = await owner.query('SELECT encoded, reaffirmed FROM fact_salience WHERE tenant_id = $1', [
      Buffer.from(tenant.id, 'base64').toString().split(':')[1],
    ]);
    expect(rows).toEqual([{ encoded: boost, reaffirmed: true }]);
    const before = await snapshot(owner, tenant);
    const { cursor } = await changes(admin);
    const { job } = await startRescore(admin);
    expect(await ended(admin, job!.id)).toMatchObject({ status: 'SUCCEEDED', processed: 1, changed: 0 });
    expect((await changes(admin, cursor)).changes).toEqual([]);
    expect((await snapshot(owner, tenant))['fact_salience']).toEqual(before['fact_salience']);
  },
);
