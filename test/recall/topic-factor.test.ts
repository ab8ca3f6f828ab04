import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CandidateRow } from '../../src/db/index.js';
import { DEFAULT_RANKING, rankByRelevance } from '../../src/recall/ranking.js';
import { topicFactor } from '../../src/recall/topic-factor.js';

const boost = fc.double({ min: 0.01, max: 2, noNaN: true });
const NOW = new Date('2026-06-01T12:00:00.000Z');

function row(id: string, cosine: number, topicBoost: number | null, factIds: string[] = []): CandidateRow {
  return {
    source: topicBoost === null ? 'MESSAGE' : 'FACT',
    id,
    lexical: null,
    cosine,
    characters: 10,
    recordedAt: NOW,
    toldAt: NOW,
    factIds,
    superseded: false,
    fact:
      topicBoost === null
        ? null
        : {
            kind: 'FACT',
            encoded: 1,
            topicBoost,
            pinned: false,
            flashbulb: false,
            reinforcement: 1,
            decayResistance: 1,
            reinforcedAt: null,
            lastSeenAt: NOW,
            urgency: null,
            scopeId: 1,
            fingerprint: null,
            scoredRevision: 0,
            ties: [],
          },
  };
}

const order = (rows: CandidateRow[], options = DEFAULT_RANKING) =>
  rankByRelevance(rows, NOW, options).map(({ candidate }) => candidate.id);

describe('the factor of topics', () => {
  it('is 1 without a match, rises with the boost, and stays within 3%', () => {
    expect(topicFactor(1)).toBe(1);
    fc.assert(
      fc.property(boost, boost, (a, b) => {
        expect(topicFactor(Math.max(a, b))).toBeGreaterThanOrEqual(topicFactor(Math.min(a, b)));
        expect(topicFactor(a)).toBeLessThan(1.03);
        expect(topicFactor(a)).toBeGreaterThan(1 / 1.03);
      }),
    );
  });

  it('moves a fact of an interest past better hits, and one of a disinterest behind worse ones', () => {
    const rows = [0.9, 0.8, 0.7, 0.6].map((cosine, i) => row(String(i), cosine, 1));
    expect(order([...rows, row('dear', 0.5, 2)])).toEqual(['0', '1', '2', 'dear', '3']);
    expect(order([...rows, row('dear', 0.65, 2)])).toEqual(['0', '1', 'dear', '2', '3']);
    expect(order([row('dull', 0.95, 0.1), ...rows])).toEqual(['0', 'dull', '1', '2', '3']);
    expect(order([row('dull', 0.95, 0.1), ...rows], { ...DEFAULT_RANKING, topicExponent: 0 })[0]).toBe(
      'dull',
    );
  });

  it('leaves importance 8.0 before 0.3 where their ranks differ by three, whatever one of them matches', () => {
    const between = [row('1', 0.8, 1), row('2', 0.7, 1)];
    const of = (one: CandidateRow, encoded: number) => ({ ...one, fact: { ...one.fact!, encoded } });
    const first = (lightBoost: number, heavyBoost: number) =>
      order([of(row('light', 0.9, lightBoost), 0.3), ...between, of(row('heavy', 0.6, heavyBoost), 8)])[0];
    expect(first(2, 1)).toBe('heavy');
    expect(first(1, 0.01)).toBe('heavy');
  });

  it('is that of its facts for a message, and 1 for one without any', () => {
    const rows = [row('fact', 0.1, 2), row('plain', 0.8, null), row('own', 0.79, null, ['fact'])];
    expect(order(rows)).toEqual(['own', 'plain', 'fact']);
    expect(order([row('fact', 0.1, 1), ...rows.slice(1)])).toEqual(['plain', 'own', 'fact']);
  });
});
