import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Database,
  inTenant,
  lockScopes,
  lookUpFacts,
  type ScopeOwner,
  searchContext,
  type Unit,
  writeScopeChanges,
} from '../../src/db/index.js';
import { addSample, EMPTY_BASELINE } from '../../src/salience/index.js';
import { NOW, openWorld, type TestTenant, type World } from '../recall/fixture.js';
import { countStatements, isPostgres, testDatabase } from '../support/database.js';

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

async function scopeOf(unit: Unit, owner: Partial<ScopeOwner>): Promise<number> {
  const [scope] = await lockScopes(unit, [{ agentId: null, userId: null, ...owner }], NOW);
  return scope!.id;
}

/** What a recall and a write take for the tenant's sums. */
async function sumsOf(tenant: TestTenant) {
  return tenant.run(async (unit) => {
    const { documents, documentTerms } = await searchContext(unit, {
      agentId: null,
      userId: null,
      agentShared: true,
    });
    const draft = { kind: 'FACT', textHash: new Uint8Array(32), embedding: null, terms: [], replaces: null };
    const scopeId = await scopeOf(unit, {});
    const { tenantBaseline } = await lookUpFacts(unit, [{ ...draft, scopeId }], world.modelId, NOW);
    return { documents, documentTerms, tenantBaseline };
  });
}

const baselineOf = (samples: readonly number[]) => samples.reduce(addSample, EMPTY_BASELINE);

describe("a tenant's sums over its scopes", () => {
  it('are those of all that was committed, however often a scope changed', async () => {
    const tenant = await world.tenant();
    const other = await world.tenant();
    const users = [await tenant.user(), await tenant.user(), await tenant.user()];
    const samples = [
      [0.9, 1.1, 1.3],
      [0.4, 0.5],
      [1.9, 0.2, 0.7, 0.7],
    ];
    for (const [i, userId] of users.entries()) {
      for (const seen of [1, samples[i]!.length]) {
        const baseline = baselineOf(samples[i]!.slice(0, seen));
        await tenant.run(async (unit) => {
          const scopeId = await scopeOf(unit, { userId });
          await writeScopeChanges(
            unit,
            [{ scopeId, documents: 2, terms: 7 * seen, baseline }],
            world.modelId,
          );
          await writeScopeChanges(unit, [{ scopeId, documents: -1, terms: -3 }], world.modelId);
        });
      }
    }
    const failed = tenant.run(async (unit) => {
      const scopeId = await scopeOf(unit, { userId: users[0]! });
      await writeScopeChanges(
        unit,
        [{ scopeId, documents: 5, terms: 5, baseline: baselineOf([1]) }],
        world.modelId,
      );
      throw new Error('undone');
    });
    await expect(failed).rejects.toThrow('undone');

    const expected = baselineOf(samples.flat());
    const { documents, documentTerms, tenantBaseline } = await sumsOf(tenant);
    expect({ documents, documentTerms }).toEqual({ documents: 6, documentTerms: 7 * (3 + 9) - 18 });
    expect(tenantBaseline.n).toBe(9);
    expect(tenantBaseline.mean).toBeCloseTo(expected.mean, 12);
    expect(tenantBaseline.m2).toBeCloseTo(expected.m2, 12);
    expect(await sumsOf(other)).toEqual({
      documents: 0,
      documentTerms: 0,
      tenantBaseline: { n: 0, mean: 0, m2: 0 },
    });
  });

  it('take equal samples for no deviation at all', async () => {
    const tenant = await world.tenant();
    for (const samples of [[0.7, 0.7, 0.7], [0.7], [0.7, 0.7]]) {
      const userId = await tenant.user();
      await tenant.run(async (unit) => {
        const scopeId = await scopeOf(unit, { userId });
        const change = { scopeId, documents: 0, terms: 0, baseline: baselineOf(samples) };
        await writeScopeChanges(unit, [change], world.modelId);
      });
    }
    expect((await sumsOf(tenant)).tenantBaseline).toMatchObject({ n: 6, m2: 0 });
  });

  it('go with a scope that is removed', async () => {
    const tenant = await world.tenant();
    const [kept, removed] = [await tenant.user(), await tenant.user()];
    await tenant.facts([
      { text: 'tea is green', userId: kept },
      { text: 'coffee is black', userId: removed },
    ]);
    const before = await sumsOf(tenant);
    await tenant.run(
      ({ tx }) =>
        tx.$executeRaw`DELETE FROM scope WHERE tenant_id = ${tenant.id}::uuid AND user_id = ${removed}::uuid`,
    );
    expect([before.documents, (await sumsOf(tenant)).documents]).toEqual([2, 1]);
  });

  it.runIf(isPostgres)('lose nothing to writers at once', async () => {
    const tenant = await world.tenant();
    const users = await Promise.all(Array.from({ length: 6 }, () => tenant.user()));
    await Promise.all(
      users.flatMap((userId) =>
        [1, 2, 3].map(() =>
          inTenant(db, tenant.context, async (unit) => {
            const scopeId = await scopeOf(unit, { userId });
            await writeScopeChanges(unit, [{ scopeId, documents: 1, terms: 2 }], world.modelId);
          }),
        ),
      ),
    );
    expect(await sumsOf(tenant)).toMatchObject({ documents: 18, documentTerms: 36 });
  });

  it('cost a write no statement', async () => {
    const tenant = await world.tenant();
    const statements = await countStatements(db, () =>
      tenant.run((unit) => writeScopeChanges(unit, [{ scopeId: 1, documents: 1, terms: 1 }], world.modelId)),
    );
    expect(statements).toHaveLength(1);
  });
});
