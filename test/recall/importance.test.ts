import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, importanceAt, searchCandidates, searchContext } from '../../src/db/index.js';
import { currentImportance, DECAY_VARIANTS, decay, hoursUnseen } from '../../src/salience/index.js';
import { testDatabase } from '../support/database.js';
import { hoursAgo, NOW, openWorld, type TestTenant, type World } from './fixture.js';

let db: Database;
let world: World;

beforeAll(async () => {
  db = await testDatabase();
  world = await openWorld(db);
});
afterAll(async () => {
  await world.embedding[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** Hours before NOW; some are in its future, as where clocks differ. */
const hours = fc.double({ min: -48, max: 50_000, noNaN: true });
const numbers = fc.record({
  encoded: fc.double({ min: 0.05, max: 10, noNaN: true }),
  reinforcement: fc.double({ min: 1, max: 2, noNaN: true }),
  decayResistance: fc.double({ min: 1, max: 3, noNaN: true }),
  pinned: fc.boolean(),
  flashbulb: fc.boolean(),
  recorded: hours,
  reinforced: fc.option(hours),
  seen: hours,
});

/** Overwrites what a fact's importance is made from. */
async function set(tenant: TestTenant, id: string, to: Record<string, unknown>): Promise<void> {
  await tenant.run((unit) =>
    unit.tx.factSalience.update({
      where: { tenantId_factId: { tenantId: tenant.id, factId: id } },
      data: to,
      select: { factId: true },
    }),
  );
}

describe('importance at a time, by the database', () => {
  it('is what the pure functions of evolution say', async () => {
    const tenant = await world.tenant();
    const id = await tenant.fact({ text: 'the kettle is on' });
    await fc.assert(
      fc.asyncProperty(numbers, async ({ recorded, reinforced, seen, ...parts }) => {
        const recordedAt = hoursAgo(recorded);
        const reinforcedAt = reinforced === null ? null : hoursAgo(reinforced);
        const lastSeenAt = hoursAgo(seen);
        await set(tenant, id, { ...parts, recordedAt, reinforcedAt, lastSeenAt });
        const rows = await tenant.run(
          ({ tx }) => tx.$queryRaw<{ importance: number }[]>`
            SELECT ${importanceAt(NOW, DECAY_VARIANTS.STANDARD)} AS importance
            FROM fact_salience s WHERE s.tenant_id = ${tenant.id}::uuid`,
        );
        const unseen = hoursUnseen(NOW, { recordedAt, reinforcedAt, lastSeenAt });
        const expected = currentImportance({ ...parts, decay: decay(unseen, parts.decayResistance) });
        expect(rows[0]!.importance).toBeCloseTo(expected, 9);
      }),
      { numRuns: 40 },
    );
  }, 60_000);
});

describe('a recall without a query', () => {
  it('cuts by the importance of now, not by one that was stored', async () => {
    const tenant = await world.tenant();
    const old = await tenant.facts(
      [0, 1, 2].map((i) => ({
        text: `an old matter ${i}`,
        importance: 6,
        recordedAt: hoursAgo(8_000),
        lastSeenAt: hoursAgo(8_000),
      })),
    );
    const fresh = await tenant.fact({ text: 'a matter of today', importance: 4 });
    const pinned = await tenant.fact({ text: 'a matter that was seen to matter', importance: 3 });
    await set(tenant, pinned, { pinned: true, flashbulb: true });
    const first = (limit: number) =>
      tenant.run(async (unit) => {
        const { scopes } = await searchContext(unit, { agentId: null, userId: null, agentShared: true });
        const scopeIds = scopes.map(({ scopeId }) => scopeId);
        const filter = { scopeIds, facts: true, messages: false, kinds: null, includeFlagged: false };
        const rows = await searchCandidates(
          unit,
          [{ name: 'IMPORTANCE', decay: DECAY_VARIANTS.STANDARD }],
          { ...filter, time: { now: NOW } },
          limit,
        );
        return rows.map(({ id }) => id).sort();
      });
    expect(await first(1)).toEqual([pinned]);
    expect(await first(2)).toEqual([pinned, fresh].sort());
    expect(await first(10)).toEqual([...old, pinned, fresh].sort());
  });
});
