import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { topicBoost } from '../../src/salience/topics.js';
import { anyTopic, topic } from './builders.js';

const disinterest = (level: 'CRITICAL' | 'HIGH' | 'LOW' | 'IGNORE', similarity: number) =>
  topic({ list: 'DISINTEREST', level, similarity });

describe('topicBoost', () => {
  it('is 1 without topics', () => {
    expect(topicBoost([], true)).toEqual({ boost: 1, matched: [] });
  });

  it('is 1.64 for a CRITICAL interest at 0.82', () => {
    expect(topicBoost([topic()], true).boost).toBeCloseTo(1.64, 12);
  });

  it('is 0.091 for an IGNORE disinterest at 0.91', () => {
    expect(topicBoost([disinterest('IGNORE', 0.91)], true).boost).toBeCloseTo(0.091, 12);
  });

  it.each([
    ['CRITICAL', 2.0],
    ['HIGH', 1.5],
    ['NORMAL', 1.0],
  ] as const)('multiplies a perfect %s interest by %s', (level, multiplier) => {
    expect(topicBoost([topic({ level, similarity: 1 })], true).boost).toBe(multiplier);
  });

  it.each([
    ['LOW', 0.5],
    ['IGNORE', 0.1],
  ] as const)('multiplies a perfect %s disinterest by %s', (level, multiplier) => {
    expect(topicBoost([disinterest(level, 1)], true).boost).toBe(multiplier);
  });

  it('never lowers for an interest nor raises for a disinterest', () => {
    expect(topicBoost([topic({ level: 'LOW' })], true).boost).toBe(1);
    expect(topicBoost([disinterest('CRITICAL', 0.9)], true).boost).toBe(1);
  });

  it('matches strictly above the threshold', () => {
    expect(topicBoost([topic({ similarity: 0.5 })], true)).toEqual({ boost: 1, matched: [] });
    expect(topicBoost([topic({ similarity: 0.500001, level: 'CRITICAL' })], true).matched).toHaveLength(1);
  });

  it("uses each topic's own threshold", () => {
    const strict = topic({ topic: 'strict', similarityThreshold: 0.9 });
    const loose = topic({ topic: 'loose', similarityThreshold: 0.4, level: 'HIGH' });
    expect(topicBoost([strict, loose], true).matched.map((match) => match.topic)).toEqual(['loose']);
  });

  it('cannot match a fact without a vector', () => {
    expect(topicBoost([topic({ similarity: null, similarityThreshold: 0 })], true).matched).toEqual([]);
  });

  it('lets a disinterest have the last word among equals of one level', () => {
    const boost = topicBoost([disinterest('IGNORE', 0.8), topic({ similarity: 0.9 })], false).boost;
    expect(boost).toBeCloseTo(0.08, 12);
  });

  it('never falls below 0.01', () => {
    const faint = topic({ list: 'DISINTEREST', level: 'IGNORE', similarity: 0.02, similarityThreshold: 0 });
    expect(topicBoost([faint], true).boost).toBe(0.01);
  });

  it('tells what matched, by what it is called in store, in order', () => {
    const low = { ...disinterest('LOW', 0.6), ref: { id: 'topic-2', number: 2 } };
    const matched = topicBoost([topic(), low, topic({ similarity: 0.1 })], true).matched;
    expect(matched).toEqual([
      {
        topic: 'database performance',
        ref: { id: 'topic-1', number: 1 },
        level: 'CRITICAL',
        list: 'INTEREST',
        origin: 'TENANT',
        similarity: 0.82,
      },
      {
        topic: 'database performance',
        ref: { id: 'topic-2', number: 2 },
        level: 'LOW',
        list: 'DISINTEREST',
        origin: 'TENANT',
        similarity: 0.6,
      },
    ]);
  });

  describe('tenant interests', () => {
    const tenants = topic({ similarity: 0.9 });
    const users = topic({ list: 'DISINTEREST', level: 'IGNORE', origin: 'USER', similarity: 0.9 });

    it("cannot be silenced by a child's disinterest", () => {
      expect(topicBoost([tenants, users], true).boost).toBeCloseTo(1.8, 12);
    });

    it('can be, under FULL_OVERRIDE', () => {
      expect(topicBoost([tenants, users], false).boost).toBeCloseTo(0.09, 12);
    });

    it("do not undo the tenant's own disinterests", () => {
      const own = topic({ list: 'DISINTEREST', level: 'LOW', similarity: 0.9 });
      expect(topicBoost([tenants, own, users], true).boost).toBeCloseTo(0.45, 12);
    });

    it("are the tenant's alone: an agent's interest gives no protection", () => {
      const agents = topic({ origin: 'AGENT', similarity: 0.9 });
      expect(topicBoost([agents, users], true).boost).toBeCloseTo(0.09, 12);
    });

    it('give no protection where none matches', () => {
      expect(topicBoost([topic({ similarity: 0.2 }), users], true).boost).toBeCloseTo(0.09, 12);
    });

    it('leave a higher boost of a child as it is', () => {
      const child = topic({ origin: 'AGENT', similarity: 1 });
      expect(topicBoost([topic({ level: 'HIGH' }), child], true).boost).toBe(2);
    });
  });

  it('lies in 0.01..2 and does not depend on the order of the topics', () => {
    fc.assert(
      fc.property(fc.array(anyTopic, { maxLength: 8 }), fc.boolean(), (topics, protect) => {
        const { boost } = topicBoost(topics, protect);
        expect(boost).toBeGreaterThanOrEqual(0.01);
        expect(boost).toBeLessThanOrEqual(2);
        expect(topicBoost(topics.toReversed(), protect).boost).toBe(boost);
      }),
    );
  });
});
