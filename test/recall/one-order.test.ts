import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { callersOf } from '../facts/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let salient: TestApp;
let tenant: TestTenant;
beforeAll(async () => {
  salient = await testApp();
  tenant = await salient.tenant();
  const { admin } = callersOf(salient, tenant);
  const towns = [
    'Lisbon',
    'Porto',
    'Faro',
    'Braga',
    'Evora',
    'Coimbra',
    'Sintra',
    'Tavira',
    'Lagos',
    'Guarda',
  ];
  const facts = towns.flatMap((town, n) => [
    {
      text: `The office in ${town} ${n % 2 === 0 ? 'rents an office floor' : 'has one desk'} since ${2001 + n}`,
      kind: n % 3 === 0 ? 'ENV' : 'FACT',
      hints: { interest: (n % 5) / 5 },
    },
    { text: `${town} is sunny in month ${n + 1}`, hints: { interest: (10 - n) / 10 } },
  ]);
  const { results } = await admin.rememberMany(facts);
  expect(results!.flatMap(({ errors }) => errors)).toEqual([]);
});
afterAll(() => salient?.[Symbol.asyncDispose]());

interface Item {
  readonly rank: number;
  readonly score: number;
  readonly scores: { readonly lexical: number | null; readonly vector: number | null };
  readonly node: { readonly id: string; readonly text: string };
}

async function recall(input: Record<string, unknown>): Promise<readonly Item[]> {
  const { recall: found } = await callersOf(salient, tenant).admin.query<{ recall: { items: Item[] } }>(
    `query ($input: RecallInput!) { recall(input: $input) {
       items { rank score scores { lexical vector } node { ... on Fact { id text } } } } }`,
    { input: { sources: ['FACT'], mode: 'OBSERVE', ...input } },
  );
  return found.items;
}

const ids = (items: readonly Item[]) => items.map(({ node }) => node.id);

test('CASE 37: there is one order, that of the fused scores: whatever is cut off, it stays', async () => {
  const query = 'office floor';
  const all = await recall({ query, k: 20 });
  expect(all.map(({ rank }) => rank)).toEqual(all.map((_, place) => place + 1));
  // What the query found by itself comes first, best first; supplements fill what is left.
  const direct = all.filter(({ scores }) => scores.lexical !== null || scores.vector !== null);
  expect(direct.length).toBeGreaterThanOrEqual(10);
  expect(ids(all).slice(0, direct.length)).toEqual(ids(direct));
  const scores = direct.map(({ score }) => score);
  expect(scores).toEqual([...scores].sort((one, other) => other - one));
  expect(new Set(scores).size).toBeGreaterThan(3);
  // It is neither that of the dates nor that of the kinds, by which an order could be made anew.
  for (const k of [1, 3, 7]) expect(ids(await recall({ query, k }))).toEqual(ids(all).slice(0, k));
  const cut = ids(await recall({ query, k: 20, charBudget: 300 }));
  expect(cut.length).toBeGreaterThan(1);
  expect(cut.length).toBeLessThan(all.length);
  expect(cut).toEqual(ids(all).filter((id) => cut.includes(id)));
});
