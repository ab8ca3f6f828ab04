import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../src/schema/index.js';
import { freePort, type Item, openTenant, readLog, remember, ServerProcess } from '../e2e/server-process.js';

const guide = readFileSync(new URL('../../docs/subscriptions.md', import.meta.url), 'utf8');
const block = (language: string) =>
  [...guide.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    (match) => match[1] as string,
  );

/** What a program writes around the client of the guide: it tells each item, and why it ended. */
const PROGRAM = `
import { follow } from './client.mjs';
const [url, key, after] = process.argv.slice(2);
await follow({ url, key, after, onItem: (item) => console.log(JSON.stringify(item)) }).catch((reason) => {
  console.log(JSON.stringify({ ended: reason.map(({ extensions }) => extensions.code) }));
});
`;
const hasCurl = spawnSync('curl', ['--version']).status === 0;
const wait = { timeout: 60_000, interval: 50 };

let directory: string;
let environment: Record<string, string>;
let server: ServerProcess;
let key: string;
const programs: ChildProcess[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salient-guide-'));
  await symlink(
    fileURLToPath(new URL('../../node_modules', import.meta.url)),
    join(directory, 'node_modules'),
  );
  await writeFile(join(directory, 'client.mjs'), block('js').join('\n'));
  await writeFile(join(directory, 'program.mjs'), PROGRAM);
  environment = { PORT: String(await freePort()), SALIENT_DATA_DIR: join(directory, 'data') };
  server = await ServerProcess.start(environment);
  key = await openTenant(server, 'guide');
}, 180_000);
afterAll(async () => {
  for (const program of programs) program.kill('SIGKILL');
  await server?.[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

/** Runs the guide's client as a program of its own; its items without checkpoints, as they come. */
function runClient(secret: string, after: string): { items: Item[]; ended: () => string[] | undefined } {
  const url = `${server.url.replace('http', 'ws')}/graphql`;
  const program = spawn(process.execPath, [join(directory, 'program.mjs'), url, secret, after], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  programs.push(program);
  const items: Item[] = [];
  let ended: string[] | undefined;
  createInterface({ input: program.stdout }).on('line', (line) => {
    const told = JSON.parse(line) as Item & { ended?: string[] };
    if (told.ended) ended = told.ended;
    else if (told.__typename !== 'FeedCheckpoint') items.push(told);
  });
  return { items, ended: () => ended };
}

const cursorsOf = (items: readonly Item[]) => items.map(({ cursor }) => cursor);
const state = async (...texts: string[]) => {
  for (const text of texts) await remember(server, key, text);
};

describe('the guide to subscriptions', { timeout: 180_000 }, () => {
  test('has a client that misses and repeats nothing while the server is restarted, gently and not', async () => {
    await state('The lighthouse was painted in May', 'Ferries leave at nine');
    const { items } = runClient(key, 'earliest');
    await expect.poll(() => items.length, wait).toBeGreaterThanOrEqual(4);
    for (const [signal, texts] of [
      ['SIGTERM', ['The harbour master is called Odile', 'Storm flags are red']],
      ['SIGKILL', ['Anchors are tested in autumn', 'Ropes are kept in the north shed']],
    ] as const) {
      // Not all of it is delivered when the server ends.
      await state(`The buoys were counted before the ${signal}`);
      await server.end(signal);
      server = await ServerProcess.start(environment);
      await state(...texts);
      const log = await readLog(server, key, 'earliest');
      await expect.poll(() => items.at(-1)?.cursor, wait).toBe(log.at(-1)?.cursor);
      expect(cursorsOf(items)).toEqual(cursorsOf(log));
    }
  });

  test('has a client that gives up where trying again is no use', async () => {
    const bad = runClient(key, 'nonsense');
    await expect.poll(bad.ended, wait).toEqual(['BAD_INPUT']);
  });

  test('has documents that the server takes', async () => {
    const documents = block('graphql');
    expect(documents.length).toBeGreaterThan(0);
    for (const document of documents) expect(validate(schema, parse(document))).toEqual([]);
    const { eventLog } = await server.ask<{
      eventLog: { items: Item[]; feedCursor: string; endCursor: string };
    }>(documents[0] as string, { after: 'earliest' }, key);
    expect(eventLog.feedCursor).toBe(eventLog.endCursor);
  });

  test.runIf(hasCurl)('has a command that follows without a library', async () => {
    const [command] = block('sh');
    const script = (command as string)
      .replace('http://127.0.0.1:4000', server.url)
      .replace('curl -N', 'curl -sN');
    const shell = spawn('sh', ['-c', script], {
      env: { PATH: process.env['PATH'], KEY: key },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    programs.push(shell);
    let text = '';
    shell.stdout.on('data', (data) => {
      text += String(data);
    });
    await expect.poll(() => text, wait).toContain('"type":"FACT_REMEMBERED"');
    expect(text).toContain('event: next');
    shell.kill('SIGKILL');
  });

  test('follows on from the log by its feedCursor', async () => {
    const log = await readLog(server, key, 'earliest');
    await state('The museum opens on Sundays');
    const { items } = runClient(key, log.at(-1)?.cursor as string);
    await expect.poll(() => items.length, wait).toBeGreaterThanOrEqual(2);
    expect(items[0]).toMatchObject({ type: 'FACT_REMEMBERED' });
  });
});
