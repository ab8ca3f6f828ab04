import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createEmbeddingProvider, type EmbeddingProvider } from '../../src/embedding/index.js';
import { analyzeDocument, analyzeQuery } from '../../src/text/index.js';
import { type Caller, callersOf, TestClock } from '../facts/support.js';
import { type ProfileCaller, profileCallers } from '../profiles/support.js';
import { ended } from '../rescoring/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

interface Topic {
  /** For people only: not what the profile says. */
  readonly name: string;
  /** What a tenant would write into its profile. */
  readonly interests: readonly string[];
  readonly facts: readonly string[];
}

interface Data {
  readonly queries: readonly string[];
  readonly topics: readonly Topic[];
}

const data = JSON.parse(readFileSync(new URL('data/topics.json', import.meta.url), 'utf8')) as Data;

const clock = new TestClock();
let embedding: EmbeddingProvider;
let salient: TestApp;
let tenant: TestTenant;
let admin: Caller;
let profiles: ProfileCaller;
/** Mean rank over all queries, by the text of a fact. */
type Ranks = ReadonlyMap<string, number>;
let neutral: Ranks;

beforeAll(async () => {
  embedding = await createEmbeddingProvider({ kind: 'bundled' });
  salient = await testApp({ embedding, now: clock.now, rescoring: { retry: 5 } });
  tenant = await salient.tenant();
  ({ admin } = callersOf(salient, tenant));
  profiles = profileCallers(salient, tenant).admin;
  // The first fact of each topic, the second of each, and so on: a topic is not new because it came last.
  const rounds = Math.max(...data.topics.map(({ facts }) => facts.length));
  for (let round = 0; round < rounds; round++)
    for (const { facts } of data.topics) {
      const text = facts[round];
      if (text !== undefined) await admin.fact(text, { kind: 'FACT' });
      clock.advanceHours(1);
    }
  neutral = await meanRanks();
});
afterAll(async () => {
  await salient?.[Symbol.asyncDispose]();
  await embedding?.[Symbol.asyncDispose]();
});

async function meanRanks(): Promise<Ranks> {
  const sums = new Map<string, number>();
  for (const query of data.queries) {
    const { recall } = await admin.query<{ recall: { items: { rank: number; node: { text: string } }[] } }>(
      `query ($input: RecallInput!) { recall(input: $input) { items { rank node { ... on Fact { text } } } } }`,
      { input: { query, k: 200, mode: 'OBSERVE', sources: ['FACT'] } },
    );
    for (const { rank, node } of recall.items) sums.set(node.text, (sums.get(node.text) ?? 0) + rank);
    expect(recall.items).toHaveLength(data.topics.flatMap(({ facts }) => facts).length);
  }
  return new Map([...sums].map(([text, sum]) => [text, sum / data.queries.length]));
}

async function save(fields: Record<string, unknown>): Promise<void> {
  const { rescoreJob, errors } = await profiles.set(
    { tenant: true },
    { interests: [], disinterests: [], ...fields, rescore: 'BACKGROUND' },
  );
  expect(errors).toEqual([]);
  expect(await ended(admin, rescoreJob!.id)).toMatchObject({ status: 'SUCCEEDED', failed: 0 });
}

function meanOf(ranks: Ranks, facts: readonly string[]): number {
  return facts.reduce((sum, text) => sum + (ranks.get(text) ?? Number.NaN), 0) / facts.length;
}

/** How many ranks the topic's facts go up on average, and the most that those of another topic do. */
interface Moved {
  readonly topic: string;
  readonly up: number;
  readonly othersUp: number;
}

async function moves(entry: (topics: readonly string[]) => Record<string, unknown>): Promise<Moved[]> {
  const moved: Moved[] = [];
  for (const { name, interests, facts } of data.topics) {
    await save(entry(interests));
    const ranks = await meanRanks();
    const up = (texts: readonly string[]) => meanOf(neutral, texts) - meanOf(ranks, texts);
    const others = data.topics.filter((other) => other.name !== name).map((other) => up(other.facts));
    moved.push({ topic: name, up: up(facts), othersUp: Math.max(...others) });
  }
  return moved;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

test('no word of a topic is in a fact or a query', () => {
  const stems = (texts: readonly string[]) =>
    new Set(texts.flatMap((text) => analyzeDocument(text).terms.map(({ term }) => term)));
  const said = new Set([...stems(data.topics.flatMap(({ facts }) => facts)), ...stems(data.queries)]);
  expect(data.topics.length).toBeGreaterThanOrEqual(8);
  expect(
    data.topics
      .flatMap(({ interests }) => interests.flatMap(analyzeQuery))
      .filter(([term]) => said.has(term)),
  ).toEqual([]);
});

describe('a salience profile, with the bundled encoder and queries that name no topic', () => {
  test('moves up what its tenant cares about, and nothing else', async () => {
    const moved = await moves((topics) => ({
      interests: topics.map((topic) => ({ topic, level: 'CRITICAL' })),
    }));
    // Measured: 0.39 ranks of 60 on average, 10 topics of 12; the encoder sees nothing of the other two (docs/recall.md).
    expect(mean(moved.map(({ up }) => up))).toBeGreaterThan(0.25);
    expect(moved.filter(({ up }) => up > 0.03).length).toBeGreaterThanOrEqual(8);
    for (const { up, othersUp } of moved) {
      expect(up).toBeGreaterThanOrEqual(0);
      // One fact of another topic in 660 is taken for one of the topic.
      expect(othersUp).toBeLessThan(0.8);
    }
  });

  test('moves down what its tenant does not care about', async () => {
    const moved = await moves((topics) => ({
      disinterests: topics.map((topic) => ({ topic, level: 'IGNORE' })),
    }));
    // Measured: 1.2 ranks on average; what is left moves up into their places.
    expect(mean(moved.map(({ up }) => up))).toBeLessThan(-0.8);
    expect(moved.filter(({ up }) => up < -0.1).length).toBeGreaterThanOrEqual(8);
    for (const { up, othersUp } of moved) {
      expect(up).toBeLessThanOrEqual(0);
      expect(othersUp).toBeLessThan(1.6);
    }
  });

  test('that is taken back leaves everything as it was', async () => {
    await save({});
    expect(await meanRanks()).toEqual(neutral);
  });
});
