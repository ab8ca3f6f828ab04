import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createEmbeddingProvider, type EmbeddingError, isUnit } from '../../src/embedding/index.js';
import { OpenAIEmbeddingProvider } from '../../src/embedding/openai.js';
import { meanDirection, normalise } from '../../src/embedding/vector.js';
import type { RetryTools } from '../../src/openai/index.js';
import { testApp } from '../support/app.js';
import { type Behaviour, OpenAIServer, type Received, vectorOf } from '../support/openai-server.js';

const EMPTY: Behaviour = { answer: { content: null } };
let server: OpenAIServer;
beforeAll(async () => {
  server = await OpenAIServer.start();
});
beforeEach(() => server.reset());
afterAll(() => server[Symbol.asyncDispose]());

const waits: number[] = [];
const tools: RetryTools = {
  sleep: async (ms, signal) => {
    signal.throwIfAborted();
    waits.push(ms);
  },
  random: () => 0,
  now: Date.now,
};
beforeEach(() => {
  waits.length = 0;
});

function provider(options: Partial<ConstructorParameters<typeof OpenAIEmbeddingProvider>[0]> = {}) {
  return new OpenAIEmbeddingProvider({
    baseUrl: server.baseUrl,
    apiKey: 'sk-secret',
    model: 'test-embedding',
    dimensions: 64,
    shortened: false,
    knots: [
      [0, 0],
      [0.4, 0.5],
      [1, 1],
    ],
    timeout: 30_000,
    tools,
    ...options,
  });
}
const unit = (text: string, dimensions = 64) => normalise(vectorOf(text, dimensions));
const failing = async (asked: Promise<unknown>): Promise<EmbeddingError> =>
  asked.then(
    () => {
      throw new Error('it must fail');
    },
    (error) => error as EmbeddingError,
  );

describe('vectors (SPEC §3)', () => {
  test('are those of the server, of unit length, in the order of the texts; a blank text has none', async () => {
    await using given = provider();
    const vectors = await given.embed(['one', '  ', 'two', '\n']);
    expect(vectors).toEqual([unit('one'), null, unit('two'), null]);
    expect(vectors.every((vector) => vector === null || isUnit(vector))).toBe(true);
    expect(server.received).toHaveLength(1);
    expect(server.received[0]).toMatchObject({
      path: '/v1/embeddings',
      authorization: 'Bearer sk-secret',
      body: { model: 'test-embedding', input: ['one', 'two'], encoding_format: 'float' },
    });
    expect(server.received[0]!.body).not.toHaveProperty('dimensions');
    expect(given.model).toBe('openai/test-embedding/64');
    expect(given.similarity(0.4)).toBe(0.5);
  });

  test('nothing is asked for nothing', async () => {
    await using given = provider();
    expect(await given.embed([])).toEqual([]);
    expect(await given.embed([' '])).toEqual([null]);
    expect(await given.embedWindows(['', '\t'])).toEqual([[], []]);
    expect(await given.embedQuery(' ')).toBeNull();
    expect(server.received).toEqual([]);
  });

  test('of a long text are those of its windows, and its own is their mean direction', async () => {
    await using given = provider();
    const text = Array.from({ length: 60 }, (_, n) => `This is sentence ${n} of a long message.`).join(' ');
    const [windows] = await given.embedWindows([text]);
    expect(windows!.length).toBeGreaterThan(3);
    expect(server.received[0]!.body.input!.join(' ')).toBe(text);
    expect(await given.embed([text])).toEqual([meanDirection(windows!)]);
  });

  test('are asked for in batches of 128 texts, four requests at a time, and come back in order', async () => {
    await using given = provider();
    let running = 0;
    let most = 0;
    server.otherwise = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      return EMPTY;
    };
    const texts = Array.from({ length: 1_000 }, (_, n) => `text ${n}`);
    expect(await given.embed(texts)).toEqual(texts.map((text) => unit(text)));
    expect(server.received.map(({ body }) => body.input!.length).sort((a, b) => a - b)).toEqual([
      104, 128, 128, 128, 128, 128, 128, 128,
    ]);
    expect(most).toBe(4);
  });

  test('are placed by the index that the answer gives them', async () => {
    await using given = provider();
    const [one, two] = [vectorOf('one', 64), vectorOf('two', 64)];
    const data = [
      { index: 1, embedding: two },
      { index: 0, embedding: one },
    ];
    server.next.push({ raw: JSON.stringify({ data }) });
    expect(await given.embed(['one', 'two'])).toEqual([unit('one'), unit('two')]);
  });

  test('shorter ones are asked for by name', async () => {
    await using given = await createEmbeddingProvider({
      kind: 'openai',
      baseUrl: server.baseUrl,
      model: 'text-embedding-3-small',
    });
    expect(given.dimensions).toBe(512);
    expect(await given.embed(['one'])).toEqual([unit('one', 512)]);
    expect(server.received[0]!.body).toMatchObject({ model: 'text-embedding-3-small', dimensions: 512 });
  });
});

describe('queries', () => {
  test('are asked for once, also at the same time, and what is handed out is nobody else’s', async () => {
    await using given = provider();
    const [one, same] = await Promise.all([
      given.embedQuery('where is it'),
      given.embedQuery(' where  is it '),
    ]);
    expect(one).toEqual(unit('where is it'));
    one!.fill(0);
    expect(same).toEqual(unit('where is it'));
    expect(await given.embedQuery('where is it')).toEqual(unit('where is it'));
    expect(server.received).toHaveLength(1);
  });

  test('do not wait behind texts, and a failure is not kept', async () => {
    await using given = provider();
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    server.otherwise = async ({ body }: Received) => {
      if (body.input!.length > 1) await held;
      return EMPTY;
    };
    const slow = given.embed(Array.from({ length: 2_000 }, (_, n) => `text ${n}`));
    expect(await given.embedQuery('where is it')).toEqual(unit('where is it'));
    release();
    await slow;
    server.next.push({ status: 400 });
    expect(await failing(given.embedQuery('and this'))).toMatchObject({ code: 'ENCODER_REFUSED' });
    expect(await given.embedQuery('and this')).toEqual(unit('and this'));
  });
});

describe('faults', () => {
  test.each<[string, Behaviour]>([
    ['429', { status: 429 }],
    ['500', { status: 500 }],
    ['a reset', 'RESET'],
    ['a reset in the answer', 'RESET_IN_BODY'],
  ])(
    '%s: asked again three times, a query once; then ENCODER_FAILED, which may pass',
    async (_what, behaviour) => {
      await using given = provider();
      server.next.push(behaviour, behaviour, behaviour);
      expect(await given.embed(['one'])).toEqual([unit('one')]);
      expect(waits).toEqual([500, 1_000, 2_000]);
      server.reset();
      server.otherwise = () => behaviour;
      expect(await failing(given.embed(['one']))).toMatchObject({ code: 'ENCODER_FAILED', retryable: true });
      expect(server.received).toHaveLength(4);
      server.received.length = 0;
      expect(await failing(given.embedQuery('one'))).toMatchObject({ code: 'ENCODER_FAILED' });
      expect(server.received).toHaveLength(2);
    },
  );

  test('a server that asks for more patience than a caller has is not waited for', async () => {
    await using given = provider();
    server.otherwise = () => ({ status: 429, headers: { 'retry-after': '60' } });
    expect(await failing(given.embed(['one']))).toMatchObject({ code: 'ENCODER_FAILED' });
    expect(waits).toEqual([]);
  });

  test.each([401, 403, 404])('%i concerns no text: ENCODER_FAILED, asked once', async (status) => {
    await using given = provider();
    server.otherwise = () => ({ status });
    expect(await failing(given.embed(['one']))).toMatchObject({ code: 'ENCODER_FAILED' });
    expect(server.received).toHaveLength(1);
  });

  test.each<[string, Behaviour]>([
    ['a rejection', { status: 400, body: '{"error":{"message":"I moved to Lisbon"}}' }],
    ['no vectors', { raw: '{"data":[]}' }],
    [
      'one too many',
      {
        raw: JSON.stringify({
          data: [vectorOf('a', 64), vectorOf('b', 64)].map((embedding, index) => ({ index, embedding })),
        }),
      },
    ],
    ['another length', { raw: JSON.stringify({ data: [{ index: 0, embedding: vectorOf('a', 63) }] }) }],
    [
      'an index that is none',
      { raw: JSON.stringify({ data: [{ index: 7, embedding: vectorOf('a', 64) }] }) },
    ],
    ['no direction', { raw: JSON.stringify({ data: [{ index: 0, embedding: Array(64).fill(0) }] }) }],
    ['no numbers', { raw: JSON.stringify({ data: [{ index: 0, embedding: Array(64).fill('1') }] }) }],
    ['infinity', { raw: `{"data":[{"index":0,"embedding":[${Array(64).fill('1e999').join()}]}]}` }],
    ['base64', { raw: JSON.stringify({ data: [{ index: 0, embedding: 'AAAA' }] }) }],
    ['a page', { raw: '<html>', contentType: 'text/html' }],
  ])('%s is ENCODER_REFUSED, and its message tells nothing of the text', async (_what, behaviour) => {
    await using given = provider();
    server.otherwise = () => behaviour;
    const error = await failing(given.embed(['I moved to Lisbon']));
    expect(error).toMatchObject({ code: 'ENCODER_REFUSED', retryable: false });
    expect(JSON.stringify({ ...error, message: error.message, cause: error.cause })).not.toMatch(
      /Lisbon|secret/,
    );
    expect(server.received).toHaveLength(1);
  });

  test('what is under way or waits when it is closed ends as ENCODER_CLOSED', async () => {
    const given = provider();
    server.otherwise = () => 'HANG';
    const asked = [
      given.embed(Array.from({ length: 1_000 }, (_, n) => `text ${n}`)),
      given.embedQuery('one'),
    ];
    const ended = Promise.all(asked.map(failing));
    await expect.poll(() => server.received.length).toBe(5);
    await given[Symbol.asyncDispose]();
    expect((await ended).map(({ code }) => code)).toEqual(['ENCODER_CLOSED', 'ENCODER_CLOSED']);
    expect(await failing(given.embed(['one']))).toMatchObject({ code: 'ENCODER_CLOSED' });
    await expect.poll(() => server.received.every(({ aborted }) => aborted)).toBe(true);
    expect(server.received).toHaveLength(5);
  });
});

test('a memory is kept and found by vectors of such a server', async () => {
  server.dimensions = 64;
  const given = provider();
  const salient = await testApp({ embedding: given });
  try {
    const { keys } = await salient.tenant();
    const { remember } = await salient.ask<{ remember: { fact: { id: string } } }>({
      key: keys.AGENT,
      query:
        'mutation { remember(input: { text: "The office is in Lisbon" }) { fact { id } errors { message } } }',
    });
    const { recall } = await salient.ask<{
      recall: { items: { scores: { vector: number | null }; node: { id: string } }[] };
    }>({
      key: keys.AGENT,
      query: `{ recall(input: { query: "The office is in Lisbon", sources: [FACT] }) {
        items { scores { vector } node { ... on Fact { id } } } } }`,
    });
    expect(recall.items[0]!.node).toEqual(remember.fact);
    expect(recall.items[0]!.scores.vector).toBeCloseTo(1, 2);
  } finally {
    await salient[Symbol.asyncDispose]();
    await given[Symbol.asyncDispose]();
  }
}, 120_000);
