import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { StretchSize } from '../../src/jobs/stretch-size.js';

/** Works over facts until all are done or passed over, with stretches that `fails` refuses; the sizes tried, in order. */
function walk(facts: number, most: number, fails: (from: number, size: number) => boolean) {
  const size = new StretchSize(most);
  const tried: { size: number; failed: boolean }[] = [];
  const skipped: number[] = [];
  let at = 0;
  while (at < facts) {
    if (tried.length > 100_000) throw new Error('it never ends');
    const { current } = size;
    const failed = fails(at, Math.min(current, facts - at));
    tried.push({ size: current, failed });
    if (!failed) {
      at += current;
      size.succeeded();
    } else if (current > 1) {
      size.failed();
    } else {
      skipped.push(at++);
      size.skipped();
    }
  }
  return { tried, skipped };
}

describe('the size of a stretch', () => {
  test('stays as it is while nothing fails', () => {
    const { tried } = walk(100_000, 5_000, () => false);
    expect(tried).toHaveLength(20);
    expect(new Set(tried.map(({ size }) => size))).toEqual(new Set([5_000]));
  });

  test('is cut down to a bad fact, wherever it is, and is what it was behind it', () => {
    const anyBad = fc.uniqueArray(fc.nat(19_999), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(anyBad, (bad) => {
        const { tried, skipped } = walk(20_000, 5_000, (from, size) =>
          bad.some((fact) => fact >= from && fact < from + size),
        );
        expect(skipped).toEqual([...bad].sort((a, b) => a - b));
        // Some dozens of stretches for each, not thousands.
        expect(tried.length).toBeLessThan(10 + bad.length * 60);
      }),
    );
  });

  test('that is too great is not tried again at once: what worked is kept, and grows in steps', () => {
    const { tried, skipped } = walk(1_000_000, 5_000, (_from, size) => size > 700);
    expect(skipped).toEqual([]);
    const failures = tried.filter(({ failed }) => failed).length;
    expect(failures / tried.length).toBeLessThan(0.06);
    expect(tried.at(-2)!.size).toBeGreaterThan(35);
  });

  test('comes back to the whole when what made it fail is over', () => {
    let failing = 3;
    const { tried, skipped } = walk(1_000_000, 5_000, () => failing-- > 0);
    expect(tried.at(-1)!.size).toBe(5_000);
    expect(skipped.length).toBeLessThanOrEqual(1);
  });
});
