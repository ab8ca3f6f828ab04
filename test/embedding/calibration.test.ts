import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitKnots, type LabelledCosines, reportCalibration } from '../../src/embedding/calibration/fit.js';
import { useLiteSimilarity } from '../../src/embedding/calibration/use-lite.js';
import { calibration, type Knot } from '../../src/embedding/calibration.js';

describe('a calibration', () => {
  const similarity = calibration([
    [0, 0],
    [0.4, 0.5],
    [0.8, 0.9],
    [1, 1],
  ]);

  it('goes through its knots in straight lines', () => {
    expect(similarity(0.4)).toBeCloseTo(0.5, 12);
    expect(similarity(0.6)).toBeCloseTo(0.7, 12);
    expect(similarity(0.2)).toBeCloseTo(0.25, 12);
  });

  it.each([
    ['the fitted one', useLiteSimilarity],
    ['another', similarity],
  ])('is monotone and ends at 0 and 1: %s', (_, map) => {
    expect([map(1), map(1.0000001), map(0), map(-0.3), map(Number.NaN)]).toEqual([1, 1, 0, 0, 0]);
    const cosine = fc.double({ min: -1, max: 1, noNaN: true });
    fc.assert(
      fc.property(cosine, cosine, (a, b) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        expect(map(low)).toBeLessThanOrEqual(map(high));
        if (low > 0 && high - low > 1e-9) expect(map(low)).toBeLessThan(map(high));
      }),
    );
  });

  it.each<[string, Knot[]]>([
    ['none', []],
    ['no end', [[0, 0]]],
    [
      'no rise',
      [
        [0, 0],
        [0.5, 0.5],
        [0.6, 0.5],
        [1, 1],
      ],
    ],
    [
      'a step back',
      [
        [0, 0],
        [0.6, 0.5],
        [0.5, 0.6],
        [1, 1],
      ],
    ],
    [
      'another end',
      [
        [0, 0],
        [0.9, 1],
      ],
    ],
  ])('refuses knots with %s', (_, knots) => {
    expect(() => calibration(knots)).toThrow(RangeError);
  });
});

describe('fitting', () => {
  const spread = (from: number, to: number, count: number) =>
    Array.from({ length: count }, (_, i) => from + ((to - from) * i) / (count - 1));
  const cosines: LabelledCosines = {
    same: spread(0.88, 1, 41),
    relatedTopics: spread(0.3, 0.7, 81),
    relatedStatements: spread(0.4, 0.9, 81),
    unrelatedTopics: spread(-0.1, 0.5, 201),
    unrelatedStatements: spread(-0.1, 0.5, 200),
  };

  it('keeps what is unrelated below 0.5, and the same statement above 0.75', () => {
    const report = reportCalibration(cosines, calibration(fitKnots(cosines)));
    expect(report.unrelatedReaching).toBeGreaterThan(0);
    expect(report.unrelatedReaching).toBeLessThanOrEqual(0.02);
    expect(report.relatedReaching).toBeGreaterThan(0.6);
    expect(report.sameFamiliar).toBeGreaterThanOrEqual(0.9);
    expect(report.relatedStatementsFamiliar).toBeLessThan(0.1);
    expect(report.unrelatedFamiliar).toBe(0);
  });

  it('gives a typical related pair 0.7', () => {
    const map = calibration(fitKnots(cosines));
    const reaching = cosines.relatedTopics.filter((value) => map(value) >= 0.5);
    expect(map(reaching[Math.floor(reaching.length / 2)]!)).toBeCloseTo(0.7, 1);
  });

  it('refuses cosines that say nothing about the labels', () => {
    const noise = spread(0.1, 0.9, 50);
    const useless = { same: noise, relatedTopics: noise, relatedStatements: noise };
    expect(() => fitKnots({ ...useless, unrelatedTopics: noise, unrelatedStatements: noise })).toThrow(
      RangeError,
    );
  });
});
