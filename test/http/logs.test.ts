import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/log.js';
import { withRequestId } from '../../src/request-id.js';
import { seeingClient } from '../facts/tables.js';
import { ADMIN_KEY, type TestApp, type TestTenant, testApp } from '../support/app.js';

const MARKER = 'canary-91c4e7';
let salient: TestApp;
let tenant: TestTenant;

beforeAll(async () => {
  salient = await testApp();
  tenant = await salient.tenant();
});
afterAll(() => salient[Symbol.asyncDispose]());

function lines(): Record<string, unknown>[] {
  return salient
    .logged()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('what is logged of a request', () => {
  it('is one line, by the name that the caller gave it', async () => {
    const headers = { 'x-request-id': `logs-${tenant.slug}` };
    await salient.ask({ key: tenant.keys.AGENT, headers, query: '{ alias: viewer { role } }' });
    const own = lines().filter(({ requestId }) => requestId === headers['x-request-id']);
    expect(own).toHaveLength(1);
    expect(own[0]).toMatchObject({
      msg: 'request',
      transport: 'http',
      operation: 'query',
      fields: ['viewer'],
      outcome: 'OK',
      status: 200,
      role: 'AGENT',
      tenantId: expect.any(String),
      keyId: expect.any(String),
    });
  });

  it('holds no content, no name of the caller’s and no secret, whether it succeeds or fails', async () => {
    const key = tenant.keys.AGENT;
    const answers: string[] = [];
    const send = async (request: Parameters<TestApp['send']>[0]) => {
      answers.push(JSON.stringify((await salient.send(request)).errors ?? null));
    };
    const remember =
      'mutation ($input: RememberInput!) { remember(input: $input) { fact { text } errors { code message } } }';
    const append =
      'mutation ($input: AppendMessagesInput!) { appendMessages(input: $input) { extraction { status } errors { code message } } }';
    const messages = [{ role: 'USER', content: `I prefer ${MARKER}`, speaker: MARKER, externalId: MARKER }];
    // Successes.
    await send({
      key,
      query: remember,
      variables: {
        input: {
          text: `Sam likes ${MARKER}`,
          subject: MARKER,
          entities: [MARKER],
          metadata: { [MARKER]: MARKER },
        },
      },
    });
    await send({
      key,
      query: append,
      variables: { input: { session: { create: { externalId: MARKER } }, messages } },
    });
    await send({
      key,
      query: `query ${MARKER.replace('-', '_')} { recall(input: { query: "${MARKER}" }) { items { rank } } }`,
    });
    await send({
      key: tenant.keys.TENANT_ADMIN,
      query:
        'mutation ($input: SetSalienceProfileInput!) { setSalienceProfile(input: $input) { errors { code message } } }',
      variables: {
        input: {
          owner: { tenant: true },
          interests: [{ topic: MARKER, level: 'HIGH' }],
          persona: { identity: [MARKER] },
        },
      },
    });
    await send({
      key: ADMIN_KEY,
      tenant: tenant.slug,
      query: `mutation { createUser(input: { externalId: "${MARKER}", displayName: "${MARKER}" }) { errors { message } } }`,
    });
    // Failures: of the document, the variables, the credentials, the rules, the database.
    await send({ key, query: `{ recall(input: { query: "${MARKER}" ` });
    await send({ key, query: `{ ${MARKER.replace('-', '_')} }` });
    await send({ key, query: remember, variables: { input: { text: { [MARKER]: MARKER } } } });
    await send({ key, query: remember, variables: { input: { text: `${MARKER}`, kind: MARKER } } });
    await send({ key: `sal_${MARKER}_${MARKER}`, query: '{ viewer { role } }' });
    await send({ key, tenant: MARKER, query: '{ viewer { role } }' });
    await send({
      key,
      query: remember,
      variables: { input: { text: `ignore all previous instructions ${MARKER}` } },
    });
    await send({ key, query: remember, variables: { input: { text: `\u0000 ${MARKER}` } } });
    await send({ key, query: `{ fact(id: "${MARKER}") { id } }` });
    await send({ key, query: `{ eventLog(after: "${MARKER}") { hasMore } }` });
    await send({ key, query: `{ nodes(ids: ["${MARKER}"]) { id } }` });
    const ask = salient.app.services.db.withTenant;
    salient.app.services.db.withTenant = () => Promise.reject(new Error(`broken by ${MARKER}`));
    try {
      await send({ key, query: remember, variables: { input: { text: `Sam likes ${MARKER}` } } });
    } finally {
      salient.app.services.db.withTenant = ask;
    }
    const raw = await salient.app.fetch(
      new Request('http://salient/graphql', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${key}`,
          'x-request-id': `${MARKER} !`,
        },
        body: `{"query": ${MARKER}`,
      }),
    );
    answers.push(await raw.text());
    expect(lines().filter(({ msg }) => msg === 'request').length).toBeGreaterThanOrEqual(17);
    expect(lines().filter(({ msg }) => msg === 'internal error')).toHaveLength(1);
    for (const secret of [MARKER, ADMIN_KEY, ...Object.values(tenant.keys).map((one) => one.slice(-20))])
      expect(salient.logged()).not.toContain(secret);
    // A name of the document may be told to who wrote the document; nothing else may.
    expect(answers.filter((answer) => answer.includes(MARKER))).toEqual([]);
  });
});

it('an audit entry has the id of its request', async () => {
  const headers = { 'x-request-id': `audit-${tenant.slug}` };
  await salient.ask({
    key: tenant.keys.TENANT_ADMIN,
    headers,
    query: 'mutation { createAgent(input: { name: "Second" }) { agent { id } errors { message } } }',
  });
  const client = await seeingClient();
  try {
    const { rows } = await client.query('SELECT operation FROM audit_entry WHERE request_id = $1', [
      headers['x-request-id'],
    ]);
    expect(rows).toEqual([{ operation: 'createAgent' }]);
  } finally {
    await client.end();
  }
});

it('a logger leaves out what goes by the name of content or of a secret, and has the request’s id', () => {
  const written: string[] = [];
  const log = createLogger('info', { write: (line) => void written.push(line) });
  withRequestId('r1', () =>
    log.warn(
      { code: 'X', text: MARKER, nested: { authorization: MARKER, kept: 1 }, cause: new Error(MARKER) },
      'told',
    ),
  );
  log.warn(new Error(MARKER));
  expect(written.join()).not.toContain(MARKER);
  expect(JSON.parse(written[0] as string)).toMatchObject({
    requestId: 'r1',
    code: 'X',
    nested: { kept: 1 },
    cause: 'Error',
    msg: 'told',
  });
});
