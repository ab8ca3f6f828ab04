import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Transaction } from '../../src/db/index.js';
import { type Consolidator, createConsolidator } from '../../src/jobs/index.js';
import { consolidateStep } from '../../src/learning/index.js';
import { toTenantContext } from '../../src/tenancy/index.js';
import { type Caller, callersOf, type FactView, TestClock, uuidOf } from '../facts/support.js';
import { eventsOf, seeingClient, snapshot } from '../facts/tables.js';
import { numbersOf, recall, setNumbers, tie, tiesOf } from '../learning/support.js';
import { profileCallers } from '../profiles/support.js';
import { changes } from '../rescoring/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { countStatements } from '../support/database.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

// In a past of its own: the tenants of other test files are not due by this clock.
const clock = new TestClock('1990-01-01T00:00:00.000Z');
let salient: TestApp;
let owner: pg.Client;
let tenant: TestTenant;
let admin: Caller;
let agent: Caller;
const others: Consolidator[] = [];
beforeAll(async () => {
  salient = await testApp({ now: clock.now });
  owner = await seeingClient();
});
beforeEach(async () => {
  tenant = await salient.tenant();
  ({ admin, agent } = callersOf(salient, tenant));
});
afterEach(async () => {
  for (const other of others.splice(0)) await other[Symbol.asyncDispose]();
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

interface Report {
  readonly id: string;
  readonly status: string;
  readonly refreshed: number;
  readonly retired: number;
  readonly merged: number;
  readonly edgesRemoved: number;
  readonly error: string | null;
  readonly finishedAt: string | null;
}

const REPORT = 'id status refreshed retired merged edgesRemoved error startedAt finishedAt';

async function consolidate(caller: Caller = admin): Promise<Report> {
  const { runConsolidation } = await caller.query<{
    runConsolidation: { report: Report; errors: unknown[] };
  }>(`mutation { runConsolidation { report { ${REPORT} } errors { code message path } } }`);
  expect(runConsolidation.errors).toEqual([]);
  return runConsolidation.report;
}

async function setRetention(retention: Record<string, unknown>): Promise<void> {
  const { updateTenant } = await admin.query<{
    updateTenant: { tenant: { retention: unknown } | null; errors: { message: string }[] };
  }>(
    `mutation ($input: UpdateTenantInput!) { updateTenant(input: $input) {
       tenant { retention { decay fadeBelow } } errors { code message path } } }`,
    { input: { id: tenant.id, retention } },
  );
  if (updateTenant.errors.length > 0) throw new Error(updateTenant.errors[0]!.message);
  expect(updateTenant.tenant!.retention).toMatchObject(retention);
}

async function context() {
  const { rows } = await owner.query(
    `SELECT id, slug, name, settings, override_policy AS "overridePolicy", hash_key AS "hashKey" FROM tenant WHERE id = $1`,
    [uuidOf(tenant.id)],
  );
  return toTenantContext(rows[0]);
}

async function jobs(): Promise<{ id: string; status: string; lease_owner: string | null }[]> {
  const { rows } = await owner.query(
    "SELECT id, status, lease_owner FROM job WHERE tenant_id = $1 AND kind = 'CONSOLIDATION' ORDER BY id",
    [uuidOf(tenant.id)],
  );
  return rows;
}

/** Asks for a consolidation that nobody does yet. */
async function queue(): Promise<string> {
  const id = randomUUID();
  await owner.query(
    `INSERT INTO job (tenant_id, id, kind, status, run_after, requested_at) VALUES ($1, $2, 'CONSOLIDATION', 'QUEUED', $3, $3)`,
    [uuidOf(tenant.id), id, clock.now()],
  );
  return id;
}

/** Says once more what a live fact says, as a history of imports may have left it: with an asserted end. */
async function twinOf(fact: FactView, validTo: Date): Promise<FactView> {
  const twin = await admin.fact(`${fact.text} ${randomUUID()}`, { kind: fact.kind });
  await owner.query(
    `UPDATE fact t SET text_hash = f.text_hash, text = f.text, valid_to = $3 FROM fact f WHERE f.id = $2 AND t.id = $1`,
    [uuidOf(twin.id), uuidOf(fact.id), validTo],
  );
  return (await admin.find(twin.id))!;
}

async function facts(count: number): Promise<FactView[]> {
  const made: FactView[] = [];
  for (let n = 0; n < count; n++) made.push(await admin.fact(`Entry ${n} of the ledger is ${randomUUID()}`));
  return made;
}

describe('snapshots of importance', () => {
  test('agree with the breakdown afterwards, so that lists do', async () => {
    const made = await facts(5);
    await admin.pin(made[0]!.id);
    clock.advanceHours(24 * 7);
    const stale = (await admin.find(made[1]!.id))!;
    expect(stale.importance).toBeGreaterThan(stale.importanceBreakdown.current);
    const report = await consolidate();
    // The pinned one has not changed.
    expect(report).toMatchObject({ status: 'SUCCEEDED', refreshed: 4, retired: 0, merged: 0, error: null });
    const { edges } = await admin.facts();
    expect(edges).toHaveLength(5);
    for (const { node } of edges) expect(node.importance).toBeCloseTo(node.importanceBreakdown.current, 9);
    const fading = edges.find(({ node }) => node.id === made[1]!.id)!.node;
    expect(fading.importanceBreakdown.decay).toBeCloseTo(0.463, 3);
    expect(fading.encodedImportance).toBe(stale.encodedImportance);
  });

  test('are told where they moved by 0.25 or more since the last telling', async () => {
    const [great, small] = (await facts(2)) as [FactView, FactView];
    await setNumbers(owner, great.id, { encoded: 8, current: 8, told: 8 });
    await setNumbers(owner, small.id, { encoded: 0.3, current: 0.3, told: 0.3 });
    clock.advanceHours(24);
    const begun = (await eventsOf(owner, tenant)).at(-1)!.seq;
    const report = await consolidate();
    const events = await eventsOf(owner, tenant, begun);
    expect(events).toEqual([
      expect.objectContaining({
        type: 'IMPORTANCE_CHANGED',
        cause: 'DECAY',
        factId: uuidOf(great.id),
        actorKind: 'SYSTEM',
        oldValue: 8,
        newValue: expect.closeTo(8 * 25 ** -0.15, 9),
      }),
      expect.objectContaining({ type: 'CONSOLIDATION_FINISHED', subjectId: uuidOf(report.id) }),
    ]);
    expect((await numbersOf(owner, small.id)).told).toBe(0.3);
    // Nothing has moved since: one that finds nothing to do changes no fact.
    const before = await snapshot(owner, tenant, ['job', 'event', 'tenant_stream', 'audit_entry']);
    expect(await consolidate()).toMatchObject({ refreshed: 0 });
    expect(await snapshot(owner, tenant, ['job', 'event', 'tenant_stream', 'audit_entry'])).toEqual(before);
  });

  test.each([
    ['STANDARD', 0.15],
    ['SLOW', 0.08],
    ['FAST', 0.3],
  ])('fade as the tenant wants: %s', async (decay, exponent) => {
    const [fact] = (await facts(1)) as [FactView];
    await setNumbers(owner, fact.id, { encoded: 4, current: 4, told: 4 });
    await setRetention({ decay });
    clock.advanceHours(24);
    await consolidate();
    const expected = 4 * 25 ** -exponent;
    const { importance, importanceBreakdown } = (await admin.find(fact.id))!;
    expect(importance).toBeCloseTo(expected, 9);
    expect(importanceBreakdown.current).toBeCloseTo(expected, 9);
    // Recall, a pin and what is taken off again reckon alike.
    const [first] = await recall(admin);
    expect(first!.score).toBeCloseTo(expected / 10, 9);
    await admin.pin(fact.id);
    expect((await admin.unpin(fact.id)).fact!.importance).toBeCloseTo(expected, 9);
  });
});

describe('duplicates', () => {
  const until = new Date('1995-01-01T00:00:00.000Z');

  test('are retired for the one that stays, which inherits what they knew', async () => {
    const kept = await admin.fact('The depot is in Lyon');
    clock.advanceHours(1);
    const { messages } = await agent.say('The depot is in Lyon', { extract: 'NEVER' });
    const twin = await twinOf(kept, until);
    await owner.query(
      'INSERT INTO fact_source (tenant_id, fact_id, message_id, added_at) VALUES ($1, $2, $3, $4)',
      [uuidOf(tenant.id), uuidOf(twin.id), uuidOf(messages![0]!.id), clock.now()],
    );
    await setNumbers(owner, twin.id, { reinforcement: 1.3, recall_count: 4, reinforced_at: clock.now() });
    const begun = (await eventsOf(owner, tenant)).at(-1)!.seq;
    expect(await consolidate()).toMatchObject({ status: 'SUCCEEDED', merged: 1, retired: 0 });
    expect(await admin.find(twin.id)).toMatchObject({
      status: 'RETIRED',
      retireReason: 'DUPLICATE',
      supersededBy: { id: kept.id },
    });
    const after = (await admin.find(kept.id))!;
    expect(after).toMatchObject({ status: 'LIVE', lastSeenAt: twin.lastSeenAt });
    expect(after.sources.edges.map(({ node }) => node.id)).toEqual([messages![0]!.id]);
    expect(after.importance).toBeCloseTo(after.importanceBreakdown.current, 9);
    expect(await numbersOf(owner, kept.id)).toMatchObject({ reinforcement: 1.3, recallCount: 4 });
    const events = await eventsOf(owner, tenant, begun);
    expect(events.filter(({ type }) => type === 'FACT_RETIRED')).toMatchObject([{ factId: uuidOf(twin.id) }]);
    expect(await consolidate()).toMatchObject({ merged: 0 });
  });

  test('a pinned one is not retired for one that is not, but for one that is', async () => {
    const kept = await admin.fact('The depot is in Lyon');
    const twin = await twinOf(kept, until);
    await admin.pin(twin.id);
    expect(await consolidate()).toMatchObject({ merged: 0 });
    await admin.pin(kept.id);
    expect(await consolidate()).toMatchObject({ merged: 1 });
    expect(await admin.find(kept.id)).toMatchObject({ status: 'LIVE', pinned: true });
  });

  test('of two with the same end the pinned stays, else the oldest', async () => {
    const base = await admin.fact('The depot is in Lyon');
    const first = await twinOf(base, until);
    clock.advanceHours(1);
    const second = await twinOf(base, until);
    await admin.retire({ id: base.id }, 'WRONG');
    await admin.pin(second.id);
    await consolidate();
    expect(await admin.find(first.id)).toMatchObject({ supersededBy: { id: second.id } });
    const third = await twinOf(second, until);
    await admin.unpin(second.id);
    await consolidate();
    expect(await admin.find(third.id)).toMatchObject({ supersededBy: { id: second.id } });
  });

  test('others are no duplicates: another kind, another owner, another text, an end that is past', async () => {
    const base = await admin.fact('The depot is in Lyon');
    const past = await twinOf(base, until);
    await owner.query('UPDATE fact SET valid_to = $2 WHERE id = $1', [uuidOf(past.id), clock.now()]);
    await admin.fact('The depot is in Lyon', { kind: 'ENV', validTo: until });
    await admin.fact('The depot is in Lyon', { userId: tenant.userId, validTo: until });
    await admin.fact('The depot is in Nancy', { validTo: until });
    expect(await consolidate()).toMatchObject({ merged: 0 });
  });
});

describe('faded facts', () => {
  test('are retired only where the tenant says so, and neither recalled nor pinned ones', async () => {
    const [faded, pinned, recalled, great] = (await facts(4)) as [FactView, FactView, FactView, FactView];
    for (const one of [faded, pinned, recalled]) await setNumbers(owner, one.id, { encoded: 0.4 });
    await setNumbers(owner, great.id, { encoded: 9 });
    await admin.pin(pinned.id);
    await setNumbers(owner, recalled.id, { recall_count: 1 });
    clock.advanceHours(24 * 365);
    expect(await consolidate()).toMatchObject({ retired: 0 });
    await setRetention({ fadeBelow: 0.5 });
    const begun = (await eventsOf(owner, tenant)).at(-1)!.seq;
    expect(await consolidate()).toMatchObject({ retired: 1, merged: 0 });
    expect(await admin.find(faded.id)).toMatchObject({ status: 'RETIRED', retireReason: 'FADED' });
    for (const one of [pinned, recalled, great])
      expect(await admin.find(one.id)).toMatchObject({ status: 'LIVE' });
    const events = await eventsOf(owner, tenant, begun);
    expect(events.map(({ type, factId }) => [type, factId])).toEqual([
      ['FACT_RETIRED', uuidOf(faded.id)],
      ['CONSOLIDATION_FINISHED', null],
    ]);
    expect((await recall(admin, { k: 10 })).map(({ node }) => node.id)).not.toContain(faded.id);
  });

  test('nothing fades by scores that a change has put out of date: it is rescored first', async () => {
    const named = await admin.fact('The harbour crane is painted every summer');
    const other = await admin.fact('Invoices are printed on paper');
    for (const one of [named, other])
      await setNumbers(owner, one.id, { encoded: 0.3, current: 0.3, told: 0.3 });
    await setRetention({ fadeBelow: 1 });
    const answer = await profileCallers(salient, tenant).admin.set(
      { tenant: true },
      {
        interests: [{ topic: 'The harbour crane is painted every summer', level: 'CRITICAL' }],
        rescore: 'LAZY',
      },
    );
    expect(answer.errors).toEqual([]);
    // Only the one that nothing was declared about has faded by then: its stored inputs say 0.3 as well.
    await owner.query('UPDATE fact_salience SET scored_revision = 1000 WHERE fact_id = $1', [
      uuidOf(other.id),
    ]);
    const { cursor } = await changes(admin);
    expect(await consolidate()).toMatchObject({ retired: 1 });
    expect(await admin.find(named.id)).toMatchObject({ status: 'LIVE' });
    expect(await admin.find(other.id)).toMatchObject({ status: 'RETIRED', retireReason: 'FADED' });
    expect((await changes(admin, cursor)).changes).toMatchObject([
      { factId: named.id, cause: 'RESCORE', old: 0.3, new: 2 },
    ]);
  });

  test('what the tenant wants is read with each piece, not at the beginning of a run', async () => {
    const [one] = (await facts(1)) as [FactView];
    await setNumbers(owner, one.id, { encoded: 0.1, current: 0.1, told: 0.1 });
    await setRetention({ fadeBelow: 1 });
    const before = await context();
    const id = await queue();
    await setRetention({ fadeBelow: 0.05 });
    expect(await consolidateStep(salient.app.services, before, id, randomUUID())).toBe('MORE');
    expect(await admin.find(one.id)).toMatchObject({ status: 'LIVE' });
  });

  test.each([0.04, 10.5])('a threshold of %d is refused', async (fadeBelow) => {
    await expect(setRetention({ fadeBelow })).rejects.toThrow('retention.fadeBelow');
  });
});

describe('ties', () => {
  test('that have become weaker than 0.05 are removed and counted; the others stay', async () => {
    const [a, b, c] = (await facts(3)) as [FactView, FactView, FactView];
    await tie(owner, tenant, [a.id, b.id], 0.5, clock.now());
    await tie(owner, tenant, [a.id, c.id], 0.1, clock.now());
    await tie(owner, tenant, [b.id, c.id], 0.11, clock.now());
    // 0.9^7 = 0.478: 0.1 is below 0.05 then, 0.11 is not.
    clock.advanceHours(24 * 7);
    expect(await consolidate()).toMatchObject({ edgesRemoved: 1 });
    expect((await tiesOf(owner, tenant)).map(({ weight }) => weight)).toEqual([0.5, 0.11]);
  });
});

describe('topics that have left their profile', () => {
  test('go after a day where no fact was scored with them', async () => {
    const caller = profileCallers(salient, tenant).admin;
    const say = (topics: string[]) =>
      caller.set(
        { tenant: true },
        { interests: topics.map((topic) => ({ topic, level: 'HIGH' })), rescore: 'RECALL_ONLY' },
      );
    const left = async () => {
      const { rows } = await owner.query(
        'SELECT removed_at IS NOT NULL AS removed FROM profile_topic WHERE tenant_id = $1 ORDER BY number',
        [uuidOf(tenant.id)],
      );
      return rows.map(({ removed }) => removed);
    };
    const named = 'The harbour crane is painted every summer';
    await say([named, 'astronomy', 'beekeeping']);
    const fact = await admin.fact(named);
    await say(['beekeeping']);
    clock.advanceHours(23);
    await consolidate();
    expect(await left()).toEqual([true, true, false]);
    clock.advanceHours(2);
    await consolidate();
    expect(await left()).toEqual([true, false]);
    const vectors = await owner.query('SELECT FROM profile_topic_embedding WHERE tenant_id = $1', [
      uuidOf(tenant.id),
    ]);
    expect(vectors.rowCount).toBe(1);
    const { node } = await admin.query<{
      node: { importanceBreakdown: { matchedTopics: { topic: string }[] } };
    }>(
      'query ($id: ID!) { node(id: $id) { ... on Fact { importanceBreakdown { matchedTopics { topic } } } } }',
      { id: fact.id },
    );
    expect(node.importanceBreakdown.matchedTopics.map(({ topic }) => topic)).toEqual([named]);
  });
});

describe('a consolidation', () => {
  test('is a node for administrators and auditors, and asked for by administrators alone', async () => {
    const { id } = await consolidate();
    const { auditor, user } = callersOf(salient, tenant);
    const node = `query ($id: ID!) { node(id: $id) { ... on ConsolidationReport { ${REPORT} } } }`;
    expect(await auditor.query(node, { id })).toMatchObject({ node: { id, status: 'SUCCEEDED' } });
    for (const caller of [agent, user]) expect(await caller.query(node, { id })).toEqual({ node: null });
    const elsewhere = callersOf(salient, await salient.tenant()).admin;
    expect(await elsewhere.query(node, { id })).toEqual({ node: null });
    for (const caller of [agent, user, auditor])
      await expect(consolidate(caller)).rejects.toThrow('FORBIDDEN');
    const { rows } = await owner.query('SELECT consolidated_at FROM tenant WHERE id = $1', [
      uuidOf(tenant.id),
    ]);
    expect(rows[0].consolidated_at).toEqual(clock.now());
  });

  test('asked for several times at once is one', async () => {
    await facts(3);
    clock.advanceHours(24);
    const reports = await Promise.all([consolidate(), consolidate(), consolidate()]);
    const finished = reports.filter(({ status }) => status === 'SUCCEEDED');
    expect(finished).toHaveLength(3);
    expect(
      reports.reduce(
        (sum, { refreshed, id }, n) => sum + (reports.findIndex((r) => r.id === id) === n ? refreshed : 0),
        0,
      ),
    ).toBe(3);
  });

  test('takes as many statements for 40 facts as for 4', async () => {
    const { db } = salient.app.services;
    await facts(4);
    clock.advanceHours(24);
    const few = await countStatements(db, () => consolidate());
    await facts(36);
    clock.advanceHours(24);
    const many = await countStatements(db, () => consolidate());
    expect(many.length).toBe(few.length);
  });
});

describe('CASE 52: a consolidation that a process left in the middle', () => {
  test('is gone on with by another once its lease has run out, each fact once', async () => {
    const made = await facts(7);
    for (const one of made) await setNumbers(owner, one.id, { encoded: 8, current: 8, told: 8 });
    await tie(owner, tenant, [made[0]!.id, made[1]!.id], 0.06, clock.now());
    clock.advanceHours(48);
    const begun = (await eventsOf(owner, tenant)).at(-1)!.seq;
    const id = await queue();
    const dead = randomUUID();
    const { services } = salient.app;
    for (let n = 0; n < 2; n++)
      expect(await consolidateStep(services, await context(), id, dead, 2)).toBe('MORE');
    // It is held: who asks is told how far it is, and nobody else works at it.
    const other = createConsolidator(services, { wait: 50, poll: 5 }, 2);
    others.push(other);
    const actor = { kind: 'TENANT_ADMIN', id: null, keyId: null, agentId: null, userId: null } as const;
    const waiting = await other.run({ ...actor, tenant: await context() });
    expect(waiting).toMatchObject({ id, status: 'RUNNING', refreshed: 4 });
    clock.advance(30_001);
    const successor = createConsolidator(services, { poll: 5 }, 2);
    others.push(successor);
    const done = await successor.run({ ...actor, tenant: await context() });
    expect(done).toMatchObject({ id, status: 'SUCCEEDED', refreshed: 7, edgesRemoved: 1, merged: 0 });
    const events = await eventsOf(owner, tenant, begun);
    const told = events.filter(({ cause }) => cause === 'DECAY').map(({ factId }) => factId);
    expect(told.sort()).toEqual(made.map((one) => uuidOf(one.id)).sort());
    expect(events.filter(({ type }) => type === 'CONSOLIDATION_FINISHED')).toHaveLength(1);
    // The one that was thought dead has lost it.
    expect(await consolidateStep(services, await context(), id, dead, 2)).toBe('LOST');
    expect(await jobs()).toEqual([{ id, status: 'SUCCEEDED', lease_owner: null }]);
  });

  test('is found by who looks for left-behind work', async () => {
    await facts(3);
    clock.advanceHours(24);
    const id = await queue();
    await consolidateStep(salient.app.services, await context(), id, randomUUID(), 2);
    clock.advance(30_001);
    const other = createConsolidator(salient.app.services, { sweep: 20 });
    others.push(other);
    other.start();
    await vi.waitFor(async () => expect((await jobs())[0]).toMatchObject({ status: 'SUCCEEDED' }), 60_000);
  });

  test('two processes at one job share it without doing anything twice', async () => {
    const made = await facts(9);
    clock.advanceHours(24);
    const id = await queue();
    const tenantContext = await context();
    const actor = { kind: 'TENANT_ADMIN', id: null, keyId: null, agentId: null, userId: null } as const;
    const two = [0, 1].map(() => createConsolidator(salient.app.services, { poll: 5 }, 2));
    others.push(...two);
    const rows = await Promise.all(two.map((one) => one.run({ ...actor, tenant: tenantContext })));
    for (const row of rows) expect(row).toMatchObject({ id, status: 'SUCCEEDED', refreshed: made.length });
  });

  test('closing gives it back at once', async () => {
    await facts(6);
    clock.advanceHours(24);
    const id = await queue();
    const closing = createConsolidator(salient.app.services, { wait: 0 }, 1);
    const actor = { kind: 'TENANT_ADMIN', id: null, keyId: null, agentId: null, userId: null } as const;
    await closing.run({ ...actor, tenant: await context() });
    await closing[Symbol.asyncDispose]();
    const [job] = await jobs();
    expect(job).toMatchObject({ id, lease_owner: null });
    expect((await consolidate()).status).toBe('SUCCEEDED');
  });

  test('one that fails is put off, told without content, and given up in the end', async () => {
    await facts(1);
    const { services } = salient.app;
    const db = Object.assign(Object.create(services.db) as typeof services.db, {
      withTenant: (id: string, work: Parameters<typeof services.db.withTenant>[1]) =>
        services.db.withTenant(id, (tx) => work(breakingAt('ORDER BY s.scope_id', tx))),
    });
    const failing = createConsolidator({ ...services, db }, { poll: 5 });
    others.push(failing);
    const actor = { kind: 'TENANT_ADMIN', id: null, keyId: null, agentId: null, userId: null } as const;
    for (let attempt = 1; attempt <= 5; attempt++) {
      const row = await failing.run({ ...actor, tenant: await context() });
      expect(row).toMatchObject({ status: attempt < 5 ? 'QUEUED' : 'FAILED', error: 'BROKEN' });
      clock.advance(60 * 60_000);
    }
    expect(salient.logged()).not.toContain('"Entry');
    expect((await consolidate()).status).toBe('SUCCEEDED');
  });
});

/** A transaction in which a statement with this text fails. */
function breakingAt(text: string, tx: Transaction): Transaction {
  return new Proxy(tx, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (name !== '$queryRaw') return value;
      return (...args: [TemplateStringsArray]) => {
        if (args[0].join('').includes(text)) throw Object.assign(new Error('Entry'), { code: 'BROKEN' });
        return (value as (...all: unknown[]) => unknown).apply(target, args);
      };
    },
  });
}

describe('the schedule', () => {
  test('consolidates each tenant with memories once in 20 hours, whoever looks', async () => {
    await facts(2);
    const empty = await salient.tenant();
    const mine = uuidOf(tenant.id);
    const two = [0, 1].map(() => createConsolidator(salient.app.services, { sweep: 20 }));
    others.push(...two);
    for (const one of two) one.start();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await jobs()).toEqual([]);
    clock.advanceHours(21);
    await vi.waitFor(async () => expect(await jobs()).toMatchObject([{ status: 'SUCCEEDED' }]), 60_000);
    clock.advanceHours(19);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await jobs()).toHaveLength(1);
    clock.advanceHours(2);
    await vi.waitFor(async () => {
      const all = await jobs();
      expect(all.map(({ status }) => status)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    }, 60_000);
    const { rows } = await owner.query('SELECT DISTINCT tenant_id FROM job WHERE tenant_id = ANY($1)', [
      [mine, uuidOf(empty.id)],
    ]);
    expect(rows).toEqual([{ tenant_id: mine }]);
  });
});
