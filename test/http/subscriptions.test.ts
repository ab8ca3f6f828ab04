import { inspect } from 'node:util';
import { type Client, createClient } from 'graphql-ws';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Database, Transaction } from '../../src/db/index.js';
import { ADMIN_KEY, type TestApp, type TestTenant, testApp } from '../support/app.js';
import { sse } from './support.js';

const EVENTS = `subscription ($filter: EventFilter, $after: String) {
  memoryEvents(filter: $filter, after: $after) {
    __typename cursor
    ... on MemoryEvent { type at actor { kind id } subjectId agentId userId tenantId fact { id text } }
    ... on ImportanceChange { cause old new factId }
  }
}`;
const CHANGES = `subscription ($filter: ImportanceFilter, $after: String) {
  importanceChanged(filter: $filter, after: $after) {
    __typename cursor
    ... on ImportanceChange { factId cause old new fact { id text importance } at actor { kind id } }
  }
}`;
const LOG = `query ($after: String, $first: Int, $filter: EventFilter) {
  eventLog(after: $after, first: $first, filter: $filter) {
    items { __typename cursor ... on MemoryEvent { type at fact { id } } ... on ImportanceChange { cause old new factId } }
    endCursor hasMore feedCursor
  }
}`;

interface Item {
  __typename: 'MemoryEvent' | 'ImportanceChange' | 'FeedCheckpoint';
  cursor: string;
  type?: string;
  cause?: string;
  factId?: string;
  subjectId?: string;
  fact?: { id: string; text: string; importance?: number } | null;
  [field: string]: unknown;
}
interface Log {
  items: Item[];
  endCursor: string;
  hasMore: boolean;
  feedCursor: string;
}

let salient: TestApp;
let url: string;
let acme: TestTenant;
const clients: Client[] = [];

beforeAll(async () => {
  salient = await testApp();
  ({ url } = await salient.app.listen());
  acme = await salient.tenant();
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.dispose();
});
afterAll(() => salient[Symbol.asyncDispose]());

/** A subscription over a WebSocket: its items as they come, without checkpoints, and how it ended. */
class Stream {
  readonly items: Item[] = [];
  readonly checkpoints: Item[] = [];
  readonly ended: Promise<unknown>;

  constructor(key: string, query: string, variables: Record<string, unknown> = {}, tenant?: string) {
    const client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${key}`, ...(tenant ? { tenant } : {}) },
      retryAttempts: 0,
    });
    clients.push(client);
    this.ended = new Promise((resolve) => {
      client.subscribe<Record<string, Item>>(
        { query, variables },
        {
          next: ({ data, errors }) => {
            if (errors) resolve(errors);
            for (const item of Object.values(data ?? {})) {
              (item.__typename === 'FeedCheckpoint' ? this.checkpoints : this.items).push(item);
            }
          },
          error: resolve,
          complete: () => resolve('complete'),
        },
      );
    });
  }

  /** Resolves when the stream is live: nothing that happens from then on is missed. */
  async live(): Promise<this> {
    await expect.poll(() => this.checkpoints.length, { timeout: 20_000 }).toBeGreaterThan(0);
    return this;
  }

  /** The first `count` items, once they have come. */
  async first(count: number): Promise<Item[]> {
    await expect.poll(() => this.items.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);
    return this.items.slice(0, count);
  }
}

async function remember(key: string, text: string, input: Record<string, unknown> = {}): Promise<string> {
  const { remember } = await salient.ask<{ remember: { fact: { id: string } } }>({
    key,
    query:
      'mutation ($input: RememberInput!) { remember(input: $input) { fact { id } errors { code message } } }',
    variables: { input: { text, ...input } },
  });
  return remember.fact.id;
}

async function forget(key: string, id: string): Promise<void> {
  await salient.ask({
    key,
    query:
      'mutation ($id: ID!) { forgetFact(input: { target: { id: $id } }) { forgottenId errors { message } } }',
    variables: { id },
  });
}

async function readLog(key: string, variables: Record<string, unknown> = {}): Promise<Log> {
  return (await salient.ask<{ eventLog: Log }>({ key, query: LOG, variables })).eventLog;
}

describe('subscriptions', () => {
  it("deliver a write's events in order, with the fact as it is", async () => {
    const stream = await new Stream(acme.keys.TENANT_ADMIN, EVENTS).live();
    const id = await remember(acme.keys.AGENT, 'The staging cluster runs in Helsinki', {
      userId: acme.userId,
    });
    const items = await stream.first(2);
    expect(items.map(({ __typename, type, cause }) => type ?? cause ?? __typename)).toEqual([
      'FACT_REMEMBERED',
      'INGEST',
    ]);
    expect(items[0]).toMatchObject({
      subjectId: id,
      tenantId: acme.id,
      agentId: acme.agentId,
      userId: acme.userId,
      fact: { id, text: 'The staging cluster runs in Helsinki' },
      actor: { kind: 'AGENT', id: acme.agentId },
    });
    expect(items[1]).toMatchObject({ factId: id, old: null, new: expect.any(Number) });
    // What the log has is what was delivered.
    const log = await readLog(acme.keys.TENANT_ADMIN, { after: stream.checkpoints[0]?.cursor });
    expect(log.items.map(({ cursor }) => cursor)).toEqual(items.map(({ cursor }) => cursor));
  });

  it('tell changes of importance by the filter', async () => {
    const [text, otherText] = ['Backups are kept for ninety days', 'The office cat is called Miso'];
    const id = await remember(acme.keys.TENANT_ADMIN, text);
    await remember(acme.keys.TENANT_ADMIN, otherText);
    const filter = { factIds: [id], causes: ['REAFFIRM'], minDelta: 0.5 };
    const stream = await new Stream(acme.keys.TENANT_ADMIN, CHANGES, { filter }).live();
    // Both are said again, as something that matters.
    for (const again of [otherText, text]) {
      await remember(acme.keys.TENANT_ADMIN, again, { hints: { interest: 1, challenge: 1, urgency: 1 } });
    }
    const [change] = await stream.first(1);
    expect(change).toMatchObject({
      __typename: 'ImportanceChange',
      factId: id,
      cause: 'REAFFIRM',
      fact: { id, text, importance: change?.new },
      actor: { kind: 'TENANT_ADMIN' },
    });
    expect(Number(change?.new) - Number(change?.old)).toBeGreaterThan(0.5);
    expect(stream.items).toHaveLength(1);
  });

  it('resume from any cursor without loss or repeat, over WebSocket, SSE and the log', async () => {
    const own = await salient.tenant();
    for (let n = 0; n < 4; n++)
      await remember(own.keys.AGENT, `Service number ${n} listens on port ${4000 + n}`);
    const all = (await readLog(own.keys.TENANT_ADMIN)).items;
    expect(all.length).toBeGreaterThanOrEqual(8);
    const cursors = all.map(({ cursor }) => cursor);

    const fromEarliest = new Stream(own.keys.TENANT_ADMIN, EVENTS, { after: 'earliest' });
    expect((await fromEarliest.first(all.length)).map(({ cursor }) => cursor)).toEqual(cursors);
    for (const place of [0, 3, all.length - 2]) {
      const resumed = new Stream(own.keys.TENANT_ADMIN, EVENTS, { after: cursors[place] });
      const rest = await resumed.first(all.length - place - 1);
      expect(rest.map(({ cursor }) => cursor)).toEqual(cursors.slice(place + 1));
    }

    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${own.keys.TENANT_ADMIN}`,
      },
      body: JSON.stringify({ query: EVENTS, variables: { after: cursors[1] } }),
    });
    const seen: string[] = [];
    for await (const { data } of sse(response)) {
      seen.push((data as { data: { memoryEvents: Item } }).data.memoryEvents.cursor);
      if (seen.length === all.length - 2) break;
    }
    expect(seen).toEqual(cursors.slice(2));
  });

  it('follow on from a read of the log: what comes later comes once', async () => {
    const own = await salient.tenant();
    await remember(own.keys.AGENT, 'Alerts go to the on-call phone');
    const filter = { types: ['FACT_REMEMBERED'] };
    const log = await readLog(own.keys.TENANT_ADMIN, { filter });
    const later = await remember(own.keys.AGENT, 'The database is upgraded in spring');
    const stream = new Stream(own.keys.TENANT_ADMIN, EVENTS, { filter, after: log.feedCursor });
    expect((await stream.first(1))[0]).toMatchObject({ fact: { id: later } });
  });

  it('never cross tenants, agents or users, with equal external ids', async () => {
    const [one, two] = [await salient.tenant(), await salient.tenant()];
    const follow = (tenant: TestTenant) =>
      Promise.all(
        (['TENANT_ADMIN', 'TENANT_AUDITOR', 'AGENT', 'USER'] as const).map((role) =>
          new Stream(tenant.keys[role], EVENTS, { filter: { types: ['FACT_REMEMBERED'] } }).live(),
        ),
      );
    const [ofOne, ofTwo] = [await follow(one), await follow(two)];
    const mine = await remember(one.keys.AGENT, 'Sam works from Lisbon', { userId: one.userId });
    const shared = await remember(one.keys.TENANT_ADMIN, 'The company was founded in Graz');
    const theirs = await remember(two.keys.AGENT, 'Sam works from Oslo', { userId: two.userId });
    const facts = async (stream: Stream | undefined, count: number) =>
      (await (stream as Stream).first(count)).map(({ fact }) => fact?.id);
    for (const stream of ofOne.slice(0, 3)) expect(await facts(stream, 2)).toEqual([mine, shared]);
    expect(await facts(ofOne[3], 1)).toEqual([mine]);
    for (const stream of ofTwo) expect(await facts(stream, 1)).toEqual([theirs]);
    // Nothing else came by the time that the last ones were delivered.
    expect(ofOne[3]?.items).toHaveLength(1);
    for (const stream of ofTwo) expect(stream.items).toHaveLength(1);
  });

  it('show a platform administrator the tenant that it names', async () => {
    const stream = await new Stream(ADMIN_KEY, EVENTS, {}, acme.slug).live();
    await remember(acme.keys.AGENT, 'The newsletter goes out on Fridays');
    expect((await stream.first(1))[0]).toMatchObject({ tenantId: acme.id });
    expect(await new Stream(ADMIN_KEY, EVENTS).ended).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
  });

  it('show no content of what is gone', async () => {
    const own = await salient.tenant();
    const stream = await new Stream(own.keys.TENANT_ADMIN, EVENTS, {
      filter: { types: ['FACT_REMEMBERED'] },
    }).live();
    // Many times: the live stream was just delivered the text when the fact goes.
    for (let n = 0; n < 12; n++) {
      const id = await remember(own.keys.TENANT_ADMIN, `Combination ${n} of the safe is on a note`);
      await stream.first(n + 1);
      expect(stream.items[n]).toMatchObject({
        fact: { id, text: expect.stringContaining(`${n} of the safe`) },
      });
      await forget(own.keys.TENANT_ADMIN, id);
      const again = new Stream(own.keys.TENANT_ADMIN, EVENTS, { after: 'earliest' });
      const items = await again.first(3 * (n + 1));
      expect(JSON.stringify(items)).not.toContain('of the safe');
      expect(items.every(({ fact }) => fact === null || fact === undefined)).toBe(true);
      expect(items.some(({ __typename, factId }) => __typename === 'ImportanceChange' && factId === id)).toBe(
        true,
      );
    }
  });

  it('show no content that goes while it is being read for them', async () => {
    const own = await salient.tenant();
    const id = await remember(own.keys.TENANT_ADMIN, 'The spare key is under the third flowerpot');
    // Keeps the tenant followed; what the new subscriber is shown is the fact of the first event.
    await new Stream(own.keys.TENANT_ADMIN, EVENTS).live();
    const { db } = salient.app.services;
    const read: Database['readTenant'] = db.readTenant.bind(db);
    let forgotten = false;
    const reads = vi.spyOn(db, 'readTenant');
    reads.mockImplementation(async <T>(tenantId: string, work: (tx: Transaction) => Promise<T>) => {
      const result = await read(tenantId, work);
      // What shows the fact has been read and is about to be handed out: now it goes.
      if (!forgotten && inspect(result, { depth: 8 }).includes('third flowerpot')) {
        forgotten = true;
        await forget(own.keys.TENANT_ADMIN, id);
      }
      return result;
    });
    const stream = new Stream(own.keys.TENANT_ADMIN, EVENTS, { after: 'earliest' });
    const items = await stream.first(3);
    reads.mockRestore();
    expect(forgotten).toBe(true);
    expect(JSON.stringify(items)).not.toContain('flowerpot');
    expect(items.map(({ type, factId }) => type ?? factId)).toEqual([
      'FACT_REMEMBERED',
      id,
      'FACT_FORGOTTEN',
    ]);
  });

  it('end when their key is revoked', async () => {
    const own = await salient.tenant();
    const stream = await new Stream(own.keys.AGENT, EVENTS).live();
    const { tenant } = await salient.ask<{
      tenant: { apiKeys: { edges: { node: { id: string; role: string } }[] } };
    }>({
      key: own.keys.TENANT_ADMIN,
      query:
        'query ($slug: String!) { tenant(slug: $slug) { apiKeys(first: 10) { edges { node { id role } } } } }',
      variables: { slug: own.slug },
    });
    const key = tenant.apiKeys.edges.find(({ node }) => node.role === 'AGENT')?.node.id;
    await salient.ask({
      key: own.keys.TENANT_ADMIN,
      query: 'mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { apiKey { id } errors { message } } }',
      variables: { id: key },
    });
    expect(await stream.ended).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
  });

  it('are refused with bad arguments when they begin', async () => {
    const other = await salient.tenant();
    const refusal = async (
      query: string,
      variables: Record<string, unknown>,
      key = acme.keys.TENANT_ADMIN,
    ) => {
      const [error] = (await new Stream(key, query, variables).ended) as {
        path?: unknown;
        extensions: { code: string; inputPath?: unknown };
      }[];
      return error;
    };
    expect(await refusal(EVENTS, { after: 'nonsense' })).toMatchObject({
      path: ['memoryEvents'],
      extensions: { code: 'BAD_INPUT', inputPath: ['after'] },
    });
    expect(await refusal(EVENTS, { filter: { types: [] } })).toMatchObject({
      extensions: { code: 'BAD_INPUT' },
    });
    expect(await refusal(EVENTS, { filter: { agentId: other.agentId } })).toMatchObject({
      extensions: { code: 'NOT_FOUND', inputPath: ['filter', 'agentId'] },
    });
    expect(await refusal(CHANGES, { filter: { factIds: [acme.agentId] } })).toMatchObject({
      extensions: { code: 'NOT_FOUND' },
    });
    expect(await refusal(CHANGES, { filter: { agentId: other.agentId } }, acme.keys.AGENT)).toMatchObject({
      extensions: { code: 'FORBIDDEN' },
    });
    const foreign = (await readLog(other.keys.TENANT_ADMIN)).feedCursor;
    expect(await refusal(EVENTS, { after: foreign })).toMatchObject({
      extensions: { code: 'CURSOR_EXPIRED' },
    });
  });

  it('are refused when each event would cost too much, and so is a query', async () => {
    const many = 'edges(first: 100) { edges { node { source { name } target { name } relation weight } } }';
    const dear = `id history(first: 100) { edges { node { id ${many} } } }`;
    const [error] = (await new Stream(
      acme.keys.TENANT_ADMIN,
      `subscription { memoryEvents { cursor ... on MemoryEvent { fact { ${dear} } } } }`,
    ).ended) as { extensions: unknown }[];
    expect(error).toMatchObject({ extensions: { code: 'LIMIT_EXCEEDED' } });
    const answer = await salient.send({
      key: acme.keys.TENANT_ADMIN,
      query: `{ eventLog(first: 500) { items { cursor ... on MemoryEvent { fact { id sources(first: 100) { edges { node { id } } } } } } } }`,
    });
    expect(answer.errors?.[0]).toMatchObject({ extensions: { code: 'LIMIT_EXCEEDED' } });
  });

  it('leave nothing behind', async () => {
    for (const client of clients.splice(0)) await client.dispose();
    await expect
      .poll(() => salient.app.services.feed.stats(), { timeout: 20_000 })
      .toEqual({ tenants: 0, followers: 0 });
  });
});

describe('the event log', () => {
  it('is paged, and each role reads its part', async () => {
    const own = await salient.tenant();
    await remember(own.keys.AGENT, 'The invoice day is the fifth', { userId: own.userId });
    await remember(own.keys.TENANT_ADMIN, 'Postcards are sent in December');
    const whole = await readLog(own.keys.TENANT_AUDITOR, { after: 'earliest' });
    expect(whole).toMatchObject({ hasMore: false });
    const paged: Item[] = [];
    let after: string | undefined;
    for (let more = true; more; ) {
      const page = await readLog(own.keys.TENANT_ADMIN, { after, first: 1 });
      paged.push(...page.items);
      after = page.endCursor;
      more = page.hasMore;
    }
    expect(paged.map(({ cursor }) => cursor)).toEqual(whole.items.map(({ cursor }) => cursor));
    const ofUser = await readLog(own.keys.USER);
    expect(ofUser.items.length).toBeGreaterThan(0);
    expect(ofUser.items.length).toBeLessThan(whole.items.length);
    expect((await readLog(own.keys.AGENT)).items).toHaveLength(whole.items.length);
  });

  it('is for those with a key', async () => {
    const answer = await salient.send({ query: LOG });
    expect(answer.errors?.[0]).toMatchObject({ path: ['eventLog'], extensions: { code: 'UNAUTHENTICATED' } });
  });
});
