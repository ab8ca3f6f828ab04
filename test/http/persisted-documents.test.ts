import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/index.js';
import { Probe, sse } from './support.js';

const directory = mkdtempSync(join(tmpdir(), 'salient-documents-'));
const WHO = 'query Who { who }';
const COUNT = 'subscription Count { count(to: 2) }';
const hash = (text: string) => createHash('sha256').update(text).digest('hex');
writeFileSync(join(directory, 'who.graphql'), WHO);
writeFileSync(join(directory, 'count.gql'), COUNT);
writeFileSync(join(directory, 'notes.txt'), 'not a document');
const file = join(directory, 'documents.json');
writeFileSync(file, JSON.stringify({ who: WHO, count: COUNT }));

const both = new Probe({ persistedDocuments: directory });
const only = new Probe({ persistedDocuments: file, persistedOnly: 'on' });
afterAll(async () => {
  await both[Symbol.asyncDispose]();
  await only[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

type Body = Record<string, unknown>;
interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}

const transports: Record<string, (probe: Probe, body: Body) => Promise<Answer>> = {
  HTTP: async (probe, body) => (await probe.post(body)).json() as Promise<Answer>,
  SSE: async (probe, body) => {
    let first: Answer = {};
    for await (const { event, data } of sse(await probe.post(body, { accept: 'text/event-stream' })))
      if (event === 'next' && Object.keys(first).length === 0) first = data as Answer;
    return first;
  },
  WebSocket: async (probe, body) => {
    const client = await probe.socket();
    return new Promise((resolve, reject) => {
      client.subscribe({ query: '', ...body } as never, {
        next: (result) => resolve(result as Answer),
        error: (error) => (Array.isArray(error) ? resolve({ errors: error as never }) : reject(error)),
        complete: () => {},
      });
    });
  },
};

describe.each(Object.entries(transports))('over %s', (name, send) => {
  const codeOf = ({ errors }: Answer) => errors?.[0]?.extensions.code;

  it('a document is run by its hash or its id', async () => {
    const persistedQuery = { version: 1, sha256Hash: hash(WHO) };
    expect((await send(both, { extensions: { persistedQuery } })).data).toEqual({ who: 'good' });
    expect((await send(only, { documentId: 'who' })).data).toEqual({ who: 'good' });
    if (name !== 'HTTP') expect((await send(only, { documentId: 'count' })).data).toEqual({ count: 1 });
  });

  it('one that the server does not have is not found, whatever text comes with it', async () => {
    const persistedQuery = { version: 1, sha256Hash: hash('{ who }') };
    for (const probe of [both, only]) {
      const answer = await send(probe, { query: '{ who }', extensions: { persistedQuery } });
      expect(codeOf(answer)).toBe('PERSISTED_DOCUMENT_NOT_FOUND');
    }
  });

  it('any other is run, unless the configuration takes those alone', async () => {
    expect((await send(both, { query: '{ who }' })).data).toEqual({ who: 'good' });
    for (const query of ['{ who }', WHO, '{ __typename }', COUNT])
      expect(codeOf(await send(only, { query }))).toBe('PERSISTED_DOCUMENT_REQUIRED');
  });
});

it('a GET request names a document by its hash', async () => {
  const extensions = encodeURIComponent(JSON.stringify({ persistedQuery: { sha256Hash: hash(WHO) } }));
  const response = await fetch(`${await both.url()}/graphql?extensions=${extensions}`, {
    headers: { authorization: 'Bearer good' },
  });
  expect(await response.json()).toEqual({ data: { who: 'good' } });
});

it('documents that cannot be read or do not fit the schema keep the server from starting', () => {
  const broken = join(directory, 'broken.json');
  for (const content of ['{ "a": "{ nothing }" }', '{ "a": "{ who" }', '{ "a": 1 }', 'no JSON']) {
    writeFileSync(broken, content);
    expect(() => new Probe({ persistedDocuments: broken })).toThrow(ConfigError);
  }
  expect(() => new Probe({ persistedDocuments: join(directory, 'missing') })).toThrow(ConfigError);
  expect(() => new Probe({ persistedOnly: 'on' })).toThrow(ConfigError);
});
