import { type Client, createClient } from 'graphql-ws';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { callersOf, TestClock } from '../facts/support.js';
import { profileCallers } from '../profiles/support.js';
import { type TestApp, testApp } from '../support/app.js';
import { countStatements } from '../support/database.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const BREAKDOWN = 'importanceBreakdown { topicBoost encoded decay current }';
const RETIRED = `subscription { memoryEvents(filter: { types: [FACT_RETIRED] }) {
  ... on MemoryEvent { type fact { ${BREAKDOWN} again: ${BREAKDOWN} } same: fact { ${BREAKDOWN} } }
} }`;

interface Numbers {
  readonly topicBoost: number;
  readonly encoded: number;
  readonly decay: number;
  readonly current: number;
}

interface Item {
  readonly type?: string;
  readonly fact?: { readonly importanceBreakdown: Numbers; readonly again: Numbers };
  readonly same?: { readonly importanceBreakdown: Numbers };
}

const clock = new TestClock();
const clients: Client[] = [];
let salient: TestApp;
let url: string;

beforeAll(async () => {
  salient = await testApp({ now: clock.now });
  ({ url } = await salient.app.listen());
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.dispose();
});
afterAll(() => salient?.[Symbol.asyncDispose]());

/** A live subscription; its events without checkpoints. Resolves once nothing is missed from then on. */
async function follow(key: string): Promise<Item[]> {
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
      { query: RETIRED },
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

it('an event shows its fact by what is set for the tenant when it is delivered, however old the subscription', async () => {
  const tenant = await salient.tenant();
  const { admin } = callersOf(salient, tenant);
  const fact = await admin.fact('Wards report patient safety');
  const before = fact.importanceBreakdown;
  const old = await follow(tenant.keys.TENANT_ADMIN);
  const interests = [{ topic: 'patient safety', level: 'CRITICAL' }];
  await profileCallers(salient, tenant).admin.saved({ tenant: true }, { interests, rescore: 'LAZY' });
  await admin.query(
    `mutation ($id: ID!) { updateTenant(input: { id: $id, retention: { decay: FAST } }) { errors { code } } }`,
    { id: tenant.id },
  );
  clock.advanceHours(24 * 30);
  const fresh = await follow(tenant.keys.TENANT_ADMIN);
  const subscribers = [old, fresh];
  const statements = await countStatements(salient.app.services.db, async () => {
    await admin.retire({ id: fact.id }, 'WRONG');
    await expect
      .poll(() => subscribers.map(({ length }) => length), { timeout: 20_000 })
      .toEqual(subscribers.map(() => 1));
  });
  const { topicBoost, encoded, decay, current } = (await admin.find(fact.id))!.importanceBreakdown;
  const now = { topicBoost, encoded, decay, current };
  expect(topicBoost).toBeGreaterThan(before.topicBoost);
  // As FAST has it; STANDARD would leave 0.46 of it.
  expect(decay).toBeLessThan(0.3);
  for (const [item] of subscribers) {
    const shown = { importanceBreakdown: now };
    expect(item).toEqual({ type: 'FACT_RETIRED', fact: { ...shown, again: now }, same: shown });
  }
  // One for each result, not one for each of its fields; the two have one in common, but on a slow machine.
  const reads = statements.filter((sql) => /"tenant"\."settings"/.test(sql)).length;
  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThanOrEqual(subscribers.length);
});
