import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { countStatements } from '../support/database.js';

let salient: TestApp;
let tenant: TestTenant;
beforeAll(async () => {
  salient = await testApp();
  tenant = await salient.tenant();
});
afterAll(() => salient[Symbol.asyncDispose]());

const cursor = (...key: unknown[]) => Buffer.from(JSON.stringify(key)).toString('base64url');

test('an input that one field refuses fails that field alone', async () => {
  const unknown = Buffer.from('Agent:019e0000-0000-7000-8000-000000000000').toString('base64');
  const { data, errors } = await salient.send({
    key: tenant.keys.TENANT_ADMIN,
    query: `query ($unknown: ID!) {
      good: tenant { facts { totalCount } }
      bad: tenant { facts(filter: { agentId: $unknown }) { totalCount } }
      cursor: tenant { agents(after: "${cursor(1)}") { edges { cursor } } }
    }`,
    variables: { unknown },
  });
  expect(errors?.map((error) => error.path?.[0]).sort()).toEqual(['bad', 'cursor']);
  expect(data).toMatchObject({ good: { facts: { totalCount: 0 } } });
});

test('reads of one tick share one transaction, which sees one state and may not write', async () => {
  const begun: string[] = [];
  const stop = salient.app.services.db.onStatement(({ sql }) => begun.push(sql));
  await salient.ask({
    key: tenant.keys.TENANT_ADMIN,
    query:
      '{ tenant { agents { edges { node { id } } } users { edges { node { id } } } sessions { edges { node { id } } } } }',
  });
  stop();
  const reading = begun.filter((sql) => sql.startsWith('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'));
  expect(reading).toHaveLength(1);
});

test.each([
  ['{ facts(filter: { text: "!!!" }) { totalCount } }', 'text must hold a word'],
  [
    '{ facts(filter: { validAt: "0000-06-01T00:00:00Z" }) { totalCount } }',
    /a DateTime must be in the years 1 to 9999/,
  ],
  ['{ facts(filter: { validAt: "nonsense" }) { totalCount } }', /DateTime/],
  [`{ facts(after: "${cursor('a', 'b')}") { totalCount } }`, 'after is not a cursor of this list'],
])('%s is refused with a clear error', async (query, message) => {
  const { errors } = await salient.send({ key: tenant.keys.USER, query });
  expect(errors?.[0]?.message).toEqual(
    typeof message === 'string' ? message : expect.stringMatching(message),
  );
  expect(errors?.[0]?.extensions?.['code']).not.toBe('INTERNAL');
});

test('a cursor beyond all sequences is none', async () => {
  const { appendMessages } = await salient.ask<{ appendMessages: { session: { id: string } } }>({
    key: tenant.keys.USER,
    query: `mutation { appendMessages(input: { session: { create: {} }, extract: NEVER, messages: [{ role: USER, content: "hi" }] }) {
              session { id } errors { message } } }`,
  });
  const { errors } = await salient.send({
    key: tenant.keys.USER,
    query: `query ($id: ID!) { node(id: $id) { ... on Session { messages(after: "${cursor(2 ** 40)}") { edges { cursor } } } } }`,
    variables: { id: appendMessages.session.id },
  });
  expect(errors?.[0]).toMatchObject({
    message: 'after is not a cursor of this list',
    extensions: { code: 'BAD_INPUT' },
  });
});

test('a tenant overview takes the same eight statements for few rows and for many', async () => {
  const query = `{ tenant {
    agents(first: 10) { edges { node { id salienceProfile { id version } } } }
    users(first: 10) { edges { node { id } } }
    facts(first: 10, orderBy: { field: IMPORTANCE, direction: DESC }) { edges { node { id text kind importance pinned } } }
    sessions(first: 10) { edges { node { id } } }
    apiKeys(first: 10) { edges { node { id } } }
    rescoreJobs(first: 5) { edges { node { id } } } } }`;
  const read = async () => {
    const statements = await countStatements(salient.app.services.db, () =>
      salient.ask({ key: tenant.keys.TENANT_ADMIN, query }),
    );
    return statements.filter((sql) => !/api_key k JOIN tenant|UPDATE "public"."api_key"/.test(sql)).length;
  };
  await read();
  const few = await read();
  for (let index = 0; index < 8; index += 1) {
    await salient.ask({
      key: tenant.keys.TENANT_ADMIN,
      query: `mutation { createAgent(input: { name: "A${index}" }) { agent { id } errors { message } }
                         remember(input: { text: "Statement number ${index}" }) { fact { id } errors { message } } }`,
    });
  }
  expect(await read()).toBe(few);
  expect(few).toBeLessThanOrEqual(8);
});
