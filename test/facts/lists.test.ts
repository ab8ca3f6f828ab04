import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type TestApp, testApp } from '../support/app.js';
import { type Caller, callersOf, TestClock } from './support.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
let salient: TestApp;
beforeAll(async () => {
  salient = await testApp({ now: clock.now });
});
afterAll(() => salient?.[Symbol.asyncDispose]());

const UNKNOWN = '01a22cc5-b36a-7756-b38c-6bc43afb801a';

async function scopes() {
  const tenant = await salient.tenant();
  const callers = callersOf(salient, tenant);
  const { agentId, userId } = tenant;
  await callers.admin.fact('Of nobody', { kind: 'ENV' });
  await callers.admin.fact('Of the agent', { agentId });
  await callers.admin.fact('Of the user', { userId, kind: 'PREFERENCE' });
  await callers.admin.fact('Of both', {
    agentId,
    userId,
    kind: 'PREFERENCE',
    entities: ['Acme Corp', 'Sam'],
  });
  return { tenant, agentId, userId, ...callers };
}

describe('facts(filter) is exact (SPEC §1)', () => {
  test('CASE 7: agent and user both apply when both are given', async () => {
    const { admin, agentId, userId } = await scopes();
    expect(await admin.texts()).toHaveLength(4);
    expect(await admin.texts({ agentId })).toEqual(['Of both', 'Of the agent']);
    expect(await admin.texts({ userId })).toEqual(['Of both', 'Of the user']);
    expect(await admin.texts({ agentId, userId })).toEqual(['Of both']);
    expect(await admin.texts({ agentId, userId, kinds: ['PREFERENCE', 'ENV'] })).toEqual(['Of both']);
    expect(await admin.texts({ agentId, kinds: ['ENV'] })).toEqual([]);
  });

  test('CASE 12: an unknown agent or user is an error, not an empty list', async () => {
    const { admin, agentId, userId } = await scopes();
    const stranger = await salient.tenant();
    for (const filter of [
      { agentId: UNKNOWN },
      { userId: UNKNOWN },
      { agentId: stranger.agentId },
      { userId: stranger.userId },
      { agentId, userId: UNKNOWN },
      { agentId: userId },
      { agentId: 'nonsense' },
    ]) {
      await expect(admin.texts(filter), JSON.stringify(filter)).rejects.toThrow('NOT_FOUND');
    }
  });

  test('a reader sees its own range, whatever the filter', async () => {
    const { tenant, agent, user, auditor, agentId, userId } = await scopes();
    const { admin } = callersOf(salient, tenant);
    const made = await admin.query<{
      createAgent: { agent: { id: string } };
      createUser: { user: { id: string } };
    }>(
      `mutation { createAgent(input: { name: "Other" }) { agent { id } }
                  createUser(input: { externalId: "user-2" }) { user { id } } }`,
    );
    const [otherAgent, otherUser] = [made.createAgent.agent.id, made.createUser.user.id];
    await admin.fact('Of the other agent', { agentId: otherAgent });
    await admin.fact('Of the other user', { userId: otherUser });
    expect(await auditor.texts()).toHaveLength(6);
    expect(await agent.texts()).toEqual([
      'Of both',
      'Of nobody',
      'Of the agent',
      'Of the other user',
      'Of the user',
    ]);
    expect(await user.texts()).toEqual(['Of both', 'Of nobody', 'Of the user']);
    expect((await user.facts()).totalCount).toBe(3);
    expect(await user.texts({ agentId })).toEqual(['Of both']);
    expect(await agent.texts({ userId })).toEqual(['Of both', 'Of the user']);
    // Who does not see another cannot tell it from one that is not there.
    await expect(agent.texts({ agentId: otherAgent })).rejects.toThrow('NOT_FOUND');
    await expect(user.texts({ userId: otherUser })).rejects.toThrow('NOT_FOUND');
  });

  test('CASE 8: another tenant is never seen, whatever its name', async () => {
    const [acme, acmeCorp] = [await salient.tenant('acme'), await salient.tenant('acme-corp')];
    await callersOf(salient, acmeCorp).admin.fact('Of acme-corp');
    expect(await callersOf(salient, acme).admin.texts({ status: 'ALL' })).toEqual([]);
  });

  test('by entity: its whole name, in any case', async () => {
    const { admin } = await scopes();
    expect(await admin.texts({ entity: 'acme  CORP' })).toEqual(['Of both']);
    for (const entity of ['acme', 'acme corp%', 'Acme-Corp'])
      expect(await admin.texts({ entity })).toEqual([]);
    await expect(admin.texts({ entity: ' ' })).rejects.toThrow('BAD_INPUT');
  });

  test('by text: all of its words, in any order and inflection', async () => {
    const { admin } = await scopes();
    await admin.fact('The nightly backups of Acme run at two');
    await admin.fact('Nobody runs backups by hand');
    expect(await admin.texts({ text: 'backup running' })).toHaveLength(2);
    expect(await admin.texts({ text: 'Acme backup' })).toEqual(['The nightly backups of Acme run at two']);
    expect(await admin.texts({ text: `"backup" -acme's (50%)` })).toEqual([]);
    await expect(admin.texts({ text: '\n' })).rejects.toThrow('BAD_INPUT');
    await expect(admin.texts({ text: 'x'.repeat(501) })).rejects.toThrow('BAD_INPUT');
  });

  test('by pin and by when it was recorded', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const from = clock.advanceHours(1);
    const first = await admin.fact('First of all');
    const to = clock.advanceHours(1);
    await admin.fact('Second of all');
    await admin.pin(first.id);
    expect(await admin.texts({ pinned: true })).toEqual(['First of all']);
    expect(await admin.texts({ pinned: false })).toEqual(['Second of all']);
    expect(await admin.texts({ recordedBetween: { from, to } })).toEqual(['First of all']);
    expect(await admin.texts({ recordedBetween: { from: to } })).toEqual(['Second of all']);
    expect(await admin.texts({ recordedBetween: { to: from } })).toEqual([]);
  });
});

describe('CASE 33: what was retired or replaced is in no default list', () => {
  test('and is in those that ask for it', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const old = await admin.fact('The office is in Lisbon', { entities: ['Lisbon'] });
    await admin.replace({ id: old.id }, 'The office is in Porto');
    const wrong = await admin.fact('The office is in Lisbon now', { entities: ['Lisbon'] });
    await admin.retire({ id: wrong.id }, 'WRONG');
    for (const filter of [{}, { text: 'office Lisbon' }, { entity: 'Lisbon' }, { kinds: ['FACT'] }]) {
      expect((await admin.texts(filter)).filter((text) => text.includes('Lisbon'))).toEqual([]);
    }
    expect(await admin.texts({ text: 'office Lisbon', status: 'RETIRED' })).toHaveLength(2);
    expect(await admin.texts({ entity: 'Lisbon', status: 'ALL' })).toHaveLength(2);
  });
});

describe('pages', () => {
  async function many(): Promise<{ admin: Caller; ids: string[] }> {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const ids: string[] = [];
    for (let n = 0; n < 11; n++) {
      // Two and two share their times, all but some their importance.
      if (n % 2 === 0) clock.advance(1_234);
      const hints = n % 4 === 0 ? { interest: n / 10 } : undefined;
      ids.push((await admin.fact(`The page in question is number ${n}`, { hints })).id);
    }
    return { admin, ids };
  }

  test.each(
    ['IMPORTANCE', 'RECORDED_AT', 'VALID_FROM'].flatMap((field) =>
      ['ASC', 'DESC'].map((direction) => ({ field, direction })),
    ),
  )('forward and backward show each row once, in one order: $field $direction', async (orderBy) => {
    const { admin, ids } = await many();
    const whole = (await admin.facts({}, { orderBy, first: 20 })).edges.map(({ node }) => node.id);
    expect([...whole].sort()).toEqual([...ids].sort());
    const forward: string[] = [];
    let after: string | null = null;
    for (let more = true; more; ) {
      const page = await admin.facts({}, { orderBy, first: 3, after });
      expect(page.totalCount).toBe(ids.length);
      expect(page.pageInfo.hasPreviousPage).toBe(after !== null);
      forward.push(...page.edges.map(({ node }) => node.id));
      after = page.pageInfo.endCursor;
      more = page.pageInfo.hasNextPage;
    }
    expect(forward).toEqual(whole);
    const backward: string[] = [];
    let before: string | null = null;
    for (let more = true; more; ) {
      const page = await admin.facts({}, { orderBy, last: 4, before });
      backward.unshift(...page.edges.map(({ node }) => node.id));
      before = page.pageInfo.startCursor;
      more = page.pageInfo.hasPreviousPage;
    }
    expect(backward).toEqual(whole);
  });

  test('a page out of range, or a cursor of something else, is refused', async () => {
    const { admin } = await many();
    const other = Buffer.from(JSON.stringify([1, 'x'])).toString('base64url');
    for (const args of [
      { first: 0 },
      { first: 101 },
      { last: 0 },
      { last: 101 },
      { first: -1 },
      { first: 1, last: 1 },
      { after: 'nonsense' },
      { after: other },
      { before: other },
    ]) {
      await expect(
        admin.query(
          'query ($first: Int, $last: Int, $after: String, $before: String) { facts(first: $first, last: $last, after: $after, before: $before) { totalCount } }',
          args,
        ),
        JSON.stringify(args),
      ).rejects.toThrow('BAD_INPUT');
    }
  });

  test("a fact's sources, relations and history page both ways too", async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const { messages } = await admin.say(['a', 'b', 'c', 'd', 'e'], { extract: 'NEVER' });
    let fact = await admin.fact('The office is in Lisbon', {
      entities: ['A', 'B', 'C', 'D'],
      sourceMessageIds: messages!.slice(0, 3).map(({ id }) => id),
    });
    clock.advanceHours(1);
    fact = await admin.fact(fact.text, { sourceMessageIds: messages!.slice(3).map(({ id }) => id) });
    for (let n = 0; n < 4; n++) {
      clock.advanceHours(1);
      await admin.replace({ id: (await admin.history(fact.id))[0]!.id }, `The office moved ${n} times`);
    }
    const lists = {
      sources: 'sources',
      edges: 'edges',
      history: 'history',
    };
    for (const [name, field] of Object.entries(lists)) {
      const axis = name === 'edges' ? `, validAt: "${fact.validFrom}"` : '';
      const node = name === 'edges' ? 'source { name } target { name }' : 'id';
      const read = async (args: string) => {
        type Page = { edges: { cursor: string; node: unknown }[] };
        const query = `query ($id: ID!) { fact(id: $id) { list: ${field}(${args}${axis}) { edges { cursor node { ${node} } } } } }`;
        return (await admin.query<{ fact: { list: Page } }>(query, { id: fact.id })).fact.list.edges;
      };
      const whole = await read('first: 10');
      expect(whole.length, name).toBeGreaterThanOrEqual(5);
      const forward = [
        ...(await read('first: 2')),
        ...(await read(`first: 9, after: "${whole[1]!.cursor}"`)),
      ];
      expect(forward, name).toEqual(whole);
      const backward = [
        ...(await read(`last: 9, before: "${whole.at(-2)!.cursor}"`)),
        ...(await read('last: 2')),
      ];
      expect(backward, name).toEqual(whole);
      const foreign = Buffer.from(JSON.stringify(name === 'history' ? [UNKNOWN] : [1, 'x'])).toString(
        'base64url',
      );
      await expect(read(`first: 2, after: "${foreign}"`), name).rejects.toThrow('BAD_INPUT');
    }
  });
});

describe('memoryContext (SPEC §8)', () => {
  const read = async (caller: Caller, context: Record<string, unknown>) =>
    (
      await caller.query<{ memoryContext: { userProfile: string | null; projectContext: string | null } }>(
        'query ($agentId: ID, $userId: ID) { memoryContext(agentId: $agentId, userId: $userId) { userProfile projectContext } }',
        context,
      )
    ).memoryContext;

  test('live USER_PROFILE facts newest first; the newest 10 of PROJECT and ENV; visible ones alone', async () => {
    const tenant = await salient.tenant();
    const { admin, agent, user } = callersOf(salient, tenant);
    const { agentId, userId } = tenant;
    const say = async (text: string, input: Record<string, unknown>) => {
      clock.advance(1_000);
      return admin.fact(text, input);
    };
    await say('Is called Sam', { kind: 'USER_PROFILE', userId });
    const gone = await say('Lives in Lisbon', { kind: 'USER_PROFILE', userId });
    await say('Speaks Portuguese', { kind: 'USER_PROFILE', userId, agentId });
    await admin.replace({ id: gone.id }, 'Lives in Porto');
    await say('Likes tea', { kind: 'PREFERENCE', userId });
    for (let n = 0; n < 12; n++)
      await say(`Build step ${n} is green`, { kind: n % 2 ? 'PROJECT' : 'ENV', agentId });
    const context = await read(agent, { userId });
    expect(context.userProfile).toBe('Lives in Porto\nSpeaks Portuguese\nIs called Sam');
    expect(context.projectContext).toBe(
      Array.from({ length: 10 }, (_, n) => `Build step ${11 - n} is green`).join('\n'),
    );
    expect((await read(user, {})).userProfile).toBe('Lives in Porto\nIs called Sam');
    expect(await read(admin, {})).toEqual({ userProfile: null, projectContext: null });
    expect((await read(admin, { agentId })).projectContext).toBe(context.projectContext);
  });

  test('the profile is cut at 1,375 characters, each part can be switched off, unknown owners are errors', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const { agentId, userId } = tenant;
    for (const seed of ['a', 'b', 'c']) {
      const text = Array.from({ length: 300 }, (_, n) => `${seed}${n.toString(36)}`)
        .join(' ')
        .slice(0, 449);
      clock.advance(1_000);
      await admin.fact(text, { kind: 'USER_PROFILE', userId });
      await admin.fact(text, { kind: 'USER_PROFILE', userId, agentId });
    }
    await admin.fact('The build is green', { kind: 'ENV' });
    const { userProfile } = await read(admin, { agentId, userId });
    expect([...userProfile!]).toHaveLength(1_375);
    expect(userProfile!.startsWith('c0 ')).toBe(true);
    await admin.query(
      'mutation ($id: ID!) { updateTenant(input: { id: $id, memoryContext: { userProfile: false } }) { errors { code } } }',
      { id: tenant.id },
    );
    expect(await read(admin, { agentId, userId })).toEqual({
      userProfile: null,
      projectContext: 'The build is green',
    });
    await expect(read(admin, { agentId: UNKNOWN })).rejects.toThrow('NOT_FOUND');
    await expect(read(admin, { userId: UNKNOWN })).rejects.toThrow('NOT_FOUND');
  });
});
