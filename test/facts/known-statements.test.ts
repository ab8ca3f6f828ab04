import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { profileCallers } from '../profiles/support.js';
import { ended } from '../rescoring/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { type Breakdown, type Caller, callersOf, TestClock } from './support.js';
import { seeingClient } from './tables.js';

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

const PLACES = ['archive', 'cellar', 'attic', 'garden', 'kitchen', 'library', 'workshop'];

/** Facts of which some are close to one another and some are not: a baseline with a spread. */
async function trained(): Promise<void> {
  for (let n = 0; n < 24; n++) {
    const place = PLACES[n % PLACES.length];
    await admin.fact(
      n % 3 === 0
        ? `Colleague${n} walked a dog named pet${n} along river${n}`
        : `Sensor unit${n} reports the temperature of the ${place} to station${n % 5}`,
    );
  }
}

const KNOWN = 'The quarterly audit of the pharmacy begins in the north wing';
/** Close to it, and the contrary: a fact of its own. */
const ALIKE = 'The quarterly audit of the pharmacy never begins in the north wing';

function logistic(z: number): number {
  return 0.05 + 9.95 / (1 + Math.exp(-1.2 * (z - 1)));
}

async function restated(
  text: string,
): Promise<{ reaffirmed: boolean | null; b: Breakdown; importance: number }> {
  const { fact, reaffirmed, errors } = await admin.remember({ text });
  expect(errors).toEqual([]);
  return { reaffirmed, b: fact!.importanceBreakdown, importance: fact!.importance };
}

describe('a known statement, after a baseline was learned (SPEC §4.2)', () => {
  test('is worth 0.88 on the same day, and 6.20 after 180 days', async () => {
    await trained();
    await admin.fact(KNOWN);
    const today = await restated(KNOWN);
    expect(today.reaffirmed).toBe(true);
    expect(today.b.spatialZ).toBeLessThan(-1);
    expect(today.b).toMatchObject({ distance: 0, temporalZ: -1, z: -1 });
    expect(today.b.base).toBeCloseTo(0.878, 3);
    expect(today.b.encoded).toBeCloseTo(0.88, 2);
    clock.advanceHours(180 * 24);
    const later = await restated(KNOWN);
    expect(later.reaffirmed).toBe(true);
    expect(later.b.temporalZ).toBeCloseTo(5, 9);
    expect(later.b.z).toBeCloseTo(1.4, 9);
    expect(later.b.base).toBeCloseTo(6.2, 2);
    expect(later.importance).toBeCloseTo(later.b.encoded, 9);
    // The restatement is what it was last seen by: the next on that day is worth little again.
    expect((await restated(KNOWN)).b.base).toBeCloseTo(0.878, 3);
  });

  test('likewise where it is a fact of its own that says nearly the same', async () => {
    await trained();
    await admin.fact(KNOWN);
    clock.advanceHours(180 * 24);
    const { reaffirmed, b } = await restated(ALIKE);
    expect(reaffirmed).toBe(false);
    expect(b.spatialZ).toBeLessThan(-1);
    expect(b.temporalZ).toBeCloseTo(5, 9);
    expect(b.base).toBeCloseTo(6.2, 2);
  });

  test('is rescored by the gap it was stated after, with the α and β of the profile', async () => {
    await trained();
    const { id } = await admin.fact(KNOWN);
    clock.advanceHours(180 * 24);
    await restated(KNOWN);
    // Time goes on; the novelty of the time of ingestion stays.
    clock.advanceHours(1_000);
    for (const [alpha, beta] of [
      [0.2, 0.8],
      [0, 1],
      [1, 0],
    ] as const) {
      const { rescoreJob } = await profileCallers(salient, tenant).admin.set(
        { tenant: true },
        { alpha, beta },
      );
      expect(await ended(admin, rescoreJob!.id)).toMatchObject({ status: 'SUCCEEDED', failed: 0 });
      const { importanceBreakdown: b } = (await admin.find(id))!;
      expect(b.z).toBeCloseTo(5 * beta - alpha, 9);
      expect(b.base).toBeCloseTo(logistic(5 * beta - alpha), 9);
      expect(b.encoded).toBeCloseTo(b.base, 9);
    }
  });
});
