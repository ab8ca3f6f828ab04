import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  findTenant,
  inTenant,
  readInTenant,
  readTenantProfiles,
  type ScopeOwner,
} from '../../src/db/index.js';
import { newId } from '../../src/ids.js';
import { calibrationOf, createProfileReader, type ProfileReader } from '../../src/profiles/index.js';
import { type TenantContext, toTenantContext } from '../../src/tenancy/index.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { countStatements } from '../support/database.js';
import { profileCallers, setPolicy, uuidOf } from './support.js';

// It is only that the machine may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** Two processes on one database. */
let here: TestApp;
let there: TestApp;
beforeAll(async () => {
  here = await testApp();
  there = await testApp();
});
afterAll(async () => {
  await there?.[Symbol.asyncDispose]();
  await here?.[Symbol.asyncDispose]();
});

async function contextOf(tenant: TestTenant): Promise<TenantContext> {
  const id = uuidOf(tenant.id);
  const row = await here.app.services.db.withPlatform((tx) => findTenant(tx, { id }));
  if (!row) throw new Error('no such tenant');
  return toTenantContext(row);
}

function read(app: TestApp, context: TenantContext, owners: readonly ScopeOwner[], reader?: ProfileReader) {
  const { db, profiles } = app.app.services;
  return readInTenant(db, context, (unit) => (reader ?? profiles).effectiveOf(unit, owners));
}

async function setUp() {
  const tenant = await here.tenant();
  const [agentId, userId] = [uuidOf(tenant.agentId), uuidOf(tenant.userId)];
  return {
    tenant,
    context: await contextOf(tenant),
    ...profileCallers(here, tenant),
    owners: [
      { agentId, userId },
      { agentId, userId: null },
      { agentId: null, userId },
      { agentId: null, userId: null },
    ] satisfies ScopeOwner[],
  };
}

const interest = (topic: string) => ({ interests: [{ topic, level: 'HIGH' }] });

test('owners get what applies to them, in their order', async () => {
  const { tenant, context, admin, owners } = await setUp();
  await admin.saved({ tenant: true }, interest('all'));
  await admin.saved({ agentId: tenant.agentId }, interest('agent'));
  await admin.saved({ userId: tenant.userId }, { ...interest('user'), rescore: 'RECALL_ONLY' });
  const profiles = await read(here, context, owners);
  expect(profiles.map(({ owner }) => owner)).toEqual(owners);
  expect(profiles.map(({ effective }) => effective.interests.map(({ topic }) => topic))).toEqual([
    ['all', 'agent', 'user'],
    ['all', 'agent'],
    ['all', 'user'],
    ['all'],
  ]);
  expect(profiles.map(({ staleBelow }) => staleBelow)).toEqual([3, 3, 2, 2]);
  expect(profiles.map(({ revision }) => revision)).toEqual([4, 4, 4, 4]);
  expect(new Set(profiles.map(({ fingerprint }) => fingerprint)).size).toBe(4);
});

test('a change in one process is in the next read of another, with whatever it holds', async () => {
  const { tenant, context, admin, owners } = await setUp();
  const topics = async (app: TestApp) =>
    (await read(app, context, owners.slice(0, 1)))[0]?.effective.interests.map(({ topic }) => topic);
  expect(await topics(there)).toEqual([]);
  for (const [owner, topic] of [
    [{ tenant: true }, 'one'],
    [{ agentId: tenant.agentId }, 'two'],
    [{ userId: tenant.userId }, 'three'],
  ] as const) {
    await admin.saved(owner, interest(topic));
    expect(await topics(there)).toContain(topic);
    expect(await topics(here)).toEqual(await topics(there));
  }
  await setPolicy(here, tenant, 'TENANT_ONLY');
  expect(await topics(there)).toEqual(['one']);
  const [before] = await read(there, context, owners);
  await admin.reset({ tenant: true });
  const [after] = await read(there, context, owners);
  expect(await topics(there)).toEqual([]);
  expect(after?.staleBelow).toBe(after?.revision);
  expect(after?.revision).toBe((before?.revision ?? 0) + 1);
  expect(after?.fingerprint).not.toBe(before?.fingerprint);
});

describe('reading', () => {
  test('takes one statement for any number of owners, and hands out the same profile while nothing changes', async () => {
    const { context, admin, owners } = await setUp();
    await admin.saved({ tenant: true }, { ...interest('all'), rescore: 'RECALL_ONLY' });
    let first: Awaited<ReturnType<typeof read>> = [];
    let second: typeof first = [];
    expect(
      await countStatements(here.app.services.db, async () => {
        first = await read(here, context, owners);
      }),
    ).toHaveLength(1);
    expect(
      await countStatements(here.app.services.db, async () => {
        second = await read(here, context, owners);
      }),
    ).toHaveLength(1);
    second.forEach(({ effective }, index) => {
      expect(effective).toBe(first[index]?.effective);
    });
  });

  test('leaves out the settings of what is held at its present version, and only of that', async () => {
    const { tenant, context, admin, owners } = await setUp();
    await admin.saved({ userId: tenant.userId }, interest('user'));
    const rows = (held: { id: string; version: number }[]) =>
      readInTenant(here.app.services.db, context, (unit) => readTenantProfiles(unit, owners, held));
    const all = await rows([]);
    expect(all.profiles.map(({ ownerKind }) => ownerKind)[0]).toBe('TENANT');
    expect(all.profiles.map(({ settings }) => settings !== null)).toEqual([true, true, true]);
    const some = await rows(
      all.profiles.map(({ id, version, ownerKind }) => ({ id, version: ownerKind === 'USER' ? 1 : version })),
    );
    expect(
      Object.fromEntries(some.profiles.map(({ ownerKind, settings }) => [ownerKind, settings !== null])),
    ).toEqual({ TENANT: false, AGENT: false, USER: true });
  });

  test('sees what the transaction began with where it reads one state, and what is new where it writes', async () => {
    const { context, admin, owners } = await setUp();
    const names = async (unit: Parameters<ProfileReader['effectiveOf']>[0]) =>
      (await here.app.services.profiles.effectiveOf(unit, owners))[3]?.effective.persona.name.value;
    const written = await inTenant(here.app.services.db, context, names);
    expect(written).toBeNull();
    await admin.saved({ tenant: true }, { persona: { name: 'N' } });
    expect(await inTenant(here.app.services.db, context, names)).toBe('N');
  });

  test('an agent or user that does not exist has set nothing', async () => {
    const { context, admin } = await setUp();
    await admin.saved({ tenant: true }, interest('all'));
    const nobody = [
      { agentId: newId(), userId: null },
      { agentId: null, userId: newId() },
      { agentId: null, userId: null },
    ];
    const profiles = await read(here, context, nobody);
    expect(profiles.map(({ effective }) => effective)).toEqual([2, 2, 2].map((i) => profiles[i]?.effective));
  });

  test('all who have set nothing share one profile, and who takes it back shares it again', async () => {
    const { tenant, context, admin, owners } = await setUp();
    await admin.saved({ tenant: true }, interest('all'));
    const shared = async () => new Set((await read(here, context, owners)).map(({ effective }) => effective));
    expect((await shared()).size).toBe(1);
    // Saved, and yet nothing is set.
    await admin.saved({ agentId: tenant.agentId }, { persona: { identity: [] }, interests: [] });
    expect((await shared()).size).toBe(1);
    await admin.saved({ agentId: tenant.agentId }, { persona: { name: 'N' } });
    expect((await shared()).size).toBe(2);
    await admin.reset({ agentId: tenant.agentId });
    expect((await shared()).size).toBe(1);
    await admin.saved({ userId: tenant.userId }, interest('user'));
    expect((await shared()).size).toBe(2);
  });

  test('what is supposed is taken for true in that call alone', async () => {
    const { context, admin, owners } = await setUp();
    const { db, profiles } = here.app.services;
    const saved = await admin.saved({ tenant: true }, { alpha: 0.5 });
    expect(saved.alpha).toBe(0.5);
    const alphas = (supposing?: Parameters<ProfileReader['effectiveOf']>[2]) =>
      readInTenant(db, context, async (unit) =>
        (await profiles.effectiveOf(unit, owners, supposing)).map(({ effective }) => effective.alpha.value),
      );
    const [real] = (
      await readInTenant(db, context, (unit) => readTenantProfiles(unit, owners, []))
    ).profiles.filter(({ ownerKind }) => ownerKind === 'TENANT');
    const supposing = (alpha: number) => ({
      profile: { owner: { agentId: null, userId: null }, settings: { ...real!.settings!, alpha } },
    });
    expect(await alphas(supposing(0.1))).toEqual([0.1, 0.1, 0.1, 0.1]);
    expect(await alphas(supposing(0.2))).toEqual([0.2, 0.2, 0.2, 0.2]);
    expect(await alphas()).toEqual([0.5, 0.5, 0.5, 0.5]);
  });

  test('equal ids and versions of two tenants do not meet', async () => {
    const one = await setUp();
    const other = await setUp();
    await one.admin.saved({ tenant: true }, interest('one'));
    await other.admin.saved({ tenant: true }, interest('other'));
    const topicsOf = async ({ context }: typeof one, owners: readonly ScopeOwner[]) =>
      (await read(here, context, owners)).map(({ effective }) =>
        effective.interests.map(({ topic }) => topic),
      );
    expect(await topicsOf(one, one.owners)).toEqual([['one'], ['one'], ['one'], ['one']]);
    // Another tenant's agent and user, by ids that this process holds.
    expect(await topicsOf(other, one.owners)).toEqual([['other'], ['other'], ['other'], ['other']]);
  });
});

test('model and calibration are part of the fingerprint', async () => {
  const { context, owners } = await setUp();
  const fingerprint = async (model: string, similarity: (cosine: number) => number) =>
    (await read(here, context, owners, createProfileReader({ embedding: { model, similarity } })))[0]
      ?.fingerprint;
  const square = (cosine: number) => cosine * cosine;
  const straight = (cosine: number) => cosine;
  expect(await fingerprint('a', square)).toBe(await fingerprint('a', square));
  expect(await fingerprint('a', square)).not.toBe(await fingerprint('b', square));
  expect(await fingerprint('a', square)).not.toBe(await fingerprint('a', straight));
  expect(calibrationOf({ similarity: square })).toMatch(/^[0-9a-f]{16}$/);
});
