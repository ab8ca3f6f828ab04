import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { profileCallers } from '../profiles/support.js';
import { changes } from '../rescoring/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { accepted, type Caller, callersOf, type FactView, refused, TestClock } from './support.js';
import { seeingClient, snapshot } from './tables.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
let tenant: TestTenant;
let admin: Caller;
beforeAll(async () => {
  salient = await testApp({ now: clock.now });
  owner = await seeingClient();
});
beforeEach(async () => {
  tenant = await salient.tenant();
  ({ admin } = callersOf(salient, tenant));
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

/** Puts the tenant's scores out of date: facts about patient safety matter more from now on. */
async function outdate(): Promise<void> {
  const interests = [{ topic: 'patient safety', level: 'CRITICAL' }];
  await profileCallers(salient, tenant).admin.saved({ tenant: true }, { interests, rescore: 'LAZY' });
}

describe('a fact whose score is out of date', () => {
  /** What both tell of its importance: the rescoring, then the pin, which begins where that ended. */
  async function expectChain(after: string, before: FactView, then: FactView): Promise<void> {
    expect(then.encodedImportance).toBeGreaterThan(before.encodedImportance * 1.1);
    expect(then.importanceBreakdown.current).toBeCloseTo(then.importance, 9);
    const told = (await changes(admin, after)).changes;
    const factId = before.id;
    expect(told).toMatchObject([
      { factId, cause: 'RESCORE', old: before.importance },
      { factId, cause: 'PIN', old: told[0]?.new, new: then.importance },
    ]);
  }

  test('is rescored before it is pinned', async () => {
    const fact = await admin.fact('Wards report patient safety');
    await outdate();
    clock.advanceHours(200);
    const { cursor } = await changes(admin);
    const pinned = accepted(await admin.pin(fact.id));
    await expectChain(cursor, fact, pinned);
    expect(pinned.importance).toBeCloseTo(pinned.encodedImportance, 9);
  });

  test('is rescored before it is unpinned', async () => {
    const fact = await admin.fact('Wards report patient safety');
    const pinned = accepted(await admin.pin(fact.id));
    await outdate();
    clock.advanceHours(200);
    const { cursor } = await changes(admin);
    const unpinned = accepted(await admin.unpin(fact.id));
    await expectChain(cursor, pinned, unpinned);
    expect(unpinned.importance).toBeLessThan(unpinned.encodedImportance * 0.6);
  });
});

describe('a fact that is not live', () => {
  test('is neither pinned nor unpinned, and nothing changes', async () => {
    const validTo = new Date(clock.now().getTime() + 3_600_000);
    const facts: FactView[] = [];
    for (const text of ['The office is in Lisbon', 'The stove is on']) {
      facts.push(await admin.fact(text), await admin.fact(`${text} today`, { validTo }));
    }
    const [retired, , pinnedRetired, pinnedPast] = facts as [FactView, FactView, FactView, FactView];
    for (const fact of [pinnedRetired, pinnedPast]) accepted(await admin.pin(fact.id));
    for (const fact of [retired, pinnedRetired]) accepted(await admin.retire({ id: fact.id }, 'WRONG'));
    clock.advanceHours(2);
    const before = await snapshot(owner, tenant);
    for (const answers of [
      // What it is already is refused as well: the answer does not depend on it.
      await Promise.all(facts.map(({ id }) => admin.pin(id))),
      await Promise.all(facts.map(({ id }) => admin.unpin(id))),
    ]) {
      for (const answer of answers) {
        expect(refused(answer)).toMatchObject({ code: 'CONFLICT', path: ['input', 'id'] });
      }
    }
    expect(await snapshot(owner, tenant)).toEqual(before);
  });
});
