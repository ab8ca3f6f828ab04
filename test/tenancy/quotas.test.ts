import { afterAll, beforeAll, expect, it } from 'vitest';
import { ADMIN_KEY, type TestApp, type TestTenant, testApp } from '../support/app.js';
import { countStatements } from '../support/database.js';

let salient: TestApp;
let second: TestApp;
beforeAll(async () => {
  salient = await testApp();
  second = await testApp();
});
afterAll(async () => {
  await second[Symbol.asyncDispose]();
  await salient[Symbol.asyncDispose]();
});

async function limited(limits: Record<string, number>): Promise<TestTenant> {
  const tenant = await salient.tenant();
  await salient.ask({
    key: ADMIN_KEY,
    tenant: tenant.slug,
    query:
      'mutation ($input: SetTenantLimitsInput!) { setTenantLimits(input: $input) { tenant { limits { facts } } errors { message } } }',
    variables: { input: { id: tenant.id, limits } },
  });
  return tenant;
}

const ERRORS = 'errors { code message path ... on QuotaExceeded { group limit current requested } }';

interface Payload {
  readonly errors: readonly {
    code: string;
    group?: string;
    limit?: number;
    current?: number;
    requested?: number;
  }[];
}

async function run(app: TestApp, key: string, field: string): Promise<Payload> {
  const { data, errors } = await app.send<Record<string, Payload>>({
    key,
    query: `mutation { it: ${field} { ${ERRORS} } }`,
  });
  if (errors) throw new Error(JSON.stringify(errors));
  return data?.it as Payload;
}

it('facts are kept up to the quota exactly, by two servers that write at the same time', async () => {
  const tenant = await limited({ facts: 10 });
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      run(
        n % 2 === 0 ? salient : second,
        tenant.keys.AGENT,
        `remember(input: { text: "Box ${n} holds ${n * 7 + 3} ${'abcdefghijklmnopqrst'[n]}-parts" })`,
      ),
    ),
  );
  const refused = results.flatMap(({ errors }) => errors);
  expect(refused).toHaveLength(10);
  for (const error of refused)
    expect(error).toMatchObject({
      code: 'QUOTA_EXCEEDED',
      group: 'facts',
      limit: 10,
      current: 10,
      requested: 1,
    });
  const { facts } = await salient.ask<{ facts: { totalCount: number } }>({
    key: tenant.keys.TENANT_ADMIN,
    query: '{ facts { totalCount } }',
  });
  expect(facts.totalCount).toBe(10);
});

it('messages are refused as a whole, and none of them is kept', async () => {
  const tenant = await limited({ messages: 5 });
  const append = (count: number) =>
    run(
      salient,
      tenant.keys.AGENT,
      `appendMessages(input: { session: { create: {} }, extract: NEVER, messages: [${Array.from({ length: count }, () => '{ role: USER, content: "hello" }').join(', ')}] })`,
    );
  expect((await append(4)).errors).toEqual([]);
  expect((await append(2)).errors).toMatchObject([{ code: 'QUOTA_EXCEEDED', current: 4, requested: 2 }]);
  expect((await append(1)).errors).toEqual([]);
  expect((await append(1)).errors).toMatchObject([{ code: 'QUOTA_EXCEEDED', current: 5, requested: 1 }]);
});

it('agents and users have theirs', async () => {
  const tenant = await limited({ agents: 2, users: 1 });
  const admin = tenant.keys.TENANT_ADMIN;
  expect((await run(salient, admin, 'createAgent(input: { name: "Two" })')).errors).toEqual([]);
  expect((await run(salient, admin, 'createAgent(input: { name: "Three" })')).errors).toMatchObject([
    { code: 'QUOTA_EXCEEDED', group: 'agents', limit: 2, current: 2, requested: 1 },
  ]);
  expect((await run(salient, admin, 'createUser(input: { externalId: "two" })')).errors).toMatchObject([
    { group: 'users', limit: 1, current: 1 },
  ]);
});

it('an extraction that does not fit fails and loses no message', async () => {
  const tenant = await limited({ facts: 0 });
  const { appendMessages } = await salient.ask<{
    appendMessages: { messages: { id: string }[]; extraction: { status: string } };
  }>({
    key: tenant.keys.AGENT,
    query: `mutation { appendMessages(input: { session: { create: {} }, messages: [{ role: USER, content: "I prefer tabs over spaces." }] })
      { messages { id } extraction { status } errors { message } } }`,
  });
  expect(appendMessages.messages).toHaveLength(1);
  expect(appendMessages.extraction.status).toBe('FAILED');
  const { tenant: seen } = await salient.ask<{
    tenant: { extractionRuns: { edges: { node: { error: string } }[] } };
  }>({
    key: tenant.keys.TENANT_ADMIN,
    query: '{ tenant { extractionRuns(first: 1) { edges { node { error } } } } }',
  });
  expect(seen.extractionRuns.edges[0]?.node.error).toBe('QUOTA_EXCEEDED');
});

it('a write far from the limit is not counted for', async () => {
  const tenant = await limited({ messages: 1_000 });
  const field =
    'appendMessages(input: { session: { create: {} }, extract: NEVER, messages: [{ role: USER, content: "hello" }] })';
  await run(salient, tenant.keys.AGENT, field);
  const statements = await countStatements(salient.app.services.db, () =>
    run(salient, tenant.keys.AGENT, field),
  );
  expect(statements.filter((sql) => sql.includes('pg_advisory_xact_lock'))).toEqual([]);
});
