import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Conversation, parseConversation } from '../../src/cli/conversation-file.js';
import { Evaluation, VARIANTS, type VariantName } from '../../src/cli/recall-evaluation.js';
import { type Answered, CUTOFFS, meanRecall } from '../../src/cli/recall-metric.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 480_000 });

/** Conversations written for this test: 363 messages of ten people over months, 116 questions with evidence. */
const NAMES = ['allotment', 'clinic', 'harbour', 'siblings', 'studio'];

let directory: string;
let evaluation: Evaluation;
let conversations: Conversation[];
const answered = new Map<VariantName, Answered[]>();

beforeAll(async () => {
  conversations = NAMES.map((name) => {
    const file = fileURLToPath(new URL(`data/${name}.json`, import.meta.url));
    return parseConversation(file, readFileSync(file, 'utf8'));
  });
  directory = await mkdtemp(join(tmpdir(), 'salient-conversations-'));
  evaluation = await Evaluation.open({ dataDirectory: directory });
  await evaluation.import(conversations);
  for (const name of ['default', 'no-icnu', 'lexical-only', 'vector-only', 'rrf'] as const)
    answered.set(name, await evaluation.ask(VARIANTS[name], conversations));
});
afterAll(async () => {
  await evaluation?.[Symbol.asyncDispose]();
  if (directory) await rm(directory, { recursive: true, force: true });
});

/** R@k in percent. */
function recallAt(variant: VariantName, k: (typeof CUTOFFS)[number]): number {
  return meanRecall(answered.get(variant) ?? []).at[CUTOFFS.indexOf(k)] ?? Number.NaN;
}

test('every question is asked of all conversations', () => {
  expect(conversations.reduce((sum, { messageCount }) => sum + messageCount, 0)).toBe(363);
  expect(answered.get('default')).toHaveLength(116);
});

test('recall finds what answers a question', () => {
  // Measured: 86.5, 95.8, 99.1 and 100 within 5, 10, 25 and 50 (docs/recall.md).
  expect(recallAt('default', 10)).toBeGreaterThan(92);
  expect(recallAt('default', 25)).toBeGreaterThan(96);
});

test('without a profile, importance and freshness hardly change what is found', () => {
  expect(Math.abs(recallAt('default', 10) - recallAt('no-icnu', 10))).toBeLessThanOrEqual(2);
});

test('both arms together find more than the meaning alone, and more in the long run than the words alone', () => {
  expect(recallAt('default', 10)).toBeGreaterThan(recallAt('vector-only', 10));
  expect(recallAt('default', 50)).toBeGreaterThan(recallAt('lexical-only', 50));
});

test('what is said around a turn, by whom and when finds more than the fusion of two ranks', () => {
  // Measured: 66.4 within 10 by RRF.
  expect(recallAt('default', 10)).toBeGreaterThan(recallAt('rrf', 10) + 20);
});
