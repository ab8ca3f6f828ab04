import { afterAll, beforeAll, expect, it } from 'vitest';
import { sse } from '../http/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';

let salient: TestApp;
let acme: TestTenant;
beforeAll(async () => {
  salient = await testApp();
  acme = await salient.tenant();
});
afterAll(() => salient[Symbol.asyncDispose]());

interface Item {
  readonly __typename: string;
  readonly fact?: { readonly id: string };
}

async function remember(key: string, text: string): Promise<string> {
  const { remember } = await salient.ask<{ remember: { fact: { id: string } } }>({
    key,
    query:
      'mutation ($text: String!) { remember(input: { text: $text }) { fact { id } errors { message } } }',
    variables: { text },
  });
  return remember.fact.id;
}

/** The facts that the first `count` items of a subscription are about. */
async function factsOf(key: string, field: string, filter: string, count: number): Promise<unknown[]> {
  const query = `subscription { ${field}(after: "earliest", filter: ${filter}) {
    __typename ... on MemoryEvent { fact { id } } ... on ImportanceChange { fact { id } } } }`;
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
  const seen: unknown[] = [];
  for await (const { data } of sse(response)) {
    const [item] = Object.values((data as { data: Record<string, Item> }).data);
    if (item?.__typename !== 'FeedCheckpoint') seen.push(item?.fact?.id);
    if (seen.length === count) break;
  }
  return seen;
}

it('a caller that leaves out what it caused hears of the others alone, live and in the log', async () => {
  const { AGENT, TENANT_ADMIN } = acme.keys;
  const mine = await remember(AGENT, 'Crates are stacked four high');
  const theirs = await remember(TENANT_ADMIN, 'The loading dock opens at five');
  const later = await remember(AGENT, 'Forklifts are charged at noon');
  const last = await remember(TENANT_ADMIN, 'Deliveries from Graz come by train');
  const types = 'types: [FACT_REMEMBERED]';
  expect(await factsOf(AGENT, 'memoryEvents', `{ ${types} }`, 4)).toEqual([mine, theirs, later, last]);
  expect(await factsOf(AGENT, 'memoryEvents', `{ ${types}, excludeActor: true }`, 2)).toEqual([theirs, last]);
  expect(await factsOf(AGENT, 'importanceChanged', '{ excludeActor: true }', 2)).toEqual([theirs, last]);
  expect(await factsOf(TENANT_ADMIN, 'memoryEvents', `{ ${types}, excludeActor: true }`, 2)).toEqual([
    mine,
    later,
  ]);
  const { eventLog } = await salient.ask<{ eventLog: { items: Item[] } }>({
    key: AGENT,
    query: `{ eventLog(filter: { ${types}, excludeActor: true }) { items { ... on MemoryEvent { fact { id } } } } }`,
  });
  expect(eventLog.items.map(({ fact }) => fact?.id)).toEqual([theirs, last]);
});
