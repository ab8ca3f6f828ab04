import { describe, expect, it } from 'vitest';
import { Probe, sse } from './support.js';

describe('closing a server', () => {
  it('answers what is under way, over HTTP and WebSocket, and accepts nothing more', async () => {
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
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    releaseHttp();
    releaseSocket();
    expect(await (await overHttp).json()).toEqual({ data: { waits: true } });
    expect(await overSocket).toEqual({ data: { waits: true } });
    await closed;
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
