import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CandidateRow, Tie } from '../../src/db/index.js';
import { coActivationOf, NO_TIES } from '../../src/recall/co-activation.js';
import { DEFAULT_RANKING, rankByRelevance, rankWithoutQuery } from '../../src/recall/ranking.js';
import { type Caller, callersOf, TestClock } from '../facts/support.js';
import { seeingClient } from '../facts/tables.js';
import { type Recalled, recall, setNumbers, tie, tiesOf } from '../learning/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { NOW } from './fixture.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const DAY_MS = 86_400_000;

function fact(id: string, ties: readonly Tie[] = [], lexical: number | null = null): CandidateRow {
  return {
    source: 'FACT',
    id,
    lexical,
    cosine: null,
    characters: 10,
    recordedAt: NOW,
    toldAt: NOW,
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
      lastSeenAt: NOW,
      urgency: null,
      scopeId: 1,
      fingerprint: null,
      scoredRevision: 0,
      ties,
    },
  };
}

function message(id: string, factIds: readonly string[], lexical: number): CandidateRow {
  return { ...fact(id, [], lexical), source: 'MESSAGE', fact: null, factIds };
}

const to = (factId: string, weight: number, daysAgo = 0): Tie => ({
  factId,
  weight,
  updatedAt: new Date(NOW.getTime() - daysAgo * DAY_MS),
});

describe('the tie to the first ten', () => {
  test('is the strongest one, in whichever of the two it is noted, as time has left it', () => {
    const ranked = [
      fact('a', [to('c', 0.4), to('d', 0.9, 3)]),
      fact('b', [to('c', 0.5)]),
      fact('c'),
      fact('d'),
    ];
    const ties = coActivationOf(ranked, NOW);
    expect(ties.get('a')).toBeCloseTo(0.9 * 0.9 ** 3, 12);
    expect(ties.get('b')).toBeCloseTo(0.5, 12);
    expect(ties.get('c')).toBeCloseTo(0.5, 12);
    expect(ties.get('d')).toBeCloseTo(0.9 * 0.9 ** 3, 12);
  });

  test('counts for facts beyond the tenth, but not among them', () => {
    const first = Array.from({ length: 10 }, (_, n) => fact(`f${n}`, n === 9 ? [to('x', 0.7)] : []));
    const ranked = [...first, fact('x'), fact('y', [to('z', 0.8)]), fact('z')];
    const ties = coActivationOf(ranked, NOW);
    expect([...ties]).toEqual([['x', 0.7]].flatMap(([id, weight]) => [[id, weight]]));
  });

  test('messages take no place among the ten', () => {
    const messages = Array.from({ length: 10 }, (_, n) => message(`m${n}`, [], 1));
    expect(coActivationOf([...messages, fact('a', [to('b', 0.3)]), fact('b')], NOW).get('b')).toBe(0.3);
  });

  test('is none where it is weaker than 0.05, or to a fact that is no candidate', () => {
    expect(coActivationOf([fact('a', [to('b', 0.06, 2)]), fact('b')], NOW)).toBe(NO_TIES);
    expect(coActivationOf([fact('a', [to('elsewhere', 1)]), fact('b')], NOW).get('a')).toBeUndefined();
  });
});

describe('co-activation as a signal', () => {
  test('is a quarter of ICNU, and raises what is tied to the first', () => {
    const scores = Array.from({ length: 12 }, (_, n) => 100 - n);
    const plain = scores.map((score, n) => fact(`f${String(n).padStart(2, '0')}`, [], score));
    const tied = plain.map((one, n) => (n === 0 ? fact(one.id, [to('f11', 0.8)], one.lexical) : one));
    const place = (rows: readonly CandidateRow[]) =>
      rankByRelevance(rows, NOW).findIndex(({ candidate }) => candidate.id === 'f11');
    expect(place(plain)).toBe(11);
    expect(place(tied)).toBeLessThan(11);
    const [before, after] = [plain, tied].map(
      (rows) => rankByRelevance(rows, NOW).find(({ candidate }) => candidate.id === 'f11')!,
    );
    expect(after!.icnu - before!.icnu).toBeCloseTo(0.25 * 0.8, 12);
    expect(after!.score).toBeCloseTo(after!.fused * (1 + 0.5 * after!.icnu), 12);
  });

  test('reaches a message through its facts', () => {
    const rows = [fact('a', [to('b', 0.8)], 10), fact('b', [], 9), message('m', ['b'], 8)];
    const [m, b] = ['m', 'b'].map((id) => rankByRelevance(rows, NOW).find((one) => one.candidate.id === id)!);
    expect(m!.icnu).toBeCloseTo(b!.icnu, 12);
  });

  test('shows without a query, and does not change the order of importance', () => {
    const rows = [fact('a'), fact('b', [to('c', 0.9)]), fact('c')];
    const ranked = rankWithoutQuery(rows, NOW, DEFAULT_RANKING);
    const plain = rankWithoutQuery([fact('a'), fact('b'), fact('c')], NOW, DEFAULT_RANKING);
    expect(ranked.map(({ candidate }) => candidate.id)).toEqual(plain.map(({ candidate }) => candidate.id));
    expect(ranked.find(({ candidate }) => candidate.id === 'c')!.icnu).toBeGreaterThan(plain[0]!.icnu);
  });

  test('CASE 34: of facts that are not relevant brings in nothing', () => {
    const ranked = rankByRelevance([fact('a', [to('b', 1)], 10), fact('b')], NOW);
    expect(ranked.map(({ score }) => score > 0)).toEqual([true, false]);
  });
});

describe('through the API', () => {
  const clock = new TestClock();
  let salient: TestApp;
  let owner: pg.Client;
  let tenant: TestTenant;
  let admin: Caller;
  let agent: Caller;
  beforeAll(async () => {
    salient = await testApp({ now: clock.now });
    owner = await seeingClient();
  });
  beforeEach(async () => {
    tenant = await salient.tenant();
    ({ admin, agent } = callersOf(salient, tenant));
  });
  afterAll(async () => {
    await owner?.end();
    await salient?.[Symbol.asyncDispose]();
  });

  const icnuOf = (items: readonly Recalled[], id: string) =>
    items.find(({ node }) => node.id === id)!.scores.icnu;

  test('what was recalled together supports each other from then on, ever less with time', async () => {
    const one = await agent.fact('The harbour master keeps the keys');
    const two = await agent.fact('The keys are in the blue box');
    const before = icnuOf(await recall(agent, { query: 'keys', mode: 'OBSERVE' }), two.id);
    for (let n = 0; n < 5; n++) await recall(agent, { query: 'keys' });
    await salient.app.services.learner.flush();
    const [only] = await tiesOf(owner, tenant);
    expect(only!.weight).toBeCloseTo(1 - 0.9 ** 5, 9);
    // What reinforcement and freshness add is taken out.
    for (const { id } of [one, two])
      await setNumbers(owner, id, { reinforcement: 1, reinforced_at: null, recall_count: 0 });
    const after = await recall(agent, { query: 'keys', mode: 'OBSERVE' });
    expect(icnuOf(after, two.id) - before).toBeCloseTo(0.25 * only!.weight, 9);
    const fresh = async (days: number) => {
      clock.advance(days * DAY_MS);
      const tied = icnuOf(await recall(agent, { query: 'keys', mode: 'OBSERVE' }), two.id);
      await owner.query('UPDATE co_activation SET weight = 0 WHERE first_id = $1', [only!.first]);
      const untied = icnuOf(await recall(agent, { query: 'keys', mode: 'OBSERVE' }), two.id);
      return tied - untied;
    };
    expect(await fresh(3)).toBeCloseTo(0.25 * only!.weight * 0.9 ** 3, 9);
  });

  test('a fact that the caller may not see supports nothing', async () => {
    const shared = await admin.fact('The keys are in the blue box');
    const secret = await admin.fact('The keys are copied', { userId: tenant.userId });
    const read = async () => icnuOf(await recall(agent, { query: 'keys', mode: 'OBSERVE' }), shared.id);
    const before = await read();
    await tie(owner, tenant, [shared.id, secret.id], 1, clock.now());
    expect(await read()).toBe(before);
    const withUser = await recall(agent, { query: 'keys', mode: 'OBSERVE', userId: tenant.userId });
    expect(icnuOf(withUser, shared.id)).toBeGreaterThan(before + 0.2);
  });
});
