import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pack } from '../../src/recall/packing.js';

const own = (length: number) => length;

describe('pack', () => {
  it('skips an over-long first hit, counts it and takes the next that fits', () => {
    expect(pack([5_000, 40, 30], own, 20, 100)).toEqual({
      taken: [40, 30],
      skipped: [5_000],
      charactersUsed: 70,
    });
  });

  it('goes on after something that does not fit any more', () => {
    expect(pack([60, 50, 30, 20, 10], own, 20, 100)).toEqual({
      taken: [60, 30, 10],
      skipped: [50, 20],
      charactersUsed: 100,
    });
  });

  it('ends at k, and what comes after it was not skipped for the budget', () => {
    expect(pack([10, 10, 900, 10], own, 2, 100)).toEqual({
      taken: [10, 10],
      skipped: [],
      charactersUsed: 20,
    });
  });

  it('takes the first k where there is no budget', () => {
    expect(pack([10, 20, 30], own, 2, null)).toEqual({
      taken: [10, 20],
      skipped: [],
      charactersUsed: 30,
    });
  });

  it('never exceeds the budget, keeps the order, and leaves nothing behind that fitted', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 120 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 400 }),
        (lengths, k, budget) => {
          const items = lengths.map((length, index) => ({ length, index }));
          const { taken, skipped, charactersUsed } = pack(items, (item) => item.length, k, budget);
          expect(charactersUsed).toBe(taken.reduce((sum, item) => sum + item.length, 0));
          expect(charactersUsed).toBeLessThanOrEqual(budget);
          expect(taken.map((item) => item.index)).toEqual(
            [...taken.map((item) => item.index)].sort((a, b) => a - b),
          );
          const looked = taken.length === k ? taken.at(-1)!.index + 1 : items.length;
          expect(skipped.map((item) => item.index)).toEqual(
            items
              .slice(0, looked)
              .filter((item) => !taken.includes(item))
              .map((item) => item.index),
          );
          for (const item of items.slice(0, looked)) {
            if (taken.includes(item)) continue;
            const before = taken
              .filter((other) => other.index < item.index)
              .reduce((sum, other) => sum + other.length, 0);
            expect(before + item.length).toBeGreaterThan(budget);
          }
        },
      ),
    );
  });
});
