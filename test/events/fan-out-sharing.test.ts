import { parse } from 'graphql';
import { type Client, createClient } from 'graphql-ws';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { SharedResults } from '../../src/server/sharing.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { countStatements } from '../support/database.js';

const QUERY = `subscription ($filter: EventFilter, $text: Boolean = true) {
  memoryEvents(filter: $filter) {
    cursor
    ... on MemoryEvent { type actor { kind id } fact { id text @include(if: $text) agent { id } } }
  }
}`;

interface Item {
  readonly cursor: string;
  readonly type?: string;
  readonly actor?: { kind: string; id: string | null };
  readonly fact?: { id: string; text?: string } | null;
}

let salient: TestApp;
let url: string;
const clients: Client[] = [];

beforeAll(async () => {
  salient = await testApp();
  ({ url } = await salient.app.listen());
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.dispose();
});
afterAll(() => salient[Symbol.asyncDispose]());

/** A live subscription; its items without checkpoints. */
async function follow(key: string, variables: Record<string, unknown> = {}, query = QUERY): Promise<Item[]> {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${key}` },
    retryAttempts: 0,
  });
  clients.push(client);
  const items: Item[] = [];
  await new Promise<void>((resolve, reject) => {
    client.subscribe<{ memoryEvents: Item }>(
      { query, variables },
      {
        next: ({ data, errors }) => {
          if (errors || !data) reject(new Error(JSON.stringify(errors)));
          else if (data.memoryEvents.type) items.push(data.memoryEvents);
          resolve();
        },
        error: reject,
        complete: () => {},
      },
    );
  });
  return items;
}

async function remember(key: string, text: string, input: Record<string, unknown> = {}): Promise<string> {
  const { remember } = await salient.ask<{ remember: { fact: { id: string } } }>({
    key,
    query: 'mutation ($input: RememberInput!) { remember(input: $input) { fact { id } errors { message } } }',
    variables: { input: { text, ...input } },
  });
  return remember.fact.id;
}

async function anotherKey(tenant: TestTenant, role: string): Promise<string> {
  const { createApiKey } = await salient.ask<{ createApiKey: { secret: string } }>({
    key: tenant.keys.TENANT_ADMIN,
    query:
      'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret errors { message } } }',
    variables: { input: { role, name: 'another' } },
  });
  return createApiKey.secret;
}

/** How often facts were read to be shown while `work` ran. */
async function factReads(work: () => Promise<unknown>): Promise<number> {
  const statements = await countStatements(salient.app.services.db, work);
  return statements.filter((sql) => /\bf\.text\b/.test(sql) && /\bfrom fact\b/i.test(sql)).length;
}

describe('an event', () => {
  it('is resolved once for any number of subscribers who see the same, whatever they filter by', async () => {
    const acme = await salient.tenant();
    const keys = [acme.keys.TENANT_ADMIN, await anotherKey(acme, 'TENANT_ADMIN')];
    const told = async (key: string, text: string, lists: Item[][]) => {
      let id = '';
      const reads = await factReads(async () => {
        id = await remember(key, text);
        await expect
          .poll(() => lists.every((items) => items.some(({ fact }) => fact?.id === id)), { timeout: 20_000 })
          .toBe(true);
      });
      const events = lists.map((items) => items.filter(({ fact }) => fact?.id === id));
      return { reads, events };
    };
    const alone = await follow(keys[0] as string, { filter: { types: ['FACT_REMEMBERED'] } });
    const one = await told(acme.keys.AGENT, 'The first boiler is serviced in March', [alone]);
    expect(one.reads).toBeGreaterThan(0);
    const lists = [alone];
    for (let n = 1; n < 24; n++) {
      const filter = [null, { types: ['FACT_REMEMBERED', 'FACT_PINNED'] }, { agentId: acme.agentId }][n % 3];
      lists.push(await follow(keys[n % 2] as string, { filter }));
    }
    const many = await told(acme.keys.AGENT, 'The second boiler is serviced in May', lists);
    // A slow machine may hand it out in more than one go; without sharing there would be one more for each subscriber.
    expect(many.reads - one.reads).toBeLessThan(lists.length / 4);
    const [first] = many.events[0] as Item[];
    expect(first).toMatchObject({ fact: { text: 'The second boiler is serviced in May' } });
    for (const events of many.events) {
      expect(events.filter(({ type }) => type === 'FACT_REMEMBERED')).toEqual([first]);
    }
  });

  it('is resolved for each role, agent and user, and by what the document asks', async () => {
    const acme = await salient.tenant();
    const { TENANT_ADMIN, TENANT_AUDITOR, AGENT, USER } = acme.keys;
    const admin = await follow(TENANT_ADMIN);
    const auditor = await follow(TENANT_AUDITOR);
    const agent = await follow(AGENT);
    const user = await follow(USER);
    const bare = await follow(TENANT_ADMIN, { text: false });
    const renamed = await follow(TENANT_ADMIN, {}, QUERY.replace('fact {', 'fact: fact { kind'));
    const id = await remember(TENANT_ADMIN, 'The lift is inspected by Ms Okafor', { userId: acme.userId });
    const lists = [admin, auditor, agent, user, bare, renamed];
    await expect
      .poll(() => lists.map((items) => items.length > 0), { timeout: 20_000 })
      .toEqual(lists.map(() => true));
    for (const items of [admin, auditor, agent, user]) {
      expect(items[0]?.fact).toMatchObject({ id, text: 'The lift is inspected by Ms Okafor' });
    }
    expect(bare[0]?.fact).not.toHaveProperty('text');
    expect(renamed[0]?.fact).toMatchObject({ id, kind: 'FACT' });
    expect(admin[0]?.fact).not.toHaveProperty('kind');
  });

  it('names its actor to an administrator and to itself, and not to another agent who sees it at the same time', async () => {
    const acme = await salient.tenant();
    const admin = await follow(acme.keys.TENANT_ADMIN);
    const agent = await follow(acme.keys.AGENT);
    const other = await salient.ask<{ createAgent: { agent: { id: string } } }>({
      key: acme.keys.TENANT_ADMIN,
      query:
        'mutation { createAgent(input: { name: "Other", externalId: "agent-2" }) { agent { id } errors { message } } }',
    });
    const otherId = other.createAgent.agent.id;
    const { createApiKey } = await salient.ask<{ createApiKey: { secret: string } }>({
      key: acme.keys.TENANT_ADMIN,
      query:
        'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret errors { message } } }',
      variables: { input: { role: 'AGENT', name: 'other', agentId: otherId } },
    });
    const itself = await follow(createApiKey.secret);
    const id = await remember(acme.keys.TENANT_ADMIN, 'Parcels are left at the side door');
    await salient.ask({
      key: createApiKey.secret,
      query: 'mutation ($id: ID!) { pinFact(input: { id: $id }) { fact { id } errors { message } } }',
      variables: { id },
    });
    const pins = () =>
      [admin, itself, agent].map((items) => items.find(({ type }) => type === 'FACT_PINNED')?.actor);
    await expect.poll(() => pins().every(Boolean), { timeout: 20_000 }).toBe(true);
    const pinner = { kind: 'AGENT', id: otherId };
    expect(pins()).toEqual([pinner, pinner, { kind: 'AGENT', id: null }]);
  });
});

describe('shared results', () => {
  const document = parse(QUERY);
  const args = (variableValues: Record<string, unknown>, of = document) => ({
    schema: undefined as never,
    document: of,
    variableValues,
  });

  it('are told apart by the reader, the document and the variables of its selection, not by the filter', () => {
    const results = new SharedResults();
    const key = results.keyOf(args({ filter: { types: ['FLASHBULB'] } }), 'admin');
    expect(results.keyOf(args({ filter: null }), 'admin')).toBe(key);
    expect(results.keyOf(args({}), 'admin')).toBe(key);
    expect(results.keyOf(args({}), 'agent')).not.toBe(key);
    expect(results.keyOf(args({}, parse(QUERY)), 'admin')).not.toBe(key);
    const values = [{}, { text: true }, { text: false }, { text: null }].map((variables) =>
      results.keyOf(args(variables), 'admin'),
    );
    expect(new Set(values).size).toBe(4);
  });

  it('keep a variable apart that the filter and the selection have in common', () => {
    const results = new SharedResults();
    const common = parse(
      'subscription ($on: Boolean!) { memoryEvents(filter: { live: $on }) { cursor @include(if: $on) } }',
    );
    expect(results.keyOf(args({ on: true }, common), '')).not.toBe(
      results.keyOf(args({ on: false }, common), ''),
    );
    const inFragment = parse(
      'subscription ($n: Int) { ...F } fragment F on Subscription { memoryEvents { fact { history(first: $n) { edges { cursor } } } } }',
    );
    expect(results.keyOf(args({ n: 1 }, inFragment), '')).not.toBe(
      results.keyOf(args({ n: 2 }, inFragment), ''),
    );
    const directive = parse('subscription ($on: Boolean!) { memoryEvents @include(if: $on) { cursor } }');
    expect(results.keyOf(args({ on: true }, directive), '')).not.toBe(
      results.keyOf(args({ on: false }, directive), ''),
    );
  });

  it('serve one item alone, and nobody who comes later', async () => {
    const results = new SharedResults();
    let resolved = 0;
    const resolve = async () => ({ data: { n: ++resolved } });
    const item = {};
    const [first, second] = [results.get(item, 'a', 1, resolve), results.get(item, 'a', 1, resolve)];
    expect(await first).toBe(await second);
    expect((await results.get(item, 'b', 1, resolve)).data).toEqual({ n: 2 });
    expect((await results.get({}, 'a', 1, resolve)).data).toEqual({ n: 3 });
    await expect
      .poll(async () => (await results.get(item, 'a', 1, resolve)).data, { timeout: 20_000 })
      .not.toEqual({ n: 1 });
  });

  it('serve nobody who asks after a write', async () => {
    const results = new SharedResults();
    let resolved = 0;
    const resolve = async () => ({ data: { n: ++resolved } });
    const item = {};
    const before = results.get(item, 'a', 1, resolve);
    const [after, again] = [results.get(item, 'a', 2, resolve), results.get(item, 'a', 2, resolve)];
    expect((await before).data).toEqual({ n: 1 });
    expect((await after).data).toEqual({ n: 2 });
    expect(await again).toBe(await after);
  });

  it('are not kept in use by a process that is too busy to run its timers', async () => {
    const results = new SharedResults();
    const item = {};
    const first = results.get(item, 'a', 1, async () => ({ data: { n: 1 } }));
    const begun = performance.now();
    while (performance.now() - begun < 300);
    const later = results.get(item, 'a', 1, async () => ({ data: { n: 2 } }));
    expect([(await first).data, (await later).data]).toEqual([{ n: 1 }, { n: 2 }]);
  });
});
