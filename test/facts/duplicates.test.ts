import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createEmbeddingProvider, type EmbeddingProvider } from '../../src/embedding/index.js';
import { type TestApp, testApp } from '../support/app.js';
import { callersOf, TestClock } from './support.js';
import { seeingClient, snapshot } from './tables.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
beforeAll(async () => {
  salient = await testApp({ now: clock.now });
  owner = await seeingClient();
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

const DEPLOYS =
  'The team deploys the billing service to production every Friday afternoon using Kamal on Hetzner';

describe('the same statement again (SPEC §2.4)', () => {
  test('CASE 31: re-adding a fact reaffirms it', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const first = await admin.remember({ text: 'The office is in Lisbon' });
    expect(first.reaffirmed).toBe(false);
    const later = clock.advanceHours(30);
    const again = await admin.remember({ text: 'The office is in Lisbon' });
    expect(again.reaffirmed).toBe(true);
    expect(again.fact).toMatchObject({
      id: first.fact!.id,
      status: 'LIVE',
      recordedAt: first.fact!.recordedAt,
    });
    expect(again.fact!.lastSeenAt).toBe(later.toISOString());
    expect(await admin.texts({ status: 'ALL' })).toEqual(['The office is in Lisbon']);
  });

  test('is stored once for all of its sources', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const { messages } = await admin.say(['first', 'second', 'third'], { extract: 'NEVER' });
    const ids = messages!.map((message) => message.id);
    await admin.fact('The office is in Lisbon', { sourceMessageIds: ids.slice(0, 2) });
    const fact = await admin.fact('the office is in LISBON', { sourceMessageIds: ids.slice(1) });
    expect(fact.sources.edges.map(({ node }) => node.id).sort()).toEqual([...ids].sort());
  });

  test.each([
    ['letter case', 'User prefers Tabs', 'USER PREFERS TABS'],
    ['white space', 'User prefers tabs', '  User\tprefers \u00a0 tabs\n'],
    ['NFKC', 'User prefers ﬁles over ①', 'User prefers files over 1'],
    ['composition', 'Caf\u00e9 opens at nine', 'Cafe\u0301 opens at nine'],
    ['full case folding', 'Wohnt in der Langen Straße', 'WOHNT IN DER LANGEN STRASSE'],
    [
      'a final full stop',
      'User prefers dark mode in every editor',
      'User prefers dark mode in every editor.',
    ],
    ['a word more of many', DEPLOYS, `${DEPLOYS} servers`],
    ['a word less of many', DEPLOYS, DEPLOYS.replace('using ', '')],
    ['no spaces between words', '用户喜欢深色模式和大字体', '用户喜欢深色模式和大字体。'],
  ])('%s does not make a second fact', async (_name, one, other) => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    // Others around it that share words, so that the right one has to be found.
    for (const part of ['afternoon', 'production', 'dark mode', 'tabs'])
      await admin.fact(`Nobody talks about ${part}`);
    const first = await admin.fact(one);
    const again = await admin.remember({ text: other });
    expect(again).toMatchObject({ reaffirmed: true, fact: { id: first.id, text: first.text } });
  });

  test.each([
    ['order', 'Alice manages Bob', 'Bob manages Alice'],
    [
      'number',
      'The service runs on Postgres 15 in the eu-west region',
      'The service runs on Postgres 16 in the eu-west region',
    ],
    ['negation', `${DEPLOYS}`, DEPLOYS.replace('deploys', 'never deploys')],
    ['name', DEPLOYS, DEPLOYS.replace('Hetzner', 'Fly')],
    ['opposite', DEPLOYS, DEPLOYS.replace('production', 'staging')],
    ['day', DEPLOYS, DEPLOYS.replace('Friday', 'Monday')],
    ['too few common words', 'The office is in Lisbon', 'The office is big'],
  ])('CASE 32: another %s is another fact', async (_name, one, other) => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    await admin.fact(one);
    expect((await admin.remember({ text: other })).reaffirmed).toBe(false);
    expect((await admin.remember({ text: one })).reaffirmed).toBe(true);
    expect(await admin.texts()).toEqual([one, other].sort());
  });

  test('CASE 30: other agents, users and kinds have their own', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const scopes = [
      {},
      { userId: tenant.userId },
      { agentId: tenant.agentId },
      { agentId: tenant.agentId, userId: tenant.userId },
      { kind: 'PREFERENCE' },
    ];
    for (const scope of scopes) {
      expect((await admin.remember({ text: DEPLOYS, ...scope })).reaffirmed).toBe(false);
      expect((await admin.remember({ text: `${DEPLOYS}.`, ...scope })).reaffirmed).toBe(true);
    }
    expect((await admin.facts({ status: 'ALL' })).totalCount).toBe(scopes.length);
  });

  test('only live facts count: what was retired or has ended is stated anew', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const retired = await admin.fact(DEPLOYS);
    await admin.retire({ id: retired.id }, 'WRONG');
    const validTo = new Date(clock.now().getTime() + 3_600_000);
    const ending = await admin.fact(`${DEPLOYS}.`, { validTo });
    expect(ending.id).not.toBe(retired.id);
    expect((await admin.remember({ text: DEPLOYS })).fact!.id).toBe(ending.id);
    clock.moveTo(validTo);
    const anew = await admin.remember({ text: DEPLOYS });
    expect(anew).toMatchObject({ reaffirmed: false, fact: { status: 'LIVE' } });
    expect((await admin.facts({ status: 'ALL' })).totalCount).toBe(3);
  });

  test('an idempotencyKey makes a repetition nothing at all, not even a reaffirmation', async () => {
    const tenant = await salient.tenant();
    const { admin, agent } = callersOf(salient, tenant);
    const input = { text: 'The office is in Lisbon', idempotencyKey: 'k1', hints: { urgency: 0.5 } };
    const first = await admin.remember(input);
    const before = await snapshot(owner, tenant);
    clock.advanceHours(1);
    const second = await admin.remember(input);
    expect(second).toMatchObject({ reaffirmed: false, fact: { id: first.fact!.id } });
    expect(await snapshot(owner, tenant)).toEqual(before);
    const other = await admin.remember({ ...input, text: 'The office is in Porto' });
    expect(other.errors).toMatchObject([{ code: 'CONFLICT', path: ['input', 'idempotencyKey'] }]);
    expect(await snapshot(owner, tenant)).toEqual(before);
    // The key is the caller's own.
    expect((await agent.remember(input)).fact!.id).not.toBe(first.fact!.id);
  });

  test('what the encoder cannot read is found by its words', async () => {
    const encoder = await createEmbeddingProvider({ kind: 'fake' });
    const blind = await testApp({ now: clock.now, embedding: unreadable(encoder, /\p{Script=Han}/u) });
    const tenant = await blind.tenant();
    const { admin } = callersOf(blind, tenant);
    await admin.fact('用户在里斯本工作');
    const first = await admin.fact('用户喜欢深色模式和大字体');
    expect(first.importanceBreakdown.distance).toBeNull();
    expect((await admin.remember({ text: '用户喜欢深色模式和大字体。' })).fact!.id).toBe(first.id);
    expect((await admin.remember({ text: '用户不喜欢深色模式和大字体' })).reaffirmed).toBe(false);
    await blind[Symbol.asyncDispose]();
    await encoder[Symbol.asyncDispose]();
  });
});

/** An encoder that has no vector for some texts. */
function unreadable(encoder: EmbeddingProvider, script: RegExp): EmbeddingProvider {
  return {
    model: encoder.model,
    dimensions: encoder.dimensions,
    similarity: encoder.similarity,
    embed: async (texts) => {
      const vectors = await encoder.embed(texts);
      return vectors.map((vector, place) => (script.test(texts[place]!) ? null : vector));
    },
    embedWindows: (texts) => encoder.embedWindows(texts),
    embedQuery: (text) => encoder.embedQuery(text),
    [Symbol.asyncDispose]: async () => {},
  };
}
