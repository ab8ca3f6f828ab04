import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  combinedZ,
  hintedImportance,
  noveltyImportance,
  noveltyShare,
  temporalZ,
} from '../../src/salience/novelty.js';

describe('noveltyImportance', () => {
  it.each([
    [-2, 0.315],
    [-1, 0.878],
    [0, 2.353],
    [1, 5.025],
    [2, 7.697],
    [3, 9.172],
    [4, 9.735],
  ])('of z %s is %s', (z, importance) => {
    expect(noveltyImportance(z)).toBeCloseTo(importance, 3);
  });

  it('stays on the scale at the extremes', () => {
    expect(noveltyImportance(-2e9)).toBe(0.05);
    expect(noveltyImportance(2e9)).toBe(10);
  });

  it('rises with z', () => {
    const z = fc.double({ min: -20, max: 20, noNaN: true });
    fc.assert(
      fc.property(z, z, (a, b) => {
        expect(noveltyImportance(Math.min(a, b))).toBeLessThanOrEqual(noveltyImportance(Math.max(a, b)));
      }),
    );
  });
});

describe('temporalZ', () => {
  it.each([
    [0, -1],
    [24, -1 + (6 * Math.log(2)) / Math.log(181)],
    [7 * 24, -1 + (6 * Math.log(8)) / Math.log(181)],
    [180 * 24, 5],
    [3650 * 24, 5],
    [-500, -1],
  ])('of a gap of %s hours is %s', (hours, z) => {
    expect(temporalZ(hours)).toBeCloseTo(z, 12);
  });
});

describe('dual surprise', () => {
  it('scores a known statement 0.88 on the same day', () => {
    expect(noveltyImportance(combinedZ(-4, temporalZ(0), 0.6, 0.4))).toBeCloseTo(0.88, 2);
  });

  it('scores it 6.20 after 180 days', () => {
    expect(noveltyImportance(combinedZ(-4, temporalZ(180 * 24), 0.6, 0.4))).toBeCloseTo(6.2, 2);
  });

  it('floors the spatial part at −1 and leaves what is above it', () => {
    expect(combinedZ(-9, 0, 0.6, 0.4)).toBeCloseTo(-0.6, 12);
    expect(combinedZ(2, 0, 0.6, 0.4)).toBeCloseTo(1.2, 12);
  });
});

describe('hintedImportance', () => {
  it('is 8.21 for I .7, C .5, N .9, U 1.0', () => {
    expect(hintedImportance({ interest: 0.7, challenge: 0.5, novelty: 0.9, urgency: 1 })).toBeCloseTo(
      8.209,
      9,
    );
  });

  it.each([
    [{ interest: 0, challenge: 0, novelty: 0, urgency: 0 }, 0.05],
    [{ interest: 1, challenge: 1, novelty: 1, urgency: 1 }, 10],
    [{ interest: 5, challenge: -5, novelty: 0, urgency: 0 }, 0.05 + 9.95 * 0.3],
  ])('of %o is %s', (signals, importance) => {
    expect(hintedImportance(signals)).toBeCloseTo(importance, 9);
  });
});

describe('noveltyShare', () => {
  it.each([
    [null, 1],
    [0, 0],
    [0.5, 0.25],
    [1.8, 0.9],
    [2, 1],
  ])('of distance %s is %s', (distance, share) => {
    expect(noveltyShare(distance)).toBe(share);
  });
});
