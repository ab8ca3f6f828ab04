import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { appendEvents, inTenant } from '../../src/db/index.js';
import { createContext, feedSharing, schema } from '../../src/schema/index.js';
import { createServer, type Server } from '../../src/server/index.js';
import { authenticate } from '../../src/tenancy/index.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';

/** Events of the tenant; what is sent of them is more than all buffers of a connection hold. */
const EVENTS = 1_200;
/** How far behind a reader may be here: half a second, instead of half a minute. */
const LAG = { lagMs: 3_000, cutMs: 120_000 };
/** Some 15 kB for each event. */
const LARGE = `subscription ($after: String) {
  memoryEvents(after: $after) {
    cursor ... on MemoryEvent { ${Array.from({ length: 10 }, (_, n) => `f${n}: fact { text }`).join(' ')} }
  }
}`;

interface Message {
  readonly type: string;
  readonly id?: string;
  readonly payload?: {
    data?: { memoryEvents: { cursor: string } };
    extensions?: { code: string; cursor?: string };
  } & { extensions: { code: string; cursor?: string } }[];
}

let salient: TestApp;
let acme: TestTenant;
let server: Server;
let url: URL;
let cursors: string[];

beforeAll(async () => {
  salient = await testApp();
  acme = await salient.tenant();
  const { services } = salient.app;
  server = createServer({ schema, services, authenticate, createContext, sharing: feedSharing, lag: LAG });
  url = new URL((await server.listen(0, '127.0.0.1')).url);
  await salient.ask({
    key: acme.keys.TENANT_ADMIN,
    query: 'mutation ($input: RememberInput!) { remember(input: $input) { errors { message } } }',
    variables: { input: { text: `The runbook says: ${'check the valves, '.repeat(80)}then wait` } },
  });
  const tenant = await tenantOf(acme);
  await inTenant(services.db, tenant, async (unit) => {
    const [fact] = await unit.tx.$queryRaw<{ id: string }[]>`
      SELECT id FROM fact WHERE tenant_id = ${unit.tenantId}::uuid`;
    const event = { type: 'FACT_REAFFIRMED', agentId: null, userId: null };
    const id = fact?.id as string;
    appendEvents(
      unit,
      Array.from({ length: EVENTS }, () => ({ ...event, subjectId: id, factId: id })),
      { kind: 'TENANT_ADMIN', id: null },
      new Date(),
    );
  });
  cursors = [];
  for (let after: string | undefined, more = true; more; ) {
    const { eventLog } = await salient.ask<{
      eventLog: { items: { cursor: string }[]; endCursor: string; hasMore: boolean };
    }>({
      key: acme.keys.TENANT_ADMIN,
      query:
        'query ($after: String) { eventLog(after: $after, first: 500) { items { cursor } endCursor hasMore } }',
      variables: { after },
    });
    cursors.push(...eventLog.items.map(({ cursor }) => cursor));
    ({ endCursor: after, hasMore: more } = eventLog);
  }
}, 120_000);

afterAll(async () => {
  await server.dispose();
  await salient[Symbol.asyncDispose]();
});

async function tenantOf({ keys }: TestTenant) {
  const actor = await authenticate(salient.app.services, {
    authorization: `Bearer ${keys.TENANT_ADMIN}`,
    tenantSlug: null,
    requestId: 'test',
  });
  if (!actor?.tenant) throw new Error('no tenant');
  return actor.tenant;
}

function followers(): number {
  return salient.app.services.feed.stats().followers;
}

/** A socket that was accepted, and what it has received since. */
async function socketOf(key = acme.keys.TENANT_ADMIN): Promise<{ socket: WebSocket; messages: Message[] }> {
  const socket = new WebSocket(`ws://${url.host}/graphql`, 'graphql-transport-ws');
  const messages: Message[] = [];
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const accepted = new Promise((resolve) => socket.once('message', resolve));
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } }));
  await accepted;
  socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  return { socket, messages };
}

function subscribe(socket: WebSocket, id: string, after: string | undefined, query = LARGE): void {
  socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query, variables: { after } } }));
}

function cursorsIn(messages: readonly Message[], id: string): string[] {
  return messages.flatMap((message) =>
    message.type === 'next' && message.id === id
      ? [message.payload?.data?.memoryEvents.cursor as string]
      : [],
  );
}

describe('a subscriber that does not read', () => {
  it('is ended with SUBSCRIPTION_LAGGED when much waits for too long, and resumes where it is told', async () => {
    const { socket, messages } = await socketOf();
    socket.pause();
    subscribe(socket, 'slow', 'earliest');
    await expect.poll(followers, { timeout: 20_000 }).toBe(1);
    // The stream has ended on the server's side: it holds nothing for this reader any more but what waits to be sent.
    await expect.poll(followers, { timeout: 60_000 }).toBe(0);
    socket.resume();
    const failure = () => messages.find(({ type }) => type === 'error');
    await expect.poll(failure, { timeout: 20_000 }).toBeDefined();
    const received = cursorsIn(messages, 'slow');
    expect(received).toEqual(cursors.slice(0, received.length));
    expect(received.length).toBeGreaterThan(0);
    expect(received.length).toBeLessThan(cursors.length);
    const extensions = failure()?.payload?.[0]?.extensions;
    expect(extensions).toMatchObject({ code: 'SUBSCRIPTION_LAGGED', cursor: received.at(-1) });
    // On the same socket, from there on: the rest, without loss or repeat.
    subscribe(socket, 'again', extensions?.cursor);
    const rest = cursors.length - received.length;
    await expect
      .poll(() => cursorsIn(messages, 'again').length, { timeout: 60_000 })
      .toBeGreaterThanOrEqual(rest);
    expect(cursorsIn(messages, 'again').slice(0, rest)).toEqual(cursors.slice(received.length));
    socket.terminate();
    await expect.poll(followers, { timeout: 20_000 }).toBe(0);
  }, 180_000);

  it('over Server-Sent Events hears the same', async () => {
    const socket = connect(Number(url.port), url.hostname);
    const body = JSON.stringify({ query: LARGE, variables: { after: 'earliest' } });
    socket.pause();
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nAuthorization: Bearer ${acme.keys.TENANT_ADMIN}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    await expect.poll(followers, { timeout: 20_000 }).toBe(1);
    await expect.poll(followers, { timeout: 60_000 }).toBe(0);
    let text = '';
    socket.setEncoding('utf8').on('data', (data) => {
      text += data;
    });
    socket.resume();
    await expect.poll(() => text.includes('event: complete'), { timeout: 20_000 }).toBe(true);
    socket.destroy();
    const received = [...text.matchAll(/"memoryEvents":\{"cursor":"([\w-]+)"/g)].map(([, cursor]) => cursor);
    expect(received).toEqual(cursors.slice(0, received.length));
    expect(received.length).toBeLessThan(cursors.length);
    const last = /"extensions":\{"code":"SUBSCRIPTION_LAGGED","cursor":"([\w-]+)"/.exec(text)?.[1];
    expect(last).toBe(received.at(-1));
    expect(last).toBeDefined();
  }, 180_000);

  it('holds up nobody, and gets everything when it reads in time', async () => {
    const patient = createServer({
      schema,
      services: salient.app.services,
      authenticate,
      createContext,
      sharing: feedSharing,
    });
    const fast = await socketOf();
    const before = url;
    url = new URL((await patient.listen(0, '127.0.0.1')).url);
    const slow = await socketOf();
    url = before;
    slow.socket.pause();
    subscribe(slow.socket, 'all', 'earliest');
    subscribe(fast.socket, 'all', 'earliest');
    await expect
      .poll(() => cursorsIn(fast.messages, 'all').length, { timeout: 60_000 })
      .toBeGreaterThanOrEqual(cursors.length);
    expect(cursorsIn(fast.messages, 'all').slice(0, cursors.length)).toEqual(cursors);
    expect(slow.messages).toEqual([]);
    slow.socket.resume();
    await expect
      .poll(() => cursorsIn(slow.messages, 'all').length, { timeout: 60_000 })
      .toBeGreaterThanOrEqual(cursors.length);
    expect(cursorsIn(slow.messages, 'all').slice(0, cursors.length)).toEqual(cursors);
    slow.socket.terminate();
    fast.socket.terminate();
    await patient.dispose();
    await expect.poll(followers, { timeout: 20_000 }).toBe(0);
  }, 180_000);
});

describe('sockets that are cut', () => {
  it('leave no follower behind: 1,000 subscriptions on 100 sockets', async () => {
    const [sockets, each] = [100, 10];
    const cut: WebSocket[] = [];
    for (let n = 0; n < sockets; n++) {
      const { socket } = await socketOf();
      for (let id = 0; id < each; id++) {
        subscribe(socket, String(id), undefined, 'subscription { memoryEvents { cursor } }');
      }
      cut.push(socket);
    }
    await expect.poll(followers, { timeout: 60_000 }).toBe(sockets * each);
    for (const socket of cut) socket.terminate();
    await expect
      .poll(() => salient.app.services.feed.stats(), { timeout: 20_000 })
      .toEqual({
        tenants: 0,
        followers: 0,
      });
  }, 180_000);
});
