import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { inTenant, readScores } from '../../src/db/index.js';
import { scoringMeans, scoringProfile } from '../../src/rescoring/scoring-profile.js';
import { type Caller, callersOf, type FactView, TestClock, uuidOf } from '../facts/support.js';
import { seeingClient, snapshot } from '../facts/tables.js';
import { numbersOf, recall, setNumbers } from '../learning/support.js';
import { type Owner, type ProfileCaller, profileCallers, setPolicy } from '../profiles/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { changes, contextOf, ended, findJob, type JobView, listJobs, startRescore } from './support.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
let tenant: TestTenant;
let admin: Caller;
let profiles: ProfileCaller;
beforeAll(async () => {
  // Several stretches for a handful of facts.
  salient = await testApp({ now: clock.now, rescoring: { factsAtATime: 2, retry: 5 } });
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

const SAFETY = 'patient safety';
const about = (n: number) => `Patient safety of ward${n}`;

/** A fact about the topic and one about something else for each of the four kinds of scope. */
async function everywhere(): Promise<Record<'shared' | 'agents' | 'users' | 'both', [FactView, FactView]>> {
  const { agentId, userId } = tenant;
  const pair = async (n: number, input: Record<string, unknown>): Promise<[FactView, FactView]> => [
    await admin.fact(about(n), input),
    await admin.fact(`Invoice${n} is printed on paper`, input),
  ];
  return {
    shared: await pair(1, {}),
    agents: await pair(2, { agentId }),
    users: await pair(3, { userId }),
    both: await pair(4, { agentId, userId }),
  };
}

/** Saves and waits for the job. */
async function save(target: Owner, fields: Record<string, unknown>): Promise<JobView> {
  const { rescoreJob, errors } = await profiles.set(target, fields);
  expect(errors).toEqual([]);
  return ended(admin, rescoreJob!.id);
}

const interest = (level = 'CRITICAL') => ({ interests: [{ topic: SAFETY, level }] });

async function fingerprints(): Promise<Map<string, string>> {
  const { rows } = await owner.query(
    `SELECT fact_id, encode(fingerprint, 'hex') AS fingerprint FROM fact_salience WHERE tenant_id = $1`,
    [uuidOf(tenant.id)],
  );
  return new Map(rows.map((row) => [row.fact_id, row.fingerprint]));
}

async function effectiveFingerprint(asked: { agentId?: string; userId?: string } = {}): Promise<string> {
  return (await profiles.effective(asked))['fingerprint'] as string;
}

describe('a rescoring in the background', () => {
  test("of the tenant's profile covers every fact, raises what matters, and tells each change once", async () => {
    const facts = await everywhere();
    const { cursor } = await changes(admin);
    const job = await save({ tenant: true }, interest());
    expect(job).toMatchObject({
      status: 'SUCCEEDED',
      strategy: 'BACKGROUND',
      scope: null,
      total: 8,
      processed: 8,
      changed: 4,
      failed: 0,
      error: null,
    });
    expect(job.startedAt).not.toBeNull();
    expect(job.finishedAt).not.toBeNull();
    const told = (await changes(admin, cursor)).changes;
    expect(told.map(({ factId }) => factId).sort()).toEqual(
      Object.values(facts)
        .map(([raised]) => raised.id)
        .sort(),
    );
    for (const [raised, other] of Object.values(facts)) {
      const after = (await admin.find(raised.id))!;
      const { topicBoost } = after.importanceBreakdown;
      expect(topicBoost).toBeGreaterThan(1);
      expect(after.encodedImportance).toBeCloseTo(raised.encodedImportance * topicBoost, 9);
      expect(after.importance).toBeCloseTo(after.importanceBreakdown.current, 9);
      expect(told.find(({ factId }) => factId === raised.id)).toMatchObject({
        cause: 'RESCORE',
        old: raised.importance,
        new: after.importance,
      });
      expect(await admin.find(other.id)).toEqual(other);
    }
    // Both of each pair are scored with it, although the score of one is as it was.
    for (const [id, fingerprint] of await fingerprints()) {
      const mine = [...facts.shared, ...facts.agents, ...facts.users, ...facts.both].find(
        (one) => uuidOf(one.id) === id,
      )!;
      expect(fingerprint).toBe(
        await effectiveFingerprint({
          ...(mine.agent ? { agentId: mine.agent.id } : {}),
          ...(mine.user ? { userId: mine.user.id } : {}),
        }),
      );
    }
  });

  test.each([
    ["an agent's", 'agents', ['agents', 'both']],
    ["a user's", 'users', ['users', 'both']],
  ] as const)('of %s profile covers its facts and no other', async (_whose, which, covered) => {
    const facts = await everywhere();
    const before = await snapshot(owner, tenant);
    const target = which === 'agents' ? { agentId: tenant.agentId } : { userId: tenant.userId };
    const job = await save(target, interest());
    expect(job).toMatchObject({
      status: 'SUCCEEDED',
      total: 4,
      processed: 4,
      changed: 2,
      scope: [
        which === 'agents'
          ? { agent: { id: tenant.agentId }, user: null }
          : { agent: null, user: { id: tenant.userId } },
      ],
    });
    const untouched = (Object.keys(facts) as (keyof typeof facts)[]).filter(
      (name) => !(covered as readonly string[]).includes(name),
    );
    const after = await snapshot(owner, tenant);
    for (const name of untouched) {
      for (const fact of facts[name]) {
        const row = (rows: readonly string[]) => rows.find((text) => text.includes(uuidOf(fact.id)));
        expect(row(after['fact_salience']!)).toBe(row(before['fact_salience']!));
      }
    }
    for (const name of covered) {
      const raised = (await admin.find(facts[name][0].id))!;
      expect(raised.importance).toBeGreaterThan(facts[name][0].importance);
    }
    // Content and vectors are never touched.
    for (const table of ['fact', 'fact_embedding', 'posting']) expect(after[table]).toEqual(before[table]);
  });

  test('is asked for by administrators for whatever facts they name, changed profile or not', async () => {
    const facts = await everywhere();
    await profiles.saved({ tenant: true }, { ...interest(), rescore: 'RECALL_ONLY' });
    const { agentId, userId } = tenant;
    const both = await startRescore(admin, { agentId, userId });
    expect(both).toMatchObject({ errors: [], job: { strategy: 'BACKGROUND' } });
    expect(await ended(admin, both.job!.id)).toMatchObject({
      total: 2,
      processed: 2,
      changed: 1,
      scope: [{ agent: { id: agentId }, user: { id: userId } }],
    });
    expect((await admin.find(facts.both[0].id))!.importance).toBeGreaterThan(facts.both[0].importance);
    expect((await admin.find(facts.agents[0].id))!.encodedImportance).toBe(facts.agents[0].encodedImportance);
    const all = await startRescore(admin);
    expect(await ended(admin, all.job!.id)).toMatchObject({
      scope: null,
      total: 8,
      processed: 8,
      changed: 3,
    });
    // Once more: twice is as good as once.
    const rows = (await snapshot(owner, tenant))['fact_salience'];
    const { cursor } = await changes(admin);
    const again = await startRescore(admin);
    expect(await ended(admin, again.job!.id)).toMatchObject({ processed: 8, changed: 0 });
    expect((await snapshot(owner, tenant))['fact_salience']).toEqual(rows);
    expect((await changes(admin, cursor)).changes).toEqual([]);
  });

  test('scores by the profile that it has read, though another is saved meanwhile', async () => {
    const [fact] = (await everywhere()).shared;
    await save({ tenant: true }, interest());
    const { services } = salient.app;
    const context = await contextOf(owner, tenant);
    const shared = { agentId: null, userId: null };
    const [read] = await inTenant(services.db, context, (unit) =>
      services.profiles.effectiveOf(unit, [shared]),
    );
    await profiles.saved(
      { tenant: true },
      { interests: [{ topic: 'chess', level: 'HIGH' }], rescore: 'LAZY' },
    );
    const asked = { profile: scoringProfile(read!), factIds: [uuidOf(fact.id)], named: [] };
    const [score] = await inTenant(services.db, context, (unit) =>
      readScores(unit, scoringMeans(services, context, clock.now()), [asked]),
    );
    expect(score!.topicBoost).toBeGreaterThan(1.4);
  });

  test('CASE 42: there and back again is where it began, whatever the way', async () => {
    const facts = await everywhere();
    const begun = await snapshot(owner, tenant);
    const identity = { selfRelevanceBoost: 2, identity: ['ward1', 'invoice'] };
    await save({ tenant: true }, { ...interest(), similarityThreshold: 0.3, persona: identity });
    await save({ tenant: true }, { ...interest('HIGH'), alpha: 0.1, persona: { valenceBias: -80 } });
    const changed = (await admin.find(facts.shared[0].id))!;
    expect(changed.importanceBreakdown.selfRelevanceFactor).toBe(2);
    expect(changed.encodedImportance).toBeGreaterThan(facts.shared[0].encodedImportance);
    const { rescoreJob } = await profiles.reset({ tenant: true });
    expect(await ended(admin, rescoreJob!.id)).toMatchObject({ status: 'SUCCEEDED', failed: 0 });
    for (const fact of Object.values(facts).flat()) {
      const after = (await admin.find(fact.id))!;
      expect(after.encodedImportance).toBeCloseTo(fact.encodedImportance, 9);
      expect(after.importance).toBeCloseTo(fact.importance, 9);
      expect(after.importanceBreakdown.topicBoost).toBe(1);
      expect(after.importanceBreakdown.selfRelevanceFactor).toBe(1);
    }
    const after = await snapshot(owner, tenant);
    for (const table of ['fact', 'fact_embedding', 'novelty_baseline', 'fact_entity'])
      expect(after[table]).toEqual(begun[table]);
  });

  test('CASE 47: pins survive it, and a flashbulb stays at 10 with another importance under it', async () => {
    const [pinned, flashbulb, plain] = [
      await admin.fact(about(1)),
      await admin.fact(about(2)),
      await admin.fact(about(3)),
    ];
    await admin.pin(pinned.id);
    await setNumbers(owner, flashbulb.id, { pinned: true, flashbulb: true, current: 10, told: 10 });
    clock.advanceHours(24 * 30);
    const { cursor } = await changes(admin);
    await save({ tenant: true }, interest());
    const raised = (await admin.find(pinned.id))!;
    expect(raised).toMatchObject({ pinned: true, importance: expect.any(Number) });
    // It does not fade while it is pinned.
    expect(raised.importance).toBeCloseTo(raised.encodedImportance, 9);
    const lit = (await admin.find(flashbulb.id))!;
    expect(lit).toMatchObject({ pinned: true, importance: 10, importanceBreakdown: { flashbulb: true } });
    expect(lit.encodedImportance).toBeGreaterThan(flashbulb.encodedImportance);
    // Its importance is 10 as it was: there is nothing to tell of it.
    const told = (await changes(admin, cursor)).changes.map(({ factId }) => factId);
    expect(told.sort()).toEqual([pinned.id, plain.id].sort());
    await admin.unpin(flashbulb.id);
    await save({ tenant: true }, interest('HIGH'));
    expect(await admin.find(flashbulb.id)).toMatchObject({ pinned: false });
    expect((await admin.find(pinned.id))!.pinned).toBe(true);
  });

  test("follows the tenant's policy, over all of its facts", async () => {
    const facts = await everywhere();
    await save({ userId: tenant.userId }, interest());
    const raised = (await admin.find(facts.users[0].id))!;
    expect(raised.importance).toBeGreaterThan(facts.users[0].importance);
    const { rescoreJob } = await setPolicy(salient, tenant, 'TENANT_ONLY');
    expect(await ended(admin, rescoreJob!.id)).toMatchObject({
      status: 'SUCCEEDED',
      scope: null,
      total: 8,
      changed: 2,
    });
    expect((await admin.find(facts.users[0].id))!.encodedImportance).toBeCloseTo(
      facts.users[0].encodedImportance,
      9,
    );
  });

  test('a threshold of one matches nothing and stops nothing', async () => {
    const fact = await admin.fact(SAFETY);
    const job = await save({ tenant: true }, { ...interest(), similarityThreshold: 1 });
    expect(job).toMatchObject({ status: 'SUCCEEDED', processed: 1, changed: 0 });
    expect((await recall(admin, { query: SAFETY })).map(({ node }) => node.id)).toEqual([fact.id]);
  });

  test('of nothing is over at once', async () => {
    const { job } = await startRescore(admin, { userId: tenant.userId });
    expect(await ended(admin, job!.id)).toMatchObject({ status: 'SUCCEEDED', total: 0, processed: 0 });
  });

  test('a change of what no score depends on asks for none', async () => {
    await admin.fact(about(1));
    const { rescoreJob } = await profiles.set(
      { tenant: true },
      {
        icnuWeights: { importance: 1, coactivation: 0, novelty: 0, urgency: 0 },
        persona: { name: 'Nurse' },
      },
    );
    expect(rescoreJob).toBeNull();
    expect(await listJobs(admin)).toEqual([]);
  });

  test('scores with what has faded and been reinforced meanwhile as the breakdown says', async () => {
    const fact = await admin.fact(about(1), { hints: { arousal: 0.5 } });
    await setNumbers(owner, fact.id, { reinforcement: 1.5 });
    clock.advanceHours(24 * 3);
    await save({ tenant: true }, { ...interest(), persona: { arousalSensitivity: 2 } });
    const { importance, importanceBreakdown: b } = (await admin.find(fact.id))!;
    expect(b.decayResistance).toBeCloseTo(1 + 0.65 * 0.5 * 2, 9);
    expect(importance).toBeCloseTo(b.encoded * 1.5 * 73 ** (-0.15 / b.decayResistance), 9);
    expect((await numbersOf(owner, fact.id)).told).toBe(importance);
  });
});

describe('who may', () => {
  test('start and cancel: administrators; look: auditors too; agents and users nothing', async () => {
    const { auditor, agent, user } = callersOf(salient, tenant);
    for (const caller of [auditor, agent, user])
      await expect(startRescore(caller)).rejects.toThrow('FORBIDDEN');
    const { job } = await startRescore(admin);
    await ended(admin, job!.id);
    expect(await findJob(auditor, job!.id)).toMatchObject({ id: job!.id });
    for (const caller of [agent, user]) expect(await findJob(caller, job!.id)).toBeNull();
  });

  test('name agents and users of the tenant alone', async () => {
    const other = await salient.tenant();
    for (const [input, path] of [
      [{ agentId: other.agentId }, 'agentId'],
      [{ userId: other.userId }, 'userId'],
      [{ agentId: tenant.userId }, 'agentId'],
      [{ userId: '00000000-0000-4000-8000-000000000000' }, 'userId'],
    ] as const) {
      expect(await startRescore(admin, input)).toMatchObject({
        job: null,
        errors: [{ code: 'NOT_FOUND', path: ['input', path] }],
      });
    }
    expect(await listJobs(admin)).toEqual([]);
  });

  test('what was asked for is in the audit log, with the job', async () => {
    const { job } = await startRescore(admin);
    const { rows } = await owner.query(
      `SELECT operation, target_ids, actor_kind FROM audit_entry WHERE tenant_id = $1 AND operation = 'startRescore'`,
      [uuidOf(tenant.id)],
    );
    expect(rows).toEqual([
      { operation: 'startRescore', target_ids: [uuidOf(job!.id)], actor_kind: 'TENANT_ADMIN' },
    ]);
    await ended(admin, job!.id);
  });
});
