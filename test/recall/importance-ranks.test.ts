import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/db/index.js';
import { recall } from '../../src/recall/index.js';
import { testDatabase } from '../support/database.js';
import { NOW, openWorld, UNLEARNING, type World } from './fixture.js';

let db: Database;
let world: World;

beforeAll(async () => {
  db = await testDatabase();
  world = await openWorld(db);
});
afterAll(async () => {
  await world.embedding[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** The longer a text, the less a word of it counts: their order by words alone. */
const TEXTS = [
  'Anchor chain',
  'Anchor chain greased',
  'Anchor chain greased yesterday evening',
  'Anchor chain greased yesterday evening by three sailors',
];

/** Texts in the order of a recall by words alone, with these importances. */
async function order(importances: readonly number[], lambda?: number): Promise<string[]> {
  const tenant = await world.tenant();
  await tenant.facts(TEXTS.map((text, i) => ({ text, importance: importances[i] ?? 0.3 })));
  const { items } = await recall(
    {
      db,
      embedding: world.embedding,
      embeddingModelId: world.modelId,
      learner: UNLEARNING,
      now: () => NOW,
      profiles: world.profiles,
    },
    tenant.actor(),
    { query: 'anchor' },
    { vectorWeight: 0, ...(lambda === undefined ? {} : { lambda }) },
  );
  return items.map((item) => (item.source === 'FACT' ? item.fact.text : ''));
}

it('lets importance 8.0 beat 0.3 from three ranks behind, by ICNU alone', async () => {
  expect(await order([0.3, 0.3, 0.3, 0.3])).toEqual(TEXTS);
  expect(await order([0.3, 0.3, 0.3, 8])).toEqual([TEXTS[3], ...TEXTS.slice(0, 3)]);
  expect(await order([0.3, 0.3, 0.3, 8], 0)).toEqual(TEXTS);
});
