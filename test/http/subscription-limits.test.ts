import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { MAX_MESSAGE_BYTES } from '../../src/server/index.js';
import { StreamSlots } from '../../src/server/stream-slots.js';
import { Probe, sse } from './support.js';

const MOST = 3;
const probe = new Probe({ maxStreamsPerTenant: MOST });
afterAll(() => probe[Symbol.asyncDispose]());
const open: WebSocket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.terminate();
});

interface Connected {
  readonly socket: WebSocket;
  /** The answer to `connection_init`, or how the socket was closed instead. */
  readonly outcome: unknown;
}

async function connect(authorization = 'Bearer good'): Promise<Connected> {
  const socket = new WebSocket(
    `${(await probe.url()).replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  );
  open.push(socket);
  const outcome = new Promise((resolve) => {
    socket.once('message', (data) => resolve(JSON.parse(String(data))));
    socket.once('close', (code, reason) => resolve([code, String(reason)]));
  });
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } }));
  return { socket, outcome: await outcome };
}

const ACCEPTED = { type: 'connection_ack' };
const REFUSED = [1013, 'LIMIT_EXCEEDED: More than 3 sockets and streams of one tenant at a time'];

async function stream(): Promise<{
  status: number;
  end: () => Promise<void>;
  answer: () => Promise<unknown>;
}> {
  const abort = new AbortController();
  const response = await fetch(`${await probe.url()}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      authorization: 'Bearer good',
    },
    body: JSON.stringify({ query: 'subscription { silence }' }),
    signal: abort.signal,
  });
  return {
    status: response.status,
    end: async () => abort.abort(),
    answer: async () => {
      for await (const { data } of sse(response)) return data;
    },
  };
}

describe('sockets and streams of one tenant', () => {
  it('are limited: one more is closed with 1013, which says that it may try again', async () => {
    const sockets = await Promise.all(Array.from({ length: MOST }, () => connect()));
    expect(sockets.map(({ outcome }) => outcome)).toEqual(Array(MOST).fill(ACCEPTED));
    expect((await connect()).outcome).toEqual(REFUSED);
    sockets[0]?.socket.close();
    await expect.poll(async () => (await connect()).outcome, { timeout: 20_000 }).toEqual(ACCEPTED);
  });

  it('count together, over WebSocket and HTTP, and are given back when the caller goes away', async () => {
    const streams = [await stream(), await stream()];
    expect((await connect()).outcome).toEqual(ACCEPTED);
    expect((await connect()).outcome).toEqual(REFUSED);
    const refused = await stream();
    expect(await refused.answer()).toMatchObject({
      errors: [{ message: REFUSED[1]?.toString().slice(16), extensions: { code: 'LIMIT_EXCEEDED' } }],
    });
    for (const { end } of streams) await end();
    await expect.poll(async () => (await connect()).outcome, { timeout: 20_000 }).toEqual(ACCEPTED);
  });

  it('are given back by sockets that are cut', async () => {
    for (let round = 0; round < 3; round++) {
      const sockets = await Promise.all(Array.from({ length: MOST }, () => connect()));
      for (const { socket } of sockets) socket.terminate();
      await expect
        .poll(
          async () => {
            const { socket, outcome } = await connect();
            socket.terminate();
            return outcome;
          },
          { timeout: 20_000 },
        )
        .toEqual(ACCEPTED);
    }
  });

  it('are not taken by who has no valid credentials', async () => {
    for (let n = 0; n < MOST + 1; n++) {
      const [code] = (await connect('Bearer bad')).outcome as [number];
      expect(code).toBe(4401);
    }
    await expect.poll(async () => (await connect()).outcome, { timeout: 20_000 }).toEqual(ACCEPTED);
  });
});

describe('slots', () => {
  it('of one tenant are not those of another, and are given back once', () => {
    const slots = new StreamSlots(2);
    const first = slots.take('a');
    expect(slots.take('a')).toBeDefined();
    expect(slots.take('a')).toBeUndefined();
    expect(slots.take('b')).toBeDefined();
    expect(slots.take(null)).toBeDefined();
    first?.();
    first?.();
    expect(slots.take('a')).toBeDefined();
    expect(slots.take('a')).toBeUndefined();
  });
});

describe('a message', () => {
  it('has 1 MiB at most, else its socket is closed with 1009', async () => {
    const frame = (bytes: number) => {
      const message = { type: 'ping', payload: { pad: '' } };
      message.payload.pad = 'x'.repeat(bytes - JSON.stringify(message).length);
      return JSON.stringify(message);
    };
    const { socket, outcome } = await connect();
    expect(outcome).toEqual(ACCEPTED);
    const answered = new Promise((resolve) => socket.once('message', resolve));
    socket.send(frame(MAX_MESSAGE_BYTES));
    await answered;
    socket.send(frame(MAX_MESSAGE_BYTES + 1));
    expect(await new Promise((resolve) => socket.once('close', resolve))).toBe(1009);
  });
});
