import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newId } from '../../src/ids.js';
import { toGlobalId } from '../../src/schema/global-id.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { type Owner, PROFILE, type ProfileCaller, profileCallers } from './support.js';

// It is only that the machine may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let salient: TestApp;
let acme: TestTenant;
let other: TestTenant;
/** A second agent and user of acme. */
let second: { agentId: string; userId: string };
let callers: ReturnType<typeof profileCallers>;
beforeAll(async () => {
  salient = await testApp();
  [acme, other] = [await salient.tenant(), await salient.tenant('other')];
  callers = profileCallers(salient, acme);
  const made = await callers.admin.query<{
    createAgent: { agent: { id: string } };
    createUser: { user: { id: string } };
  }>(
    'mutation { createAgent(input: { name: "Second" }) { agent { id } } createUser(input: { externalId: "user-2" }) { user { id } } }',
  );
  second = { agentId: made.createAgent.agent.id, userId: made.createUser.user.id };
  for (const [tenant, prefix] of [
    [acme, 'acme'],
    [other, 'other'],
  ] as const) {
    const { admin } = profileCallers(salient, tenant);
    const topics = (name: string) => ({ interests: [{ topic: `${prefix} ${name}`, level: 'HIGH' }] });
    await admin.saved({ tenant: true }, topics('tenant'));
    await admin.saved({ agentId: tenant.agentId }, topics('agent'));
    await admin.saved({ userId: tenant.userId }, topics('user'));
  }
  await callers.admin.saved(
    { userId: second.userId },
    { interests: [{ topic: 'acme second', level: 'HIGH' }] },
  );
});
afterAll(() => salient?.[Symbol.asyncDispose]());

const missing = { agentId: toGlobalId('Agent', newId()), userId: toGlobalId('User', newId()) };
const topicsOf = (effective: Record<string, unknown>) =>
  (effective['interests'] as { topic: string }[]).map(({ topic }) => topic);

describe('changing a profile', () => {
  test('administrators change every one, agents and users their own', async () => {
    for (const [caller, owner] of [
      [callers.admin, { tenant: true }],
      [callers.admin, { agentId: second.agentId }],
      [callers.admin, { userId: second.userId }],
      [callers.agent, { agentId: acme.agentId }],
      [callers.user, { userId: acme.userId }],
    ] as [ProfileCaller, Owner][])
      expect((await caller.set(owner, { beta: 0.77 })).salienceProfile?.beta).toBe(0.77);
  });

  test.each<[keyof typeof callers, () => Owner]>([
    ['auditor', () => ({ tenant: true })],
    ['agent', () => ({ tenant: true })],
    ['agent', () => ({ agentId: second.agentId })],
    ['agent', () => ({ agentId: other.agentId })],
    ['agent', () => ({ agentId: missing.agentId })],
    ['agent', () => ({ userId: acme.userId })],
    ['user', () => ({ tenant: true })],
    ['user', () => ({ agentId: acme.agentId })],
    ['user', () => ({ userId: second.userId })],
    ['user', () => ({ userId: other.userId })],
    ['user', () => ({ userId: missing.userId })],
  ])('%s may not change what is not its own, and does not learn whether it is there', async (role, owner) => {
    for (const change of [
      () => callers[role].set(owner(), { alpha: 0.99 }),
      () => callers[role].reset(owner()),
      () => callers[role].restore(owner(), 1),
    ])
      await expect(change()).rejects.toThrow('FORBIDDEN');
  });

  test('an owner of another tenant is missing', async () => {
    for (const owner of [{ agentId: other.agentId }, { agentId: missing.agentId }] as Owner[])
      expect((await callers.admin.set(owner, { alpha: 0.1 })).errors).toEqual([
        expect.objectContaining({
          code: 'NOT_FOUND',
          message: 'Agent not found',
          path: ['input', 'owner', 'agentId'],
        }),
      ]);
    for (const owner of [{ userId: other.userId }, { userId: missing.userId }, { userId: acme.agentId }])
      expect((await callers.admin.set(owner, { alpha: 0.1 })).errors).toEqual([
        expect.objectContaining({
          code: 'NOT_FOUND',
          message: 'User not found',
          path: ['input', 'owner', 'userId'],
        }),
      ]);
    const { data } = await profileCallers(salient, other).admin.send<{
      tenant: { agents: { edges: { node: { salienceProfile: { alpha: number | null } } }[] } };
    }>('{ tenant { agents { edges { node { salienceProfile { alpha } } } } } }');
    expect(data?.tenant.agents.edges.map(({ node }) => node.salienceProfile.alpha)).toEqual([null]);
  });

  test('names exactly one owner', async () => {
    const { errors } = await callers.admin.send(
      `mutation { setSalienceProfile(input: { owner: { tenant: true, userId: "${acme.userId}" } }) { errors { code } } }`,
    );
    expect(errors).toHaveLength(1);
  });
});

describe('the effective profile', () => {
  test('of anyone is told to those who oversee the tenant', async () => {
    for (const caller of [callers.admin, callers.auditor]) {
      const effective = await caller.effective({ agentId: acme.agentId, userId: second.userId });
      expect(topicsOf(effective)).toEqual(['acme tenant', 'acme agent', 'acme second']);
    }
  });

  test('of an agent is its own, with any user', async () => {
    expect(topicsOf(await callers.agent.effective())).toEqual(['acme tenant', 'acme agent']);
    expect(topicsOf(await callers.agent.effective({ userId: second.userId }))).toEqual([
      'acme tenant',
      'acme agent',
      'acme second',
    ]);
    for (const agentId of [second.agentId, other.agentId, missing.agentId])
      await expect(callers.agent.effective({ agentId })).rejects.toThrow('FORBIDDEN');
  });

  test("of a user is its own, without an agent's, which is not for it to see", async () => {
    expect(topicsOf(await callers.user.effective())).toEqual(['acme tenant', 'acme user']);
    expect(topicsOf(await callers.user.effective({ userId: acme.userId }))).toEqual([
      'acme tenant',
      'acme user',
    ]);
    for (const asked of [
      { agentId: acme.agentId },
      { agentId: missing.agentId },
      { userId: second.userId },
      { userId: other.userId },
    ])
      await expect(callers.user.effective(asked)).rejects.toThrow('FORBIDDEN');
  });

  test('of an agent or user that the tenant does not have is an error', async () => {
    for (const asked of [
      { agentId: other.agentId },
      { agentId: missing.agentId },
      { agentId: acme.agentId, userId: other.userId },
      { userId: missing.userId },
      { userId: acme.agentId },
    ])
      await expect(callers.admin.effective(asked)).rejects.toThrow('NOT_FOUND');
  });
});

test('a profile by its id is told to whom it concerns', async () => {
  const profileOf = async (owner: Owner) => (await callers.admin.set(owner, {})).salienceProfile;
  const [tenants, agents, users, seconds] = [
    await profileOf({ tenant: true }),
    await profileOf({ agentId: acme.agentId }),
    await profileOf({ userId: acme.userId }),
    await profileOf({ userId: second.userId }),
  ];
  const ids = [tenants, agents, users, seconds].map((profile) => profile?.id);
  const seenBy = async (caller: ProfileCaller) => {
    const { nodes } = await caller.query<{ nodes: unknown[] }>(
      `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on SalienceProfile { ${PROFILE} } } }`,
      { ids },
    );
    return nodes;
  };
  expect(await seenBy(callers.auditor)).toEqual([tenants, agents, users, seconds]);
  expect(await seenBy(callers.agent)).toEqual([tenants, agents, users, seconds]);
  expect(await seenBy(callers.user)).toEqual([tenants, null, users, null]);
  expect(await seenBy(profileCallers(salient, other).admin)).toEqual([null, null, null, null]);
});

describe("an agent's topics in what a user looks at", () => {
  /** What the agent alone has set; the text says just that. */
  const SECRET = 'warehouse robots';
  const REFUSED = 'night deliveries';
  let own: TestTenant;
  let of: ReturnType<typeof profileCallers>;

  beforeAll(async () => {
    own = await salient.tenant('robots');
    of = profileCallers(salient, own);
    await of.admin.saved({ tenant: true }, { interests: [{ topic: REFUSED, level: 'CRITICAL' }] });
    await of.admin.saved(
      { agentId: own.agentId },
      {
        interests: [
          { topic: SECRET, level: 'HIGH' },
          { topic: REFUSED, level: 'HIGH' },
        ],
      },
    );
    await of.admin.saved({ userId: own.userId }, { interests: [{ topic: 'opening hours', level: 'HIGH' }] });
    for (const text of [SECRET, 'opening hours'])
      await of.admin.query(
        'mutation ($input: RememberInput!) { remember(input: $input) { fact { id } errors { code } } }',
        { input: { text, agentId: own.agentId, userId: own.userId } },
      );
  });

  const looksAt = (
    caller: ProfileCaller,
    text: string,
    owner: { agentId?: string; userId?: string } = { agentId: own.agentId, userId: own.userId },
  ) =>
    caller.send<{
      previewImportance: { topicBoost: number; matchedTopics: { topic: string; origin: string }[] };
    }>(
      'query ($input: PreviewImportanceInput!) { previewImportance(input: $input) { topicBoost matchedTopics { topic origin } } }',
      { input: { text, ...owner } },
    );
  const matched = async (...asked: Parameters<typeof looksAt>) =>
    (await looksAt(...asked)).data?.previewImportance.matchedTopics;

  test('are told to who oversees the tenant and to the agent when a statement is looked at', async () => {
    for (const caller of [of.admin, of.auditor, of.agent])
      expect(await matched(caller, SECRET)).toEqual([{ topic: SECRET, origin: 'AGENT' }]);
  });

  test("are nothing that a statement of the user's choice is scored by", async () => {
    // Whether the agent is there or not: the factors would tell what it cares about, guess by guess.
    for (const agentId of [own.agentId, missing.agentId]) {
      const { data, errors } = await looksAt(of.user, SECRET, { agentId });
      expect(data).toBeNull();
      expect(errors).toMatchObject([
        {
          message: "A user sees its own effective profile, without an agent's",
          path: ['previewImportance'],
          extensions: { code: 'FORBIDDEN', inputPath: ['agentId'] },
        },
      ]);
    }
    const { data } = await looksAt(of.user, SECRET, {});
    expect(data?.previewImportance).toEqual({ topicBoost: 1, matchedTopics: [] });
    // Its own and the tenant's it does see.
    const ofItself = { userId: own.userId };
    expect(await matched(of.user, 'opening hours', ofItself)).toEqual([
      { topic: 'opening hours', origin: 'USER' },
    ]);
    expect(await matched(of.user, REFUSED, {})).toEqual([{ topic: REFUSED, origin: 'TENANT' }]);
  });

  test('and not when a stored fact is', async () => {
    const seen = async (caller: ProfileCaller) => {
      const { facts } = await caller.query<{
        facts: { edges: { node: { text: string; importanceBreakdown: { matchedTopics: object[] } } }[] };
      }>('{ facts { edges { node { text importanceBreakdown { matchedTopics { topic origin } } } } } }');
      return Object.fromEntries(
        facts.edges.map(({ node }) => [node.text, node.importanceBreakdown.matchedTopics]),
      );
    };
    const ofBoth = { 'opening hours': [{ topic: 'opening hours', origin: 'USER' }] };
    expect(await seen(of.admin)).toEqual({ ...ofBoth, [SECRET]: [{ topic: SECRET, origin: 'AGENT' }] });
    expect(await seen(of.user)).toEqual({ ...ofBoth, [SECRET]: [] });
  });

  const blocked = async (caller: ProfileCaller, interests: string[]) => {
    const { previewSalienceProfile } = await caller.query<{
      previewSalienceProfile: { affected: number; blocked: { origin: string; topic: string }[] };
    }>(
      `query ($input: SetSalienceProfileInput!) {
        previewSalienceProfile(input: $input) { affected blocked { origin topic } } }`,
      {
        input: {
          owner: { userId: own.userId },
          interests: interests.map((topic) => ({ topic, level: 'LOW' })),
        },
      },
    );
    // Facts that an agent shares with the user are among those that it reaches, so that its profile plays a part.
    expect(previewSalienceProfile.affected).toBe(2);
    return previewSalienceProfile.blocked;
  };

  test("are not in what would be blocked when a user's profile is tried", async () => {
    const hers = [{ origin: 'USER', topic: REFUSED }];
    expect(await blocked(of.admin, [REFUSED])).toEqual(
      expect.arrayContaining([...hers, { origin: 'AGENT', topic: REFUSED }]),
    );
    expect(await blocked(of.user, [REFUSED])).toEqual(hers);
  });

  test('nor are they found out by trying topics until one is blocked', async () => {
    expect(await blocked(of.admin, [SECRET])).toContainEqual({ origin: 'USER', topic: SECRET });
    expect(await blocked(of.user, [SECRET])).toEqual(await blocked(of.user, ['something else']));
  });
});
