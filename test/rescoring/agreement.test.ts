import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Caller, callersOf, type FactView, TestClock, uuidOf } from '../facts/support.js';
import { seeingClient } from '../facts/tables.js';
import { numbersOf, setNumbers } from '../learning/support.js';
import { type Owner, type ProfileCaller, profileCallers, setPolicy } from '../profiles/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { type ChangeView, changes, ended, startRescore } from './support.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
let tenant: TestTenant;
let admin: Caller;
let profiles: ProfileCaller;
beforeAll(async () => {
  salient = await testApp({ now: clock.now, rescoring: { factsAtATime: 3 } });
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

interface Preview {
  readonly affected: number;
  readonly raised: number;
  readonly lowered: number;
  readonly unchanged: number;
  readonly changes: { fact: { id: string }; before: number; after: number }[];
}

const PREVIEW = 'affected raised lowered unchanged changes { fact { id } before after }';

async function preview(of: Owner, fields: Record<string, unknown>): Promise<Preview> {
  const { previewSalienceProfile } = await profiles.query<{ previewSalienceProfile: Preview }>(
    `query ($input: SetSalienceProfileInput!) { previewSalienceProfile(input: $input, first: 100) { ${PREVIEW} } }`,
    { input: { owner: of, ...fields } },
  );
  return previewSalienceProfile;
}

async function previewPolicy(policy: string): Promise<Preview> {
  const { previewOverridePolicy } = await profiles.query<{ previewOverridePolicy: Preview }>(
    `query ($policy: OverridePolicy!) { previewOverridePolicy(policy: $policy, first: 100) { ${PREVIEW} } }`,
    { policy },
  );
  return previewOverridePolicy;
}

/** What was told, in the form of a preview. */
function summed(told: readonly ChangeView[], affected: number): Preview {
  const list = told.map((one) => ({ fact: { id: one.factId }, before: one.old!, after: one.new }));
  const raised = list.filter(({ before, after }) => after > before).length;
  return {
    affected,
    raised,
    lowered: list.length - raised,
    unchanged: affected - list.length,
    changes: list,
  };
}

const byId = ({ changes, ...counts }: Preview): Preview => ({
  ...counts,
  changes: [...changes].sort((a, b) => (a.fact.id < b.fact.id ? -1 : 1)),
});

/** What a rescoring told since then. */
async function rescored(cursor: string, jobId: string): Promise<ChangeView[]> {
  expect(await ended(admin, jobId)).toMatchObject({ status: 'SUCCEEDED' });
  return (await changes(admin, cursor)).changes.filter(({ cause }) => cause === 'RESCORE');
}

/** Facts with every history that their numbers can have: new, faded since, drifted from what was told, pinned. */
async function histories(): Promise<FactView[]> {
  const facts: FactView[] = [];
  for (const text of [
    'Patient safety comes first here',
    'Patient safety is trained every spring',
    'Nurses report patient safety weekly',
    'Invoices are printed on paper',
    'Invoices go to the third floor',
  ])
    facts.push(await admin.fact(text));
  await admin.pin(facts[2]!.id);
  // A snapshot that a consolidation refreshed, by less than is told.
  await setNumbers(owner, facts[1]!.id, { current: 0.85 });
  await setNumbers(owner, facts[4]!.id, { current: 0.8 });
  clock.advanceHours(50);
  facts.push(await admin.fact('Patient safety is new on the agenda', { agentId: tenant.agentId }));
  return facts;
}

const interest = (level: string) => ({ interests: [{ topic: 'patient safety', level }] });

describe('a preview', () => {
  test.each([
    ['raises', interest('CRITICAL')],
    ['lowers', { disinterests: [{ topic: 'patient safety', level: 'IGNORE' }] }],
    ['changes nothing that is scored', { persona: { name: 'Ward' } }],
  ] as const)('of a profile that %s tells what its rescoring tells', async (_what, fields) => {
    const facts = await histories();
    const { cursor } = await changes(admin);
    const expected = await preview({ tenant: true }, fields);
    const { rescoreJob, errors } = await profiles.set({ tenant: true }, fields);
    expect(errors).toEqual([]);
    const told = rescoreJob ? await rescored(cursor, rescoreJob.id) : [];
    expect(byId(expected)).toEqual(byId(summed(told, facts.length)));
    expect(told.length > 0).toBe(!('persona' in fields));
  });

  test('of a profile does not tell what a change before left stale, unless its rescoring does', async () => {
    await histories();
    await profiles.saved({ tenant: true }, { ...interest('CRITICAL'), rescore: 'RECALL_ONLY' });
    expect(await preview({ tenant: true }, { persona: { name: 'Ward' } })).toMatchObject({
      affected: 6,
      unchanged: 6,
      changes: [],
    });
    const { cursor } = await changes(admin);
    const fields = { alpha: 0.7 };
    const expected = await preview({ tenant: true }, fields);
    const { rescoreJob } = await profiles.set({ tenant: true }, fields);
    const told = await rescored(cursor, rescoreJob!.id);
    expect(told.length).toBeGreaterThan(0);
    expect(byId(expected)).toEqual(byId(summed(told, 6)));
  });

  test('of a policy tells what its rescoring tells', async () => {
    await histories();
    await profiles.saved({ agentId: tenant.agentId }, interest('CRITICAL'));
    await vi.waitUntil(async () => (await changes(admin)).changes.some(({ cause }) => cause === 'RESCORE'));
    const { cursor } = await changes(admin);
    const expected = await previewPolicy('TENANT_ONLY');
    const { rescoreJob } = await setPolicy(salient, tenant, 'TENANT_ONLY');
    const told = await rescored(cursor, rescoreJob!.id);
    expect(told).toHaveLength(1);
    expect(byId(expected)).toEqual(byId(summed(told, 6)));
    expect(await previewPolicy('TENANT_ONLY')).toMatchObject({ affected: 6, unchanged: 6, changes: [] });
  });
});

describe('the events of a fact', () => {
  test('begin each where the one before ended, whatever caused them', async () => {
    const facts = await histories();
    const save = async (fields: Record<string, unknown>) => {
      const { rescoreJob } = await profiles.set({ tenant: true }, fields);
      await ended(admin, rescoreJob!.id);
    };
    await save(interest('CRITICAL'));
    clock.advanceHours(30);
    const [first, , pinned] = facts as [FactView, FactView, FactView];
    await setNumbers(owner, first.id, { current: 1.1 });
    await admin.reinforce(first.id);
    clock.advanceHours(3);
    await setNumbers(owner, first.id, { current: 1.2 });
    await save(interest('HIGH'));
    await admin.unpin(pinned.id);
    clock.advanceHours(1);
    await admin.remember({ text: first.text });
    await admin.pin(first.id);
    const causes = new Set<string>();
    for (const { id } of facts) {
      const told = (await changes(admin)).changes.filter(({ factId }) => factId === id);
      let last: number | null = null;
      for (const event of told) {
        expect(event.old).toBe(last);
        last = event.new;
        causes.add(event.cause);
      }
      expect((await numbersOf(owner, id)).told).toBe(last);
    }
    expect([...causes].sort()).toEqual(expect.arrayContaining(['INGEST', 'MANUAL', 'PIN', 'RESCORE']));
  });
});

describe('a retired fact', () => {
  test('is scored by a rescoring like the others, and neither previewed nor told', async () => {
    const facts = await histories();
    const [wrong, replaced] = facts as [FactView, FactView];
    await admin.retire({ id: wrong.id }, 'WRONG');
    await admin.replace({ id: replaced.id }, 'Patient safety is trained every autumn');
    const { cursor } = await changes(admin);
    const expected = await preview({ tenant: true }, interest('CRITICAL'));
    expect(expected.affected).toBe(5);
    const { rescoreJob } = await profiles.set({ tenant: true }, interest('CRITICAL'));
    const told = await rescored(cursor, rescoreJob!.id);
    expect(byId(expected)).toEqual(byId(summed(told, 5)));
    const ids = told.map(({ factId }) => factId);
    expect(ids).not.toContain(wrong.id);
    expect(ids).not.toContain(replaced.id);
    // All that is stored was done; what was known is comparable with what is.
    expect(await ended(admin, rescoreJob!.id)).toMatchObject({
      total: 7,
      processed: 7,
      changed: told.length,
    });
    const fingerprint = (await profiles.effective())['fingerprint'];
    for (const fact of [wrong, replaced]) {
      const after = (await admin.find(fact.id))!;
      expect(after.importanceBreakdown.topicBoost).toBeGreaterThan(1);
      expect(after.encodedImportance).toBeGreaterThan(fact.encodedImportance);
      const { rows } = await owner.query(
        `SELECT encode(fingerprint, 'hex') AS fingerprint, retired FROM fact_salience WHERE fact_id = $1`,
        [uuidOf(fact.id)],
      );
      expect(rows).toEqual([{ fingerprint, retired: true }]);
    }
  });
});

describe('a rescoring that many asked for', () => {
  test('is for exactly what more than a hundred named', async () => {
    const { rows } = await owner.query<{ id: string }>(
      `INSERT INTO app_user (tenant_id, id, external_id, created_at, updated_at)
       SELECT $1::uuid, gen_random_uuid(), 'many-' || n, now(), now() FROM generate_series(1, 130) n RETURNING id`,
      [uuidOf(tenant.id)],
    );
    const idOf = (uuid: string) => Buffer.from(`User:${uuid}`).toString('base64');
    await admin.fact('Patient safety is for all');
    const named = await admin.fact('Patient safety is for me', { userId: idOf(rows[120]!.id) });
    const paired = await admin.fact('Patient safety is for us', {
      userId: tenant.userId,
      agentId: tenant.agentId,
    });
    await admin.fact('Patient safety is for the other', { userId: tenant.userId });
    await profiles.saved({ tenant: true }, { ...interest('CRITICAL'), rescore: 'RECALL_ONLY' });
    const targets = [
      ...rows.map(({ id }) => ({ agentId: null, userId: id })),
      { agentId: uuidOf(tenant.agentId), userId: uuidOf(tenant.userId) },
    ];
    await owner.query(
      `INSERT INTO job (tenant_id, id, kind, status, strategy, targets, run_after, requested_at)
       VALUES ($1, gen_random_uuid(), 'RESCORE', 'QUEUED', 'BACKGROUND', $2, $3, $3)`,
      [uuidOf(tenant.id), JSON.stringify(targets), clock.now()],
    );
    const { cursor } = await changes(admin);
    const { job, errors } = await startRescore(admin, { agentId: tenant.agentId });
    expect(errors).toEqual([]);
    const told = await rescored(cursor, job!.id);
    expect(await ended(admin, job!.id)).toMatchObject({ total: 2, processed: 2 });
    expect(told.map(({ factId }) => factId).sort()).toEqual([named.id, paired.id].sort());
  });
});
