import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Kind, parse } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_KEY, type TestApp, testApp } from '../support/app.js';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const examples = [...readme.matchAll(/```graphql\n([\s\S]*?)```/g)].map((match) => match[1] as string);

let salient: TestApp;
beforeAll(async () => {
  salient = await testApp();
});
afterAll(() => salient[Symbol.asyncDispose]());

test("the README's examples work, in their order", async () => {
  const slug = `readme-${Date.now()}`;
  const results: Record<string, unknown>[] = [];
  const found = (path: RegExp): string => path.exec(JSON.stringify(results))?.[1] ?? '';
  for (const example of examples) {
    const query = example.replace('"acme"', JSON.stringify(slug));
    const [definition] = parse(query).definitions;
    const operation = definition?.kind === Kind.OPERATION_DEFINITION ? definition.operation : undefined;
    if (operation === 'subscription') {
      expect(await firstEvent(query, found(/"secret":"([^"]+)"/))).toMatchObject({
        data: { importanceChanged: { __typename: 'ImportanceChange', cause: 'INGEST' } },
      });
      continue;
    }
    const secret = found(/"secret":"([^"]+)"/);
    const asAdministrator = query.includes('owner: { tenant: true }');
    const caller =
      secret && !asAdministrator
        ? { key: secret }
        : { key: ADMIN_KEY, ...(results.length > 0 ? { tenant: slug } : {}) };
    const variables = {
      agentId: found(/"agent":\{"id":"([^"]+)"/),
      userId: found(/"user":\{"id":"([^"]+)"/),
    };
    results.push(
      await salient.ask<Record<string, unknown>>({ ...caller, query, variables: used(query, variables) }),
    );
  }
  const all = Object.assign({}, ...results);
  expect(all).toMatchObject({
    recall: { items: expect.arrayContaining([expect.objectContaining({ rank: 1 })]) },
    previewSalienceProfile: { affected: expect.any(Number) },
    setSalienceProfile: { rescoreJob: { id: expect.any(String) } },
    effectiveSalienceProfile: { interests: [{ topic: 'someone is allergic to a food', origin: 'TENANT' }] },
  });
  expect(examples.length).toBeGreaterThanOrEqual(10);
});

test('a line of JSON is imported from standard input as the README says', { timeout: 180_000 }, async () => {
  const command = /```sh\n(echo '\{"session"[\s\S]*?)```/.exec(readme)?.[1] as string;
  const directory = await mkdtemp(join(tmpdir(), 'salient-readme-'));
  const run = async () => {
    // The tests have built what `npm run salient` would build.
    const built = command.replace('npm run --silent salient --', 'node dist/main.js');
    expect(built).not.toBe(command);
    const { PATH } = process.env;
    const env = { PATH, SALIENT_DATA_DIR: directory, SALIENT_EMBEDDING: 'fake' };
    return (await promisify(execFile)('bash', ['-c', built], { env })).stderr;
  };
  try {
    expect(await run()).toContain('1 messages added, 0 were there already, in 1 sessions');
    expect(await run()).toContain('0 messages added, 1 were there already, in 1 sessions');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test('the table of settings has every variable that is read', () => {
  const source = readFileSync(new URL('../../src/config/env.ts', import.meta.url), 'utf8');
  const variables = [...source.matchAll(/read\('([A-Z_]+)'\)/g)].map((match) => match[1]);
  expect(variables.length).toBeGreaterThan(5);
  expect(variables.filter((name) => !new RegExp(`^\\| \`${name}\` +\\|`, 'm').test(readme))).toEqual([]);
});

/** Only the variables that a document declares. */
function used(query: string, variables: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => query.includes(`$${name}:`)));
}

async function firstEvent(query: string, key: string): Promise<unknown> {
  const response = await salient.app.fetch(
    new Request('http://salient/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${key}`,
      },
      body: JSON.stringify({ query }),
    }),
  );
  const reader = (response.body as ReadableStream<Uint8Array<ArrayBuffer>>)
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
    .getReader();
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error('the stream ended');
    text += value;
    const data = /^data: (\{.*\})$/m.exec(text)?.[1];
    if (data) {
      await reader.cancel();
      return JSON.parse(data);
    }
  }
}
