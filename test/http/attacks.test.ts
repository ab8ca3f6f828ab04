import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { MAX_OPERATIONS_PER_SOCKET } from '../../src/server/index.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';

let salient: TestApp;
let tenant: TestTenant;
let other: TestTenant;
let url: URL;
let served = 0;
let watching: NodeJS.Timeout;
let asking = Promise.resolve();

beforeAll(async () => {
  salient = await testApp({ settings: { environment: 'production' } });
  tenant = await salient.tenant();
  other = await salient.tenant('other');
  url = new URL((await salient.app.listen()).url);
  // Another tenant's client asks all the while; it must be answered whatever the others do.
  watching = setInterval(() => {
    asking = asking.then(async () => {
      const { errors } = await salient.send({ key: other.keys.USER, query: '{ viewer { role } }' });
      if (errors) throw new Error(JSON.stringify(errors));
      served++;
    });
  }, 50);
});
afterAll(async () => {
  clearInterval(watching);
  await asking;
  await salient[Symbol.asyncDispose]();
});
afterEach(async () => {
  const before = served;
  await expect.poll(() => served, { timeout: 20_000 }).toBeGreaterThan(before);
  await asking;
});

interface Answer {
  readonly data?: unknown;
  readonly errors?: { message: string; extensions: { code: string } }[];
}

async function post(
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer & { status: number }> {
  const response = await fetch(new URL('/graphql', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${tenant.keys.AGENT}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, ...((await response.json()) as Answer) };
}

const many = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n)).join(' ');

/** Documents that are cheap to send and would be dear to work on. */
const HOSTILE: Record<string, { query: string; variables?: unknown }> = {
  'one field a thousand times': { query: `{ viewer { ${many(1_990, () => 'role')} } }` },
  'a thousand aliases': { query: `{ ${many(400, (n) => `a${n}: viewer { role }`)} }` },
  'aliases through fragments': {
    query: `{ ${many(30, () => '...F')} } fragment F on Query { ${many(40, (n) => `a${n}: viewer { role }`)} }`,
  },
  'fragments that double': {
    query: `{ ...F0 } ${many(30, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F30 on Query { viewer { role } }`,
  },
  'fragments in a circle': { query: '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }' },
  'a circle of types': {
    query: `{ facts { edges { node { ${'sources { edges { node { facts { edges { node { '.repeat(4)}id${' } } } } } }'.repeat(4)} } } } }`,
  },
  'pages of pages of pages': {
    query:
      '{ tenant { agents(first: 100) { edges { node { sessions(first: 100) { edges { node { messages(first: 100) { edges { node { content } } } } } } } } } } }',
  },
  'a thousand directives': { query: `{ viewer { role ${many(380, () => '@include(if: true)')} } }` },
  'directives that are none': { query: `{ viewer { role ${many(500, (n) => `@x${n}`)} } }` },
  'fields that are none': { query: `{ ${many(1_500, (n) => `viewr${n}`)} }` },
  'a list of literals': { query: `{ nodes(ids: [${many(1_900, () => '"x"')}]) { id } }` },
  'a literal without end': { query: `{ fact(id: "${'x'.repeat(200_000)}") { id } }` },
  'a list in the variables': {
    query: 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
    variables: { ids: Array.from({ length: 50_000 }, () => 'x') },
  },
  'deep variables': {
    query: 'mutation ($m: JSON) { remember(input: { text: "x", metadata: $m }) { fact { id } } }',
    variables: { m: JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`) },
  },
  'many operations': { query: many(300, (n) => `query Q${n} { viewer { role } }`) },
  'the whole schema': { query: '{ __schema { types { name fields { name } } } }' },
  'conflicting fields': {
    query: `{ ${many(200, (n) => `facts(first: ${n + 1}) { edges { cursor } }`)} }`,
  },
};

describe.each(Object.entries(HOSTILE))('%s', (_name, operation) => {
  it('is refused or bounded, by HTTP and by WebSocket, and leaves the server as it was', async () => {
    const codes: (string | undefined)[] = [];
    const answer = await post(operation);
    codes.push(answer.errors?.[0]?.extensions.code);
    expect(answer.status).toBeLessThan(500);
    const frames = await overSocket([{ id: '1', type: 'subscribe', payload: operation }], 1);
    codes.push(/"code":"(\w+)"/.exec(frames.join())?.[1]);
    for (const code of codes) {
      // What is within the limits after all is answered; nothing is an internal fault.
      if (code !== undefined)
        expect([
          'LIMIT_EXCEEDED',
          'GRAPHQL_PARSE_FAILED',
          'GRAPHQL_VALIDATION_FAILED',
          'OPERATION_RESOLUTION_FAILURE',
          'BAD_INPUT',
        ]).toContain(code);
    }
    expect(codes[0]).toBe(codes[1]);
    const errors = answer.errors ?? [];
    expect(errors.length).toBeLessThanOrEqual(101);
    expect(JSON.stringify(errors)).not.toContain('Did you mean');
  });
});

/** Sends messages on a socket of the tenant. @returns what came until so many operations had ended */
async function overSocket(messages: readonly object[], ends: number): Promise<string[]> {
  const socket = new WebSocket(new URL('/graphql', url.href.replace('http', 'ws')), 'graphql-transport-ws');
  const frames: string[] = [];
  await new Promise((resolve) => socket.once('open', resolve));
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const ended = () => frames.filter((frame) => /"type":"(error|complete)"/.test(frame)).length;
  const done = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const frame = String(data);
      frames.push(frame);
      if (frame.includes('connection_ack'))
        for (const message of messages) socket.send(JSON.stringify(message));
      if (ended() >= ends) resolve();
    });
  });
  socket.send(
    JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${tenant.keys.AGENT}` } }),
  );
  await Promise.race([done, closed]);
  socket.terminate();
  await closed;
  return frames;
}

describe('a thousand operations on one socket', () => {
  it('are begun up to the limit, and the others refused', async () => {
    const messages = Array.from({ length: 1_000 }, (_, n) => ({
      id: `s${n}`,
      type: 'subscribe',
      payload: { query: 'subscription { memoryEvents { cursor } }' },
    }));
    const frames = await overSocket(messages, 1_000 - MAX_OPERATIONS_PER_SOCKET);
    const refused = frames.filter((frame) => frame.includes('LIMIT_EXCEEDED'));
    expect(refused.length).toBeGreaterThanOrEqual(1_000 - MAX_OPERATIONS_PER_SOCKET);
    // What it had open ends with it.
    await expect.poll(() => salient.app.services.feed.stats().followers, { timeout: 30_000 }).toBe(0);
  }, 120_000);
});

describe('a socket', () => {
  it('is closed for a frame that is too long, for what is no protocol, and without credentials', async () => {
    const closeCode = async (first: string | Buffer) => {
      const socket = new WebSocket(
        new URL('/graphql', url.href.replace('http', 'ws')),
        'graphql-transport-ws',
      );
      await new Promise((resolve) => socket.once('open', resolve));
      socket.send(first);
      return new Promise<number>((resolve) => socket.once('close', resolve));
    };
    expect(await closeCode(Buffer.alloc(2_000_000, 'x'))).toBe(1009);
    expect(await closeCode('nonsense')).toBe(4400);
    expect(
      await closeCode(
        JSON.stringify({ type: 'subscribe', id: '1', payload: { query: '{ viewer { role } }' } }),
      ),
    ).toBe(4401);
    expect(await closeCode(JSON.stringify({ type: 'connection_init', payload: {} }))).toBe(4401);
  });
});

describe('what a browser sends without asking', () => {
  it('changes nothing: forms, plain text, GET', async () => {
    const mutation = 'mutation { remember(input: { text: "forged" }) { fact { id } } }';
    for (const type of [
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain',
    ]) {
      const { status } = await post(`query=${encodeURIComponent(mutation)}`, { 'content-type': type });
      expect(status).toBe(415);
    }
    const got = await fetch(new URL(`/graphql?query=${encodeURIComponent(mutation)}`, url), {
      headers: { authorization: `Bearer ${tenant.keys.AGENT}` },
    });
    expect(got.status).toBe(405);
    const batch = await post([{ query: '{ viewer { role } }' }]);
    expect(batch.status).toBe(400);
    const { facts } = await salient.ask<{ facts: { totalCount: number } }>({
      key: tenant.keys.TENANT_ADMIN,
      query: '{ facts { totalCount } }',
    });
    expect(facts.totalCount).toBe(0);
  });
});

describe('clients that send slowly', () => {
  it('are served nothing and hold up nobody', async () => {
    const slow: Socket[] = [];
    for (let n = 0; n < 200; n++) {
      const socket = connect(Number(url.port), url.hostname);
      socket.on('error', () => {});
      socket.write(
        'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
      );
      slow.push(socket);
    }
    const before = served;
    for (let round = 0; round < 5; round++) {
      for (const socket of slow) socket.write(' ');
      await expect.poll(() => served, { timeout: 20_000 }).toBeGreaterThan(before + round);
    }
    for (const socket of slow) socket.destroy();
  }, 120_000);
});

it('all of this again and again leaves no memory behind', async () => {
  const storm = async () => {
    for (const operation of Object.values(HOSTILE)) await post(operation);
  };
  const used = () => {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed / 2 ** 20;
  };
  await storm();
  const before = used();
  for (let round = 0; round < 5; round++) await storm();
  // 17 hostile requests five times: the caches are bounded, and nothing else is kept. Without a collection on demand the
  // heap breathes by some tens of MiB.
  await expect.poll(used, { timeout: 30_000, interval: 1_000 }).toBeLessThan(before + 96);
}, 120_000);
