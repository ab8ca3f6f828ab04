import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { getIntrospectionQuery } from 'graphql';
import { afterAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { LIMITS, MAX_OPERATIONS_PER_SOCKET } from '../../src/server/index.js';
import { Probe, sse } from './support.js';

const MAX_BYTES = 50_000;
const probe = new Probe({ maxBodyBytes: MAX_BYTES });
afterAll(() => probe[Symbol.asyncDispose]());

interface Answer {
  data?: unknown;
  errors?: { message: string; extensions: Record<string, unknown> }[];
}
type Send = (operation: { query: string; variables?: Record<string, unknown> }) => Promise<Answer>;

const transports: Record<string, Send> = {
  HTTP: async (operation) => (await probe.post(operation)).json() as Promise<Answer>,
  SSE: async (operation) => {
    let answer: Answer = {};
    for await (const { data } of sse(await probe.post(operation, { accept: 'text/event-stream' }))) {
      answer = (data as Answer | undefined) ?? answer;
    }
    return answer;
  },
  WebSocket: async (operation) => {
    const client = await probe.socket();
    return new Promise((resolve, reject) => {
      let answer: Answer = {};
      client.subscribe(operation, {
        next: (result) => {
          answer = result as Answer;
        },
        error: (error) => (Array.isArray(error) ? resolve({ errors: error as never }) : reject(error)),
        complete: () => resolve(answer),
      });
    });
  },
};

const deep = (fields: number) => `{ ${'node { '.repeat(fields - 1)}name${' }'.repeat(fields - 1)} }`;
const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { value };
  return value;
};

describe.each(Object.entries(transports))('over %s', (_name, send) => {
  async function refused(operation: Parameters<Send>[0], text: RegExp) {
    const answer = await send(operation);
    expect(answer.data ?? null).toBeNull();
    expect(answer.errors).toHaveLength(1);
    expect(answer.errors?.[0]).toMatchObject({
      message: expect.stringMatching(text),
      extensions: { code: 'LIMIT_EXCEEDED' },
    });
  }
  async function accepted(operation: Parameters<Send>[0]) {
    const answer = await send(operation);
    expect(answer.errors).toBeUndefined();
    return answer.data;
  }

  it('an operation is limited in depth, through fragments too', async () => {
    await accepted({ query: deep(LIMITS.depth) });
    await refused({ query: deep(LIMITS.depth + 1) }, /13 fields deep, more than 12/);
    const fragments = (levels: number) =>
      `{ node { ...F0 } } ${Array.from({ length: levels }, (_, n) => `fragment F${n} on Node { node { ${n + 1 < levels ? `...F${n + 1}` : 'name'} } }`).join(' ')}`;
    await accepted({ query: fragments(LIMITS.depth - 2) });
    await refused({ query: fragments(LIMITS.depth - 1) }, /fields deep, more than 12/);
  });

  it('introspection is no deep operation', async () => {
    expect(await accepted({ query: getIntrospectionQuery() })).toHaveProperty('__schema');
  });

  it('an operation is limited in aliases, counted wherever a fragment is used', async () => {
    const aliases = (count: number) => Array.from({ length: count }, (_, n) => `a${n}: who`).join(' ');
    await accepted({ query: `{ ${aliases(LIMITS.aliases)} }` });
    await refused({ query: `{ ${aliases(LIMITS.aliases + 1)} }` }, /31 aliases, more than 30/);
    const uses = Array.from({ length: 8 }, (_, n) => `n${n}: node { ...F }`).join(' ');
    await refused(
      { query: `{ ${uses} } fragment F on Node { a: name b: name c: name }` },
      /32 aliases, more than 30/,
    );
  });

  it('a document is limited in tokens and characters', async () => {
    const items = (tokens: number) => `{ echo(value: [${'1 '.repeat(tokens - 9)}]) }`;
    await accepted({ query: items(LIMITS.tokens) });
    await refused({ query: items(LIMITS.tokens + 1) }, /more than 2000 tokens/);
  });

  it('variables and literals are limited in depth', async () => {
    const query = 'query ($value: JSON) { echo(value: $value) }';
    await accepted({ query, variables: { value: nested(LIMITS.jsonDepth - 1) } });
    await refused(
      { query, variables: { value: nested(LIMITS.jsonDepth) } },
      /variables: nested deeper than 64/,
    );
    const literal = (levels: number) => `{ echo(value: ${'['.repeat(levels)}${']'.repeat(levels)}) }`;
    await accepted({ query: literal(LIMITS.jsonDepth) });
    await refused({ query: literal(LIMITS.jsonDepth + 1) }, /literal is nested deeper than 64/);
  });

  it('fragments that use each other are refused without harm', async () => {
    const { errors } = await send({
      query: '{ node { ...A } } fragment A on Node { ...B } fragment B on Node { ...A }',
    });
    expect(errors?.[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  });
});

describe('a body', () => {
  const query = '{ who }';
  const padded = (bytes: number) => {
    const frame = JSON.stringify({ query, variables: { pad: '' } }).length;
    return JSON.stringify({ query, variables: { pad: 'x'.repeat(bytes - frame) } });
  };
  const inProcess = (body: BodyInit, headers: Record<string, string> = {}) =>
    probe.server.fetch(
      new Request('http://salient/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
        duplex: 'half',
      } as RequestInit),
    );

  it('may have exactly as many bytes as are allowed', async () => {
    expect((await probe.post(padded(MAX_BYTES))).status).toBe(200);
    expect((await inProcess(padded(MAX_BYTES))).status).toBe(200);
  });

  it('is refused by its length, and counted as it comes in when it does not tell it', async () => {
    const chunked = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          controller.enqueue(new Uint8Array(10_000).fill(32));
        },
      });
    for (const response of [
      await probe.post(padded(MAX_BYTES + 1)),
      await inProcess(padded(MAX_BYTES + 1)),
      await inProcess(chunked()),
    ]) {
      expect(response.status).toBe(413);
      expect(await response.json()).toMatchObject({
        errors: [
          { message: `The body has more than ${MAX_BYTES} bytes`, extensions: { code: 'LIMIT_EXCEEDED' } },
        ],
      });
    }
  });

  it('that goes on for ever is answered, and its connection then closed', async () => {
    const url = new URL(`${await probe.url()}/graphql`);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(url, { method: 'POST', headers: { 'content-type': 'application/json' } });
      const more = setInterval(() => request.write(' '.repeat(10_000)), 5);
      let answered: number | undefined;
      request.on('response', (response) => {
        answered = response.statusCode;
        response.resume();
      });
      request.on('error', () => {});
      request.on('close', () => {
        clearInterval(more);
        resolve(answered);
      });
      setTimeout(() => reject(new Error('the connection stayed open')), 20_000).unref();
    });
    expect(status).toBe(413);
  });

  it('does not stop the next request of its connection', async () => {
    const url = new URL(await probe.url());
    const body = ' '.repeat(MAX_BYTES + 1);
    const head = (length: number) =>
      `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer good\r\nContent-Length: ${length}\r\n\r\n`;
    const next = JSON.stringify({ query });
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(Number(url.port), url.hostname);
      let received = '';
      socket.on('data', (data) => {
        received += data;
        if (received.includes('"who":"good"')) {
          socket.destroy();
          resolve(received);
        }
      });
      socket.write(head(body.length) + body + head(next.length) + next);
    });
    expect(answer).toContain('413');
  });

  it('of several operations is refused', async () => {
    const response = await probe.post([{ query }, { query }]);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [{ message: expect.stringContaining('batches') }],
    });
  });

  it('that is nested without end is refused without harm', async () => {
    const response = await probe.post(
      `{"query":"{ who }","variables":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    );
    expect(response.status).toBe(400);
  });

  it('with a document that is too long is refused', async () => {
    const large = new Probe();
    const response = await large.post({ query: `# ${'x'.repeat(LIMITS.documentCharacters)}\n{ who }` });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [
        { message: 'The document has more than 100000 characters', extensions: { code: 'LIMIT_EXCEEDED' } },
      ],
    });
    await large[Symbol.asyncDispose]();
  });
});

describe('a WebSocket', () => {
  it('takes no message above the allowed bytes', async () => {
    const socket = new WebSocket(
      `${(await probe.url()).replace('http', 'ws')}/graphql`,
      'graphql-transport-ws',
    );
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(JSON.stringify({ type: 'connection_init', payload: { pad: 'x'.repeat(MAX_BYTES) } }));
    const code = await new Promise((resolve) => socket.once('close', resolve));
    expect(code).toBe(1009);
  });

  it('takes a limited number of operations at a time', async () => {
    const client = await probe.socket();
    const ends = Array.from({ length: MAX_OPERATIONS_PER_SOCKET }, () =>
      client.subscribe({ query: 'subscription { silence }' }, { next() {}, error() {}, complete() {} }),
    );
    const refused = await new Promise<Answer['errors']>((resolve, reject) => {
      client.subscribe(
        { query: '{ who }' },
        {
          next: () => {},
          error: (error) => resolve(error as never),
          complete: () => reject(new Error('accepted')),
        },
      );
    });
    expect(refused?.[0]).toMatchObject({
      message: expect.stringMatching(/100 operations/),
      extensions: { code: 'LIMIT_EXCEEDED' },
    });
    const before = probe.ended;
    for (const end of ends) end();
    await expect.poll(() => probe.ended - before, { timeout: 20_000 }).toBe(MAX_OPERATIONS_PER_SOCKET);
    expect(
      await new Promise((resolve) => {
        client.subscribe(
          { query: '{ who }' },
          { next: ({ data }) => resolve(data), error() {}, complete() {} },
        );
      }),
    ).toEqual({ who: 'good' });
  });
});
