import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLearner, type Learner } from '../../src/learning/index.js';
import { type Caller, callersOf, TestClock, uuidOf } from '../facts/support.js';
import { eventsOf, seeingClient, snapshot } from '../facts/tables.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { countStatements } from '../support/database.js';
import { numbersOf, recall, setNumbers, tie, tiesOf } from './support.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const MINUTES = 60_000;
const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
let tenant: TestTenant;
let agent: Caller;
let admin: Caller;
let auditor: Caller;
beforeAll(async () => {
  salient = await testApp({ now: clock.now });
  owner = await seeingClient();
});
beforeEach(async () => {
  tenant = await salient.tenant();
  ({ agent, admin, auditor } = callersOf(salient, tenant));
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

const learned = () => salient.app.services.learner.flush();
const exact = async (id: string) => (await admin.find(id))!.importanceBreakdown;

/** Texts that no words tie to each other, each found by its own. */
const WORDS = 'anchor bridge candle dragon ember forest garden harbour island jungle kettle lantern'.split(
  ' ',
);

describe('a LEARN recall', () => {
  test('reinforces by 5% of what is left to 2, and stores the importance that follows', async () => {
    const { id } = await agent.fact('The anchor is made of iron');
    clock.advanceHours(24);
    const before = await exact(id);
    expect(before).toMatchObject({ reinforcement: 1, decay: expect.closeTo(0.617, 3) });
    await recall(agent, { query: 'anchor' });
    await learned();
    const after = await exact(id);
    expect(after.reinforcement).toBeCloseTo(1.05, 12);
    // It was used just now: what is left of it counts from here.
    expect(after.decay).toBe(1);
    expect(after.current).toBeCloseTo(before.encoded * 1.05, 9);
    const stored = await numbersOf(owner, id);
    expect(stored).toMatchObject({ recallCount: 1, reinforcedAt: clock.now() });
    expect(stored.current).toBeCloseTo(after.current, 9);
    expect((await admin.find(id))!.importance).toBeCloseTo(after.current, 9);
  });

  test('CASE 41, 48: renews neither when it was last seen nor what was encoded', async () => {
    const fact = await agent.fact('The anchor is made of iron');
    clock.advanceHours(100);
    await recall(agent, { query: 'anchor' });
    await learned();
    const after = (await admin.find(fact.id))!;
    expect(after.lastSeenAt).toBe(fact.lastSeenAt);
    expect(after.encodedImportance).toBe(fact.encodedImportance);
    expect(after.importance).not.toBe(after.encodedImportance);
  });

  test('counts once in five minutes, and never beyond 2', async () => {
    const { id } = await agent.fact('The anchor is made of iron');
    await recall(agent, { query: 'anchor' });
    await learned();
    clock.advance(5 * MINUTES - 1);
    await recall(agent, { query: 'anchor' });
    await learned();
    expect((await numbersOf(owner, id)).recallCount).toBe(1);
    clock.advance(1);
    await recall(agent, { query: 'anchor' });
    await learned();
    expect(await numbersOf(owner, id)).toMatchObject({ recallCount: 2 });
    expect((await exact(id)).reinforcement).toBeCloseTo(1.0975, 12);
    await setNumbers(owner, id, { reinforcement: 2 });
    clock.advance(5 * MINUTES);
    await recall(agent, { query: 'anchor' });
    await learned();
    expect((await exact(id)).reinforcement).toBe(2);
  });

  test('50 at once, in two processes, count as one', async () => {
    const { id } = await agent.fact('The anchor is made of iron');
    const other = createLearner(salient.app.services);
    await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        await recall(agent, { query: 'anchor' });
        if (n % 10 === 0) await Promise.all([learned(), noteIn(other, [id]), noteIn(other, [id])]);
      }),
    );
    await Promise.all([learned(), other[Symbol.asyncDispose]()]);
    expect(await numbersOf(owner, id)).toMatchObject({ recallCount: 1, reinforcement: 1.05 });
  });

  test('without a query counts as well', async () => {
    const { id } = await agent.fact('The anchor is made of iron');
    await recall(agent);
    await learned();
    expect(await numbersOf(owner, id)).toMatchObject({ recallCount: 1 });
  });

  test('a fact that was retired meanwhile learns nothing', async () => {
    const { id } = await agent.fact('The anchor is made of iron');
    await agent.fact('The anchor is in the garden');
    await recall(agent, { query: 'anchor' });
    await agent.retire({ id }, 'WRONG');
    await learned();
    expect(await numbersOf(owner, id)).toMatchObject({ recallCount: 0, reinforcedAt: null });
    expect(await tiesOf(owner, tenant)).toEqual([]);
  });

  test('a fact that was forgotten meanwhile is no failure', async () => {
    const { id } = await agent.fact('The anchor is made of iron');
    const other = await agent.fact('The anchor is in the garden');
    await recall(agent, { query: 'anchor' });
    await agent.forget({ id });
    await learned();
    expect(await numbersOf(owner, other.id)).toMatchObject({ recallCount: 1 });
    expect(salient.logged()).not.toContain('learning from recalls failed');
  });

  test('is told only when importance moved by 0.25 or more since it was last told', async () => {
    const { id } = await agent.fact('The anchor is made of iron');
    await setNumbers(owner, id, { encoded: 4, current: 4, told: 4 });
    await recall(agent, { query: 'anchor' });
    await learned();
    // 4 → 4.2: stored, not told.
    expect(await numbersOf(owner, id)).toMatchObject({ current: expect.closeTo(4.2, 9), told: 4 });
    const begun = (await eventsOf(owner, tenant)).at(-1)!.seq;
    clock.advance(5 * MINUTES);
    await recall(agent, { query: 'anchor' });
    await learned();
    // 4 → 4.39.
    const told = await eventsOf(owner, tenant, begun);
    expect(told).toEqual([
      expect.objectContaining({
        type: 'IMPORTANCE_CHANGED',
        cause: 'RECALL',
        factId: uuidOf(id),
        agentId: uuidOf(tenant.agentId),
        actorKind: 'AGENT',
        oldValue: 4,
        newValue: expect.closeTo(4.39, 9),
      }),
    ]);
    expect((await numbersOf(owner, id)).told).toBeCloseTo(4.39, 9);
  });

  test('several who recall are told as the system', async () => {
    const { id } = await admin.fact('The anchor is made of iron');
    await setNumbers(owner, id, { encoded: 8, current: 8, told: 8 });
    await recall(agent, { query: 'anchor' });
    await recall(admin, { query: 'anchor', mode: 'LEARN' });
    await learned();
    expect((await eventsOf(owner, tenant)).at(-1)).toMatchObject({ cause: 'RECALL', actorKind: 'SYSTEM' });
  });

  test('a flashbulb shows 10 while it is pinned, whatever its reinforcement', async () => {
    const { id } = await agent.fact('The anchor is made of iron');
    await setNumbers(owner, id, { encoded: 3, current: 10, told: 10, pinned: true, flashbulb: true });
    await recall(agent, { query: 'anchor' });
    await learned();
    expect(await numbersOf(owner, id)).toMatchObject({ current: 10, told: 10, recallCount: 1 });
  });

  test('takes as many statements for twelve facts as for two, and none but its receipt for the same again', async () => {
    const db = salient.app.services.db;
    for (const word of WORDS) await agent.fact(`The ${word} is near the pier`);
    await recall(agent, { query: 'pier', k: 2 });
    const few = await countStatements(db, learned);
    clock.advance(5 * MINUTES);
    await recall(agent, { query: 'pier', k: 12 });
    const many = await countStatements(db, learned);
    expect(many).toHaveLength(few.length);
    expect(few.length).toBeLessThanOrEqual(6);
    await recall(agent, { query: 'pier', k: 1 });
    expect(await countStatements(db, learned)).toEqual([
      expect.stringMatching(/^\s*INSERT INTO recall_receipt/),
    ]);
  });
});

describe('CASE 40: what leaves no trace', () => {
  test.each([
    ['OBSERVE of an agent', () => agent, { mode: 'OBSERVE' }],
    ['an administrator by default', () => admin, {}],
    ['an auditor', () => auditor, {}],
  ])('%s', async (_name, caller, input) => {
    for (const word of WORDS) await admin.fact(`The ${word} is near the pier`);
    const before = await snapshot(owner, tenant);
    await recall(caller(), { query: 'pier', ...input });
    await recall(caller(), input);
    const statements = await countStatements(salient.app.services.db, learned);
    expect(statements).toEqual([]);
    expect(await snapshot(owner, tenant)).toEqual(before);
  });

  test.each([
    ['what held', { validAt: '2026-06-01T12:00:00.000Z' }],
    ['what was known', { knownAt: '2027-06-01T12:00:00.000Z' }],
  ])('a look at %s at another time, but for its receipt', async (_name, input) => {
    for (const word of WORDS) await admin.fact(`The ${word} is near the pier`);
    const before = await snapshot(owner, tenant, ['recall_receipt']);
    await recall(agent, { query: 'pier', ...input });
    await recall(agent, input);
    await learned();
    expect(await snapshot(owner, tenant, ['recall_receipt'])).toEqual(before);
  });
});

describe('co-activation', () => {
  test('ties the first ten facts to each other, by a tenth of what is left to 1', async () => {
    for (const word of WORDS) await agent.fact(`The ${word} is near the pier`);
    const items = await recall(agent, { query: 'pier', k: 12 });
    await learned();
    const ties = await tiesOf(owner, tenant);
    expect(ties).toHaveLength(45);
    expect(ties.every(({ weight }) => Math.abs(weight - 0.1) < 1e-12)).toBe(true);
    const tied = new Set(ties.flatMap(({ first, second }) => [first, second]));
    expect([...tied].sort()).toEqual(
      items
        .slice(0, 10)
        .map(({ node }) => uuidOf(node.id))
        .sort(),
    );
  });

  test('grows with every recall, those of one moment too, and fades by a tenth a day', async () => {
    await agent.fact('The anchor is near the pier');
    await agent.fact('The bridge is near the pier');
    await recall(agent, { query: 'pier', k: 2 });
    await learned();
    // Three recalls that are written together: once more than a day apart.
    clock.advanceHours(24);
    for (let n = 0; n < 3; n++) await recall(agent, { query: 'pier', k: 2 });
    await learned();
    const [only, ...others] = await tiesOf(owner, tenant);
    expect(others).toEqual([]);
    expect(only!.weight).toBeCloseTo(1 - (1 - 0.1 * 0.9) * 0.9 ** 3, 9);
  });

  test('a fact keeps its 24 strongest ties', async () => {
    const hub = await admin.fact('The anchor is near the pier');
    const ids: string[] = [];
    for (let n = 0; n < 24; n++) ids.push((await admin.fact(`Item ${n} of the list is ${WORDS[n % 12]}`)).id);
    for (const [n, id] of ids.entries()) await tie(owner, tenant, [hub.id, id], 0.2 + n / 100, clock.now());
    const newcomer = await admin.fact('The bridge is near the pier');
    await recall(agent, { query: 'pier', k: 2 });
    await learned();
    // A new tie, 0.1, is the weakest of 25.
    expect((await tiesOf(owner, tenant)).map(({ weight }) => weight)).toHaveLength(24);
    const ends = (await tiesOf(owner, tenant)).flatMap(({ first, second }) => [first, second]);
    expect(ends).not.toContain(uuidOf(newcomer.id));
    // As the others fade, it outlives the weakest.
    clock.advanceHours(24 * 8);
    await recall(agent, { query: 'pier', k: 2 });
    await learned();
    const left = await tiesOf(owner, tenant);
    expect(left).toHaveLength(24);
    expect(left.flatMap(({ first, second }) => [first, second])).toContain(uuidOf(newcomer.id));
    expect(Math.min(...left.map(({ weight }) => weight))).toBeGreaterThanOrEqual(0.1 - 1e-9);
  });

  test('ties that have become weaker than 0.05 go when their fact is recalled', async () => {
    const first = await admin.fact('The anchor is near the pier');
    const faded = await admin.fact('The kettle is on the stove');
    await tie(owner, tenant, [first.id, faded.id], 0.06, clock.now());
    await admin.fact('The bridge is near the pier');
    clock.advanceHours(48);
    await recall(agent, { query: 'pier', k: 2 });
    await learned();
    const ends = (await tiesOf(owner, tenant)).flatMap((one) => [one.first, one.second]);
    expect(ends).toHaveLength(2);
    expect(ends).not.toContain(uuidOf(faded.id));
  });
});

describe('writing', () => {
  test('happens by itself about a second after a recall', async () => {
    const { id } = await agent.fact('The anchor is made of iron');
    await recall(agent, { query: 'anchor' });
    await vi.waitFor(async () => expect((await numbersOf(owner, id)).recallCount).toBe(1), 60_000);
  });

  test('is done before closing', async () => {
    const { id } = await agent.fact('The anchor is made of iron');
    const closing = createLearner(salient.app.services, { flushMs: 1e9 });
    await noteIn(closing, [id]);
    await closing[Symbol.asyncDispose]();
    expect((await numbersOf(owner, id)).recallCount).toBe(1);
  });

  test('that fails is told without content, tried once more, and no recall fails', async () => {
    const { id } = await agent.fact('The anchor is made of iron');
    let failures = 1;
    const { services } = salient.app;
    const db = Object.assign(Object.create(services.db) as typeof services.db, {
      withTenant: (...args: Parameters<typeof services.db.withTenant>) => {
        if (failures-- > 0) throw Object.assign(new Error('anchor'), { code: 'DOWN' });
        return services.db.withTenant(...args);
      },
    });
    const learner = createLearner({ ...services, db }, { flushMs: 1e9 });
    await noteIn(learner, [id]);
    await learner.flush();
    expect((await numbersOf(owner, id)).recallCount).toBe(0);
    expect(salient.logged()).toContain('"code":"DOWN"');
    expect(salient.logged()).not.toContain('anchor');
    await learner.flush();
    expect((await numbersOf(owner, id)).recallCount).toBe(1);
    failures = 2;
    clock.advance(5 * MINUTES);
    await noteIn(learner, [id]);
    await learner.flush();
    await learner.flush();
    await learner[Symbol.asyncDispose]();
    expect((await numbersOf(owner, id)).recallCount).toBe(1);
  });

  test('goes in batches: what comes while one waits to be written does not make it larger', async () => {
    const made = [];
    for (const word of WORDS.slice(0, 4)) made.push((await agent.fact(`The ${word} is made of iron`)).id);
    const { services } = salient.app;
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let transactions = 0;
    const db = Object.assign(Object.create(services.db) as typeof services.db, {
      withTenant: async (...args: Parameters<typeof services.db.withTenant>) => {
        transactions++;
        await gate;
        return services.db.withTenant(...args);
      },
    });
    const learner = createLearner({ ...services, db }, { flushMs: 1e9, flushSize: 1 });
    for (const id of made) await noteIn(learner, [id]);
    open();
    await learner.flush();
    expect(transactions).toBe(4);
    for (const id of made) expect((await numbersOf(owner, id)).recallCount).toBe(1);
    await learner[Symbol.asyncDispose]();
  });

  test('of stale facts does not fall with what else a recall taught, nor the other way round', async () => {
    const { id } = await agent.fact('The anchor is made of iron');
    const { services } = salient.app;
    const rescored: (readonly string[])[] = [];
    let calls = 0;
    let failing = [2, 3];
    const db = Object.assign(Object.create(services.db) as typeof services.db, {
      withTenant: (...args: Parameters<typeof services.db.withTenant>) => {
        if (failing.includes(++calls)) throw Object.assign(new Error('no'), { code: 'DOWN' });
        return services.db.withTenant(...args);
      },
    });
    const learner = createLearner(
      { ...services, db },
      {
        flushMs: 1e9,
        rescoreStale: async (_unit, _tenant, ids) => {
          rescored.push(ids);
          return 0;
        },
      },
    );
    // The second transaction and the one that tries it again fail: what was rescored in the first stays, once.
    await noteIn(learner, [id], [id]);
    await learner.flush();
    await learner.flush();
    expect(rescored).toEqual([[uuidOf(id)]]);
    expect((await numbersOf(owner, id)).recallCount).toBe(0);
    // Now the first fails: reinforced once all the same, and rescored with the next attempt.
    calls = 0;
    failing = [1];
    await noteIn(learner, [id], [id]);
    await learner.flush();
    expect(rescored).toHaveLength(1);
    expect((await numbersOf(owner, id)).recallCount).toBe(1);
    await learner.flush();
    expect(rescored).toHaveLength(2);
    expect((await numbersOf(owner, id)).recallCount).toBe(1);
    expect(calls).toBe(3);
    await learner[Symbol.asyncDispose]();
  });

  test('is bounded: what comes while too much waits is not learned, and told', async () => {
    const { id } = await agent.fact('The anchor is made of iron');
    const other = await agent.fact('The kettle is on the stove');
    const learner = createLearner(salient.app.services, { flushMs: 1e9, limit: 1 });
    await noteIn(learner, [id]);
    await noteIn(learner, [other.id]);
    await learner[Symbol.asyncDispose]();
    expect((await numbersOf(owner, id)).recallCount).toBe(1);
    expect((await numbersOf(owner, other.id)).recallCount).toBe(0);
    expect(salient.logged()).toContain('recalls were not learned from');
  });
});

/** Notes a recall of the agent in another learner, as another process would have it. */
async function noteIn(
  learner: Learner,
  ids: readonly string[],
  stale: readonly string[] = [],
): Promise<void> {
  const { rows } = await owner.query(
    'SELECT id, slug, name, settings, hash_key AS "hashKey" FROM tenant WHERE id = $1',
    [uuidOf(tenant.id)],
  );
  const actor = { kind: 'AGENT', id: uuidOf(tenant.agentId) };
  learner.note(rows[0] as never, actor, {
    factIds: ids.map(uuidOf),
    stale: stale.map(uuidOf),
    receipt: null,
  });
}
