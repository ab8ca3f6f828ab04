import { describe, expect, test } from 'vitest';
import { type PlacedFact, planWrite } from '../../src/facts/plan.js';
import { NEUTRAL_PROFILE, resolveHints } from '../../src/salience/index.js';

const SAID = new Date('2026-06-01T12:00:00Z');
const FIGURES = { scopes: [], tenantBaseline: { n: 0, mean: 0, m2: 0 } };

/** A statement as it stands in one scope that holds nothing of it; `onRead` is told when its text is looked at. */
function placed(text: string, onRead = () => {}): PlacedFact {
  const draft = {
    text,
    kind: 'FACT' as const,
    agentId: null,
    userId: null,
    origin: 'RULES' as const,
    saidAt: SAID,
  };
  const prepared = {
    draft,
    get text() {
      onRead();
      return text;
    },
    textHash: new Uint8Array(Buffer.from(text)),
    characters: text.length,
    terms: text.split(' ').map((word) => ({ term: BigInt(word.length), count: 1 })),
    length: 4,
    embedding: null,
    hints: resolveHints({}),
    entities: [],
  };
  return {
    prepared,
    scopeId: 1,
    found: { nearest: null, forgotten: false, cosines: {} },
    duplicate: null,
    replaced: null,
  };
}

function outcomesOf(facts: PlacedFact[]) {
  return planWrite(
    facts,
    FIGURES,
    () => NEUTRAL_PROFILE,
    (cosine) => cosine,
    1_375,
  ).decisions;
}

describe('the statements of one write', () => {
  test('equal and alike ones are one, told which', () => {
    const facts = [
      'Alice manages Bob at the office in Lisbon every week',
      'The office has 15 rooms',
      'alice manages  bob at the office in lisbon every week',
      'Bob manages Alice at the office in Lisbon every week',
      'The office has 16 rooms',
      'Alice manages Bob at the office in Lisbon every week.',
    ].map((text) => placed(text));
    expect(outcomesOf(facts).map((one) => (one.outcome === 'REPEATED' ? one.of : one.outcome))).toEqual([
      'ADD',
      'ADD',
      0,
      'ADD',
      'ADD',
      0,
    ]);
  });

  test('each of 400 is read twice at most, not once for each other one', () => {
    const readsOfEach = (count: number) => {
      let reads = 0;
      const facts = Array.from({ length: count }, (_, n) =>
        placed(`The page in question is number ${n}`, () => {
          reads += 1;
        }),
      );
      expect(outcomesOf(facts).every((one) => one.outcome === 'ADD')).toBe(true);
      return reads / count;
    };
    expect(readsOfEach(400)).toBeLessThanOrEqual(2);
  });
});
