import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  half,
  type LabelledCosines,
  type LabelledPairs,
  reportCalibration,
  type TextPair,
} from '../../src/embedding/calibration/fit.js';
import { cosine, createEmbeddingProvider, type EmbeddingProvider } from '../../src/embedding/index.js';

const pairs: LabelledPairs = JSON.parse(
  readFileSync(new URL('../../src/embedding/calibration/pairs.json', import.meta.url), 'utf8'),
);
const unrelated = [...pairs.unrelatedTopics, ...pairs.unrelatedStatements];
const related = [...pairs.relatedTopics, ...pairs.relatedStatements];

describe('the labelled pairs', () => {
  it('are many enough (SPEC §3) and none twice', () => {
    expect(unrelated.length).toBeGreaterThanOrEqual(200);
    expect(related.length).toBeGreaterThanOrEqual(120);
    const keys = [...unrelated, ...related, ...pairs.same].map((pair) => pair.join('\n'));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('are split into halves that together are all of them', () => {
    const numbers = Object.fromEntries(
      Object.entries(pairs).map(([kind, list]: [string, TextPair[]]) => [kind, list.map((_, i) => i)]),
    ) as unknown as LabelledCosines;
    const [first, second] = [half(pairs, numbers, 0), half(pairs, numbers, 1)];
    for (const kind of Object.keys(pairs) as (keyof LabelledPairs)[]) {
      expect([...first[kind], ...second[kind]].sort((a, b) => a - b)).toEqual(numbers[kind]);
      expect(first[kind].length / numbers[kind].length).toBeGreaterThan(0.35);
      expect(second[kind].length / numbers[kind].length).toBeGreaterThan(0.35);
    }
  });
});

describe('the calibration of the bundled encoder', () => {
  let provider: EmbeddingProvider;
  let cosines: LabelledCosines;
  beforeAll(async () => {
    provider = await createEmbeddingProvider({ kind: 'bundled' });
    const texts = [...new Set([...unrelated, ...related, ...pairs.same].flat())];
    const vectors = await provider.embed(texts);
    const vectorOf = new Map(texts.map((text, i) => [text, vectors[i]!]));
    const cosinesOf = (list: readonly TextPair[]) =>
      list.map(([a, b]) => cosine(vectorOf.get(a)!, vectorOf.get(b)!));
    cosines = {
      same: cosinesOf(pairs.same),
      relatedTopics: cosinesOf(pairs.relatedTopics),
      relatedStatements: cosinesOf(pairs.relatedStatements),
      unrelatedTopics: cosinesOf(pairs.unrelatedTopics),
      unrelatedStatements: cosinesOf(pairs.unrelatedStatements),
    };
  }, 120_000);
  afterAll(() => provider[Symbol.asyncDispose]());

  it.each(['all', 'the half that nothing was fitted on'])('holds on %s', (which) => {
    const report = reportCalibration(which === 'all' ? cosines : half(pairs, cosines, 1), (value) =>
      provider.similarity(value),
    );
    expect(report.unrelatedReaching).toBeLessThanOrEqual(0.02);
    expect(report.relatedReaching).toBeGreaterThanOrEqual(0.6);
    expect(report.relatedStatementsReaching).toBeGreaterThanOrEqual(0.8);
    expect(report.unrelatedFamiliar).toBe(0);
    expect(report.sameFamiliar).toBeGreaterThanOrEqual(0.9);
    expect(report.relatedStatementsFamiliar).toBeLessThanOrEqual(0.25);
  });

  it('is told in docs/calibration.md as it is', () => {
    const report = reportCalibration(cosines, (value) => provider.similarity(value));
    const heldOut = reportCalibration(half(pairs, cosines, 1), (value) => provider.similarity(value));
    const text = readFileSync(new URL('../../docs/calibration.md', import.meta.url), 'utf8');
    const percent = (share: number) => `${(share * 100).toFixed(1)}%`;
    const row = (label: string, name: keyof typeof report) =>
      `| ${label} | ${percent(heldOut[name])} | ${percent(report[name])} |`;
    expect(text).toContain(row('unrelated pairs that reach 0.5 (at most 2% allowed)', 'unrelatedReaching'));
    expect(text).toContain(row('related pairs that reach 0.5 (60% wanted)', 'relatedReaching'));
    expect(text).toContain(row('– a topic and a statement about it', 'relatedTopicsReaching'));
    expect(text).toContain(row('– two statements about the same', 'relatedStatementsReaching'));
    expect(text).toContain(row('one statement in two spellings, familiar (0.75)', 'sameFamiliar'));
    expect(text).toContain(row('two statements about the same, familiar', 'relatedStatementsFamiliar'));
  });
});
