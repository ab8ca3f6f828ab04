import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addSample,
  chooseBaseline,
  EMPTY_BASELINE,
  mergeBaselines,
  SalienceInputError,
  sigma,
  WARMUP_SAMPLES,
  zScore,
} from '../../src/salience/index.js';
import { baselineOf, distances, settledBaseline } from './builders.js';

function twoPass(values: readonly number[]): { mean: number; sigma: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return { mean, sigma: Math.sqrt(variance) };
}

describe('addSample', () => {
  it('keeps count, mean and population deviation', () => {
    const baseline = baselineOf([0.2, 0.4, 0.4, 0.4, 0.5, 0.5, 0.7, 0.9]);
    expect(baseline.n).toBe(8);
    expect(baseline.mean).toBeCloseTo(0.5, 12);
    expect(sigma(baseline)).toBeCloseTo(0.2, 12);
  });

  it('equals a two-pass computation', () => {
    fc.assert(
      fc.property(fc.array(distances, { minLength: 1, maxLength: 300 }), (values) => {
        const baseline = baselineOf(values);
        const expected = twoPass(values);
        expect(baseline.n).toBe(values.length);
        expect(baseline.mean).toBeCloseTo(expected.mean, 9);
        expect(sigma(baseline)).toBeCloseTo(expected.sigma, 7);
      }),
    );
  });

  it('leaves its argument as it was', () => {
    const before = settledBaseline();
    const copy = { ...before };
    addSample(before, 2);
    expect(before).toEqual(copy);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2.1, -0.1, 1e300])(
    'refuses %s, so that no distance can poison it',
    (distance) => {
      expect(() => addSample(settledBaseline(), distance)).toThrow(SalienceInputError);
      expect(() => addSample(settledBaseline(), distance)).toThrow(/^distance must/);
    },
  );

  it('takes rounding outside 0..2 as the edge', () => {
    expect(addSample(EMPTY_BASELINE, 2.0004).mean).toBe(2);
    expect(addSample(EMPTY_BASELINE, -0.0004).mean).toBe(0);
  });

  it('moves the mean by at most 2/n for the greatest distance there is', () => {
    const before = settledBaseline(0.4, 0.1, 100);
    const after = addSample(before, 2);
    expect(after.mean - before.mean).toBeLessThan(2 / 101);
  });

  it('survives storage as JSON bit for bit', () => {
    fc.assert(
      fc.property(fc.array(distances, { maxLength: 50 }), distances, (values, next) => {
        const kept = baselineOf(values);
        const restored = JSON.parse(JSON.stringify(kept)) as typeof kept;
        expect(addSample(restored, next)).toEqual(addSample(kept, next));
      }),
    );
  });

  it.each([
    ['n', { n: -1, mean: 0, m2: 0 }],
    ['n', { n: 1.5, mean: 0, m2: 0 }],
    ['mean', { n: 1, mean: Number.NaN, m2: 0 }],
    ['m2', { n: 1, mean: 0, m2: -1 }],
  ])('names a malformed %s', (field, baseline) => {
    expect(() => addSample(baseline, 1)).toThrow(new RegExp(`^baseline\\.${field} must`));
  });
});

describe('zScore', () => {
  it.each([
    [0.8, -2],
    [1, 0],
    [1.1, 1],
    [1.3, 3],
  ])('of distance %s on mean 1, sigma 0.1 is %s', (distance, z) => {
    expect(zScore(distance, settledBaseline(1, 0.1))).toBeCloseTo(z, 9);
  });

  it('is 0 when all distances were alike', () => {
    expect(zScore(2, baselineOf(Array(30).fill(0.7)))).toBe(0);
  });

  it('is 0 on a deviation below 1e-9 and counts from there on', () => {
    expect(zScore(1, { n: 100, mean: 0.5, m2: 100 * 0.9e-9 ** 2 })).toBe(0);
    expect(zScore(1, { n: 100, mean: 0.5, m2: 100 * 1.1e-9 ** 2 })).toBeGreaterThan(1e8);
  });
});

describe('mergeBaselines', () => {
  it('is empty for no baselines and for empty ones', () => {
    expect(mergeBaselines([])).toEqual(EMPTY_BASELINE);
    expect(mergeBaselines([EMPTY_BASELINE, EMPTY_BASELINE])).toEqual(EMPTY_BASELINE);
  });

  it('equals the baseline of all samples together', () => {
    fc.assert(
      fc.property(fc.array(fc.array(distances, { maxLength: 40 }), { maxLength: 12 }), (lists) => {
        const merged = mergeBaselines(lists.map(baselineOf));
        const whole = baselineOf(lists.flat());
        expect(merged.n).toBe(whole.n);
        expect(merged.mean).toBeCloseTo(whole.mean, 9);
        expect(sigma(merged)).toBeCloseTo(sigma(whole), 7);
      }),
    );
  });

  it('counts the spread between scopes, not only inside them', () => {
    const near = baselineOf(Array(10).fill(0.2));
    const far = baselineOf(Array(10).fill(1.8));
    expect(sigma(mergeBaselines([near, far]))).toBeCloseTo(0.8, 12);
  });

  it('names the malformed one', () => {
    const broken = { n: 3, mean: Number.NaN, m2: 0 };
    expect(() => mergeBaselines([EMPTY_BASELINE, broken])).toThrow(/^baselines\[1\]\.mean must/);
  });
});

describe('chooseBaseline', () => {
  const young = settledBaseline(1, 0.1, WARMUP_SAMPLES - 1);
  const settled = settledBaseline(1, 0.1, WARMUP_SAMPLES);

  it('takes the scope from its 20th sample on, whatever the tenant has', () => {
    expect(chooseBaseline(settled, settledBaseline(0.3, 0.1, 500))).toEqual({
      baseline: settled,
      origin: 'SCOPE',
    });
  });

  it('takes the tenant for a young scope', () => {
    expect(chooseBaseline(young, settled)).toEqual({ baseline: settled, origin: 'TENANT' });
  });

  it('is null, warm-up, when neither has 20', () => {
    expect(chooseBaseline(young, young)).toBeNull();
  });
});
