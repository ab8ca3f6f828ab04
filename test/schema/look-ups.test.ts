import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Caller, callersOf } from '../facts/support.js';
import { ADMIN_KEY, type TestApp, type TestTenant, testApp } from '../support/app.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let salient: TestApp;
let tenant: TestTenant;
/** The same external ids are in it. */
let other: TestTenant;
let callers: ReturnType<typeof callersOf>;
beforeAll(async () => {
  salient = await testApp();
  [tenant, other] = [await salient.tenant(), await salient.tenant()];
  callers = callersOf(salient, tenant);
  await callers.admin.query(
    `mutation { createAgent(input: { name: "Second", externalId: "agent-2" }) { agent { id } }
                createUser(input: { externalId: "user-2" }) { user { id } } }`,
  );
});
afterAll(() => salient?.[Symbol.asyncDispose]());

type Found = { agent: { id: string } | null; user: { id: string } | null };

/** What an agent and a user are found by these external ids. */
const find = (caller: Caller, agent: string, user: string) =>
  caller.query<Found>(
    'query ($agent: String, $user: String) { agent(externalId: $agent) { id } user(externalId: $user) { id } }',
    { agent, user },
  );

describe('agents and users', () => {
  test('are found by the external ids of the host application, within the tenant', async () => {
    const { admin, auditor } = callers;
    for (const caller of [admin, auditor])
      expect(await find(caller, 'agent-1', 'user-1')).toEqual({
        agent: { id: tenant.agentId },
        user: { id: tenant.userId },
      });
    expect(await find(callersOf(salient, other).admin, 'agent-1', 'user-1')).toEqual({
      agent: { id: other.agentId },
      user: { id: other.userId },
    });
    expect(await find(admin, ' agent-1 ', 'user-1')).toMatchObject({ agent: { id: tenant.agentId } });
  });

  test('CASE 8: only by all of it, letter by letter', async () => {
    const nothing = { agent: null, user: null };
    for (const suffix of ['', '1', '%', '_', '10', 'x'])
      if (suffix !== '1')
        expect(await find(callers.admin, `agent-${suffix}`, `user-${suffix}`), suffix).toEqual(nothing);
    expect(await find(callers.admin, 'AGENT-1', 'USER-1')).toEqual(nothing);
  });

  test('CASE 1: blank external ids and control characters are mistakes', async () => {
    for (const externalId of ['', ' ', 'agent-1\u0000'])
      for (const field of ['agent', 'user', 'session'])
        await expect(
          callers.admin.query(`query ($e: String) { ${field}(externalId: $e) { id } }`, { e: externalId }),
        ).rejects.toThrow('BAD_INPUT');
  });

  test('an agent knows of itself alone, and of every user; a user of itself alone, and of every agent', async () => {
    const { agent, user } = callers;
    expect(await find(agent, 'agent-1', 'user-2')).toEqual({
      agent: { id: tenant.agentId },
      user: { id: expect.any(String) },
    });
    expect(await find(agent, 'agent-2', 'user-1')).toMatchObject({ agent: null });
    expect(await find(user, 'agent-2', 'user-1')).toEqual({
      agent: { id: expect.any(String) },
      user: { id: tenant.userId },
    });
    expect(await find(user, 'agent-1', 'user-2')).toMatchObject({ user: null });
  });

  test('are found by id, too: by one of the two', async () => {
    const byId = 'query ($a: ID, $u: ID) { agent(id: $a) { externalId } user(id: $u) { externalId } }';
    expect(await callers.admin.query(byId, { a: tenant.agentId, u: tenant.userId })).toEqual({
      agent: { externalId: 'agent-1' },
      user: { externalId: 'user-1' },
    });
    for (const ids of [
      { a: other.agentId, u: other.userId },
      { a: 'no-id', u: '' },
      { a: tenant.userId, u: tenant.agentId },
    ])
      expect(await callers.admin.query(byId, ids)).toEqual({ agent: null, user: null });
    for (const args of ['', `(id: "${tenant.agentId}", externalId: "agent-1")`])
      await expect(callers.admin.query(`{ agent${args} { id } }`)).rejects.toThrow('BAD_INPUT');
  });
});

describe('a conversation', () => {
  const QUERY = `query ($externalId: String, $agentId: ID, $userId: ID) {
    session(externalId: $externalId, agentId: $agentId, userId: $userId) { id } }`;
  const session = async (caller: Caller, variables: Record<string, unknown>) =>
    (await caller.query<{ session: { id: string } | null }>(QUERY, variables)).session?.id ?? null;

  test('is found by its external id, its agent and its user: those that it was opened with', async () => {
    const { admin, agent, user } = callers;
    const { agentId, userId } = tenant;
    const owners = [{}, { agentId }, { userId }, { agentId, userId }];
    const ids: string[] = [];
    for (const owner of owners) {
      const said = await admin.say('hello', { session: { create: { ...owner, externalId: 'chat-1' } } });
      ids.push(said.session!.id);
    }
    expect(new Set(ids).size).toBe(4);
    for (const [place, owner] of owners.entries())
      expect(await session(admin, { externalId: 'chat-1', ...owner })).toBe(ids[place]);
    expect(await session(agent, { externalId: 'chat-1' })).toBe(ids[1]);
    expect(await session(agent, { externalId: 'chat-1', userId })).toBe(ids[3]);
    expect(await session(user, { externalId: 'chat-1' })).toBe(ids[2]);
    expect(await session(user, { externalId: 'chat-1', agentId })).toBe(ids[3]);
    expect(await session(admin, { externalId: 'chat-2' })).toBeNull();
    const byId = (caller: Caller, id: string) =>
      caller.query('query ($id: ID) { session(id: $id) { id } }', { id });
    expect(await byId(admin, ids[0]!)).toEqual({ session: { id: ids[0] } });
    expect(await byId(user, ids[1]!)).toEqual({ session: null });
    expect(await byId(callersOf(salient, other).admin, ids[0]!)).toEqual({ session: null });
  });

  test('CASE 12: of an unknown agent or user is an error; another’s is refused', async () => {
    await expect(session(callers.admin, { externalId: 'chat-1', agentId: other.agentId })).rejects.toThrow(
      'NOT_FOUND',
    );
    await expect(session(callers.admin, { externalId: 'chat-1', userId: other.userId })).rejects.toThrow(
      'NOT_FOUND',
    );
    await expect(session(callers.user, { externalId: 'chat-1', userId: other.userId })).rejects.toThrow(
      'FORBIDDEN',
    );
  });
});

describe('what is there already', () => {
  const CREATE = {
    agent:
      'mutation { created: createAgent(input: { name: "Twin", externalId: "agent-1" }) { agent { id } errors { code path ... on AlreadyExists { existingId } } } }',
    user: 'mutation { created: createUser(input: { externalId: "user-1" }) { user { id } errors { code path ... on AlreadyExists { existingId } } } }',
  };

  test.each(['agent', 'user'] as const)('is named by the conflict: %s', async (noun) => {
    const { created } = await callers.admin.query<{ created: Record<string, unknown> }>(CREATE[noun]);
    const existingId = noun === 'agent' ? tenant.agentId : tenant.userId;
    expect(created).toEqual({
      [noun]: null,
      errors: [{ code: 'CONFLICT', path: ['input', 'externalId'], existingId }],
    });
  });

  test('is not told to who may not create, nor from another tenant', async () => {
    for (const caller of [callers.auditor, callers.agent, callers.user])
      await expect(caller.query(CREATE.user)).rejects.toThrow('FORBIDDEN');
    const fresh = await salient.ask<{ createUser: { user: { id: string } } }>({
      key: ADMIN_KEY,
      tenant: other.slug,
      query: 'mutation { createUser(input: { externalId: "user-2" }) { user { id } errors { code } } }',
    });
    expect(fresh.createUser.user.id).toBeTruthy();
  });
});
