import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';

const TOKEN = 'a-token-of-the-metrics-reader';
let salient: TestApp;
let tenant: TestTenant;

beforeAll(async () => {
  salient = await testApp({ settings: { metricsToken: TOKEN } });
  tenant = await salient.tenant();
});
afterAll(() => salient[Symbol.asyncDispose]());

/** Asks for the metrics. @returns values by name and labels */
async function read(app: TestApp = salient): Promise<Map<string, number>> {
  const response = await app.app.fetch(
    new Request('http://salient/metrics', { headers: { authorization: `Bearer ${TOKEN}` } }),
  );
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/plain');
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [name = '', value] = line.split(/ (?=[^ ]+$)/);
      return [name, Number(value)];
    }),
  );
}

/** How much the metrics grew by what was done. */
async function growth(work: () => Promise<unknown>) {
  const before = await read();
  await work();
  const after = await read();
  return (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
}

describe('metrics', () => {
  it('are for who has the token', async () => {
    for (const authorization of [undefined, 'Bearer other', `Basic ${TOKEN}`]) {
      const response = await salient.app.fetch(
        new Request('http://salient/metrics', { headers: authorization ? { authorization } : {} }),
      );
      expect(response.status).toBe(401);
      expect(await response.text()).toBe('');
    }
    const posted = await salient.app.fetch(new Request('http://salient/metrics', { method: 'POST' }));
    expect(posted.status).toBe(405);
  });

  it('count operations by type and outcome', async () => {
    const grown = await growth(async () => {
      await salient.ask({ key: tenant.keys.AGENT, query: '{ viewer { role } }' });
      await salient.ask({ key: tenant.keys.AGENT, query: '{ a: viewer { role } b: viewer { role } }' });
      await salient.send({ key: tenant.keys.AGENT, query: '{ viewer { ' });
      await salient.send({ key: 'sal_unknown', query: '{ viewer { role } }' });
      await salient.send({ key: tenant.keys.USER, query: '{ fact(id: "") { id } }' });
      await salient.ask({
        key: tenant.keys.AGENT,
        query: 'mutation { remember(input: { text: "Sam sails" }) { fact { id } errors { code } } }',
      });
    });
    const total = (operation: string, outcome: string) =>
      grown(`salient_requests_total{transport="http",operation="${operation}",outcome="${outcome}"}`);
    expect(total('query', 'OK') + total('query', 'BAD_INPUT')).toBe(3);
    expect(total('none', 'GRAPHQL_PARSE_FAILED')).toBe(1);
    expect(total('none', 'UNAUTHENTICATED')).toBe(1);
    expect(total('mutation', 'OK')).toBe(1);
    expect(grown('salient_request_duration_seconds_count{operation="mutation"}')).toBe(1);
    expect(grown('salient_transaction_duration_seconds_count{kind="tenant"}')).toBeGreaterThan(0);
  });

  it('count what extractions came to', async () => {
    const grown = await growth(() =>
      salient.ask({
        key: tenant.keys.AGENT,
        query: `mutation { appendMessages(input: { session: { create: {} }, messages: [{ role: USER, content: "I prefer tabs over spaces." }] })
                { extraction { status } errors { message } } }`,
      }),
    );
    expect(grown('salient_extractions_total{outcome="EXTRACTED"}')).toBe(1);
  });

  it('tell of the process, the database and the feed, and of no tenant', async () => {
    const metrics = await read();
    for (const name of [
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_seconds{quantile="0.99"}',
      'salient_database_connections{state="busy"}',
      'salient_database_waiting',
      'salient_encoder_queue',
      'salient_feed_wakeups_total{by="hint"}',
      'salient_subscriptions',
      'salient_connections{protocol="http"}',
    ]) {
      expect(metrics.has(name), name).toBe(true);
    }
    expect(metrics.get('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    expect([...metrics.keys()].join()).not.toContain('tenant=');
  });

  it('tell how many subscriptions are open and what they were sent', async () => {
    const ended = new AbortController();
    const response = await salient.app.fetch(
      new Request('http://salient/graphql', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'text/event-stream',
          authorization: `Bearer ${tenant.keys.AGENT}`,
        },
        body: JSON.stringify({ query: 'subscription { memoryEvents { cursor } }' }),
        signal: ended.signal,
      }),
    );
    const before = await read();
    expect(before.get('salient_subscriptions')).toBe(1);
    expect(before.get('salient_feed_followers')).toBe(1);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    // A checkpoint comes first.
    let text = '';
    while (!text.includes('event: next')) text += Buffer.from((await reader.read()).value ?? []).toString();
    expect((await read()).get('salient_events_delivered_total')).toBeGreaterThan(0);
    await reader.cancel();
    ended.abort();
    await expect.poll(async () => (await read()).get('salient_subscriptions')).toBe(0);
    const counted = 'salient_requests_total{transport="sse",operation="subscription",outcome="OK"}';
    expect(before.get(counted)).toBe(1);
  });
});

it('requests are counted by tenant where the configuration says so', async () => {
  await using other = await testApp({ settings: { metricsToken: TOKEN, metricsTenants: 'on' } });
  const own = await other.tenant();
  await other.ask({ key: own.keys.USER, query: '{ viewer { role } }' });
  const keys = [...(await read(other)).keys()].filter((name) =>
    name.startsWith('salient_tenant_requests_total'),
  );
  expect(keys.some((name) => name.includes('outcome="OK"') && /tenant="[0-9a-f-]{36}"/.test(name))).toBe(
    true,
  );
});
