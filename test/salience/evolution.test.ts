import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  currentImportance,
  DECAY_VARIANTS,
  type DecayVariant,
  decay,
  hoursUnseen,
  isWorthTelling,
  mayReinforce,
  reinforce,
  SalienceInputError,
} from '../../src/salience/index.js';

const DAY = 24;
const variants = Object.keys(DECAY_VARIANTS) as DecayVariant[];
const at = (iso: string) => new Date(iso);

describe('decay', () => {
  it.each([
    [0, 1],
    [DAY, 0.617],
    [7 * DAY, 0.463],
    [365 * DAY, 0.256],
  ])('after %s hours leaves %s at R = 1', (hours, remaining) => {
    expect(decay(hours, 1)).toBeCloseTo(remaining, 3);
  });

  it.each([
    ['STANDARD', 0.1],
    ['SLOW', 0.15],
    ['FAST', 0.05],
  ] as const)('%s never falls below %s', (variant, floor) => {
    expect(decay(1e30, 1, variant)).toBe(floor);
  });

  it('is slower with resistance and by variant', () => {
    expect(decay(7 * DAY, 2, 'STANDARD')).toBeCloseTo(169 ** -0.075, 12);
    expect(decay(7 * DAY, 1, 'SLOW')).toBeCloseTo(169 ** -0.08, 12);
    expect(decay(7 * DAY, 1, 'FAST')).toBeCloseTo(169 ** -0.3, 12);
  });

  it('never rises with time and never falls with resistance', () => {
    const hours = fc.double({ min: 0, max: 1e6, noNaN: true });
    const resistance = fc.double({ min: 1, max: 2.3, noNaN: true });
    fc.assert(
      fc.property(
        hours,
        hours,
        resistance,
        resistance,
        fc.constantFrom(...variants),
        (h1, h2, r1, r2, variant) => {
          const [early, late] = h1 < h2 ? [h1, h2] : [h2, h1];
          const [weak, strong] = r1 < r2 ? [r1, r2] : [r2, r1];
          expect(decay(late, weak, variant)).toBeLessThanOrEqual(decay(early, weak, variant));
          expect(decay(early, weak, variant)).toBeLessThanOrEqual(decay(early, strong, variant));
          expect(decay(late, weak, variant)).toBeGreaterThanOrEqual(DECAY_VARIANTS[variant].floor);
          expect(decay(early, strong, variant)).toBeLessThanOrEqual(1);
        },
      ),
    );
  });

  it('counts a time in the future as now', () => {
    expect(decay(-5, 1)).toBe(1);
  });

  it('refuses what is not finite, and a resistance below 1', () => {
    expect(() => decay(Number.NaN, 1)).toThrow(/^hours must/);
    expect(() => decay(Number.POSITIVE_INFINITY, 1)).toThrow(/^hours must/);
    expect(() => decay(1, 0.9)).toThrow(/^resistance must/);
    expect(() => decay(1, Number.NaN)).toThrow(SalienceInputError);
  });
});

describe('hoursUnseen', () => {
  const recordedAt = at('2026-01-01T00:00:00Z');

  it.each([
    ['recorded', null, null, 72],
    ['reinforced', at('2026-01-03T00:00:00Z'), null, 24],
    ['last seen', at('2026-01-02T00:00:00Z'), at('2026-01-03T12:00:00Z'), 12],
    ['recorded, when a back-dated sighting is older', null, at('2025-06-01T00:00:00Z'), 72],
  ])('counts from when it was %s', (_, reinforcedAt, lastSeenAt, hours) => {
    expect(hoursUnseen(at('2026-01-04T00:00:00Z'), { recordedAt, reinforcedAt, lastSeenAt })).toBe(hours);
  });

  it('is 0 for a fact dated after now', () => {
    const times = { recordedAt, reinforcedAt: null, lastSeenAt: null };
    expect(hoursUnseen(at('2025-12-31T00:00:00Z'), times)).toBe(0);
  });

  it('names an invalid date', () => {
    const times = { recordedAt, reinforcedAt: null, lastSeenAt: new Date(Number.NaN) };
    expect(() => hoursUnseen(recordedAt, times)).toThrow(/^times\.lastSeenAt must/);
  });
});

describe('reinforce', () => {
  it('adds a twentieth of what is left to 2', () => {
    expect(reinforce(1)).toBeCloseTo(1.05, 12);
    expect(reinforce(1.5)).toBeCloseTo(1.525, 12);
    expect(reinforce(2)).toBe(2);
  });

  it('rises towards 2 and never past it, however often', () => {
    let r = 1;
    for (let i = 0; i < 2000; i += 1) {
      const next = reinforce(r);
      expect(next).toBeGreaterThanOrEqual(r);
      r = next;
    }
    expect(r).toBeLessThanOrEqual(2);
    expect(r).toBeGreaterThan(1.999);
  });

  it.each([0.99, 2.01, Number.NaN])('refuses %s', (r) => {
    expect(() => reinforce(r)).toThrow(/^reinforcement must/);
  });
});

describe('mayReinforce', () => {
  const now = at('2026-01-01T12:05:00.000Z');

  it.each([
    ['never', null, true],
    ['five minutes ago', at('2026-01-01T12:00:00.000Z'), true],
    ['a millisecond less ago', at('2026-01-01T12:00:00.001Z'), false],
  ])('after a reinforcement %s', (_, reinforcedAt, allowed) => {
    expect(mayReinforce(now, reinforcedAt)).toBe(allowed);
  });
});

describe('currentImportance', () => {
  const parts = { encoded: 5, reinforcement: 1, decay: 0.617, pinned: false, flashbulb: false };

  it.each([
    ['as encoded, undecayed', { decay: 1 }, 5],
    ['decayed', {}, 3.085],
    ['reinforced', { reinforcement: 1.5 }, 4.6275],
    ['at most 10', { encoded: 9, reinforcement: 2, decay: 1 }, 10],
    ['at least 0.05', { encoded: 0.05, decay: 0.1 }, 0.05],
    ['a pinned fact: its own importance, undecayed', { pinned: true }, 5],
    ['a pinned flashbulb: 10', { pinned: true, flashbulb: true }, 10],
    ['an unpinned flashbulb: the encoded value again, decaying', { flashbulb: true }, 3.085],
  ])('is, %s', (_, overrides, expected) => {
    expect(currentImportance({ ...parts, ...overrides })).toBeCloseTo(expected, 9);
  });

  it('leaves the encoded value as it was: decay and a new score are two numbers', () => {
    const stored = { ...parts };
    currentImportance(stored);
    expect(stored.encoded).toBe(5);
  });

  it('always lies in 0.05..10', () => {
    const real = (min: number, max: number) => fc.double({ min, max, noNaN: true });
    fc.assert(
      fc.property(
        fc.record({
          encoded: real(0.05, 10),
          reinforcement: real(1, 2),
          decay: real(0, 1),
          pinned: fc.boolean(),
          flashbulb: fc.boolean(),
        }),
        (any) => {
          const current = currentImportance(any);
          expect(current).toBeGreaterThanOrEqual(0.05);
          expect(current).toBeLessThanOrEqual(10);
        },
      ),
    );
  });

  it.each([
    ['encoded', { encoded: 11 }],
    ['encoded', { encoded: Number.NaN }],
    ['reinforcement', { reinforcement: 0 }],
    ['decay', { decay: 1.1 }],
  ])('names a bad %s', (field, overrides) => {
    expect(() => currentImportance({ ...parts, ...overrides })).toThrow(new RegExp(`^${field} must`));
  });
});

describe('isWorthTelling', () => {
  it.each([
    [5, 5.25, true],
    [5.25, 5, true],
    [5.1, 4.85, true],
    [0.1, 0.35, true],
    [5, 5.2499, false],
    [5, 5, false],
  ])('from %s to %s: %s', (told, current, worth) => {
    expect(isWorthTelling(told, current)).toBe(worth);
  });
});
