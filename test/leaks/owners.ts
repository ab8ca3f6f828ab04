import type pg from 'pg';
import { vi } from 'vitest';
import { schema } from '../../src/schema/index.js';
import { ADMIN_KEY, type TestApp, testApp } from '../support/app.js';
import { type Caller, credentialsOf, PLATFORM, uuidOf } from './callers.js';
import { readTables, type Table } from './catalogue.js';
import { Markers, type Owner } from './markers.js';
import { askFor, comeAndGo, fillScope, lineExtractor, REFUSED, speakAs, touchShared } from './memories.js';
import { OperationGenerator } from './operations.js';
import { fillProfiles } from './profiles.js';
import { noteRows, type OwnedRow } from './rows.js';
import { superuserClient } from './superuser.js';

/** Two tenants that are the same in everything but the words in it, and what is needed to look at both. */
export interface World extends AsyncDisposable {
  readonly test: TestApp;
  readonly generator: OperationGenerator;
  readonly markers: Markers;
  /** The database as somebody whom row-level security does not bind. */
  readonly client: pg.Client;
  readonly tables: readonly Table[];
  readonly a: LeakTenant;
  readonly b: LeakTenant;
  /** Rows by the type that `node` finds them as, in both tenants. */
  readonly rows: readonly OwnedRow[];
  /** Looks at the database again, so that what was written since is known as somebody's. */
  refresh(): Promise<void>;
  /**
   * Writes what recalls have taught so far, and lets none teach anything until the end of the block: what a LEARN
   * recall changes a second later must not come between two answers that are compared.
   */
  quiet(): Promise<Disposable>;
}

export interface LeakTenant {
  readonly local: string;
  readonly id: string;
  readonly slug: string;
  /** UUIDs by local name: `agent-1`, `agent-2`. */
  readonly agents: Readonly<Record<string, string>>;
  readonly users: Readonly<Record<string, string>>;
  /** Everyone who may call: `platform`, `admin`, `auditor`, `agent-1`, … */
  readonly callers: Readonly<Record<string, Caller>>;
  /** Global ids of what was there and is gone, by type. */
  readonly gone: Readonly<Record<string, string>>;
}

/** Scopes that memory is put into: every sort of pairing, one of each sort of owner, or only what all share. */
const PAIRS = {
  full: [
    [null, null],
    [null, 'user-1'],
    ['agent-1', null],
    ['agent-2', null],
    ['agent-1', 'user-1'],
    ['agent-1', 'user-2'],
    ['agent-2', 'user-1'],
  ],
  few: [
    [null, null],
    ['agent-1', 'user-1'],
    ['agent-2', 'user-2'],
  ],
  one: [[null, null]],
} as const satisfies Record<string, readonly (readonly [string | null, string | null])[]>;

/** Makes both tenants through the API. */
export async function makeWorld(size: keyof typeof PAIRS = 'full'): Promise<World> {
  const test = await testApp({ extractor: lineExtractor });
  const now = new Date();
  // Time stands still, so that two answers can be compared.
  test.clock = { now };
  const client = await superuserClient();
  const tables = await readTables(client);
  const markers = new Markers();
  const generator = new OperationGenerator(schema);
  const [a, b] = [
    await makeTenant(test, client, markers, 'a', PAIRS[size]),
    await makeTenant(test, client, markers, 'b', PAIRS[size]),
  ];
  const rows: OwnedRow[] = [];
  const refresh = async () => {
    rows.splice(0, rows.length, ...(await noteRows(client, tables, [a, b], markers, generator.nodeTypes)));
  };
  await refresh();
  return {
    test,
    generator,
    markers,
    client,
    tables,
    a,
    b,
    rows,
    refresh,
    async quiet() {
      const { learner } = test.app.services;
      await learner.flush();
      const held = vi.spyOn(learner, 'note').mockImplementation(() => {});
      return { [Symbol.dispose]: () => held.mockRestore() };
    },
    async [Symbol.asyncDispose]() {
      await client.end();
      await test[Symbol.asyncDispose]();
    },
  };
}

async function makeTenant(
  test: TestApp,
  client: pg.Client,
  markers: Markers,
  local: string,
  pairs: readonly (readonly [string | null, string | null])[],
): Promise<LeakTenant> {
  const owned = (kind: Owner['kind'], agent: string | null = null, user: string | null = null) =>
    markers.word({ tenant: local, kind, agent, user });
  const slug = `acme-${owned('TENANT')}`;
  const { createTenant } = await test.ask<{ createTenant: { tenant: { id: string } } }>({
    key: ADMIN_KEY,
    query: `mutation ($input: CreateTenantInput!) {
      createTenant(input: $input) { tenant { id } errors { message } }
    }`,
    variables: { input: { slug, name: `Acme ${owned('TENANT')}` } },
  });
  const platform = { ...PLATFORM, name: `platform in ${local}`, tenant: local, header: slug };
  const members = await test.ask<Record<string, { agent: { id: string }; user: { id: string } }>>({
    ...credentialsOf(platform),
    query: `mutation {
      ${[1, 2]
        .map(
          (n) => `
      a${n}: createAgent(input: { name: "Helper ${owned('AGENT', `agent-${n}`)}", externalId: "agent-${n}" }) {
        agent { id } errors { message }
      }
      u${n}: createUser(input: { displayName: "Sam ${owned('USER', null, `user-${n}`)}", externalId: "user-${n}" }) {
        user { id } errors { message }
      }`,
        )
        .join('')}
    }`,
  });
  const ids = (kind: 'agent' | 'user') =>
    Object.fromEntries([1, 2].map((n) => [`${kind}-${n}`, members[`${kind[0]}${n}`]?.[kind].id ?? '']));
  const globalIds = { ...ids('agent'), ...ids('user') };
  const callers: Record<string, Caller> = { platform, ...(await makeKeys(test, platform, owned, globalIds)) };
  const admin = callers['admin'] as Caller;
  await fillProfiles(test, markers, admin, globalIds);
  const gone: Record<string, string> = {};
  for (const [agent, user] of pairs) {
    gone['Fact'] = await fillScope(test, markers, admin, globalIds, { tenant: local, agent, user });
  }
  Object.assign(gone, await comeAndGo(test, client, admin, uuidOf(createTenant.tenant.id)));
  for (const caller of Object.values(callers)) {
    if (caller.role === 'AGENT' || caller.role === 'USER') await speakAs(test, markers, caller);
    if (caller.role !== 'TENANT_AUDITOR') await askFor(test, markers, caller);
    if (caller.role === 'AGENT') await touchShared(test, caller);
    // A key's first use is noted with it; later ones are of the same minute.
    else await test.ask({ ...credentialsOf(caller), query: '{ viewer { role } }' });
  }
  // What was asked is kept from now on.
  await test.app.services.learner.flush();
  await test.send({ ...credentialsOf(admin), query: REFUSED });
  await test.ask({
    ...credentialsOf(admin),
    query: 'mutation { runConsolidation { report { id } errors { message } } }',
  });
  return {
    local,
    id: uuidOf(createTenant.tenant.id),
    slug,
    agents: mapValues(ids('agent'), uuidOf),
    users: mapValues(ids('user'), uuidOf),
    callers,
    gone,
  };
}

async function makeKeys(
  test: TestApp,
  platform: Caller,
  owned: (kind: Owner['kind']) => string,
  globalIds: Readonly<Record<string, string>>,
): Promise<Record<string, Caller>> {
  const wanted: Omit<Caller, 'key'>[] = [
    { name: 'admin', role: 'TENANT_ADMIN', tenant: platform.tenant, agent: null, user: null },
    { name: 'auditor', role: 'TENANT_AUDITOR', tenant: platform.tenant, agent: null, user: null },
    ...[1, 2].flatMap((n): Omit<Caller, 'key'>[] => [
      { name: `agent-${n}`, role: 'AGENT', tenant: platform.tenant, agent: `agent-${n}`, user: null },
      { name: `user-${n}`, role: 'USER', tenant: platform.tenant, agent: null, user: `user-${n}` },
    ]),
  ];
  const made = await test.ask<Record<string, { secret: string }>>({
    ...credentialsOf(platform),
    query: `mutation { ${[...wanted, { name: 'spare', role: 'TENANT_AUDITOR', agent: null, user: null }]
      .map(({ name, role, agent, user }) => {
        const subject = agent ? `agentId: "${globalIds[agent]}"` : user ? `userId: "${globalIds[user]}"` : '';
        return `${name.replace('-', '')}: createApiKey(input: { role: ${role}, name: "Key ${owned('ADMIN')}" ${subject} }) {
          secret errors { message }
        }`;
      })
      .join('\n')} }`,
  });
  return Object.fromEntries(
    wanted.map((caller) => [caller.name, { ...caller, key: made[caller.name.replace('-', '')]?.secret }]),
  );
}

function mapValues<T, U>(values: Readonly<Record<string, T>>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
