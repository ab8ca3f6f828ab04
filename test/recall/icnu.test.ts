import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  freshness,
  ICNU_LAMBDA,
  type IcnuSignals,
  icnu,
  urgencyNow,
  withIcnu,
} from '../../src/recall/icnu.js';
import { DEFAULT_ICNU_WEIGHTS } from '../../src/salience/index.js';

const signals: fc.Arbitrary<IcnuSignals> = fc.record({
  importance: fc.double({ min: 0.05, max: 10, noNaN: true }),
  coactivation: fc.double({ min: 0, max: 1, noNaN: true }),
  hoursUnseen: fc.double({ min: 0, max: 100_000, noNaN: true }),
  urgency: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  hoursSinceStated: fc.double({ min: 0, max: 100_000, noNaN: true }),
});

describe('icnu', () => {
  it('weighs importance, co-activation, freshness and what is left of urgency', () => {
    const value = icnu(
      { importance: 8, coactivation: 0.4, hoursUnseen: 24, urgency: 1, hoursSinceStated: 7 * 24 },
      { importance: 0.4, coactivation: 0.1, novelty: 0.4, urgency: 0.1 },
    );
    expect(value).toBeCloseTo(0.4 * 0.8 + 0.1 * 0.4 + 0.4 * 25 ** -0.15 + 0.1 * 0.5, 12);
  });

  it('stays in [0, 1] with the default weights, so it raises a score by half at most', () => {
    fc.assert(
      fc.property(signals, fc.double({ min: 0, max: 1, noNaN: true }), (given, score) => {
        const value = icnu(given);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
        expect(withIcnu(score, value)).toBeGreaterThanOrEqual(score);
        expect(withIcnu(score, value)).toBeLessThanOrEqual(score * (1 + ICNU_LAMBDA));
      }),
    );
  });

  it('rises with importance, co-activation and urgency, and falls with age', () => {
    fc.assert(
      fc.property(signals, signals, (a, b) => {
        const better: IcnuSignals = {
          importance: Math.max(a.importance, b.importance),
          coactivation: Math.max(a.coactivation, b.coactivation),
          hoursUnseen: Math.min(a.hoursUnseen, b.hoursUnseen),
          urgency: Math.max(a.urgency ?? 0, b.urgency ?? 0),
          hoursSinceStated: Math.min(a.hoursSinceStated, b.hoursSinceStated),
        };
        expect(icnu(better)).toBeGreaterThanOrEqual(Math.max(icnu(a), icnu(b)) - 1e-12);
      }),
    );
  });

  it('leaves what is not relevant at zero', () => {
    fc.assert(
      fc.property(signals, (given) => {
        expect(withIcnu(0, icnu(given))).toBe(0);
      }),
    );
  });

  it('has weights that sum to 1', () => {
    expect(Object.values(DEFAULT_ICNU_WEIGHTS).reduce((sum, weight) => sum + weight)).toBe(1);
  });
});

describe('freshness', () => {
  it('is 1 at once, 0.617 after a day, 0.463 after a week and 0.256 after a year', () => {
    expect(freshness(0)).toBe(1);
    expect(freshness(24)).toBeCloseTo(0.617, 3);
    expect(freshness(7 * 24)).toBeCloseTo(0.463, 3);
    expect(freshness(365 * 24)).toBeCloseTo(0.256, 3);
  });

  it('takes a clock that is behind as now', () => {
    expect(freshness(-5)).toBe(1);
    expect(urgencyNow(0.6, -5)).toBe(0.6);
  });
});

describe('urgencyNow', () => {
  it('halves every seven days; a fact without urgency has none', () => {
    expect(urgencyNow(0.8, 7 * 24)).toBeCloseTo(0.4, 12);
    expect(urgencyNow(0.8, 21 * 24)).toBeCloseTo(0.1, 12);
    expect(urgencyNow(null, 0)).toBe(0);
  });
});
