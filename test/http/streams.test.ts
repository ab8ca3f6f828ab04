import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Probe, sse } from './support.js';

const probe = new Probe();
afterAll(() => probe[Symbol.asyncDispose]());
beforeEach(() => {
  probe.ended = 0;
  probe.large = 0;
});

interface Observed {
  readonly values: unknown[];
  readonly end: Promise<unknown>;
  readonly stop: () => void;
}

async function observe(query: string, params?: Record<string, unknown>): Promise<Observed> {
  const client = await probe.socket(params);
  const values: unknown[] = [];
  let stop = () => {};
  const end = new Promise((resolve) => {
    stop = client.subscribe(
      { query },
      { next: ({ data }) => values.push(data), error: resolve, complete: () => resolve('complete') },
    );
  });
  return { values, end, stop };
}

/** A socket that speaks the protocol by hand. */
async function rawSocket(): Promise<{
  socket: WebSocket;
  closed: Promise<{ code: number; reason: string }>;
  messages: unknown[];
}> {
  const socket = new WebSocket(
    `${(await probe.url()).replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  );
  const messages: unknown[] = [];
  socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  await new Promise((resolve) => socket.once('open', resolve));
  return { socket, closed, messages };
}

/** Waits until no more large events are made for a reader that does not read, and says how many there are. */
async function standstill(): Promise<number> {
  let made = -1;
  await expect
    .poll(
      () => {
        const before = made;
        made = probe.large;
        return made > 0 && made === before;
      },
      { interval: 250, timeout: 10_000 },
    )
    .toBe(true);
  // What fits into the buffers of the connection; without a brake there would be no standstill.
  expect(made).toBeLessThan(1_000);
  return made;
}

describe('a WebSocket', () => {
  it('runs queries, mutations and subscriptions', async () => {
    const query = await observe('{ who }');
    expect(await query.end).toBe('complete');
    expect(query.values).toEqual([{ who: 'good' }]);
    const mutation = await observe('mutation { write }');
    await mutation.end;
    expect(mutation.values).toEqual([{ write: 'written' }]);
    const subscription = await observe('subscription { count(to: 3) }');
    expect(await subscription.end).toBe('complete');
    expect(subscription.values).toEqual([{ count: 1 }, { count: 2 }, { count: 3 }]);
  });

  it.each([
    ['authorization', 'tenant'],
    ['Authorization', 'X-Salient-Tenant'],
    ['AUTHORIZATION', 'x-salient-tenant'],
  ])('takes credentials as %s and the tenant as %s', async (authorization, tenant) => {
    const seen = await observe('{ who tenant }', { [authorization]: 'Bearer good', [tenant]: 'acme' });
    await seen.end;
    expect(seen.values).toEqual([{ who: 'good', tenant: 'acme' }]);
  });

  it('is closed with 4401 for credentials that are not valid, with 4403 for any other refusal', async () => {
    for (const [payload, code] of [
      [{ authorization: 'Bearer bad' }, 4401],
      [{ authorization: 'Bearer good', tenant: 'forbidden' }, 4403],
    ] as const) {
      const { socket, closed, messages } = await rawSocket();
      socket.send(JSON.stringify({ type: 'connection_init', payload }));
      expect((await closed).code).toBe(code);
      expect(messages).toEqual([]);
    }
  });

  it('is closed with 4401 when it asks before it said who it is, with 4408 when it never does', async () => {
    const early = await rawSocket();
    early.socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: '{ who }' } }));
    expect((await early.closed).code).toBe(4401);
    const late = await rawSocket();
    expect((await late.closed).code).toBe(4408);
  });

  it('is closed with 4400 for a message that is none, with nothing of it', async () => {
    const { socket, closed } = await rawSocket();
    socket.send('{"type":"secret-of-mine"');
    expect(await closed).toEqual({ code: 4400, reason: 'Invalid message received' });
  });

  it('without credentials is closed with 4401: it would be nobody’s, and count for no tenant', async () => {
    for (const payload of [undefined, {}, { tenant: 'acme' }]) {
      const { socket, closed, messages } = await rawSocket();
      socket.send(JSON.stringify({ type: 'connection_init', payload }));
      expect((await closed).code).toBe(4401);
      expect(messages).toEqual([]);
    }
  });

  it('asks again who it is for every operation', async () => {
    probe.keys.add('passing');
    const client = await probe.socket({ authorization: 'Bearer passing' });
    const run = () =>
      new Promise((resolve) => {
        client.subscribe({ query: '{ who }' }, { next: resolve, error: resolve, complete() {} });
      });
    const silence = client.subscribe(
      { query: 'subscription { silence }' },
      { next() {}, error() {}, complete() {} },
    );
    expect(await run()).toEqual({ data: { who: 'passing' } });
    probe.keys.delete('passing');
    expect(await run()).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    silence();
  });

  it('of another path or protocol is refused', async () => {
    const url = (await probe.url()).replace('http', 'ws');
    const status = await new Promise((resolve) => {
      const socket = new WebSocket(`${url}/elsewhere`, 'graphql-transport-ws');
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode));
      socket.on('error', () => {});
    });
    expect(status).toBe(404);
    const old = new WebSocket(`${url}/graphql`, 'graphql-ws');
    old.on('error', () => {});
    expect(await new Promise((resolve) => old.once('close', resolve))).not.toBe(1000);
  });

  it('ends what it subscribed to when it completes, and when it goes', async () => {
    const { stop } = await observe('subscription { silence }');
    const other = await rawSocket();
    other.socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: 'Bearer good' } }));
    await expect.poll(() => other.messages.length, { timeout: 20_000 }).toBe(1);
    for (const id of ['1', '2']) {
      other.socket.send(
        JSON.stringify({ id, type: 'subscribe', payload: { query: 'subscription { silence }' } }),
      );
    }
    // The answer to a ping: what was sent before it has been received.
    other.socket.send(JSON.stringify({ type: 'ping' }));
    await expect.poll(() => other.messages.length, { timeout: 20_000 }).toBe(2);
    other.socket.terminate();
    await expect.poll(() => probe.ended, { timeout: 20_000 }).toBe(2);
    stop();
    await expect.poll(() => probe.ended, { timeout: 20_000 }).toBe(3);
  });

  it('does not make a slow reader the server’s burden: it sends no faster than it is read', async () => {
    const url = new URL(await probe.url());
    const socket = new WebSocket(`ws://${url.host}/graphql`, 'graphql-transport-ws');
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: 'Bearer good' } }));
    await new Promise((resolve) => socket.once('message', resolve));
    socket.pause();
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: 'subscription { large }' } }));
    const made = await standstill();
    socket.resume();
    await expect.poll(() => probe.large, { timeout: 20_000 }).toBeGreaterThan(made + 100);
    socket.terminate();
    await expect.poll(() => probe.ended, { timeout: 20_000 }).toBe(1);
  });
});

describe('Server-Sent Events', () => {
  it('deliver a subscription and say when it is complete', async () => {
    const response = await probe.post(
      { query: 'subscription { count(to: 2) }' },
      { accept: 'text/event-stream' },
    );
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const events: unknown[] = [];
    for await (const event of sse(response)) events.push(event);
    expect(events).toEqual([
      { event: 'next', data: { data: { count: 1 } } },
      { event: 'next', data: { data: { count: 2 } } },
      { event: 'complete', data: undefined },
    ]);
  });

  it('are the way to subscribe by GET as well', async () => {
    const url = `${await probe.url()}/graphql?query=${encodeURIComponent('subscription { count(to: 1) }')}`;
    const response = await fetch(url, {
      headers: { accept: 'text/event-stream', authorization: 'Bearer good' },
    });
    expect((await response.text()).match(/event: \w+/g)).toEqual(['event: next', 'event: complete']);
  });

  it('refuse credentials that are not valid before anything is streamed', async () => {
    const response = await probe.post(
      { query: 'subscription { count(to: 2) }' },
      { accept: 'text/event-stream', authorization: 'Bearer bad' },
    );
    expect(response.status).toBe(401);
  });

  it('end their source when the caller goes away while nothing happens', async () => {
    const incoming = await new Promise<IncomingMessage>((resolve) => {
      void probe.url().then((url) => {
        const request = httpRequest(
          `${url}/graphql`,
          {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              accept: 'text/event-stream',
              authorization: 'Bearer good',
            },
          },
          resolve,
        );
        request.end(JSON.stringify({ query: 'subscription { silence }' }));
      });
    });
    await new Promise((resolve) => incoming.once('data', resolve));
    incoming.destroy();
    await expect.poll(() => probe.ended, { timeout: 20_000 }).toBe(1);
  });

  it('end their source when the caller cancels a request in process', async () => {
    const response = await probe.server.fetch(
      new Request('http://salient/graphql', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'text/event-stream',
          authorization: 'Bearer good',
        },
        body: JSON.stringify({ query: 'subscription { silence }' }),
      }),
    );
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await expect.poll(() => probe.ended, { timeout: 20_000 }).toBe(1);
  });

  it('are read from at the reader’s pace', async () => {
    const url = new URL(await probe.url());
    const socket = connect(Number(url.port), url.hostname);
    const body = JSON.stringify({ query: 'subscription { large }' });
    socket.pause();
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nAuthorization: Bearer good\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const made = await standstill();
    socket.resume();
    await expect.poll(() => probe.large, { timeout: 20_000 }).toBeGreaterThan(made + 100);
    socket.destroy();
    await expect.poll(() => probe.ended, { timeout: 20_000 }).toBe(1);
  });
});

describe('a subscription', () => {
  it('resolves every event with a context of its own', async () => {
    const { values, stop } = await observe('subscription { contexts }');
    await expect.poll(() => values.length, { timeout: 20_000 }).toBeGreaterThan(3);
    stop();
    const numbers = (values as { contexts: number }[]).map(({ contexts }) => contexts);
    expect(new Set(numbers).size).toBe(numbers.length);
  });
});
