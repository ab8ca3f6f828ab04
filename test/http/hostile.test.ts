import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';

let salient: TestApp;
let tenant: TestTenant;
beforeAll(async () => {
  salient = await testApp();
  tenant = await salient.tenant();
});
afterAll(() => salient[Symbol.asyncDispose]());

interface Refusal {
  errors: { message: string; extensions: { code: string } }[];
}

async function raw(url: string, init: RequestInit = {}): Promise<Refusal> {
  const response = await salient.app.fetch(new Request(`http://salient/graphql${url}`, init));
  return (await response.json()) as Refusal;
}

test.each(['null', '1', '"x"', 'true'])('the body %s is no request', async (body) => {
  const { errors } = await raw('', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(errors[0]).toMatchObject({
    message: 'The body must be a JSON object',
    extensions: { code: 'BAD_INPUT' },
  });
});

test.each(['variables', 'extensions'])('%s of a GET request that are not JSON are named', async (name) => {
  const { errors } = await raw(`?query=%7Bviewer%7Brole%7D%7D&${name}=%7Bx`);
  expect(errors[0]).toMatchObject({ message: `${name} is not JSON`, extensions: { code: 'BAD_INPUT' } });
});

test('a list of more than 1,000 items is refused before its items are looked at', async () => {
  const { errors } = await salient.send({
    query: 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
    variables: { ids: Array.from({ length: 1_001 }, () => 'x') },
  });
  expect(errors?.[0]?.extensions?.['code']).toBe('LIMIT_EXCEEDED');
  expect(errors?.[0]?.message).toContain('1001 items, more than 1000');
});

test('numbers that JSON cannot say are refused', async () => {
  for (const input of ['hints: { interest: 1e309 }', 'metadata: { a: [-1e309] }']) {
    const answer = await salient.send<{ remember: { errors: unknown[] } }>({
      key: tenant.keys.AGENT,
      query: `mutation { remember(input: { text: "A statement", ${input} }) { fact { id } errors { code message path } } }`,
    });
    const field = input.split(':')[0];
    expect(answer.data?.remember.errors).toEqual([
      { code: 'BAD_INPUT', message: `${field} must hold finite numbers`, path: ['input', field] },
    ]);
  }
});

test('forged cursors are none', async () => {
  const nowhere = Buffer.from(JSON.stringify([1e308, '00000000-0000-0000-0000-000000000000'])).toString(
    'base64url',
  );
  await salient.ask({
    key: tenant.keys.AGENT,
    query: 'mutation { remember(input: { text: "Something is known" }) { fact { id } errors { message } } }',
  });
  const sources = await salient.send({
    key: tenant.keys.AGENT,
    query:
      'query ($after: String!) { facts(first: 1) { edges { node { sources(after: $after) { edges { cursor } } } } } }',
    variables: { after: nowhere },
  });
  expect(sources.errors?.[0]?.extensions?.['code']).toBe('BAD_INPUT');
  const log = await salient.send({
    key: tenant.keys.AGENT,
    query: '{ eventLog(after: "AAAAAH__________") { hasMore } }',
  });
  expect(log.errors?.[0]?.extensions?.['code']).toBe('BAD_INPUT');
});

test('settings must be text that can be stored', async () => {
  for (const phrase of ['a\u0000b', '\ud800']) {
    const answer = await salient.send<{ updateTenant: { errors: { code: string; path: string[] }[] } }>({
      key: tenant.keys.TENANT_ADMIN,
      query: 'mutation ($input: UpdateTenantInput!) { updateTenant(input: $input) { errors { code path } } }',
      variables: { input: { id: tenant.id, gate: { extraSignals: [phrase] } } },
    });
    expect(answer.data?.updateTenant.errors[0]).toMatchObject({
      code: 'BAD_INPUT',
      path: ['input', 'gate', 'extraSignals', '0'],
    });
  }
});

test('changes of a tenant at the same time wait for each other', async () => {
  const names = ['One', 'Two', 'Three', 'Four', 'Five'];
  const answers = await Promise.all(
    names.map((name) =>
      salient.ask<{ updateTenant: { tenant: { version: number } } }>({
        key: tenant.keys.TENANT_ADMIN,
        query:
          'mutation ($input: UpdateTenantInput!) { updateTenant(input: $input) { tenant { version } errors { message } } }',
        variables: { input: { id: tenant.id, name } },
      }),
    ),
  );
  expect(new Set(answers.map((answer) => answer.updateTenant.tenant.version)).size).toBe(names.length);
});

test('a message is kept to the letter, a leading byte order mark included', async () => {
  const { appendMessages } = await salient.ask<{ appendMessages: { messages: { content: string }[] } }>({
    key: tenant.keys.AGENT,
    query: `mutation ($input: AppendMessagesInput!) { appendMessages(input: $input) { messages { content } errors { message } } }`,
    variables: {
      input: {
        session: { create: {} },
        extract: 'NEVER',
        messages: [{ role: 'USER', content: '\ufeffhello' }],
      },
    },
  });
  expect(appendMessages.messages[0]?.content).toBe('\ufeffhello');
});

test('in production a mistake does not tell the names of the schema', async () => {
  await using production = await testApp({ settings: { environment: 'production' } });
  const query = '{ viewr { role } }';
  expect((await production.send({ query })).errors?.[0]?.message).toBe(
    'Cannot query field "viewr" on type "Query".',
  );
  expect((await salient.send({ query })).errors?.[0]?.message).toContain('Did you mean "viewer"');
});
