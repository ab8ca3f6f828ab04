import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type Caller, callersOf, type FactView, TestClock, uuidOf } from '../facts/support.js';
import { seeingClient } from '../facts/tables.js';
import { recall } from '../learning/support.js';
import { type Owner, type ProfileCaller, profileCallers, setPolicy } from '../profiles/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
let tenant: TestTenant;
let admin: Caller;
let profiles: ProfileCaller;
beforeAll(async () => {
  salient = await testApp({ now: clock.now });
  owner = await seeingClient();
});
beforeEach(async () => {
  tenant = await salient.tenant();
  ({ admin } = callersOf(salient, tenant));
  profiles = profileCallers(salient, tenant).admin;
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

const TENANT: Owner = { tenant: true };
const interest = (level: string) => ({ interests: [{ topic: 'patient safety', level }] });
const save = (of: Owner, fields: Record<string, unknown>, rescore: string) =>
  profiles.saved(of, { ...fields, rescore });

/** A fact's fingerprint after a read that writes what is stale. */
async function readAndStored(fact: FactView): Promise<string> {
  await recall(callersOf(salient, tenant).agent, { query: 'patient safety', mode: 'LEARN' });
  await salient.app.services.learner.flush();
  const { rows } = await owner.query(
    `SELECT encode(fingerprint, 'hex') AS fingerprint FROM fact_salience WHERE fact_id = $1`,
    [uuidOf(fact.id)],
  );
  return rows[0].fingerprint;
}

async function present(): Promise<string> {
  return (await profiles.effective())['fingerprint'] as string;
}

test.each(['RECALL_ONLY', 'LAZY'])(
  'a score that a change made right again, %s, is not stale by the next RECALL_ONLY',
  async (back) => {
    const fact = await admin.fact('Wards report patient safety');
    const begun = await present();
    await save(TENANT, interest('CRITICAL'), 'LAZY');
    await save(TENANT, { interests: [] }, back);
    expect(await present()).toBe(begun);
    await save(TENANT, interest('HIGH'), 'RECALL_ONLY');
    expect((await admin.find(fact.id))!.encodedImportance).toBe(fact.encodedImportance);
    expect(await readAndStored(fact)).toBe(begun);
    // A change that rescores takes it along.
    await save(TENANT, interest('CRITICAL'), 'LAZY');
    expect(await readAndStored(fact)).toBe(await present());
  },
);

test('a score that a LAZY change had no effect on is not stale by a RECALL_ONLY of a profile or of the policy', async () => {
  await setPolicy(salient, tenant, 'TENANT_ONLY', 'RECALL_ONLY');
  const { agentId } = tenant;
  const fact = await admin.fact('Wards report patient safety', { agentId });
  const begun = await readAndStored(fact);
  // Blocked by the policy.
  await save({ agentId }, interest('CRITICAL'), 'LAZY');
  await save(TENANT, { alpha: 0.5 }, 'RECALL_ONLY');
  expect(await readAndStored(fact)).toBe(begun);
  await setPolicy(salient, tenant, 'ADDITIVE_TOPICS', 'RECALL_ONLY');
  expect(await readAndStored(fact)).toBe(begun);
  expect((await admin.find(fact.id))!.encodedImportance).toBe(fact.encodedImportance);
});

test('a score that is stale stays so through a RECALL_ONLY, and is written by its profile on its next read', async () => {
  const fact = await admin.fact('Wards report patient safety');
  await save(TENANT, interest('CRITICAL'), 'LAZY');
  await save(TENANT, interest('HIGH'), 'RECALL_ONLY');
  expect(await readAndStored(fact)).toBe(await present());
});
