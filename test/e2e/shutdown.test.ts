import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { databaseOn, onServer } from '../support/database.js';
import { OpenAIServer } from '../support/openai-server.js';
import { openTenant, remember, ServerProcess } from './server-process.js';

const wait = { timeout: 60_000, interval: 20 };
const postgres = process.env['SALIENT_TEST_DATABASE_URL'];

/** What a path answers; null where nobody accepts the connection. */
async function ask(server: ServerProcess, path: string): Promise<[number, unknown] | null> {
  const response = await fetch(`${server.url}${path}`).catch(() => null);
  return response && [response.status, await response.json()];
}

const APPEND = `mutation { appendMessages(input: {
  session: { create: { externalId: "night" } }, messages: [{ role: USER, content: "We deploy with Kamal" }] }) {
  extraction { status facts { text } } errors { message } } }`;
const PROPOSAL = JSON.stringify({
  add: [{ text: 'The team deploys with Kamal', kind: 'FACT', entities: ['Kamal'] }],
  supersede: [],
  edges: [],
});

describe('a server that is asked to stop', { timeout: 180_000 }, () => {
  let place: Record<string, string>;
  let removePlace: () => Promise<void>;
  let model: OpenAIServer;

  beforeAll(async () => {
    if (postgres !== undefined) {
      const name = `salient_shutdown_${process.pid}_${Date.now()}`;
      await onServer(postgres, `CREATE DATABASE ${name}`);
      place = { DATABASE_URL: databaseOn(postgres, name) };
      removePlace = () => onServer(postgres, `DROP DATABASE ${name} WITH (FORCE)`);
    } else {
      const directory = await mkdtemp(join(tmpdir(), 'salient-shutdown-'));
      place = { SALIENT_DATA_DIR: directory };
      removePlace = () => rm(directory, { recursive: true, force: true });
    }
    model = await OpenAIServer.start();
  });
  afterEach(() => model.reset());
  afterAll(async () => {
    await removePlace?.();
    await model?.[Symbol.asyncDispose]();
  });

  const start = () =>
    ServerProcess.start({
      ...place,
      SALIENT_EXTRACTOR: 'openai',
      OPENAI_BASE_URL: model.baseUrl,
      OPENAI_MODEL: 'local',
    });

  it('answers what is under way, closes its streams, refuses what comes anew, says so, and ends with 0', async () => {
    await using server = await start();
    expect(await ask(server, '/readyz')).toEqual([200, { status: 'ready' }]);
    const key = await openTenant(server, 'drained');
    let answerModel = () => {};
    model.otherwise = () =>
      new Promise((resolve) => {
        answerModel = () => resolve({ answer: { content: PROPOSAL } });
      });
    const socket = await subscribe(server, key);
    const underWay = server.ask<{ appendMessages: unknown }>(APPEND, {}, key);
    await expect.poll(() => model.received.length, wait).toBe(1);

    server.signal('SIGTERM');
    expect(await socket.ended).toEqual({ code: 1001, error: 'UNAVAILABLE' });
    expect(await ask(server, '/healthz')).toEqual([200, { status: 'ok' }]);
    expect(await ask(server, '/readyz')).toEqual([503, { status: 'closing' }]);
    const late = await server.send('{ viewer { role } }', {}, key);
    expect(late).toMatchObject({ errors: [{ extensions: { code: 'UNAVAILABLE', retryable: true } }] });

    answerModel();
    expect(await underWay).toEqual({
      appendMessages: {
        extraction: { status: 'EXTRACTED', facts: [{ text: 'The team deploys with Kamal' }] },
        errors: [],
      },
    });
    expect(await server.gone).toBe(0);
    expect(await ask(server, '/healthz')).toBeNull();
  });

  it('leaves what its jobs had not done to the next, with nothing to wait out', async () => {
    await using server = await start();
    const key = await openTenant(server, 'left');
    model.otherwise = () => 'HANG';
    const later = APPEND.replace('messages:', 'extract: LATER, messages:');
    await server.ask(later, {}, key);
    await expect.poll(() => model.received.length, wait).toBe(1);
    expect(await server.end('SIGTERM')).toBe(0);

    model.reset();
    model.otherwise = () => ({ answer: { content: PROPOSAL } });
    await using next = await start();
    const learned = async () => {
      const { facts } = await next.ask<{ facts: { edges: { node: { text: string } }[] } }>(
        '{ facts(first: 5) { edges { node { text } } } }',
        {},
        key,
      );
      return facts.edges.map(({ node }) => node.text);
    };
    await expect.poll(learned, wait).toEqual(['The team deploys with Kamal']);
    expect(await next.end('SIGTERM')).toBe(0);
  });

  it('ends with 0 as well when it is asked while it starts', async () => {
    await using server = await ServerProcess.launch(place);
    await expect.poll(() => ask(server, '/healthz'), wait).toEqual([200, { status: 'ok' }]);
    expect(await server.end('SIGTERM')).toBe(0);
  });

  it('ends at once when it is asked a second time, and loses nothing that it acknowledged', async () => {
    await using server = await start();
    const key = await openTenant(server, 'impatient');
    const fact = await remember(server, key, 'The night shift ends at six');
    model.otherwise = () => 'HANG';
    const underWay = server.ask(APPEND, {}, key).catch((error: unknown) => error);
    await expect.poll(() => model.received.length, wait).toBe(1);

    server.signal('SIGTERM');
    await expect.poll(() => ask(server, '/readyz'), wait).toEqual([503, { status: 'closing' }]);
    server.signal('SIGINT');
    expect(await server.gone).toBe(130);
    expect(await underWay).toBeInstanceOf(TypeError);

    await using next = await start();
    const { node } = await next.ask<{ node: unknown }>(
      'query ($id: ID!) { node(id: $id) { ... on Fact { text } } }',
      { id: fact },
      key,
    );
    expect(node).toEqual({ text: 'The night shift ends at six' });
  });
});

describe('a server that is starting', { timeout: 60_000 }, () => {
  let silent: Server;
  const taken = new Set<Socket>();

  // A database server that accepts connections and says nothing: the start goes on for as long as a test needs.
  beforeEach(async () => {
    silent = createServer((socket) => {
      taken.add(socket);
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    for (const socket of taken) socket.destroy();
    taken.clear();
    await new Promise((resolve) => silent.close(resolve));
  });

  const launch = () => {
    const { port } = silent.address() as AddressInfo;
    return ServerProcess.launch({ DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/nothing` });
  };

  it('lives and is not ready until its database is open and migrated', async () => {
    await using server = await launch();
    await expect.poll(() => taken.size, wait).toBe(1);
    expect(await ask(server, '/healthz')).toEqual([200, { status: 'ok' }]);
    expect(await ask(server, '/readyz')).toEqual([503, { status: 'starting' }]);
    expect(await server.send('{ viewer { role } }', {}, 'any')).toMatchObject({
      errors: [{ extensions: { code: 'UNAVAILABLE', retryable: true } }],
    });
  });

  it('ends at once when it is asked twice', async () => {
    await using server = await launch();
    await expect.poll(() => taken.size, wait).toBe(1);
    server.signal('SIGTERM');
    server.signal('SIGTERM');
    // The two may arrive as one.
    const again = setInterval(() => server.signal('SIGTERM'), 200);
    expect(await server.gone).toBe(143);
    clearInterval(again);
  });
});

/** A subscription to a tenant's events, live; resolves when its socket has closed. */
async function subscribe(server: ServerProcess, key: string) {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  let error: string | undefined;
  const ended = new Promise<{ code: number; error: string | undefined }>((resolve) => {
    socket.once('close', (code) => resolve({ code, error }));
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('open', () =>
      socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${key}` } })),
    );
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      const [first] = message.type === 'error' ? message.payload : (message.payload?.errors ?? []);
      error ??= first?.extensions.code;
      const payload = { query: 'subscription { memoryEvents { cursor } }' };
      if (message.type === 'connection_ack')
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
      if (message.type === 'next') resolve();
    });
  });
  return { ended };
}
