import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CandidateRow,
  type Database,
  type SearchArm,
  type SearchFilter,
  searchCandidates,
  searchContext,
} from '../../src/db/index.js';
import { cosine, toVectorLiteral } from '../../src/embedding/index.js';
import { BM25 } from '../../src/recall/bm25.js';
import { analyzeDocument, analyzeQuery } from '../../src/text/lexical-analysis.js';
import { testDatabase } from '../support/database.js';
import {
  type FactSpec,
  hoursAgo,
  type MessageSpec,
  NOW,
  openWorld,
  type TestTenant,
  type World,
} from './fixture.js';

let db: Database;
let world: World;

beforeAll(async () => {
  db = await testDatabase();
  world = await openWorld(db);
});
afterAll(async () => {
  await world.embedding[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** A document as the reference implementation knows it. */
interface Document {
  readonly id: string;
  readonly text: string;
  /** Whether the read may return it. */
  readonly visible: boolean;
  /** Whether the tenant's statistics count it. */
  readonly live: boolean;
}

/** BM25 from its textbook definition, over all live documents. */
function referenceBm25(documents: readonly Document[], query: string): Map<string, number> {
  const analyzed = documents.map((document) => ({ ...document, ...analyzeDocument(document.text) }));
  const live = analyzed.filter((document) => document.live);
  const averageLength = live.reduce((sum, { length }) => sum + length, 0) / live.length;
  const scores = new Map<string, number>();
  for (const term of new Set(analyzeQuery(query).flat())) {
    const holds = (document: (typeof analyzed)[number]) => document.terms.find((one) => one.term === term);
    const df = live.filter(holds).length;
    const idf = Math.log(1 + (live.length - df + 0.5) / (df + 0.5));
    for (const document of analyzed) {
      const tf = holds(document)?.count;
      if (tf === undefined || !document.visible) continue;
      const part = (idf * tf * 2.2) / (tf + 1.2 * (0.25 + (0.75 * document.length) / averageLength));
      scores.set(document.id, (scores.get(document.id) ?? 0) + part);
    }
  }
  return scores;
}

/** The best cosine of a document's windows; facts are embedded as one text. */
async function referenceCosines(documents: readonly Document[], query: string): Promise<Map<string, number>> {
  const asked = await world.embedding.embedQuery(query);
  const scores = new Map<string, number>();
  if (!asked) return scores;
  for (const document of documents) {
    const windows = await world.embedding.embedWindows([document.text]);
    if (!document.visible || windows[0]!.length === 0) continue;
    scores.set(document.id, Math.max(...windows[0]!.map((window) => cosine(window, asked))));
  }
  return scores;
}

async function candidatesOf(
  tenant: TestTenant,
  query: string,
  limit: number,
  filter: Partial<SearchFilter> = {},
): Promise<CandidateRow[]> {
  const vector = await world.embedding.embedQuery(query);
  return tenant.run(async (unit) => {
    const context = await searchContext(unit, { agentId: null, userId: null, agentShared: true });
    const arms: SearchArm[] = [
      {
        name: 'LEXICAL',
        terms: [...new Set(analyzeQuery(query).flat())].map((term) => unit.content.term(term)),
        documents: context.documents,
        bm25: BM25,
        averageLength: context.documentTerms / context.documents,
      },
    ];
    if (vector) arms.push({ name: 'VECTOR', modelId: world.modelId, vector: toVectorLiteral(vector) });
    const all: SearchFilter = {
      scopeIds: context.scopes.map(({ scopeId }) => scopeId),
      facts: true,
      messages: true,
      kinds: null,
      time: { now: NOW },
      includeFlagged: false,
    };
    return searchCandidates(unit, arms, { ...all, ...filter }, limit);
  });
}

/** Half precision keeps about three digits of a component. */
const HALF = 5e-3;

/** The arm found the best `limit` of the reference, with its scores. Equal scores may stand for each other. */
function expectBest(
  found: ReadonlyMap<string, number>,
  reference: ReadonlyMap<string, number>,
  limit: number,
  tolerance: number,
): void {
  const best = [...reference.values()].sort((a, b) => b - a).slice(0, limit);
  expect(found.size).toBe(best.length);
  for (const [id, score] of found)
    expect(Math.abs(score - (reference.get(id) ?? Number.NaN))).toBeLessThan(tolerance);
  const descending = [...found.values()].sort((a, b) => b - a);
  for (const [i, score] of descending.entries()) {
    expect(Math.abs(score - best[i]!)).toBeLessThan(tolerance);
  }
}

function armOf(candidates: readonly CandidateRow[], part: 'lexical' | 'cosine'): Map<string, number> {
  return new Map(candidates.flatMap((row) => (row[part] === null ? [] : [[row.id, row[part]] as const])));
}

const WORDS = 'tea coffee kettle harbour ship sails captain storm lantern rope anchor tide cargo spice'.split(
  ' ',
);
const text = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 12 })
  .map((words) => words.join(' '));
const row = fc.record({ text, message: fc.boolean(), hidden: fc.boolean(), retired: fc.boolean() });

describe('searchCandidates', () => {
  it('finds what a reference implementation of BM25 and cosine finds, in any corpus and under any limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 40 }),
        text,
        fc.integer({ min: 1, max: 12 }),
        async (rows, query, limit) => {
          const tenant = await world.tenant();
          const userId = await tenant.user();
          const owner = (hidden: boolean) => (hidden ? { userId } : {});
          const facts = rows.filter((one) => !one.message);
          const messages = rows.filter((one) => one.message);
          const factIds = await tenant.facts(
            facts.map((one): FactSpec => ({ text: one.text, ...owner(one.hidden) })),
          );
          const messageIds = await tenant.messages(
            messages.map((one): MessageSpec => ({ content: one.text, ...owner(one.hidden) })),
          );
          await tenant.retire(
            factIds.filter((_id, i) => facts[i]!.retired),
            hoursAgo(0.5),
          );
          const documents: Document[] = [
            ...facts.map((one, i) => ({
              id: factIds[i]!,
              text: one.text,
              live: !one.retired,
              visible: !one.retired && !one.hidden,
            })),
            ...messages.map((one, i) => ({
              id: messageIds[i]!,
              text: one.text,
              live: true,
              visible: !one.hidden,
            })),
          ];
          const found = await candidatesOf(tenant, query, limit);
          expectBest(armOf(found, 'lexical'), referenceBm25(documents, query), limit, 1e-9);
          expectBest(armOf(found, 'cosine'), await referenceCosines(documents, query), limit, HALF);
        },
      ),
      { numRuns: 15 },
    );
  }, 120_000);

  it('is complete where nearly all better documents do not pass the filter', async () => {
    const tenant = await world.tenant();
    const expired = Array.from({ length: 60 }, (_, i) => ({
      text: `harbour harbour harbour pilot ${i}`,
      validTo: hoursAgo(0.1),
    }));
    const flagged = Array.from({ length: 60 }, (_, i) => ({
      content: `harbour harbour pilot ${i}`,
      flags: ['ROLE_PREFIX'],
    }));
    await tenant.facts(expired);
    await tenant.messages(flagged);
    const wanted = await tenant.facts([
      { text: 'the ship left the harbour with spice and rope before the storm came in' },
      { text: 'somebody in the harbour sells tea and coffee from a small cart on Sundays', kind: 'ENV' },
    ]);
    const found = await candidatesOf(tenant, 'harbour pilot', 3);
    expect(found.map(({ id }) => id).sort()).toEqual([...wanted].sort());
    expect(found.every(({ lexical, cosine }) => lexical !== null && cosine !== null)).toBe(true);
    const environment = await candidatesOf(tenant, 'harbour pilot', 3, { kinds: ['ENV'] });
    expect(environment.map(({ id }) => id)).toEqual([wanted[1]]);
  });

  it('scores a long message by its best window', async () => {
    const tenant = await world.tenant();
    const filler = Array.from(
      { length: 40 },
      (_, i) => `Nothing much happened on day number ${i} of that voyage.`,
    );
    const needle = 'The captain keeps a brass lantern beside the anchor rope.';
    const long = [...filler.slice(0, 20), needle, ...filler.slice(20)].join(' ');
    await tenant.message({ content: long });
    const [found] = await candidatesOf(tenant, needle, 10);
    const asked = (await world.embedding.embedQuery(needle))!;
    const windows = (await world.embedding.embedWindows([long]))[0]!;
    expect(windows.length).toBeGreaterThan(3);
    expect(found!.cosine).toBeCloseTo(Math.max(...windows.map((window) => cosine(window, asked))), 2);
  });

  it('tells of a message which facts came from it, and whether all of them are superseded', async () => {
    const tenant = await world.tenant();
    const [outdated, mixed, plain] = await tenant.messages([
      { content: 'the tea is kept in the galley' },
      { content: 'the tea is kept in the hold' },
      { content: 'tea again' },
    ]);
    const [gone, wrong, kept, doubled] = await tenant.facts([
      { text: 'Tea is kept in the galley', sources: [outdated!, mixed!] },
      { text: 'Tea is green', sources: [outdated!] },
      { text: 'Tea is kept in the hold', sources: [mixed!] },
      { text: 'Tea is black', sources: [plain!] },
    ]);
    await tenant.retire([gone!], hoursAgo(0.5));
    await tenant.retire([wrong!], hoursAgo(0.4), { reason: 'WRONG', endedAt: null });
    await tenant.retire([doubled!], hoursAgo(0.3), { reason: 'DUPLICATE', endedAt: null });
    const found = new Map((await candidatesOf(tenant, 'tea', 20)).map((one) => [one.id, one]));
    expect(found.get(outdated!)).toMatchObject({ superseded: true });
    expect([...found.get(outdated!)!.factIds].sort()).toEqual([gone, wrong].sort());
    expect(found.get(mixed!)).toMatchObject({ superseded: false });
    expect(found.get(plain!)).toMatchObject({ superseded: false, factIds: [doubled] });
    expect([...found.keys()].sort()).toEqual([outdated, mixed, plain, kept].sort());

    const before = await candidatesOf(tenant, 'tea', 20, { time: { now: NOW, validAt: hoursAgo(0.45) } });
    expect(before.find(({ id }) => id === outdated)).toMatchObject({ superseded: true });
    const earlier = await candidatesOf(tenant, 'tea', 20, { time: { now: NOW, knownAt: hoursAgo(0.45) } });
    expect(earlier.find(({ id }) => id === outdated)).toMatchObject({ superseded: false });
  });

  it('compares vectors of one model only', async () => {
    const tenant = await world.tenant();
    await tenant.fact({ text: 'the anchor is rusty' });
    const found = await tenant.run(async (unit) => {
      const { scopes } = await searchContext(unit, { agentId: null, userId: null, agentShared: true });
      const scopeIds = scopes.map(({ scopeId }) => scopeId);
      const arm: SearchArm = { name: 'VECTOR', modelId: world.modelId + 1_000, vector: '[1,0,0]' };
      const filter = { scopeIds, facts: true, messages: true, kinds: null, includeFlagged: false };
      return searchCandidates(unit, [arm], { ...filter, time: { now: NOW } }, 10);
    });
    expect(found).toEqual([]);
  });
});
