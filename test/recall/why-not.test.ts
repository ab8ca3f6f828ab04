import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Caller, callersOf, TestClock } from '../facts/support.js';
import { seeingClient, snapshot } from '../facts/tables.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { countStatements } from '../support/database.js';
import { recallOf, type Scores, unreadableQueries } from './receipts-support.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

interface Place {
  readonly place: number;
  readonly score: number;
  readonly scores: Scores;
  readonly arms: string[];
}

interface WhyNot {
  readonly reason: string;
  readonly explanation: string;
  readonly fact: { readonly id: string };
  readonly rank: number | null;
  readonly candidate: Place | null;
  readonly last: Place | null;
  readonly standings: {
    readonly arm: string;
    readonly score: number | null;
    readonly place: number | null;
    readonly limit: number;
  }[];
  readonly candidateCount: number;
  readonly returned: number;
  readonly k: number;
  readonly characters: number;
  readonly charBudget: number | null;
}

const WHY_NOT = `query ($input: WhyNotInput!) { whyNot(input: $input) {
  reason explanation fact { id } rank candidateCount returned k characters charBudget
  candidate { place score arms scores { lexical vector fused icnu } }
  last { place score arms scores { lexical vector fused icnu } }
  standings { arm score place limit }
} }`;

const whyNot = async (caller: Caller, input: Record<string, unknown>): Promise<WhyNot> =>
  (await caller.query<{ whyNot: WhyNot }>(WHY_NOT, { input })).whyNot;

const clock = new TestClock();
let salient: TestApp;
/** One whose encoder reads no query. */
let wordsOnly: TestApp;
let owner: pg.Client;
let tenant: TestTenant;
let admin: Caller;
let agent: Caller;
beforeAll(async () => {
  salient = await testApp({ now: clock.now });
  wordsOnly = await testApp({ now: clock.now, embedding: await unreadableQueries() });
  owner = await seeingClient();
});
beforeEach(async () => {
  tenant = await salient.tenant();
  ({ admin, agent } = callersOf(salient, tenant));
});
afterAll(async () => {
  await owner?.end();
  await wordsOnly?.app.services.embedding[Symbol.asyncDispose]();
  await wordsOnly?.[Symbol.asyncDispose]();
  await salient?.[Symbol.asyncDispose]();
});

describe('whyNot', () => {
  test('RETURNED: at the rank that a recall gives it', async () => {
    await admin.fact('The harbour is frozen');
    const { id } = await admin.fact('The cook sings in the harbour');
    const { items } = await recallOf(admin, { query: 'harbour cook' });
    const rank = items.findIndex(({ node }) => node.id === id) + 1;
    const why = await whyNot(admin, { factId: id, query: 'harbour cook' });
    expect(why).toMatchObject({ reason: 'RETURNED', rank, returned: 2, fact: { id } });
    expect(why.explanation).toBe(`It is returned, at rank ${rank} of 2.`);
    expect(why.candidate).toMatchObject({
      place: rank,
      score: items[rank - 1]!.score,
      scores: items[rank - 1]!.scores,
      arms: items[rank - 1]!.arms,
    });
  });

  test('NOT_VISIBLE: only for a caller that may read the fact', async () => {
    const { agentId, userId } = tenant;
    const { id } = await admin.fact('The harbour is frozen', { agentId, userId });
    for (const [more, owners] of [
      [{}, 'an agent and a user'],
      [{ agentId }, 'an agent and a user'],
    ] as const) {
      const why = await whyNot(admin, { factId: id, query: 'harbour', ...more });
      expect(why).toMatchObject({ reason: 'NOT_VISIBLE', rank: null, candidate: null, standings: [] });
      expect(why.explanation).toBe(`It belongs to ${owners}, whose memory this context does not see.`);
    }
    expect(await whyNot(agent, { factId: id, query: 'harbour' })).toMatchObject({ reason: 'NOT_VISIBLE' });
    expect(await whyNot(agent, { factId: id, query: 'harbour', userId })).toMatchObject({
      reason: 'RETURNED',
    });
    const foreign = callersOf(salient, await salient.tenant('foreign'));
    await expect(whyNot(foreign.admin, { factId: id, query: 'harbour' })).rejects.toThrow('NOT_FOUND');
    await expect(whyNot(admin, { factId: tenant.agentId, query: 'harbour' })).rejects.toThrow('NOT_FOUND');
    await expect(whyNot(admin, { factId: '', query: 'harbour' })).rejects.toThrow('NOT_FOUND');
    const hidden = await admin.fact('The harbour is deep', { agentId });
    const { user } = callersOf(salient, tenant);
    await expect(whyNot(user, { factId: hidden.id, query: 'harbour' })).rejects.toThrow('NOT_FOUND');
    await expect(whyNot(admin, { factId: id, query: 'harbour', agentId: tenant.userId })).rejects.toThrow(
      'NOT_FOUND',
    );
  });

  test('the reasons of time, with the dates', async () => {
    const begun = clock.now();
    const hours = (n: number) => new Date(begun.getTime() + n * 3_600_000);
    clock.moveTo(hours(10));
    const ended = (await admin.fact('Ines lives in Lisbon', { validFrom: hours(1) })).id;
    clock.moveTo(hours(20));
    await admin.retire({ id: ended }, 'ENDED');
    const wrong = (await admin.fact('Ines lives in Faro', { validFrom: hours(1) })).id;
    clock.moveTo(hours(30));
    await admin.retire({ id: wrong }, 'WRONG');
    const past = (await admin.fact('Ines is on leave', { validFrom: hours(1), validTo: hours(40) })).id;
    clock.moveTo(hours(50));
    const query = 'Ines';
    const table: [input: object, reason: string, told: RegExp][] = [
      [{ factId: ended }, 'RETIRED', new RegExp(`retired at ${hours(20).toISOString()} \\(ENDED\\)`)],
      [{ factId: wrong }, 'RETIRED', new RegExp(`retired at ${hours(30).toISOString()} \\(WRONG\\)\\.`)],
      [{ factId: past }, 'ENDED', new RegExp(`held until ${hours(40).toISOString()}, and it is`)],
      [{ factId: ended, validAt: hours(12) }, 'RETURNED', /rank/],
      [{ factId: ended, validAt: hours(0) }, 'NOT_YET_VALID', new RegExp(`since ${hours(1).toISOString()}`)],
      [{ factId: ended, validAt: hours(21) }, 'ENDED', new RegExp(`held until ${hours(20).toISOString()}`)],
      [
        { factId: ended, knownAt: hours(9) },
        'NOT_YET_KNOWN',
        new RegExp(`recorded at ${hours(10).toISOString()}`),
      ],
      [{ factId: ended, knownAt: hours(15) }, 'RETURNED', /rank/],
      [{ factId: wrong, validAt: hours(25) }, 'RETIRED', /WRONG/],
      [{ factId: wrong, validAt: hours(25), knownAt: hours(29) }, 'RETURNED', /rank/],
      [
        { factId: past, validAt: hours(41) },
        'ENDED',
        new RegExp(`${hours(41).toISOString()} is asked about`),
      ],
    ];
    for (const [input, reason, told] of table) {
      const why = await whyNot(admin, { query, ...input });
      expect([input, why.reason]).toEqual([input, reason]);
      expect(why.explanation).toMatch(told);
      // The recall agrees.
      const { factId, ...asked } = input as { factId: string };
      const { items } = await recallOf(admin, { query, ...asked });
      expect(items.some(({ node }) => node.id === factId)).toBe(reason === 'RETURNED');
    }
  });

  test('KIND_EXCLUDED and SOURCE_EXCLUDED', async () => {
    const { id } = await admin.fact('The harbour is frozen');
    const kinds = await whyNot(admin, { factId: id, query: 'harbour', kinds: ['ENV', 'PROJECT'] });
    expect(kinds.reason).toBe('KIND_EXCLUDED');
    expect(kinds.explanation).toBe('It is of the kind FACT, and ENV, PROJECT are asked for.');
    const sources = await whyNot(admin, { factId: id, query: 'harbour', sources: ['MESSAGE'] });
    expect(sources).toMatchObject({
      reason: 'SOURCE_EXCLUDED',
      explanation: 'Only messages are asked for, and it is a fact.',
    });
  });

  test('BELOW_K: with its place and scores, and those of the last that is returned', async () => {
    const { id } = await admin.fact('Supper is at seven');
    for (let i = 0; i < 4; i++) await admin.fact(`The harbour is frozen in winter ${i}`);
    const why = await whyNot(admin, { factId: id, query: 'frozen harbour', k: 3 });
    const { items } = await recallOf(admin, { query: 'frozen harbour', k: 3 });
    expect(why).toMatchObject({
      ...{ reason: 'BELOW_K', rank: null, returned: 3, k: 3, candidateCount: 5 },
      candidate: { place: 5, arms: ['VECTOR'], scores: { lexical: null } },
      last: { place: 3, score: items[2]!.score, scores: items[2]!.scores },
    });
    expect(why.candidate!.score).toBeLessThan(why.last!.score);
    expect(why.explanation).toMatch(
      /^It is in place 5 of 5 with a score of 0\.\d+; the last of the 3 that are returned has 0\.\d+\.$/,
    );
    const vector = why.standings.find(({ arm }) => arm === 'VECTOR')!;
    expect(vector).toMatchObject({ score: why.candidate!.scores.vector, limit: 100 });
    expect(vector.place).toBeGreaterThanOrEqual(1);
    expect(why.standings.find(({ arm }) => arm === 'LEXICAL')).toEqual({
      ...{ arm: 'LEXICAL', score: null, place: null, limit: 100 },
    });
    // Without a query everything is in one order.
    expect(await whyNot(admin, { factId: id, query: ' ', k: 1 })).toMatchObject({
      standings: [{ arm: 'IMPORTANCE', place: expect.any(Number) }],
    });
  });

  test('NO_MATCH: no word in common, and by meaning below all that are looked at', async () => {
    const there = await wordsOnly.tenant();
    const callers = callersOf(wordsOnly, there);
    const { id } = await callers.admin.fact('Supper is at seven');
    for (let i = 0; i < 60; i++) await callers.admin.fact(`The harbour is frozen in winter ${i}`);
    const blind = await whyNot(callers.admin, { factId: id, query: 'harbour', k: 3 });
    expect(blind).toMatchObject({
      ...{ reason: 'NO_MATCH', candidate: null, returned: 3 },
      explanation:
        'No word that is searched for is in it, and the query could not be compared by its meaning.',
    });
    // By the other, which reads queries: of 61 facts 100 are looked at, so it is one of them.
    const seeing = callersOf(salient, there);
    expect(await whyNot(seeing.admin, { factId: id, query: 'harbour', k: 3 })).toMatchObject({
      reason: 'BELOW_K',
      standings: [
        { arm: 'LEXICAL', score: null },
        { arm: 'VECTOR', score: expect.any(Number) },
      ],
    });
    for (let i = 60; i < 110; i++) await callers.admin.fact(`The harbour is frozen in winter ${i}`);
    const far = await whyNot(seeing.admin, { factId: id, query: 'The harbour is frozen in winter 7', k: 3 });
    const vector = far.standings.find(({ arm }) => arm === 'VECTOR')!;
    expect(vector.score).toBeGreaterThanOrEqual(0);
    expect(vector.score).toBeLessThanOrEqual(1);
    if (vector.place! > 100) {
      expect(far).toMatchObject({ reason: 'NO_MATCH', candidate: null });
      expect(far.explanation).toMatch(
        /^No word that is searched for is in it, and by meaning it is in place 1\d\d, of which 100 are looked at, with a similarity of /,
      );
    } else expect(far.reason).toBe('BELOW_K');
  });

  test('BELOW_K as well for one that has a word of the query and is below all that are looked at', async () => {
    const there = await wordsOnly.tenant();
    const { admin: other } = callersOf(wordsOnly, there);
    const { id } = await other.fact(`The harbour ${'is a place of ropes and tar and sails '.repeat(6)}`);
    for (let i = 0; i < 100; i++) await other.fact(`harbour ${String.fromCodePoint(0x4e00 + i)}`);
    const why = await whyNot(other, { factId: id, query: 'harbour', k: 3 });
    expect(why).toMatchObject({
      ...{ reason: 'BELOW_K', candidate: null, rank: null },
      standings: [{ arm: 'LEXICAL', place: 101, limit: 100, score: expect.any(Number) }],
    });
    expect(why.explanation).toMatch(
      /^It is among the first of no arm: by words it is in place 101, of which 100 are looked at, with a score of /,
    );
  });

  test('OVER_BUDGET: with its length, the budget and its place', async () => {
    const { id } = await admin.fact(`The harbour ${'is frozen and '.repeat(10)}deep`);
    await admin.fact('The harbour is deep');
    const why = await whyNot(admin, { factId: id, query: 'harbour deep', charBudget: 60 });
    expect(why).toMatchObject({ reason: 'OVER_BUDGET', rank: null, returned: 1, charBudget: 60 });
    expect(why.characters).toBeGreaterThan(150);
    expect(why.explanation).toBe(
      `It is in place ${why.candidate!.place} of 2, and its ${why.characters} characters did not fit into what was left of the 60.`,
    );
  });

  test('CASE 40: leaves no trace, whoever asks, and tells nothing of what memory holds', async () => {
    const { id } = await agent.fact('The vault opens with marzipan');
    await salient.app.services.learner.flush();
    const before = await snapshot(owner, tenant);
    for (const query of ['marzipan', 'harbour']) {
      const { explanation } = await whyNot(agent, { factId: id, query, k: 1, charBudget: 5 });
      expect(explanation.toLowerCase()).not.toMatch(/marzipan|vault/);
    }
    await salient.app.services.learner.flush();
    expect(await snapshot(owner, tenant)).toEqual(before);
    expect(salient.logged()).not.toContain('marzipan');
  });

  test('costs as many statements for many facts as for few', async () => {
    const { db } = salient.app.services;
    const { id } = await admin.fact('Supper is at seven');
    for (let i = 0; i < 3; i++) await admin.fact(`The harbour is frozen ${i}`);
    const ask = () => whyNot(admin, { factId: id, query: 'the frozen harbour', k: 2 });
    const few = await countStatements(db, ask);
    for (let i = 3; i < 20; i++) await admin.fact(`The harbour is frozen ${i}`);
    const own = (statements: readonly string[]) => statements.filter((sql) => !/\bapi_key\b/.test(sql));
    expect(own(await countStatements(db, ask))).toEqual(own(few));
    expect(own(few).length).toBeLessThanOrEqual(5);
  });
});
