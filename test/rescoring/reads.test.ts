import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Caller, callersOf, type FactView, TestClock, uuidOf } from '../facts/support.js';
import { seeingClient, snapshot } from '../facts/tables.js';
import { numbersOf, recall } from '../learning/support.js';
import { type ProfileCaller, profileCallers } from '../profiles/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { isPostgres } from '../support/database.js';
import { type ChangeView, changes, listJobs } from './support.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
let tenant: TestTenant;
let admin: Caller;
let agent: Caller;
let profiles: ProfileCaller;
beforeAll(async () => {
  salient = await testApp({ now: clock.now });
  owner = await seeingClient();
});
beforeEach(async () => {
  tenant = await salient.tenant();
  ({ admin, agent } = callersOf(salient, tenant));
  profiles = profileCallers(salient, tenant).admin;
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

const SAFETY = 'patient safety';
const INTEREST = { interests: [{ topic: SAFETY, level: 'CRITICAL' }] };

/** Two facts that any query for wards finds alike; the second is about the topic. */
async function pair(): Promise<[FactView, FactView]> {
  return [await admin.fact('Wards count the linen weekly'), await admin.fact('Wards report patient safety')];
}

async function fingerprintOf(fact: FactView): Promise<string> {
  const { rows } = await owner.query(
    `SELECT encode(fingerprint, 'hex') AS fingerprint FROM fact_salience WHERE fact_id = $1`,
    [uuidOf(fact.id)],
  );
  return rows[0].fingerprint;
}

/** What is stored of every fact as far as rescoring writes it. */
async function encodings(): Promise<unknown[]> {
  const { rows } = await owner.query(
    `SELECT fact_id, encoded, topic_boost, decay_resistance, encode(fingerprint, 'hex'), scored_revision
     FROM fact_salience WHERE tenant_id = $1 ORDER BY fact_id`,
    [uuidOf(tenant.id)],
  );
  return rows;
}

/** Recalls in LEARN mode, and waits until what that taught is written. */
async function learn(input: Record<string, unknown> = {}, from = salient, key = tenant.keys.AGENT) {
  const { recall } = await from.ask<{
    recall: { items: { score: number; node: { id: string; importance: number } }[] };
  }>({
    key,
    query: `query ($input: RecallInput!) { recall(input: $input) {
      items { score node { ... on Fact { id importance } } } } }`,
    variables: { input: { sources: ['FACT'], mode: 'LEARN', ...input } },
  });
  await from.app.services.learner.flush();
  return recall.items;
}

async function rescored(after: string): Promise<ChangeView[]> {
  return (await changes(admin, after)).changes.filter(({ cause }) => cause === 'RESCORE');
}

describe('RECALL_ONLY', () => {
  test('leaves stored scores as they are, for good, and recall ranks by the new profile', async () => {
    const [linen, safety] = await pair();
    const rank = async () =>
      (await recall(admin, { query: 'wards' })).map(({ node, score }) => ({ node, score }));
    const scoreOf = (ranked: Awaited<ReturnType<typeof rank>>, fact: FactView) =>
      ranked.find(({ node }) => node.id === fact.id)!.score;
    const before = await rank();
    const begun = await encodings();
    const { rescoreJob, errors } = await profiles.set(
      { tenant: true },
      { ...INTEREST, rescore: 'RECALL_ONLY' },
    );
    expect(errors).toEqual([]);
    expect(rescoreJob).toBeNull();
    const { cursor } = await changes(admin);
    const after = await rank();
    expect(scoreOf(after, safety)).toBeGreaterThan(scoreOf(before, safety));
    expect(scoreOf(after, linen)).toBeCloseTo(scoreOf(before, linen), 12);
    // Neither reading nor learning makes them another.
    expect((await admin.find(safety.id))!).toEqual(safety);
    await learn({ query: 'wards' });
    expect(await numbersOf(owner, safety.id)).toMatchObject({ encoded: safety.encodedImportance });
    expect(await rescored(cursor)).toEqual([]);
    expect(await listJobs(admin)).toEqual([]);
    expect(await encodings()).toEqual(begun);
  });

  test('what is learned from then on is scored by the new profile', async () => {
    await pair();
    await profiles.saved({ tenant: true }, { ...INTEREST, rescore: 'RECALL_ONLY' });
    const fact = await admin.fact('Nurses drill patient safety');
    expect(fact.importanceBreakdown.topicBoost).toBeGreaterThan(1);
  });

  test('a later change that rescores takes the earlier one along', async () => {
    const [, safety] = await pair();
    await profiles.saved({ tenant: true }, { ...INTEREST, rescore: 'RECALL_ONLY' });
    await profiles.saved({ tenant: true }, { alpha: 0.9, rescore: 'LAZY' });
    await learn({ query: 'wards' });
    expect((await numbersOf(owner, safety.id)).encoded).toBeGreaterThan(safety.encodedImportance);
  });
});

describe('LAZY', () => {
  test('a fact that nobody reads keeps its score; the next LEARN recall that returns it writes the new one', async () => {
    const [linen, safety] = await pair();
    const untouched = await admin.fact('Surgeons rehearse patient safety');
    const fingerprint = await fingerprintOf(safety);
    const { rescoreJob } = await profiles.set({ tenant: true }, { ...INTEREST, rescore: 'LAZY' });
    expect(rescoreJob).toBeNull();
    const { cursor } = await changes(admin);
    expect(await numbersOf(owner, safety.id)).toMatchObject({ encoded: safety.encodedImportance });
    const items = await learn({ query: 'wards report', k: 2 });
    expect(items.map(({ node }) => node.id).sort()).toEqual([linen.id, safety.id].sort());
    const stored = await numbersOf(owner, safety.id);
    expect(stored.encoded).toBeGreaterThan(safety.encodedImportance * 1.1);
    // What the recall showed already is what it then wrote, before it was reinforced.
    const shown = items.find(({ node }) => node.id === safety.id)!.node.importance;
    expect(shown).toBeCloseTo(stored.encoded, 9);
    expect(await rescored(cursor)).toEqual([
      expect.objectContaining({ factId: safety.id, old: safety.importance, new: expect.closeTo(shown, 9) }),
    ]);
    // The other was read too: its score is the same, but of the new profile.
    expect(await fingerprintOf(linen)).not.toBe(fingerprint);
    expect(await numbersOf(owner, linen.id)).toMatchObject({ encoded: linen.encodedImportance });
    expect(await fingerprintOf(untouched)).toBe(fingerprint);
    expect(await numbersOf(owner, untouched.id)).toMatchObject({ encoded: untouched.encodedImportance });
    // Once is enough.
    const after = (await changes(admin)).cursor;
    clock.advanceHours(1);
    await learn({ query: 'wards report', k: 2 });
    expect(await rescored(after)).toEqual([]);
  });

  test('fifty readers at once write it once, and tell it once', async () => {
    const [, safety] = await pair();
    await profiles.saved({ tenant: true }, { ...INTEREST, rescore: 'LAZY' });
    const { cursor } = await changes(admin);
    await using other = await testApp({ now: clock.now });
    const apps = isPostgres ? [salient, other] : [salient];
    await Promise.all(
      Array.from({ length: 50 }, (_, n) => learn({ query: 'wards report' }, apps[n % apps.length]!)),
    );
    expect(await rescored(cursor)).toEqual([expect.objectContaining({ factId: safety.id })]);
    const first = await numbersOf(owner, safety.id);
    expect(first.encoded).toBeGreaterThan(safety.encodedImportance);
    expect(first.encoded).toBeLessThan(safety.encodedImportance * 2);
    // Nor did reinforcement pile up: once in five minutes.
    expect(first.reinforcement).toBeCloseTo(1.05, 9);
  });

  test('OBSERVE shows the new score and writes nothing at all', async () => {
    const [, safety] = await pair();
    await profiles.saved({ tenant: true }, { ...INTEREST, rescore: 'LAZY' });
    const before = await snapshot(owner, tenant);
    for (let n = 0; n < 3; n++) {
      const items = await learn(
        { query: 'wards report', mode: 'OBSERVE' },
        salient,
        tenant.keys.TENANT_ADMIN,
      );
      const shown = items.find(({ node }) => node.id === safety.id)!.node.importance;
      expect(shown).toBeGreaterThan(safety.importance * 1.1);
    }
    const read = (await admin.find(safety.id))!;
    expect(read.importanceBreakdown.encoded).toBeGreaterThan(safety.encodedImportance * 1.1);
    expect(read.importanceBreakdown.topicBoost).toBeGreaterThan(1);
    const after = await snapshot(owner, tenant);
    for (const table of ['fact_salience', 'event', 'event_batch', 'job', 'tenant_stream', 'co_activation'])
      expect(after[table], table).toEqual(before[table]);
    expect(after).toEqual(before);
  });

  test("an agent's profile makes its facts stale and leaves the others", async () => {
    const mine = await admin.fact('Wards report patient safety', { agentId: tenant.agentId });
    const shared = await admin.fact('Wards check patient safety');
    const { agent: own } = profileCallers(salient, tenant);
    await own.saved({ agentId: tenant.agentId }, { ...INTEREST, rescore: 'LAZY' });
    await learn({ query: 'wards patient safety' });
    expect((await numbersOf(owner, mine.id)).encoded).toBeGreaterThan(mine.encodedImportance);
    expect((await numbersOf(owner, shared.id)).encoded).toBe(shared.encodedImportance);
    expect((await agent.find(mine.id))!.importanceBreakdown.topicBoost).toBeGreaterThan(1);
  });
});
