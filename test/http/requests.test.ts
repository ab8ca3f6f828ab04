import { connect } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { createConfig } from '../../src/config/index.js';
import { MARKER, Probe } from './support.js';

const probe = new Probe();
const production = new Probe({ environment: 'production' });
afterAll(async () => {
  await probe[Symbol.asyncDispose]();
  await production[Symbol.asyncDispose]();
});

const INTROSPECTION =
  '{ __schema { types { name fields { name type { name ofType { name ofType { name } } } } } } }';

async function errorOf(
  response: Response,
): Promise<{ message: string; extensions: Record<string, unknown> }> {
  const { errors } = (await response.json()) as { errors: never[] };
  expect(errors).toHaveLength(1);
  return errors[0] as never;
}

describe('a request', () => {
  it('is answered over POST and GET', async () => {
    const posted = await probe.post({ query: '{ who }' });
    expect(await posted.json()).toEqual({ data: { who: 'good' } });
    const got = await fetch(`${await probe.url()}/graphql?query={who}`, {
      headers: { authorization: 'Bearer good' },
    });
    expect(await got.json()).toEqual({ data: { who: 'good' } });
  });

  it('does not write over GET', async () => {
    const response = await fetch(`${await probe.url()}/graphql?query=mutation{write}`);
    expect(response.status).toBe(405);
  });

  it('without credentials may read type names, and nothing else', async () => {
    const headers = { authorization: '' };
    const anonymous = (query: string) =>
      probe.server.fetch(
        new Request('http://salient/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query }),
        }),
      );
    expect(await (await anonymous('{ __typename }')).json()).toEqual({ data: { __typename: 'Query' } });
    expect((await errorOf(await anonymous('{ who }'))).extensions).toEqual({ code: 'UNAUTHENTICATED' });
    // An empty header is a credential that is not valid.
    expect((await probe.post({ query: '{ __typename }' }, headers)).status).toBe(401);
  });

  it('with credentials that are not valid gets 401 and no data, whatever it asks', async () => {
    for (const authorization of ['Bearer bad', 'good', 'Basic Z29vZA==']) {
      const response = await probe.post({ query: '{ __typename }' }, { authorization });
      expect(response.status).toBe(401);
      const body = (await response.json()) as object;
      expect(body).not.toHaveProperty('data');
      expect(body).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    }
  });

  it('names its tenant by header, and hears when it may not', async () => {
    const named = await probe.post({ query: '{ tenant }' }, { 'x-salient-tenant': 'acme' });
    expect(await named.json()).toEqual({ data: { tenant: 'acme' } });
    const refused = await probe.post({ query: '{ tenant }' }, { 'x-salient-tenant': 'forbidden' });
    expect(refused.status).toBe(403);
    expect((await errorOf(refused)).extensions.code).toBe('FORBIDDEN');
  });

  it('has an id, its own or a new one, in the answer and for the resolvers', async () => {
    const named = await probe.post({ query: '{ requestId }' }, { 'x-request-id': 'trace.1:a-b_c' });
    expect(named.headers.get('x-request-id')).toBe('trace.1:a-b_c');
    expect(await named.json()).toEqual({ data: { requestId: 'trace.1:a-b_c' } });
    for (const bad of ['x'.repeat(101), 'a b', '"', '$(id)']) {
      const response = await probe.post({ query: '{ requestId }' }, { 'x-request-id': bad });
      const id = response.headers.get('x-request-id');
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      expect(await response.json()).toEqual({ data: { requestId: id } });
    }
  });

  it('of anything but JSON is refused: forms and plain text cross origins without asking', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/graphql',
    ]) {
      const response = await probe.post('query={who}', { 'content-type': type });
      expect(response.status).toBe(415);
    }
  });

  it('that is not JSON hears so, without what it sent', async () => {
    const response = await probe.post(`{"query": "{ who }" ${MARKER}`);
    expect(response.status).toBe(400);
    const error = await errorOf(response);
    expect(error.extensions).toEqual({ code: 'BAD_INPUT' });
    expect(JSON.stringify(error)).not.toContain(MARKER);
    const latin = await probe.server.fetch(
      new Request('http://salient/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: Buffer.from('{"query":"{ who }","variables":{"x":"\xe9"}}', 'latin1'),
      }),
    );
    expect(latin.status).toBe(400);
  });

  it('for another path finds nothing', async () => {
    for (const path of ['/', '/health', '/graphql/x', '/graphqlx']) {
      expect((await fetch((await probe.url()) + path)).status).toBe(404);
    }
  });

  it('for what is no URL at all is refused, with and without an upgrade, and the server goes on', async () => {
    const { hostname, port } = new URL(await probe.url());
    const raw = (lines: string[]) =>
      new Promise<string>((resolve) => {
        const socket = connect(Number(port), hostname);
        let received = '';
        socket.on('data', (data) => {
          received += data;
        });
        socket.on('close', () => resolve(received));
        socket.write(`${lines.join('\r\n')}\r\n\r\n`);
      });
    const upgrade = ['Upgrade: websocket', 'Connection: Upgrade'];
    expect(await raw(['GET // HTTP/1.1', 'Host: x', 'Connection: close'])).toContain('HTTP/1.1 400');
    expect(await raw(['GET // HTTP/1.1', 'Host: x', ...upgrade])).toContain('HTTP/1.1 404');
    expect(await raw(['GET /graphql HTTP/1.1', 'Host: x', ...upgrade])).toContain('HTTP/1.1 400');
    expect((await fetch(`${await probe.url()}/healthz`)).status).toBe(200);
  });
});

describe('health', () => {
  it('is told without credentials: the process lives, and it can serve', async () => {
    for (const [path, status] of [
      ['/healthz', 'ok'],
      ['/readyz', 'ready'],
    ]) {
      const response = await fetch((await probe.url()) + path);
      expect([response.status, await response.json()]).toEqual([200, { status }]);
    }
  });

  it('is not ready while the database does not answer, and alive all the same', async () => {
    probe.databaseAnswers = false;
    try {
      expect((await fetch(`${await probe.url()}/readyz`)).status).toBe(503);
      expect((await fetch(`${await probe.url()}/healthz`)).status).toBe(200);
    } finally {
      probe.databaseAnswers = true;
    }
  });
});

describe('exploring the schema', () => {
  it('is offered in development: introspection, and a page that loads nothing from elsewhere', async () => {
    const { data } = (await (await probe.post({ query: INTROSPECTION })).json()) as { data: object };
    expect(data).toHaveProperty('__schema');
    const page = await fetch(`${await probe.url()}/graphql`, { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-type')).toContain('text/html');
    const html = await page.text();
    expect(html).toContain('<title>Salient</title>');
    // Code of the page is inline; what is left of the markup names no other host.
    const markup = html.replace(/<(script|style)\b([^>]*)>[\s\S]*?<\/\1>/g, '<$1$2>');
    expect(markup).not.toMatch(/(src|href)\s*=\s*["']?(https?:)?\/\//);
    expect(markup.length).toBeLessThan(200_000);
  });

  it('is not offered in production', async () => {
    expect(createConfig({ environment: 'production' }).environment).toBe('production');
    const refused = await production.post({ query: INTROSPECTION });
    const { errors } = (await refused.json()) as { errors: { message: string }[] };
    expect(errors[0]?.message).toMatch(/introspection/i);
    const page = await fetch(`${await production.url()}/graphql`, { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-type') ?? '').not.toContain('text/html');
    expect(await (await production.post({ query: '{ __typename who }' })).json()).toEqual({
      data: { __typename: 'Query', who: 'good' },
    });
  });
});
