import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { type ProfileCaller, profileCallers, setPolicy } from './support.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let salient: TestApp;
let tenant: TestTenant;
let callers: ReturnType<typeof profileCallers>;
beforeAll(async () => {
  salient = await testApp();
});
beforeEach(async () => {
  tenant = await salient.tenant();
  callers = profileCallers(salient, tenant);
});
afterAll(async () => {
  await salient?.[Symbol.asyncDispose]();
});

interface Restored {
  readonly tenant: { version: number; name: string; overridePolicy: string } | null;
  readonly rescoreJob: { id: string } | null;
  readonly errors: { code: string; path: string[] }[];
}

async function restore(caller: ProfileCaller, version: number, input: Record<string, unknown> = {}) {
  const { restoreOverridePolicy } = await caller.query<{ restoreOverridePolicy: Restored }>(
    `mutation ($input: RestoreOverridePolicyInput!) { restoreOverridePolicy(input: $input) {
       tenant { version name overridePolicy } rescoreJob { id } errors { code path } } }`,
    { input: { id: tenant.id, version, ...input } },
  );
  return restoreOverridePolicy;
}

interface Version {
  readonly version: number;
  readonly overridePolicy: string;
  readonly changes: { setting: string; before: string; after: string }[];
}

async function versions(args = ''): Promise<Version[]> {
  const data = await callers.admin.query<{ tenant: { policyVersions: { edges: { node: Version }[] } } }>(
    `{ tenant { policyVersions(${args || 'first: 50'}) { edges { node {
       version overridePolicy changes { setting before after } } } } } }`,
  );
  return data.tenant.policyVersions.edges.map(({ node }) => node);
}

const change = (input: Record<string, unknown>) =>
  salient.ask({
    key: tenant.keys.TENANT_ADMIN,
    query: `mutation ($input: UpdateTenantInput!) { updateTenant(input: $input) { errors { code message } } }`,
    variables: { input: { id: tenant.id, ...input } },
  });

test('the policy of a version is brought back as a new one; the rest of the tenant stays', async () => {
  await setPolicy(salient, tenant, 'FULL_OVERRIDE');
  await change({ name: 'Renamed' });
  const restored = await restore(callers.admin, 1, { expectedVersion: 3 });
  expect(restored).toEqual({
    tenant: { version: 4, name: 'Renamed', overridePolicy: 'ADDITIVE_TOPICS' },
    rescoreJob: { id: expect.any(String) },
    errors: [],
  });
  expect((await callers.admin.effective())['policy']).toBe('ADDITIVE_TOPICS');
  expect(await restore(callers.admin, 2, { rescore: 'LAZY' })).toMatchObject({
    tenant: { version: 5, overridePolicy: 'FULL_OVERRIDE' },
    rescoreJob: null,
  });
  // Once more is nothing: no version, no job, no event.
  expect(await restore(callers.admin, 2)).toMatchObject({ tenant: { version: 5 }, rescoreJob: null });
  const { eventLog } = await callers.admin.query<{ eventLog: { items: unknown[] } }>(
    `{ eventLog(after: "earliest", first: 100, filter: { types: [POLICY_CHANGED] }) { items { __typename } } }`,
  );
  expect(eventLog.items).toHaveLength(3);
});

test('versions tell what is different from the one before, on every page', async () => {
  await setPolicy(salient, tenant, 'FULL_OVERRIDE');
  await change({ name: 'Renamed', overridePolicy: 'TENANT_ONLY' });
  await change({ budgets: { recallCharacters: null } });
  await restore(callers.admin, 2);
  const policy = (before: string, after: string) => ({ setting: 'OVERRIDE_POLICY', before, after });
  const all = await versions();
  expect(all).toEqual([
    { version: 5, overridePolicy: 'FULL_OVERRIDE', changes: [policy('TENANT_ONLY', 'FULL_OVERRIDE')] },
    { version: 4, overridePolicy: 'TENANT_ONLY', changes: [] },
    {
      version: 3,
      overridePolicy: 'TENANT_ONLY',
      changes: [
        { setting: 'NAME', before: 'acme', after: 'Renamed' },
        policy('FULL_OVERRIDE', 'TENANT_ONLY'),
      ],
    },
    { version: 2, overridePolicy: 'FULL_OVERRIDE', changes: [policy('ADDITIVE_TOPICS', 'FULL_OVERRIDE')] },
    { version: 1, overridePolicy: 'ADDITIVE_TOPICS', changes: [] },
  ]);
  // The one before is on another page.
  expect(await versions('first: 1')).toEqual(all.slice(0, 1));
  expect(await versions('last: 2')).toEqual(all.slice(3));
});

test('what is out of date, unknown or not theirs to change is refused', async () => {
  await setPolicy(salient, tenant, 'FULL_OVERRIDE');
  for (const version of [0, -1, 3, 2_147_483_647]) {
    expect(await restore(callers.admin, version)).toEqual({
      tenant: null,
      rescoreJob: null,
      errors: [{ code: 'NOT_FOUND', path: ['input', 'version'] }],
    });
  }
  expect((await restore(callers.admin, 1, { expectedVersion: 1 })).errors).toEqual([
    { code: 'CONFLICT', path: ['input', 'expectedVersion'] },
  ]);
  const other = await salient.tenant();
  expect((await restore(callers.admin, 1, { id: other.id })).errors).toEqual([
    { code: 'NOT_FOUND', path: ['input', 'id'] },
  ]);
  for (const caller of [callers.auditor, callers.agent, callers.user])
    await expect(restore(caller, 1)).rejects.toThrow('FORBIDDEN');
  expect(await versions()).toHaveLength(2);
});
