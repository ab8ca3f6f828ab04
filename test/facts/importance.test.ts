import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LineExtractor } from '../extraction/line-extractor.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import {
  accepted,
  type Breakdown,
  type Caller,
  callersOf,
  type FactView,
  TestClock,
  uuidOf,
} from './support.js';
import { eventsOf, seeingClient } from './tables.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
beforeAll(async () => {
  salient = await testApp({ now: clock.now, extractor: new LineExtractor() });
  owner = await seeingClient();
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

/** Facts that share about half of their words, so that their distances vary a little. */
function related(n: number): string {
  const places = ['archive', 'cellar', 'attic', 'garden', 'kitchen', 'library', 'workshop'];
  return `Sensor unit${n} reports the temperature of the ${places[n % places.length]} to station${n % 5}`;
}

async function warmUp(
  caller: Caller,
  count: number,
  input: Record<string, unknown> = {},
): Promise<FactView[]> {
  const facts: FactView[] = [];
  for (let n = 0; n < count; n++) facts.push(await caller.fact(related(n), input));
  return facts;
}

interface Baseline {
  readonly n: number;
  readonly mean: number;
  readonly m2: number;
}

async function baselines(tenant: TestTenant): Promise<Baseline[]> {
  const { rows } = await owner.query<Baseline>(
    'SELECT n, mean, m2 FROM novelty_baseline WHERE tenant_id = $1 ORDER BY scope_id',
    [uuidOf(tenant.id)],
  );
  return rows;
}

/** Mean and population deviation of the distances, computed the plain way. */
function statistics(facts: readonly FactView[]): { n: number; mean: number; sigma: number } {
  const distances = facts.flatMap(({ importanceBreakdown: { distance } }) =>
    distance === null ? [] : [distance],
  );
  const mean = distances.reduce((sum, d) => sum + d, 0) / distances.length;
  const variance = distances.reduce((sum, d) => sum + (d - mean) ** 2, 0) / distances.length;
  return { n: distances.length, mean, sigma: Math.sqrt(variance) };
}

const base = (z: number) => 0.05 + 9.95 / (1 + Math.exp(-1.2 * (z - 1)));

describe('novelty (SPEC §4.1) through the write path', () => {
  test('CASE 43: the first fact adds no sample; 20 samples end the warm-up', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const facts = await warmUp(admin, 1);
    expect(facts[0]!.importanceBreakdown).toMatchObject({ distance: null, z: null, base: 1, encoded: 1 });
    expect(await baselines(tenant)).toEqual([]);
    for (let n = 1; n <= 20; n++) {
      const fact = await admin.fact(related(n));
      expect(fact.importanceBreakdown, `fact ${n}`).toMatchObject({
        z: null,
        base: 1,
        encoded: 1,
        flashbulb: false,
      });
      expect(fact.importanceBreakdown.distance, `fact ${n}`).toBeGreaterThan(0);
      facts.push(fact);
    }
    const { n, mean, sigma } = statistics(facts);
    const [stored] = await baselines(tenant);
    expect(stored!.n).toBe(n);
    expect(n).toBe(20);
    expect(stored!.mean).toBeCloseTo(mean, 9);
    expect(Math.sqrt(stored!.m2 / stored!.n)).toBeCloseTo(sigma, 9);
    // The next is scored against those 20, before its own sample is added.
    const scored = await admin.fact(related(21));
    const z = (scored.importanceBreakdown.distance! - mean) / sigma;
    expect(scored.importanceBreakdown.spatialZ).toBeCloseTo(z, 6);
    const familiar = scored.importanceBreakdown.temporalZ !== null;
    if (!familiar) expect(scored.importanceBreakdown.base).toBeCloseTo(base(z), 6);
    expect((await baselines(tenant))[0]!.n).toBe(21);
  });

  test('the numbers of the breakdown give the encoded importance', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const facts = await warmUp(admin, 24);
    facts.push(
      await admin.fact('The night shift dislikes the noise of the old compressor', { hints: { urgency: 1 } }),
      await admin.fact('The audit of the pharmacy is due', {
        hints: { interest: 0.7, challenge: 0.5, urgency: 1 },
      }),
      await admin.fact('The fire in the kitchen was terrible', { hints: { valence: -0.9, arousal: 0.8 } }),
    );
    for (const fact of facts) {
      const b: Breakdown = fact.importanceBreakdown;
      const product = b.base * b.topicBoost * b.valenceFactor * b.selfRelevanceFactor;
      expect(b.encoded).toBeCloseTo(Math.min(10, Math.max(0.05, product)), 9);
      expect(b.encoded).toBe(fact.encodedImportance);
      const faded = Math.min(10, Math.max(0.05, b.encoded * b.reinforcement * b.decay));
      expect(b.current).toBeCloseTo(b.flashbulb ? 10 : faded, 9);
      expect(fact.importance).toBe(b.current);
    }
    const hinted = facts.at(-2)!.importanceBreakdown;
    const novelty = Math.min(hinted.distance! / 2, 1);
    expect(hinted.base).toBeCloseTo(0.05 + 9.95 * (0.3 * 0.7 + 0.1 * 0.5 + 0.4 * novelty + 0.2 * 1), 9);
    const stirring = facts.at(-1)!.importanceBreakdown;
    expect(stirring.decayResistance).toBeCloseTo(1 + 0.65 * 0.9, 9);
  });

  test("a new scope is scored by the tenant's baseline once that has 20 samples", async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const ofUser = { userId: tenant.userId };
    const known = [...(await warmUp(admin, 12)), ...(await warmUp(admin, 10, { agentId: tenant.agentId }))];
    expect(statistics(known).n).toBe(20);
    const first = await admin.fact('Likes long walks along the river', ofUser);
    expect(first.importanceBreakdown).toMatchObject({ distance: null, z: null, base: 1 });
    const second = await admin.fact('Likes short walks along the coast', ofUser);
    const { mean, sigma } = statistics(known);
    expect(second.importanceBreakdown.spatialZ).toBeCloseTo(
      (second.importanceBreakdown.distance! - mean) / sigma,
      6,
    );
    const { rows } = await owner.query(
      'SELECT baseline_n, baseline_origin FROM fact_salience WHERE tenant_id = $1 AND fact_id = $2',
      [uuidOf(tenant.id), uuidOf(second.id)],
    );
    expect(rows).toEqual([{ baseline_n: 20, baseline_origin: 'TENANT' }]);
  });

  test('CASE 44: the baseline outlives the process', async () => {
    const tenant = await salient.tenant();
    const before = await testApp({ now: clock.now });
    await warmUp(callersOf(before, tenant).admin, 21);
    await before[Symbol.asyncDispose]();
    const [stored] = await baselines(tenant);
    expect(stored!.n).toBe(20);
    const after = await testApp({ now: clock.now });
    const fact = await callersOf(after, tenant).admin.fact('The chess club meets in the reading room');
    await after[Symbol.asyncDispose]();
    const sigma = Math.sqrt(stored!.m2 / 20);
    expect(fact.importanceBreakdown.spatialZ).toBeCloseTo(
      (fact.importanceBreakdown.distance! - stored!.mean) / sigma,
      6,
    );
  });

  test('a batch is scored in its order: warm-up ends in the middle of it', async () => {
    const tenant = await salient.tenant();
    const { agent } = callersOf(salient, tenant);
    const { extraction } = await agent.say(Array.from({ length: 24 }, (_, n) => `FACT: ${related(n)}`));
    const { facts } = extraction!;
    expect(facts).toHaveLength(24);
    expect(facts.map((fact) => fact.importanceBreakdown.spatialZ === null)).toEqual(
      facts.map((_, place) => place <= 20),
    );
    const { mean, sigma } = statistics(facts.slice(0, 21));
    const { spatialZ, distance } = facts[21]!.importanceBreakdown;
    expect(spatialZ).toBeCloseTo((distance! - mean) / sigma, 4);
    expect((await baselines(tenant))[0]!.n).toBe(23);
  });
});

describe('a known statement after a gap (SPEC §4.2), by the times of the messages', () => {
  test.each([
    [0, 0.88],
    [180, 6.2],
    [400, 6.2],
    [-30, 0.88],
  ])('%d days: %d', async (days, expected) => {
    clock.moveTo('2026-06-01T12:00:00.000Z');
    const tenant = await salient.tenant();
    const { agent } = callersOf(salient, tenant);
    const session = { create: { userId: tenant.userId } };
    await warmUp(agent, 22, { userId: tenant.userId });
    const said = (content: string, sentAt: Date) =>
      agent.append({ session, messages: [{ role: 'USER', content, sentAt }] });
    const first = new Date('2024-01-10T09:00:00.000Z');
    const second = new Date(first.getTime() + days * 86_400_000);
    const text = 'FACT: Sensor unit77 reports the flames of the barn to station4';
    const { extraction } = await said(text, first);
    const known = extraction!.facts[0]!;
    expect(known.lastSeenAt).toBe(first.toISOString());
    const again = (await said(text, second)).extraction!.facts[0]!;
    expect(again.id).toBe(known.id);
    expect(again.encodedImportance).toBeCloseTo(expected, 2);
    // Evidence renews when it was seen, never to an earlier time (CASE 41).
    expect(again.lastSeenAt).toBe((second > first ? second : first).toISOString());
    const events = await eventsOf(owner, tenant);
    const changes = events.filter((event) => event.cause === 'REAFFIRM');
    expect(changes).toMatchObject([{ oldValue: known.importance, newValue: again.importance }]);
    // A repetition is no sample of how far apart facts lie.
    expect((await baselines(tenant))[0]!.n).toBe(22);
  });
});

describe('flashbulb (SPEC §4.4.6)', () => {
  async function struck() {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    await warmUp(admin, 31);
    const after = (await eventsOf(owner, tenant)).at(-1)!.seq;
    const fact = await admin.fact('The temperature of the kitchen killed the orchids');
    return { tenant, admin, fact, after };
  }

  test('an outlier after warm-up is pinned, EPISODIC, at 10, and told', async () => {
    const { tenant, fact, after } = await struck();
    expect(fact.importanceBreakdown.spatialZ).toBeGreaterThanOrEqual(3);
    expect(fact).toMatchObject({ pinned: true, tier: 'EPISODIC', importance: 10 });
    expect(fact.importanceBreakdown).toMatchObject({ flashbulb: true, decay: 1, current: 10 });
    expect(fact.encodedImportance).toBeCloseTo(base(fact.importanceBreakdown.z!), 6);
    expect(fact.encodedImportance).toBeLessThan(10);
    expect(await eventsOf(owner, tenant, after)).toMatchObject([
      { type: 'FACT_REMEMBERED' },
      { type: 'IMPORTANCE_CHANGED', cause: 'INGEST', oldValue: null, newValue: 10 },
      { type: 'FLASHBULB', factId: uuidOf(fact.id) },
    ]);
  });

  test('unpinning shows the encoded importance again, pinning 10; it does not decay while pinned', async () => {
    const { tenant, admin, fact, after } = await struck();
    clock.advanceHours(24 * 365);
    expect((await admin.find(fact.id))!.importanceBreakdown.current).toBe(10);
    clock.advanceHours(-24 * 365);
    const unpinned = accepted(await admin.unpin(fact.id));
    expect(unpinned).toMatchObject({ pinned: false, importance: fact.encodedImportance, tier: 'EPISODIC' });
    const pinned = accepted(await admin.pin(fact.id));
    expect(pinned).toMatchObject({ pinned: true, importance: 10 });
    expect((await eventsOf(owner, tenant, after)).slice(3)).toMatchObject([
      { type: 'FACT_UNPINNED' },
      { type: 'IMPORTANCE_CHANGED', cause: 'PIN', oldValue: 10, newValue: fact.encodedImportance },
      { type: 'FACT_PINNED' },
      { type: 'IMPORTANCE_CHANGED', cause: 'PIN', oldValue: fact.encodedImportance, newValue: 10 },
    ]);
  });

  test('a repetition neither unpins nor pins it', async () => {
    const { admin, fact } = await struck();
    expect(await admin.remember({ text: fact.text })).toMatchObject({
      reaffirmed: true,
      fact: { pinned: true, importance: 10, importanceBreakdown: { flashbulb: true } },
    });
    await admin.unpin(fact.id);
    expect(await admin.remember({ text: fact.text })).toMatchObject({ fact: { pinned: false } });
  });
});

describe('pinning', () => {
  test('pins an ordinary fact at what it is worth, and says nothing when it is pinned already', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const fact = await admin.fact('The office is in Lisbon');
    clock.advanceHours(24);
    const pinned = accepted(await admin.pin(fact.id));
    expect(pinned).toMatchObject({ pinned: true, importance: 1 });
    const events = await eventsOf(owner, tenant);
    expect(accepted(await admin.pin(fact.shortId))).toEqual(pinned);
    expect(await eventsOf(owner, tenant)).toEqual(events);
    const unpinned = accepted(await admin.unpin(fact.id));
    expect(unpinned.importance).toBeCloseTo(25 ** -0.15, 9);
    // It was 1 when it was pinned, too: only the unpinning changed the number that lists show.
    expect((await eventsOf(owner, tenant)).slice(2).map((event) => event.type)).toEqual([
      'FACT_PINNED',
      'FACT_UNPINNED',
      'IMPORTANCE_CHANGED',
    ]);
  });
});
