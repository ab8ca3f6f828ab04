import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Listener } from '../../src/server/index.js';
import { Probe, sse } from './support.js';

/** The status by which the wish for a WebSocket is refused. */
function lateSocket(url: string): Promise<number | undefined> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  return new Promise((resolve, reject) => {
    socket.once('unexpected-response', (request, { statusCode }) => {
      request.destroy();
      resolve(statusCode);
    });
    socket.once('error', reject);
    socket.once('open', () => reject(new Error('the socket was opened')));
  });
}

describe('closing a server', () => {
  it('answers what is under way, over HTTP and WebSocket, and refuses what comes anew', async () => {
    const probe = new Probe();
    const overHttp = probe.post({ query: '{ waits }' });
    const waiting = () => probe.contexts;
    await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
    const releaseHttp = probe.release;
    const client = await probe.socket();
    const overSocket = new Promise((resolve, reject) => {
      client.subscribe({ query: '{ waits }' }, { next: resolve, error: reject, complete() {} });
    });
    await expect.poll(waiting, { timeout: 20_000 }).toBe(2);
    const releaseSocket = probe.release;
    const url = await probe.url();

    const closed = probe.server.dispose();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'closing' }]);
    const late = await probe.post({ query: '{ waits }' });
    expect(late.status).toBe(503);
    expect(late.headers.get('connection')).toBe('close');
    expect(late.headers.get('retry-after')).toBe('1');
    expect(await late.json()).toMatchObject({
      errors: [{ extensions: { code: 'UNAVAILABLE', retryable: true } }],
    });
    await expect(lateSocket(url)).resolves.toBe(503);
    expect(probe.contexts).toBe(2);
    releaseHttp();
    releaseSocket();
    expect(await (await overHttp).json()).toEqual({ data: { waits: true } });
    expect(await overSocket).toEqual({ data: { waits: true } });
    await closed;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it('that serves on a port of somebody else leaves it open: it tells that the process lives and serves nothing', async () => {
    await using listener = await Listener.open(0, '127.0.0.1');
    const ask = async (path: string) => {
      const response = await fetch(`${listener.url}${path}`);
      return [response.status, await response.json()];
    };
    const refused = (why: string) => [503, { errors: [{ message: expect.stringContaining(why) }] }];
    expect(await ask('/healthz')).toEqual([200, { status: 'ok' }]);
    expect(await ask('/readyz')).toEqual([503, { status: 'starting' }]);
    expect(await ask('/graphql?query={waits}')).toMatchObject(refused('starting'));
    expect(await lateSocket(listener.url)).toBe(503);

    const probe = new Probe();
    probe.server.serveOn(listener);
    expect(await ask('/readyz')).toEqual([200, { status: 'ready' }]);
    await probe.server.dispose();

    expect(await ask('/healthz')).toEqual([200, { status: 'ok' }]);
    expect(await ask('/readyz')).toEqual([503, { status: 'closing' }]);
    expect(await ask('/graphql?query={waits}')).toMatchObject(refused('closing'));
    expect(await lateSocket(listener.url)).toBe(503);
  });

  it('ends subscriptions with an error that says what to do', async () => {
    const probe = new Probe();
    const stream = sse(
      await probe.post({ query: 'subscription { silence }' }, { accept: 'text/event-stream' }),
    );
    const client = await probe.socket();
    const socketEnd = new Promise((resolve) => {
      client.subscribe(
        { query: 'subscription { silence }' },
        { next() {}, error: resolve, complete: () => resolve('complete') },
      );
    });
    const last = stream.next();
    await expect.poll(() => probe.contexts, { timeout: 20_000 }).toBe(2);
    const closed = probe.server.dispose();
    const unavailable = { extensions: { code: 'UNAVAILABLE', retryable: true } };
    expect(await last).toMatchObject({ value: { event: 'next', data: { errors: [unavailable] } } });
    expect(await socketEnd).toMatchObject([unavailable]);
    await closed;
    expect(probe.ended).toBe(2);
  });

  it('is not ready meanwhile, and closing again changes nothing', async () => {
    const probe = new Probe();
    const held = probe.post({ query: '{ waits }' });
    await expect.poll(() => probe.contexts, { timeout: 20_000 }).toBe(1);
    const closed = probe.server.dispose();
    const ready = await probe.server.fetch(new Request('http://salient/readyz'));
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'closing' }]);
    probe.release();
    await held;
    await Promise.all([closed, probe.server.dispose()]);
  });

  it('that never listened is closed at once', async () => {
    const probe = new Probe();
    await probe.server.dispose();
  });
});
