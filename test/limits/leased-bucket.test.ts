import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AskBucket, LeasedBucket } from '../../src/limits/leased-bucket.js';

/** A shared bucket that is never filled again, and counts how often it is asked. */
function sharedBucket(points: number) {
  const shared = { points, asked: 0 };
  const ask: AskBucket = async ({ back, need, want }) => {
    shared.asked++;
    await Promise.resolve();
    shared.points += back;
    const granted = shared.points >= need ? Math.min(shared.points, want) : 0;
    shared.points -= granted;
    return { granted, left: shared.points };
  };
  return { shared, ask };
}

describe('a bucket that several processes share', () => {
  it('is never overspent, however many spend at the same time, and loses no point', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 10_000, max: 100_000 }),
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 5_000 }), fc.boolean()), { maxLength: 60 }),
        async (points, processes, payments) => {
          const { shared, ask } = sharedBucket(points);
          // No more comes while the test runs: a minute of it would be needed for the first point.
          const capacity = points;
          const buckets = Array.from({ length: processes }, () => new LeasedBucket(ask, capacity));
          const paid = await Promise.all(
            payments.map(async ([process, cost, unused]) => {
              const bucket = buckets[process % processes] as LeasedBucket;
              const state = await bucket.pay(cost);
              if (!state.paid) return 0;
              if (!unused) return cost;
              bucket.refund(cost);
              return 0;
            }),
          );
          await Promise.all(buckets.map((bucket) => bucket.giveBack()));
          const spent = paid.reduce((sum, cost) => sum + cost, 0);
          expect(spent).toBeLessThanOrEqual(points);
          expect(shared.points + spent).toBeCloseTo(points, 6);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('is asked once for a second’s worth, and not at all for what it cannot hold', async () => {
    const { shared, ask } = sharedBucket(60_000);
    const bucket = new LeasedBucket(ask, 60_000);
    for (let i = 0; i < 10; i++) expect((await bucket.pay(100)).paid).toBe(true);
    expect(shared.asked).toBe(1);
    expect(bucket.held).toBe(0);
    expect((await bucket.pay(59_000)).paid).toBe(true);
    const asked = shared.asked;
    for (let i = 0; i < 100; i++) {
      const state = await bucket.pay(5_000);
      expect(state).toMatchObject({ paid: false, limit: 60_000 });
      expect(state.retryInMs).toBeGreaterThan(0);
      expect(state.retryInMs).toBeLessThanOrEqual(5_000);
    }
    // A flood of refusals costs the database nothing.
    expect(shared.asked).toBe(asked);
  });

  it('tells what remains and when it is full', async () => {
    const { ask } = sharedBucket(60_000);
    const bucket = new LeasedBucket(ask, 60_000);
    const state = await bucket.pay(6_000);
    expect(state.remaining).toBe(54_000);
    expect(state.fullInMs).toBeCloseTo(6_000, 0);
  });
});
