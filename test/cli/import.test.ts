import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ApiClient } from '../../src/cli/api-client.js';
import { parseConversation, readConversations } from '../../src/cli/conversation-file.js';
import { importCommand, importConversations } from '../../src/cli/import.js';
import { openTarget } from '../../src/cli/import-target.js';
import { Importer } from '../../src/cli/importer.js';
import { Progress } from '../../src/cli/progress.js';
import { ADMIN_KEY, type TestApp, testApp } from '../support/app.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let salient: TestApp;
let url: string;
let directory: string;
beforeAll(async () => {
  salient = await testApp();
  ({ url } = await salient.app.listen());
  directory = await mkdtemp(join(tmpdir(), 'salient-import-'));
});
afterAll(async () => {
  await salient?.[Symbol.asyncDispose]();
  if (directory) await rm(directory, { recursive: true, force: true });
});

let tenants = 0;
const newSlug = () => `import-${process.pid}-${Date.now()}-${tenants++}`;

const message = (session: number, number: number, text = `We agreed on plan ${session}.${number}`) => ({
  session,
  sessionDateTime: `1:0${session} pm on ${session} May, 2023`,
  speaker: number % 2 === 0 ? 'Ada' : 'Ben',
  diaId: `D${session}:${number}`,
  text,
});
const conversation = (sessions: number, each: number) => ({
  id: 'talk',
  messages: Array.from({ length: sessions * each }, (_, i) =>
    message(1 + Math.floor(i / each), 1 + (i % each)),
  ),
});

async function fileOf(name: string, content: unknown): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  return path;
}

/** Runs the command against the server over HTTP; returns what it told. */
async function run(slug: string, args: string[], input?: string): Promise<string> {
  let told = '';
  const progress = new Progress({
    write: (text: string) => {
      told += text;
      return true;
    },
  });
  await importCommand(
    [...args, '--url', url, '--key', ADMIN_KEY, '--tenant', slug, '--agent', 'desk', '--user', 'ada'],
    {},
    { progress, ...(input === undefined ? {} : { input: Readable.from([input]) }) },
  );
  return told;
}

/** Everything that an import can have written: messages, facts, events, audits. */
async function memoryOf(slug: string) {
  const { tenant, eventLog } = await salient.ask<{
    tenant: { sessions: { edges: { node: Session }[] }; facts: { totalCount: number } };
    eventLog: { endCursor: string };
  }>({
    key: ADMIN_KEY,
    tenant: slug,
    query: `{ tenant { facts(first: 1) { totalCount } sessions(first: 5) { edges { node { externalId messageCount minedCount
      agent { externalId } user { externalId }
      messages(first: 20) { edges { node { id externalId role speaker content sentAt } } } } } } }
      eventLog(first: 500) { endCursor } }`,
  });
  return {
    sessions: tenant.sessions.edges.map(({ node }) => node),
    facts: tenant.facts.totalCount,
    eventLog,
  };
}

interface Session {
  readonly externalId: string;
  readonly messageCount: number;
  readonly minedCount: number;
  readonly messages: { edges: { node: Record<string, unknown> & { externalId: string } }[] };
}

interface FoundMessage {
  readonly externalId: string;
  readonly content: string;
  readonly session: { readonly externalId: string };
}

const idsOf = (session: Session | undefined) =>
  session?.messages.edges.map(({ node }) => node.externalId) ?? [];

describe('salient import', () => {
  test('keeps sessions, speakers, times and captions, learns facts, and changes nothing the second time', async () => {
    const slug = newSlug();
    const given = conversation(2, 3);
    Object.assign(given.messages[1] as object, { imageCaption: 'a photo of a red boat' });
    const path = await fileOf('talk.json', given);
    expect(await run(slug, [path])).toContain('6 messages added, 0 were there already, in 2 sessions');
    const first = await memoryOf(slug);
    expect(first.sessions.map(({ externalId }) => externalId)).toEqual(['talk/1', 'talk/2']);
    expect(first.sessions[0]).toMatchObject({
      messageCount: 3,
      minedCount: 3,
      agent: { externalId: 'desk' },
      user: { externalId: 'ada' },
    });
    expect(first.sessions[0]?.messages.edges[1]?.node).toMatchObject({
      externalId: 'D1:2',
      role: 'USER',
      speaker: 'Ada',
      content: 'We agreed on plan 1.2 [shares a photo of a red boat]',
      sentAt: '2023-05-01T13:01:00.000Z',
    });
    expect(first.facts).toBeGreaterThan(0);
    expect(await run(slug, [path])).toContain('0 messages added, 6 were there already');
    expect(await memoryOf(slug)).toEqual(first);
  });

  test('of whole conversations, twice without a change: every message is there once, and is found by what it says', {
    timeout: 300_000,
  }, async () => {
    const slug = newSlug();
    const names = ['clinic', 'harbour'];
    const talks = await mkdtemp(join(directory, 'talks-'));
    const data = new URL('../recall/data/', import.meta.url);
    for (const name of names) await cp(new URL(`${name}.json`, data), join(talks, `${name}.json`));
    const given = await readConversations(talks);
    const messages = given.flatMap(({ sessions }) =>
      sessions.flatMap(({ externalId, messages }) =>
        messages.map((each) => ({ session: externalId, ...each })),
      ),
    );
    expect(messages.length).toBe(150);
    expect(await run(slug, [talks])).toContain(`${messages.length} messages added, 0 were there already`);
    const first = await memoryOf(slug);
    expect(await run(slug, [talks])).toContain(`0 messages added, ${messages.length} were there already`);
    expect(await memoryOf(slug)).toEqual(first);

    const { client, agentId, userId } = await openTarget(ApiClient.inProcess(salient.app, ADMIN_KEY), {
      tenant: slug,
      agent: 'desk',
      user: 'ada',
    });
    const missed: string[] = [];
    const look = async ({ content, externalId, session }: (typeof messages)[number]) => {
      const { recall } = await client.ask<{ recall: { items: { node: FoundMessage }[] } }>(
        `query ($input: RecallInput!) { recall(input: $input) { items { node {
           ... on Message { externalId content session { externalId } } } } } }`,
        { input: { query: content, agentId, userId, k: 10, sources: ['MESSAGE'], mode: 'OBSERVE' } },
      );
      const found = recall.items.some(
        ({ node }) => node.externalId === externalId && node.session.externalId === session,
      );
      if (!found) missed.push(`${session} ${externalId}`);
    };
    for (let from = 0; from < messages.length; from += 10)
      await Promise.all(messages.slice(from, from + 10).map(look));
    expect(missed).toEqual([]);
  });

  test('goes on where it was broken off, in order', async () => {
    const slug = newSlug();
    const whole = parseConversation('talk.json', JSON.stringify(conversation(3, 4)));
    const target = await openTarget(ApiClient.inProcess(salient.app, ADMIN_KEY), {
      tenant: slug,
      agent: 'desk',
      user: 'ada',
    });
    // A process that dies has sent some batches whole: of one session all, of another the beginning.
    const dying = new Importer(target, { source: 'talk.json', extract: 'NOW' });
    const [one, two] = whole.sessions;
    for (const each of one?.messages ?? []) await dying.add('talk/1', each);
    for (const each of two?.messages.slice(0, 2) ?? []) await dying.add('talk/2', each);
    await dying.flush();
    for (const each of two?.messages.slice(2) ?? []) await dying.add('talk/2', each);
    await importConversations(target, [whole], 'NOW', new Progress({ write: () => true }));
    const { sessions } = await memoryOf(slug);
    expect(sessions.map(idsOf)).toEqual(
      [1, 2, 3].map((session) => [1, 2, 3, 4].map((number) => `D${session}:${number}`)),
    );
    expect(sessions.every(({ messageCount, minedCount }) => messageCount === minedCount)).toBe(true);
  });

  test('names file, line and field of what is wrong, and writes nothing then', async () => {
    const slug = newSlug();
    const fault = async (name: string, content: unknown) => run(slug, [await fileOf(name, content)]);
    await expect(fault('broken.json', '{\n "messages": [\n  oops]}')).rejects.toThrow(
      /broken\.json:3: not JSON/,
    );
    const bad = conversation(1, 3);
    Object.assign(bad.messages[2] as object, { sessionDateTime: 'yesterday' });
    await expect(fault('bad.json', bad)).rejects.toThrow(
      /bad\.json:20: messages\.2\.sessionDateTime: must be/,
    );
    const twice = conversation(1, 2);
    Object.assign(twice.messages[1] as object, { diaId: 'D1:1' });
    await expect(fault('twice.json', twice)).rejects.toThrow(/twice\.json:11: messages\.1: its id is twice/);
    await expect(run(slug, [join(directory, 'missing.json')])).rejects.toThrow('no such file');
    const { data } = await salient.send<{ tenant: unknown }>({
      key: ADMIN_KEY,
      query: `query ($slug: String!) { tenant(slug: $slug) { id } }`,
      variables: { slug },
    });
    expect(data?.tenant).toBeNull();
  });

  test('takes lines of JSON from standard input, the same lines once', async () => {
    const slug = newSlug();
    const lines = [
      { session: 's', role: 'user', content: 'I prefer tabs over spaces', externalId: 'm1' },
      { session: 't', role: 'assistant', content: 'Noted.', speaker: 'Bot' },
      { session: 's', role: 'user', content: 'ok' },
      { session: 's', role: 'user', content: 'ok' },
    ];
    const input = lines.map((line) => JSON.stringify(line)).join('\n\n');
    expect(await run(slug, ['-'], input)).toContain('4 messages added');
    const first = await memoryOf(slug);
    expect(first.sessions.find(({ externalId }) => externalId === 's')?.messageCount).toBe(3);
    expect(await run(slug, ['-'], input)).toContain('0 messages added, 4 were there already');
    expect(await memoryOf(slug)).toEqual(first);
  });

  test('tells the line of a message that cannot be kept, and its content to nobody', async () => {
    const line = (content: string) => JSON.stringify({ session: 's', role: 'user', content });
    const refused = run(newSlug(), ['-'], [line('fine'), line('secret\u0000word')].join('\n'));
    await expect(refused).rejects.toThrow(/standard input:2: BAD_INPUT/);
    await expect(refused).rejects.not.toThrow(/secret/);
    await expect(run(newSlug(), ['-'], '{"session": "s"}')).rejects.toThrow(/standard input:1: role/);
  });

  test('refuses what it does not know', async () => {
    await expect(importCommand(['a.json', '--nonsense'], {})).rejects.toMatchObject({ code: 'USAGE' });
    await expect(importCommand([], {})).rejects.toMatchObject({ code: 'USAGE' });
    const path = await fileOf('plain.json', conversation(1, 1));
    await expect(importCommand([path, '--url', url, '--key', ADMIN_KEY], {})).rejects.toThrow('--tenant');
    await expect(importCommand([path, '--url', 'nowhere', '--key', 'k'], {})).rejects.toThrow('--url');
  });
});
