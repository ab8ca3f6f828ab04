import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CandidateRow, FactNumbers } from '../../src/db/index.js';
import {
  compareRanked,
  DEFAULT_RANKING,
  rankByRelevance,
  rankWithoutQuery,
} from '../../src/recall/ranking.js';
import { hoursAgo, NOW } from './fixture.js';

type FactOptions = Partial<FactNumbers> & Partial<Pick<CandidateRow, 'lexical' | 'cosine' | 'recordedAt'>>;

function fact(id: string, options: FactOptions = {}): CandidateRow {
  const { lexical = null, cosine = null, recordedAt = NOW, ...numbers } = options;
  return {
    source: 'FACT',
    id,
    lexical,
    cosine,
    characters: 10,
    recordedAt,
    toldAt: recordedAt,
    factIds: [],
    superseded: false,
    fact: {
      kind: 'FACT',
      encoded: 1,
      topicBoost: 1,
      pinned: false,
      flashbulb: false,
      reinforcement: 1,
      decayResistance: 1,
      reinforcedAt: null,
      lastSeenAt: recordedAt,
      urgency: null,
      scopeId: 1,
      fingerprint: null,
      scoredRevision: 0,
      ties: [],
      ...numbers,
    },
  };
}

function message(id: string, options: Partial<CandidateRow> = {}): CandidateRow {
  return {
    source: 'MESSAGE',
    id,
    lexical: null,
    cosine: null,
    characters: 10,
    recordedAt: NOW,
    toldAt: NOW,
    fact: null,
    factIds: [],
    superseded: false,
    ...options,
  };
}

const idsOf = (ranked: readonly { candidate: CandidateRow }[]) => ranked.map(({ candidate }) => candidate.id);

/** A list of fillers between which two facts stand at the given ranks of an arm. */
function atRanks(ranks: readonly [number, number]): { scores: readonly [number, number]; fillers: number[] } {
  const top = Math.max(...ranks) + 1;
  const fillers = Array.from({ length: top }, (_, i) => i + 1).filter((rank) => !ranks.includes(rank));
  return { scores: [1000 - ranks[0], 1000 - ranks[1]], fillers: fillers.map((rank) => 1000 - rank) };
}

describe('rankByRelevance', () => {
  it('lets importance 8.0 beat 0.3 wherever the ranks of both arms differ by three at most', () => {
    const rank = fc.integer({ min: 1, max: 40 });
    const ahead = fc.integer({ min: -3, max: 3 });
    fc.assert(
      fc.property(
        rank,
        ahead,
        fc.option(fc.tuple(rank, ahead)),
        fc.double({ min: 0, max: 8_000, noNaN: true }),
        fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
        (lexical, lexicalAhead, vector, hours, urgency) => {
          // Encoded so that the current importance is 8.0 and 0.3, however old they are.
          const age = { recordedAt: hoursAgo(hours), urgency, pinned: true };
          const arms: [string, { scores: readonly [number, number]; fillers: number[] }][] = [
            ['lexical', atRanks([lexical + Math.max(0, lexicalAhead), lexical + Math.max(0, -lexicalAhead)])],
          ];
          if (vector) {
            const [at, by] = vector;
            arms.push(['cosine', atRanks([at + Math.max(0, by), at + Math.max(0, -by)])]);
          }
          const scoresOf = (i: 0 | 1) => Object.fromEntries(arms.map(([name, arm]) => [name, arm.scores[i]]));
          const candidates = [
            fact('important', { encoded: 8, ...age, ...scoresOf(0) }),
            fact('trivial', { encoded: 0.3, ...age, ...scoresOf(1) }),
            ...arms.flatMap(([name, arm]) =>
              arm.fillers.map((score, i) => fact(`${name}-${i}`, { [name]: score })),
            ),
          ];
          const order = idsOf(rankByRelevance(candidates, NOW));
          expect(order.indexOf('important')).toBeLessThan(order.indexOf('trivial'));
        },
      ),
    );
  });

  it('does not let importance carry what neither arm ranks near to the top', () => {
    const fillers = Array.from({ length: 60 }, (_, i) =>
      fact(`f${i}`, { lexical: 100 - i, cosine: 1 - i / 100 }),
    );
    const far = fact('far', { lexical: 1, cosine: 0.01, encoded: 10, pinned: true, urgency: 1 });
    const order = idsOf(rankByRelevance([...fillers, far], NOW));
    expect(order[0]).toBe('f0');
    expect(order.indexOf('far')).toBeGreaterThan(10);
  });

  it('breaks ties by kind, then importance, then recency, then id', () => {
    const tied = { lexical: 1, cosine: 0.5 };
    // Without ICNU the scores are equal, and only the order among equals decides.
    const options = { ...DEFAULT_RANKING, lambda: 0 };
    const candidates = [
      fact('a', { ...tied, encoded: 9, recordedAt: hoursAgo(3), pinned: true }),
      fact('c', { ...tied, encoded: 2, recordedAt: hoursAgo(2), pinned: true }),
      fact('b', { ...tied, encoded: 2, recordedAt: hoursAgo(1), pinned: true }),
      fact('d', { ...tied, encoded: 2, recordedAt: hoursAgo(2), pinned: true }),
      fact('env', { ...tied, kind: 'ENV' }),
      fact('preference', { ...tied, kind: 'PREFERENCE' }),
      fact('profile', { ...tied, kind: 'USER_PROFILE' }),
    ];
    expect(idsOf(rankByRelevance(candidates, NOW, options))).toEqual([
      'profile',
      'preference',
      'env',
      'a',
      'b',
      'd',
      'c',
    ]);
  });

  it('multiplies by the kind only where asked to', () => {
    const candidates = [
      fact('first', { lexical: 9, cosine: 0.9 }),
      ...Array.from({ length: 14 }, (_, i) => fact(`f${i}`, { lexical: 8 - i / 9, cosine: 0.8 - i / 90 })),
      fact('profile', { lexical: 1, cosine: 0.1, kind: 'USER_PROFILE' }),
    ];
    expect(idsOf(rankByRelevance(candidates, NOW))[0]).toBe('first');
    expect(idsOf(rankByRelevance(candidates, NOW, { ...DEFAULT_RANKING, kinds: 'MULTIPLY' }))[0]).toBe(
      'profile',
    );
  });

  it('gives a message the mean of its own facts among the candidates, else that of all', () => {
    const candidates = [
      fact('low', { lexical: 3, encoded: 1, pinned: true }),
      fact('high', { lexical: 2, encoded: 9, pinned: true }),
      message('of-high', { lexical: 5, factIds: ['high', 'not-a-candidate'] }),
      message('of-both', { lexical: 4, factIds: ['high', 'low'] }),
      message('of-none', { lexical: 1 }),
    ];
    const icnuOf = new Map(
      rankByRelevance(candidates, NOW).map((ranked) => [ranked.candidate.id, ranked.icnu]),
    );
    const mean = (icnuOf.get('low')! + icnuOf.get('high')!) / 2;
    expect(icnuOf.get('of-high')).toBe(icnuOf.get('high'));
    expect(icnuOf.get('of-both')).toBeCloseTo(mean, 12);
    expect(icnuOf.get('of-none')).toBeCloseTo(mean, 12);
  });

  it('leaves messages as they were fused where no fact was found', () => {
    const ranked = rankByRelevance(
      [message('a', { lexical: 2 }), message('b', { lexical: 1, cosine: 0.1 })],
      NOW,
    );
    for (const { score, fused, icnu } of ranked) {
      expect(icnu).toBe(0);
      expect(score).toBe(fused);
    }
  });

  it('ranks a superseded message after everything else', () => {
    const ranked = rankByRelevance(
      [
        message('outdated', { lexical: 9, cosine: 0.99, superseded: true }),
        fact('live', { lexical: 0.1 }),
        message('raw', { cosine: 0.01 }),
      ],
      NOW,
    );
    expect(idsOf(ranked).at(-1)).toBe('outdated');
  });

  it('does not depend on the order in which candidates arrive', () => {
    const candidate = fc.record({
      lexical: fc.option(fc.integer({ min: 1, max: 4 })),
      cosine: fc.option(fc.integer({ min: 1, max: 4 }).map((n) => n / 10)),
      encoded: fc.integer({ min: 1, max: 3 }),
      kind: fc.constantFrom('FACT', 'ENV', 'PREFERENCE'),
    });
    fc.assert(
      fc.property(fc.array(candidate, { maxLength: 25 }), fc.nat(), (specs, seed) => {
        const candidates = specs.map((spec, i) => fact(`f${i}`, spec));
        const shuffled = candidates
          .map((one, i) => ({ one, key: Math.sin(seed + i) }))
          .sort((a, b) => a.key - b.key)
          .map(({ one }) => one);
        const ranked = rankByRelevance(candidates, NOW);
        expect(idsOf(rankByRelevance(shuffled, NOW))).toEqual(idsOf(ranked));
        for (let i = 1; i < ranked.length; i++)
          expect(compareRanked(ranked[i - 1]!, ranked[i]!)).toBeLessThan(0);
      }),
    );
  });
});

describe('rankWithoutQuery', () => {
  it('orders facts by their importance as of now, not as it was stored', () => {
    const ranked = rankWithoutQuery(
      [
        fact('faded', { encoded: 8, recordedAt: hoursAgo(24 * 365) }),
        fact('fresh', { encoded: 5 }),
        fact('pinned', { encoded: 6, recordedAt: hoursAgo(24 * 365), pinned: true }),
      ],
      NOW,
    );
    expect(idsOf(ranked)).toEqual(['pinned', 'fresh', 'faded']);
    expect(ranked.map(({ score }) => score)).toEqual([0.6, 0.5, expect.closeTo(0.8 * 0.256, 2)]);
  });

  it('orders messages by how new they are', () => {
    const ranked = rankWithoutQuery(
      [message('old', { recordedAt: hoursAgo(50) }), message('new', { recordedAt: hoursAgo(1) })],
      NOW,
    );
    expect(idsOf(ranked)).toEqual(['new', 'old']);
  });
});
