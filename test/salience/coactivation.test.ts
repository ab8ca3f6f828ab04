import { describe, expect, it } from 'vitest';
import { COACTIVATION_MIN_WEIGHT, decayTie, strengthenTie } from '../../src/salience/index.js';

describe('strengthenTie', () => {
  it.each([
    [0, 0.1],
    [0.1, 0.19],
    [0.9, 0.91],
    [1, 1],
  ])('takes %s to %s', (weight, next) => {
    expect(strengthenTie(weight)).toBeCloseTo(next, 12);
  });

  it.each([-0.1, 1.1, Number.NaN])('refuses %s', (weight) => {
    expect(() => strengthenTie(weight)).toThrow(/^weight must/);
  });
});

describe('decayTie', () => {
  it.each([
    [1, 1, 0.9],
    [1, 2, 0.81],
    [0.5, 0, 0.5],
    [0.5, -3, 0.5],
  ])('%s after %s days is %s', (weight, days, left) => {
    expect(decayTie(weight, days)).toBeCloseTo(left, 12);
  });

  it('gives the same in two steps as in one, so that a late job loses nothing', () => {
    expect(decayTie(decayTie(0.8, 1.5), 2.25)).toBeCloseTo(decayTie(0.8, 3.75), 12);
  });

  it('lets a tie of one recall go after a week', () => {
    expect(decayTie(strengthenTie(0), 6)).toBeGreaterThanOrEqual(COACTIVATION_MIN_WEIGHT);
    expect(decayTie(strengthenTie(0), 7)).toBeLessThan(COACTIVATION_MIN_WEIGHT);
  });
});
