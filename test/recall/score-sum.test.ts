import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuseSums, RRF_K } from '../../src/recall/fusion.js';
import { type Evidence, scoreSum } from '../../src/recall/score-sum.js';
import { SHORT_TURN, SUM_WEIGHTS } from '../../src/recall/sum-parameters.js';

const NOTHING: Evidence = { lexical: 0, cosine: null, ofNamed: false, nearNamed: false, time: 0, turn: null };

const evidence = fc.record({
  lexical: fc.double({ min: 0, max: 40, noNaN: true }),
  cosine: fc.option(fc.double({ min: -1, max: 1, noNaN: true })),
  ofNamed: fc.boolean(),
  nearNamed: fc.boolean(),
  time: fc.double({ min: 0, max: 1, noNaN: true }),
  turn: fc.option(fc.record({ asks: fc.boolean(), characters: fc.nat(5_000) })),
});

describe('scoreSum', () => {
  it('is 0 for nothing, and for a fact is what its words, its vector and its time say', () => {
    expect(scoreSum(NOTHING, 0)).toBe(0);
    expect(scoreSum({ ...NOTHING, lexical: 3, cosine: 0.5, time: 0.2 }, 100)).toBeCloseTo(
      (SUM_WEIGHTS.lexical * 3) / Math.log(102) + SUM_WEIGHTS.cosine * 0.5 + SUM_WEIGHTS.time * 0.2,
      12,
    );
  });

  it('grows with everything that speaks for a document', () => {
    fc.assert(
      fc.property(evidence, fc.nat(1_000_000), (one, documents) => {
        const score = scoreSum(one, documents);
        const better: Evidence[] = [
          { ...one, lexical: one.lexical + 1 },
          { ...one, cosine: (one.cosine ?? 0) + 0.1 },
          ...(one.ofNamed ? [] : [{ ...one, ofNamed: true }]),
          ...(one.nearNamed ? [] : [{ ...one, nearNamed: true }]),
          { ...one, time: one.time + 0.1 },
        ];
        for (const other of better) expect(scoreSum(other, documents)).toBeGreaterThan(score);
        expect(scoreSum({ ...one, turn: null }, documents)).toBeGreaterThanOrEqual(score);
      }),
    );
  });

  it('takes off what a turn lacks: an answer, and something to say', () => {
    const of = (asks: boolean, characters: number) =>
      scoreSum({ ...NOTHING, turn: { asks, characters } }, 10);
    expect(of(false, SHORT_TURN)).toBe(0);
    expect(of(false, 10 * SHORT_TURN)).toBe(0);
    expect(of(false, SHORT_TURN / 2)).toBeLessThan(0);
    expect(of(true, SHORT_TURN)).toBe(-SUM_WEIGHTS.question);
    expect(Number.isFinite(of(false, 0))).toBe(true);
  });

  it('does not let the one who is named outweigh what is said', () => {
    const saidByOther = { ...NOTHING, lexical: 6, cosine: 0.5 };
    expect(scoreSum(saidByOther, 500)).toBeGreaterThan(
      scoreSum({ ...NOTHING, lexical: 2, cosine: 0.3, ofNamed: true, nearNamed: true }, 500),
    );
  });
});

describe('fuseSums', () => {
  const sums = fc.array(
    fc.record({ sum: fc.double({ min: -5, max: 50, noNaN: true }), worded: fc.constant(true) }),
    {
      minLength: 1,
      maxLength: 40,
    },
  );

  it('keeps the order of the sums, equal ones together', () => {
    fc.assert(
      fc.property(sums, (all) => {
        const fused = fuseSums(new Map(all.map((one, i) => [`d${i}`, one])), 6);
        for (const [i, one] of all.entries())
          for (const [j, other] of all.entries())
            if (one.sum - other.sum > 1e-6) expect(fused.get(`d${i}`)).toBeGreaterThan(fused.get(`d${j}`)!);
        expect(Math.max(...fused.values())).toBe(6 / (RRF_K + 1));
      }),
    );
  });

  it('lets what no word leads to be carried less far', () => {
    const fused = fuseSums(
      new Map([
        ['worded', { sum: 2, worded: true }],
        ['sounding', { sum: 3, worded: false }],
      ]),
      6,
    );
    expect(fused.get('sounding')).toBeLessThan(fused.get('worded')!);
  });
});
