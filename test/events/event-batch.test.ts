import { type Client, createClient } from 'graphql-ws';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type EventRecord, inTenant, pruneEvents, readEvents } from '../../src/db/index.js';
import { pruneEventLog } from '../../src/events/index.js';
import type { TenantContext } from '../../src/tenancy/index.js';
import { type Caller, callersOf, type FactView, TestClock } from '../facts/support.js';
import { seeingClient } from '../facts/tables.js';
import { profileCallers } from '../profiles/support.js';
import { type ChangeView, changes, contextOf, ended } from '../rescoring/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 });

const CHANGES = `subscription ($filter: ImportanceFilter, $after: String) {
  importanceChanged(filter: $filter, after: $after) {
    __typename cursor ... on ImportanceChange { factId cause old new fact { id importance } actor { kind id } } } }`;
const EVENTS = `subscription ($filter: EventFilter, $after: String) {
  memoryEvents(filter: $filter, after: $after) {
    __typename cursor ... on MemoryEvent { type } ... on ImportanceChange { factId cause old new } } }`;

type Item = ChangeView & {
  readonly __typename: string;
  readonly type?: string;
  readonly fact?: { id: string; importance: number };
  readonly actor?: { kind: string; id: string | null };
};

const clock = new TestClock();
let salient: TestApp;
let url: string;
let owner: pg.Client;
let tenant: TestTenant;
let context: TenantContext;
let admin: Caller;
let agent: Caller;
let user: Caller;
/** Where the rescoring began, and what it told. */
let begun: string;
let all: ChangeView[];
let facts: { shared: FactView[]; agents: FactView[]; users: FactView[]; both: FactView[] };
const clients: Client[] = [];

/** Facts of four scopes, which a rescoring in one stretch changes: four batches of several changes each. */
beforeAll(async () => {
  salient = await testApp({ now: clock.now });
  ({ url } = await salient.app.listen());
  owner = await seeingClient();
  tenant = await salient.tenant();
  context = await contextOf(owner, tenant);
  ({ admin, agent, user } = callersOf(salient, tenant));
  const { agentId, userId } = tenant;
  const some = async (count: number, input: Record<string, unknown>) => {
    const made: FactView[] = [];
    for (let n = 0; n < count; n++)
      made.push(await admin.fact(`Patient safety ${'of every ward here '.repeat(n % 3)}${n}`, input));
    return made;
  };
  facts = {
    shared: await some(4, {}),
    agents: await some(3, { agentId }),
    users: await some(3, { userId }),
    both: await some(2, { agentId, userId }),
  };
  begun = (await changes(admin)).cursor;
  const { rescoreJob } = await profileCallers(salient, tenant).admin.set(
    { tenant: true },
    { interests: [{ topic: 'patient safety', level: 'CRITICAL' }], similarityThreshold: 0.1 },
  );
  expect(await ended(admin, rescoreJob!.id)).toMatchObject({ status: 'SUCCEEDED', changed: 12 });
  all = (await changes(admin, begun)).changes;
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.dispose();
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

const idsOf = (list: readonly { id: string }[]) => list.map(({ id }) => id).sort();
const told = (list: readonly ChangeView[]) => list.map(({ factId }) => factId).sort();

/** The first `count` items behind a cursor that a subscription brings, without checkpoints. */
async function subscribed(
  key: string,
  query: string,
  variables: Record<string, unknown>,
  count: number,
): Promise<Item[]> {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${key}` },
    retryAttempts: 0,
  });
  clients.push(client);
  const items: Item[] = [];
  for await (const { data, errors } of client.iterate<Record<string, Item>>({ query, variables })) {
    if (errors) throw new Error(JSON.stringify(errors));
    for (const item of Object.values(data ?? {})) if (item.__typename !== 'FeedCheckpoint') items.push(item);
    if (items.length >= count) break;
  }
  return items;
}

describe('the changes of a rescoring, kept a batch a row', () => {
  test('are events like any other: one for each fact, in order, with its own cursor', async () => {
    const { rows } = await owner.query(
      'SELECT cardinality(fact_ids) AS count FROM event_batch WHERE tenant_id = $1 ORDER BY last_seq',
      [context.id],
    );
    expect(rows.map(({ count }) => count)).toEqual([4, 3, 3, 2]);
    expect(told(all)).toEqual(idsOf(Object.values(facts).flat()));
    expect(new Set(all.map(({ cursor }) => cursor)).size).toBe(12);
    for (const change of all) {
      const fact = (await admin.find(change.factId))!;
      expect(change).toMatchObject({ cause: 'RESCORE', new: fact.importance });
      expect(change.new).toBeGreaterThan(change.old!);
    }
  });

  test.each([1, 2, 3, 5, 11])('join in pages of %d, wherever the borders fall', async (first) => {
    expect((await changes(admin, begun, first)).changes).toEqual(all);
  });

  test('resume at any of their cursors, in the log and in both subscriptions', async () => {
    const { admin: key } = { admin: tenant.keys.TENANT_ADMIN };
    for (const place of [0, 2, 3, 5, 8]) {
      const after = all[place]!.cursor;
      const rest = all.slice(place + 1);
      expect((await changes(admin, after)).changes).toEqual(rest);
      expect(await subscribed(key, CHANGES, { after }, rest.length)).toMatchObject(rest);
      const events = await subscribed(key, EVENTS, { after }, rest.length + 1);
      expect(events.slice(0, -1)).toMatchObject(rest);
      // The end of the job is told behind all of its changes.
      expect(events.at(-1)).toMatchObject({ type: 'RESCORE_FINISHED' });
    }
  });

  test("are told as Salient's own doing, with the fact as it is", async () => {
    const items = await subscribed(tenant.keys.TENANT_ADMIN, CHANGES, { after: begun }, 12);
    for (const { actor, fact, factId, new: importance } of items) {
      expect(actor).toEqual({ kind: 'SYSTEM', id: null });
      expect(fact).toEqual({ id: factId, importance });
    }
  });

  test('are seen by whom they concern: an agent its own and the shared, a user its own', async () => {
    const { shared, agents, users, both } = facts;
    expect(told((await changes(agent, begun)).changes)).toEqual(
      idsOf([...shared, ...agents, ...users, ...both]),
    );
    expect(told((await changes(user, begun)).changes)).toEqual(idsOf([...users, ...both]));
    const elsewhere = callersOf(salient, await salient.tenant()).admin;
    expect((await changes(elsewhere)).changes).toEqual([]);
    // Another agent: the shared ones and those of the user alone.
    const { createAgent } = await admin.query<{ createAgent: { agent: { id: string } } }>(
      'mutation { createAgent(input: { name: "Other" }) { agent { id } errors { message } } }',
    );
    const { createApiKey } = await admin.query<{ createApiKey: { secret: string } }>(
      `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret errors { message } } }`,
      { input: { role: 'AGENT', name: 'other', agentId: createAgent.agent.id } },
    );
    const seen = await subscribed(createApiKey.secret, CHANGES, { after: begun }, 7);
    expect(told(seen)).toEqual(idsOf([...shared, ...users]));
  });

  test('are filtered by agent, user, facts, cause and size', async () => {
    const { agentId, userId } = tenant;
    const { agents, users, both, shared } = facts;
    const deltas = all.map((change) => change.new - change.old!).sort((a, b) => a - b);
    const minDelta = deltas[6]!;
    expect(minDelta).toBeGreaterThan(deltas[0]!);
    const great = all.filter((change) => change.new - change.old! >= minDelta);
    const key = tenant.keys.TENANT_ADMIN;
    const wanted: [Record<string, unknown>, string[]][] = [
      [{ agentId }, idsOf([...agents, ...both])],
      [{ userId }, idsOf([...users, ...both])],
      [{ agentId, userId }, idsOf(both)],
      [{ factIds: [shared[1]!.id, both[0]!.id, users[2]!.id] }, idsOf([shared[1]!, both[0]!, users[2]!])],
      [{ causes: ['RESCORE'], minDelta }, told(great)],
    ];
    for (const [filter, ids] of wanted) {
      const items = await subscribed(key, CHANGES, { filter, after: begun }, ids.length);
      expect(told(items), JSON.stringify(filter)).toEqual(ids);
    }
    const { eventLog } = await admin.query<{ eventLog: { items: Item[] } }>(
      `query ($filter: EventFilter, $after: String) { eventLog(filter: $filter, after: $after) {
         items { __typename cursor ... on ImportanceChange { factId } } } }`,
      { filter: { types: ['IMPORTANCE_CHANGED'], agentId }, after: begun },
    );
    expect(told(eventLog.items)).toEqual(idsOf([...agents, ...both]));
  });

  test('are all read in statements that look at fewer events than a batch holds', async () => {
    const read = async (limit: number, span: number): Promise<Partial<EventRecord>[]> => {
      const found: Partial<EventRecord>[] = [];
      let after: bigint | 'floor' = 'floor';
      for (;;) {
        const page = (await inTenant(salient.app.services.db, context, (unit) =>
          readEvents(unit, { after, limit, span, selection: { range: {} } }),
        ))!;
        expect(page.events.length).toBeLessThanOrEqual(limit);
        found.push(
          ...page.events.map(({ seq, type, factId, oldValue, newValue }) => ({
            seq,
            type,
            factId,
            oldValue,
            newValue,
          })),
        );
        if (page.through >= page.stream.head) return found;
        expect(page.through).toBeGreaterThan(page.after);
        after = page.through;
      }
    };
    const whole = await read(10_000, 10_000);
    whole.forEach(({ seq }, place) => {
      expect(seq).toBe(BigInt(place + 1));
    });
    for (const [limit, span] of [
      [1, 3],
      [3, 1],
      [2, 2],
      [5, 3],
      [100, 4],
      [4, 100],
    ] as const)
      expect(await read(limit, span)).toEqual(whole);
  });
});

describe('retention', () => {
  test('drops old batches whole, leaves newer ones, and lets the cursors of the dropped expire', async () => {
    const elsewhere = await salient.tenant();
    const own = await contextOf(owner, elsewhere);
    const { admin: other } = callersOf(salient, elsewhere);
    const { admin: profiles } = profileCallers(salient, elsewhere);
    const save = async (level: string) => {
      const { rescoreJob } = await profiles.set(
        { tenant: true },
        { interests: [{ topic: 'patient safety', level }] },
      );
      expect(await ended(other, rescoreJob!.id)).toMatchObject({ status: 'SUCCEEDED', changed: 3 });
    };
    const batches = async () => {
      const { rows } = await owner.query<{ count: number }>(
        'SELECT count(*)::int FROM event_batch WHERE tenant_id = $1',
        [own.id],
      );
      return rows[0]!.count;
    };
    for (let n = 0; n < 3; n++) await other.fact(`Patient safety of ward${n}`);
    const before = (await changes(other)).cursor;
    await save('CRITICAL');
    const old = (await changes(other, before)).changes;
    clock.advanceHours(24 * 20);
    const between = (await changes(other)).cursor;
    await save('HIGH');
    const recent = (await changes(other, between)).changes;
    expect([old.length, recent.length, await batches()]).toEqual([3, 3, 2]);
    // Nothing is old enough yet.
    expect(await pruneEventLog(salient.app.services, own)).toBe(0);
    clock.advanceHours(24 * 15);
    // A call that may drop two events has to take the batch that they end in as a whole.
    const cut = new Date(clock.now().getTime() - 30 * 24 * 3_600_000);
    let dropped = 0;
    for (let more = 1; more > 0; ) {
      more = await inTenant(salient.app.services.db, own, (unit) => pruneEvents(unit, cut, 2));
      dropped += more;
      // Whatever is left can be read from the beginning, without gaps.
      const left = (await changes(other)).changes.filter(({ cause }) => cause === 'RESCORE');
      expect([left.length % 3, left.slice(-3)]).toEqual([0, recent]);
    }
    expect(dropped).toBeGreaterThan(3);
    expect(await batches()).toBe(1);
    expect((await changes(other)).changes).toEqual(recent);
    await expect(changes(other, old[1]!.cursor)).rejects.toThrow('CURSOR_EXPIRED');
    expect((await changes(other, recent[1]!.cursor)).changes).toEqual(recent.slice(2));
    expect(await pruneEventLog(salient.app.services, own)).toBe(0);
  });
});
