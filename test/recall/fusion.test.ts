import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuse, kindWeight, RRF_K, ranksOf } from '../../src/recall/fusion.js';

const scores = fc
  .uniqueArray(fc.nat(400), { maxLength: 60 })
  .chain((ids) =>
    fc
      .array(fc.integer({ min: 0, max: 20 }), { minLength: ids.length, maxLength: ids.length })
      .map((values) => new Map(ids.map((id, i) => [`d${id}`, values[i]!]))),
  );

describe('ranksOf', () => {
  it('counts from 1, lets equals share the better rank and goes on after them', () => {
    const ranks = ranksOf(
      new Map([
        ['a', 5],
        ['b', 9],
        ['c', 5],
        ['d', 1],
      ]),
    );
    expect(ranks).toEqual(
      new Map([
        ['b', 1],
        ['a', 2],
        ['c', 2],
        ['d', 4],
      ]),
    );
  });

  it('takes scores that differ by rounding alone as equal', () => {
    const ranks = ranksOf(
      new Map([
        ['a', 0.1 + 0.2],
        ['b', 0.3],
        ['c', 0.3 - 1e-6],
      ]),
    );
    expect([ranks.get('a'), ranks.get('b'), ranks.get('c')]).toEqual([1, 1, 3]);
  });

  it('gives each document one more than the number of those with a higher score', () => {
    fc.assert(
      fc.property(scores, (arm) => {
        const ranks = ranksOf(arm);
        for (const [id, score] of arm) {
          expect(ranks.get(id)).toBe(1 + [...arm.values()].filter((other) => other > score).length);
        }
      }),
    );
  });
});

describe('fuse', () => {
  it('adds weight / (60 + rank) over the arms', () => {
    const lexical = new Map([
      ['a', 2],
      ['b', 1],
    ]);
    const vector = new Map([
      ['b', 0.9],
      ['c', 0.8],
    ]);
    const fused = fuse([
      { weight: 3, scores: lexical },
      { weight: 3, scores: vector },
    ]);
    expect(fused.get('a')).toBe(3 / 61);
    expect(fused.get('b')).toBe(3 / 62 + 3 / 61);
    expect(fused.get('c')).toBe(3 / 62);
  });

  it('keeps the order of a single arm, whatever its weight and the size of its scores', () => {
    fc.assert(
      fc.property(scores, fc.double({ min: 0.1, max: 9, noNaN: true }), (arm, weight) => {
        const fused = fuse([{ weight, scores: arm }]);
        const ids = [...arm.keys()];
        for (const a of ids) {
          for (const b of ids) {
            expect(Math.sign(fused.get(a)! - fused.get(b)!)).toBe(Math.sign(arm.get(a)! - arm.get(b)!));
          }
        }
      }),
    );
  });

  it('puts what is first in both arms above what is first in one only', () => {
    fc.assert(
      fc.property(scores, scores, (one, two) => {
        one.set('both', 100);
        two.set('both', 100);
        const fused = fuse([
          { weight: 3, scores: one },
          { weight: 3, scores: two },
        ]);
        const others = [...fused].filter(([id]) => id !== 'both').map(([, score]) => score);
        expect(fused.get('both')).toBe(6 / (RRF_K + 1));
        for (const other of others) expect(other).toBeLessThan(fused.get('both')!);
      }),
    );
  });
});

describe('kindWeight', () => {
  it('is above 1 for what describes the user and their surroundings', () => {
    expect(['USER_PROFILE', 'PREFERENCE', 'ENV', 'FACT', 'DECISION', null].map(kindWeight)).toEqual([
      1.3, 1.2, 1.1, 1, 1, 1,
    ]);
  });
});
