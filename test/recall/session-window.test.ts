import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type WindowTurn, windowScores } from '../../src/recall/session-window.js';
import { TURN_BM25, TURN_WINDOW, WINDOW_REACH } from '../../src/recall/sum-parameters.js';

function turn(seq: number, options: Partial<WindowTurn> = {}): WindowTurn {
  return { id: `t${seq}`, sessionId: 's', seq, length: 10, frequencies: [0], asks: false, ...options };
}

/** Turns of one session in order; those with a number have the only term so often. */
function session(frequencies: readonly number[], asking: readonly number[] = []): WindowTurn[] {
  return frequencies.map((frequency, seq) =>
    turn(seq, { frequencies: [frequency], asks: asking.includes(seq) }),
  );
}

const scoresOf = (turns: readonly WindowTurn[], reach?: number) => windowScores(turns, [1.6], 10, reach);

const someTurns = fc
  .array(
    fc.record({
      frequencies: fc.tuple(fc.nat(3), fc.nat(3)),
      length: fc.integer({ min: 1, max: 40 }),
      asks: fc.boolean(),
      session: fc.nat(2),
    }),
    { maxLength: 30 },
  )
  .map((specs) =>
    specs.map(({ session: number, ...spec }, seq) => turn(seq, { ...spec, sessionId: `s${number}` })),
  );

describe('windowScores', () => {
  it('is BM25 of the turn itself where nothing is said around it', () => {
    const { k1, b } = TURN_BM25;
    const scores = windowScores([turn(4, { frequencies: [2, 0], length: 20 })], [3, 5], 8);
    expect(scores.get('t4')).toBeCloseTo((3 * 2) / (2 + k1 * (1 - b + (b * 20) / 8)), 12);
  });

  it('gives an answer the words of its question, and more of them than of any other turn', () => {
    const [asked, told] = [session([0, 1, 0], [1]), session([0, 1, 0])];
    expect(scoresOf(asked).get('t2')).toBeGreaterThan(scoresOf(told).get('t2')!);
    expect(scoresOf(asked).get('t0')).toBe(scoresOf(told).get('t0'));
    expect(scoresOf(asked).get('t1')).toBeGreaterThan(scoresOf(asked).get('t2')!);
  });

  it('reaches as far as the window does, within the session', () => {
    const far = Array.from({ length: 2 * WINDOW_REACH + 3 }, (_, i) => (i === WINDOW_REACH + 1 ? 1 : 0));
    const found = [...scoresOf(session(far)).keys()].sort();
    expect(found).toEqual(Array.from({ length: 2 * WINDOW_REACH + 1 }, (_, i) => `t${i + 1}`).sort());
    const other = session(far).map((one) => (one.seq === 0 ? one : { ...one, sessionId: `s${one.seq}` }));
    expect([...scoresOf(other).keys()]).toEqual([`t${WINDOW_REACH + 1}`]);
    expect([...scoresOf(session(far), 0).keys()]).toEqual([`t${WINDOW_REACH + 1}`]);
  });

  it('does not depend on the order of the turns', () => {
    fc.assert(
      fc.property(someTurns, (turns) => {
        const there = windowScores(turns, [1, 2], 12);
        const back = windowScores([...turns].reverse(), [1, 2], 12);
        expect([...back.keys()].sort()).toEqual([...there.keys()].sort());
        for (const [id, score] of there) expect(back.get(id)).toBeCloseTo(score, 12);
      }),
    );
  });

  it('stays below the weights of the terms that are heard, and a turn itself counts the most', () => {
    fc.assert(
      fc.property(someTurns, (turns) => {
        const alone = windowScores(turns, [1, 2], 12, 0);
        for (const [id, score] of windowScores(turns, [1, 2], 12)) {
          expect(score).toBeGreaterThan(0);
          expect(score).toBeLessThan(3);
          expect(score).toBeGreaterThanOrEqual((alone.get(id) ?? 0) - 1e-12);
        }
      }),
    );
    for (const { offset, weight, afterQuestion } of TURN_WINDOW)
      if (offset !== 0) expect(Math.max(weight, afterQuestion)).toBeLessThan(1);
  });
});
