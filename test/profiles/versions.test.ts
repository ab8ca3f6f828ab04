import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { TestClock } from '../facts/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { type Owner, profileCallers, setPolicy, uuidOf } from './support.js';

// It is only that the machine may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const TENANT: Owner = { tenant: true };
const clock = new TestClock();

let salient: TestApp;
beforeAll(async () => {
  salient = await testApp({ now: clock.now });
});
afterAll(() => salient?.[Symbol.asyncDispose]());

async function setUp(): Promise<{ tenant: TestTenant } & ReturnType<typeof profileCallers>> {
  const tenant = await salient.tenant();
  return { tenant, ...profileCallers(salient, tenant) };
}

interface Versions {
  readonly edges: {
    cursor: string;
    node: {
      version: number;
      changedAt: string;
      actor: { kind: string; id: string | null } | null;
      changes: object[];
    };
  }[];
  readonly pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string | null };
}

const VERSIONS = `edges { cursor node { version changedAt actor { kind id } changes { setting topic before after } } }
  pageInfo { hasNextPage hasPreviousPage endCursor }`;

const versionsOf = async (
  { admin }: Pick<Awaited<ReturnType<typeof setUp>>, 'admin'>,
  args = 'first: 10',
): Promise<Versions> => {
  const { tenant } = await admin.query<{ tenant: { salienceProfile: { versions: Versions } } }>(
    `{ tenant { salienceProfile { versions(${args}) { ${VERSIONS} } } } }`,
  );
  return tenant.salienceProfile.versions;
};

test('versions tell who changed what and when, newest first, back to the one that came with the owner', async () => {
  const of = await setUp();
  const created = clock.now().toISOString();
  clock.advanceHours(1);
  await of.admin.saved(TENANT, { interests: [{ topic: 'cardiology', level: 'HIGH' }], alpha: 0.5 });
  clock.advanceHours(1);
  await of.admin.saved(TENANT, { interests: [{ topic: 'cardiology', level: 'CRITICAL' }], alpha: null });
  const { edges, pageInfo } = await versionsOf(of);
  const key = { kind: 'TENANT_ADMIN', id: expect.any(String) };
  expect(edges.map(({ node }) => node)).toEqual([
    {
      version: 3,
      changedAt: clock.now().toISOString(),
      actor: key,
      changes: [
        { setting: 'INTEREST', topic: 'cardiology', before: 'HIGH', after: 'CRITICAL' },
        { setting: 'ALPHA', topic: null, before: '0.5', after: null },
      ],
    },
    {
      version: 2,
      changedAt: new Date(clock.now().getTime() - 3_600_000).toISOString(),
      actor: key,
      changes: [
        { setting: 'INTEREST', topic: 'cardiology', before: null, after: 'HIGH' },
        { setting: 'ALPHA', topic: null, before: null, after: '0.5' },
      ],
    },
    { version: 1, changedAt: created, actor: null, changes: [] },
  ]);
  expect(pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: false });
});

test('versions are read page by page, either way, each with what it changed', async () => {
  const of = await setUp();
  for (let n = 1; n <= 4; n += 1) await of.admin.saved(TENANT, { alpha: n / 10 });
  const numbers = ({ edges }: Versions) => edges.map(({ node }) => node.version);
  const first = await versionsOf(of, 'first: 2');
  expect(numbers(first)).toEqual([5, 4]);
  expect(first.pageInfo.hasNextPage).toBe(true);
  expect(first.edges[1]?.node.changes).toEqual([
    { setting: 'ALPHA', topic: null, before: '0.2', after: '0.3' },
  ]);
  const second = await versionsOf(of, `first: 2, after: "${first.pageInfo.endCursor}"`);
  expect(numbers(second)).toEqual([3, 2]);
  const third = await versionsOf(of, `first: 2, after: "${second.pageInfo.endCursor}"`);
  expect(numbers(third)).toEqual([1]);
  expect(third.pageInfo.hasNextPage).toBe(false);
  const last = await versionsOf(of, 'last: 2');
  expect(numbers(last)).toEqual([2, 1]);
  expect(last.pageInfo.hasPreviousPage).toBe(true);
  const back = await versionsOf(of, `last: 2, before: "${last.edges[0]?.cursor}"`);
  expect(numbers(back)).toEqual([4, 3]);
  expect(back.edges[1]?.node.changes).toEqual([
    { setting: 'ALPHA', topic: null, before: '0.1', after: '0.2' },
  ]);
});

test('a version is brought back as a new one, exactly', async () => {
  const { admin } = await setUp();
  const full = {
    interests: [
      { topic: 'b', level: 'HIGH' },
      { topic: 'a', level: 'CRITICAL' },
    ],
    disinterests: [{ topic: 'c', level: 'LOW' }],
    icnuWeights: { importance: 1, coactivation: 0, novelty: 0.5, urgency: 0 },
    flashbulbThreshold: 4,
    persona: { name: 'N', valenceBias: 1, arousalSensitivity: 1, selfRelevanceBoost: 1, identity: ['me'] },
  };
  const { version: _version, ...second } = await admin.saved(TENANT, full);
  await admin.reset(TENANT);
  await admin.saved(TENANT, { interests: [{ topic: 'A', level: 'LOW' }], alpha: 1 });
  const restored = await admin.restore(TENANT, 2);
  expect(restored.errors).toEqual([]);
  expect(restored.salienceProfile).toEqual({ ...second, version: 5 });
  expect(restored.rescoreJob).not.toBeNull();
  // Nothing to do.
  expect((await admin.restore(TENANT, 2)).salienceProfile?.version).toBe(5);
  expect((await admin.restore(TENANT, 1, { expectedVersion: 4 })).errors[0]?.code).toBe('CONFLICT');
  const empty = await admin.restore(TENANT, 1);
  expect(empty.salienceProfile).toMatchObject({ version: 6, interests: [], persona: { identity: [] } });
  for (const version of [0, -1, 7]) {
    expect((await admin.restore(TENANT, version)).errors).toMatchObject([
      { code: 'NOT_FOUND', path: ['input', 'version'] },
    ]);
  }
});

test('an agent and a user see the versions of their own profiles', async () => {
  const { agent, user, tenant } = await setUp();
  await agent.saved({ agentId: tenant.agentId }, { alpha: 0.3 });
  await user.saved({ userId: tenant.userId }, { alpha: 0.4 });
  const query = (type: 'agent' | 'user') =>
    `{ viewer { ${type} { salienceProfile { ownerKind agent { id } user { id } versions { edges { node { version actor { kind id } } } } } } } }`;
  expect(await agent.query(query('agent'))).toEqual({
    viewer: {
      agent: {
        salienceProfile: {
          ownerKind: 'AGENT',
          agent: { id: tenant.agentId },
          user: null,
          versions: {
            edges: [
              { node: { version: 2, actor: { kind: 'AGENT', id: tenant.agentId } } },
              { node: { version: 1, actor: null } },
            ],
          },
        },
      },
    },
  });
  expect(await user.query(query('user'))).toMatchObject({
    viewer: {
      user: {
        salienceProfile: {
          ownerKind: 'USER',
          agent: null,
          user: { id: tenant.userId },
          versions: { edges: [{ node: { actor: { kind: 'USER', id: tenant.userId } } }, {}] },
        },
      },
    },
  });
});

test('versions of the tenant tell its policies, to administrators and auditors', async () => {
  const { admin, auditor, agent, user, tenant } = await setUp();
  await setPolicy(salient, tenant, 'FULL_OVERRIDE');
  await setPolicy(salient, tenant, 'TENANT_ONLY');
  const query = `query ($after: String) { tenant { policyVersions(first: 2, after: $after) {
    edges { node { version name overridePolicy changedAt actor { kind id } } } pageInfo { hasNextPage endCursor } } } }`;
  type Page = {
    tenant: {
      policyVersions: {
        edges: { node: Record<string, unknown> }[];
        pageInfo: { hasNextPage: boolean; endCursor: string };
      };
    };
  };
  const first = (await admin.query<Page>(query)).tenant.policyVersions;
  const changedAt = clock.now().toISOString();
  const actor = { kind: 'TENANT_ADMIN', id: expect.any(String) };
  expect(first.edges.map(({ node }) => node)).toEqual([
    { version: 3, name: 'acme', overridePolicy: 'TENANT_ONLY', changedAt, actor },
    { version: 2, name: 'acme', overridePolicy: 'FULL_OVERRIDE', changedAt, actor },
  ]);
  expect(first.pageInfo.hasNextPage).toBe(true);
  const second = await auditor.query<Page>(query, { after: first.pageInfo.endCursor });
  expect(second.tenant.policyVersions.edges.map(({ node }) => node)).toMatchObject([
    { version: 1, overridePolicy: 'ADDITIVE_TOPICS', actor: { kind: 'PLATFORM_ADMIN', id: null } },
  ]);
  for (const caller of [agent, user]) await expect(caller.query(query)).rejects.toThrow('FORBIDDEN');
});

test('what an owner said goes with it', async () => {
  const { admin, user, tenant } = await setUp();
  await user.saved({ userId: tenant.userId }, { interests: [{ topic: 'secret plans', level: 'HIGH' }] });
  const { db } = salient.app.services;
  const tenantId = uuidOf(tenant.id);
  const left = () =>
    db.withTenant(tenantId, async (tx) => {
      const where = { where: { tenantId } };
      return [
        await tx.salienceProfile.count(where),
        await tx.profileTopic.count(where),
        await tx.profileTopicEmbedding.count(where),
        await tx.profileVersion.count(where),
      ];
    });
  expect(await left()).toEqual([3, 1, 1, 1]);
  await db.withTenant(tenantId, (tx) =>
    tx.appUser.delete({ where: { tenantId_id: { tenantId, id: uuidOf(tenant.userId) } } }),
  );
  expect(await left()).toEqual([2, 0, 0, 0]);
  await expect(admin.effective({ userId: tenant.userId })).rejects.toThrow('NOT_FOUND');
});
