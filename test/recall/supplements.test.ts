import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { contentOf, type Database } from '../../src/db/index.js';
import { EmbeddingError } from '../../src/embedding/index.js';
import { type RecallResult, recall } from '../../src/recall/index.js';
import { type Caller, callersOf, TestClock, uuidOf } from '../facts/support.js';
import { seeingClient } from '../facts/tables.js';
import { numbersOf, tie, tiesOf } from '../learning/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { countStatements, testDatabase } from '../support/database.js';
import { hoursAgo, NOW, openWorld, UNLEARNING, type World } from './fixture.js';
import { type Recalled, recallOf, unreadableQueries } from './receipts-support.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
let tenant: TestTenant;
let admin: Caller;
let agent: Caller;
beforeAll(async () => {
  salient = await testApp({ now: clock.now, embedding: await unreadableQueries() });
  owner = await seeingClient();
});
beforeEach(async () => {
  tenant = await salient.tenant();
  ({ admin, agent } = callersOf(salient, tenant));
});
afterAll(async () => {
  await owner?.end();
  await salient?.app.services.embedding[Symbol.asyncDispose]();
  await salient?.[Symbol.asyncDispose]();
});

const told = ({ items }: Recalled) => items.map(({ node, arms }) => [node.text ?? node.content, arms.join()]);

/** Facts of which each was recorded a minute after the one before. */
async function remember(...facts: (readonly [text: string, entities?: readonly string[], more?: object])[]) {
  const ids: string[] = [];
  for (const [text, entities = [], more = {}] of facts) {
    clock.advance(60_000);
    ids.push((await admin.fact(text, { entities, ...more })).id);
  }
  return ids;
}

/** A house, its owner by several names, and what has nothing to do with them. */
const HOUSE = [
  ['The roof of it leaks', ['Thornfield Hall']],
  ['She teaches there', ['Jane Eyre', 'Thornfield Hall']],
  ['Supper is served at seven', []],
  ['Bees are kept behind it', ['Jane Eyre']],
  ['The ferry leaves at nine', []],
] as const satisfies readonly (readonly [string, readonly string[]])[];

const house = () => remember(...HOUSE);

describe('what fills a result', () => {
  test('CASE 38: facts that mention a name of several words, then one edge further, then the newest', async () => {
    await house();
    const result = await recallOf(admin, { query: 'what does Jane Eyre like?' });
    expect(told(result)).toEqual([
      ['Bees are kept behind it', 'GRAPH'],
      ['She teaches there', 'GRAPH'],
      ['The roof of it leaks', 'GRAPH'],
      ['The ferry leaves at nine', 'RECENCY'],
      ['Supper is served at seven', 'RECENCY'],
    ]);
    expect(result.items.every(({ supplement, score }) => supplement && score === 0)).toBe(true);
    expect(result.receipt.arms).toEqual([
      { name: 'LEXICAL', candidates: 0, underfilled: false },
      { name: 'GRAPH', candidates: 3, underfilled: false },
      { name: 'RECENCY', candidates: 2, underfilled: false },
    ]);
  });

  test.each([["JANE EYRE's bees' colour"], ['“jane   eyre”?'], ['who is the friend of jane eyre, and why']])(
    'finds the name however it is written: %s',
    async (query) => {
      await house();
      const result = await recallOf(admin, { query, k: 3 });
      expect(result.items.map(({ node }) => node.text)).toContain('She teaches there');
      expect(result.items.filter(({ arms }) => arms.includes('GRAPH')).length).toBeGreaterThan(1);
    },
  );

  test('finds a name by its alias', async () => {
    await house();
    const { rows } = await owner.query<{ hash_key: Buffer }>('SELECT hash_key FROM tenant WHERE id = $1', [
      uuidOf(tenant.id),
    ]);
    const content = contentOf(rows[0]!.hash_key);
    await owner.query(
      `INSERT INTO entity_alias (tenant_id, entity_id, alias, alias_key)
       SELECT e.tenant_id, e.id, $2, $3 FROM entity e WHERE e.tenant_id = $1 AND e.name_key = $4`,
      [
        uuidOf(tenant.id),
        content.seal('Mrs Rochester'),
        content.hash('entity-name', 'mrs rochester'),
        content.hash('entity-name', 'jane eyre'),
      ],
    );
    const result = await recallOf(admin, { query: 'when did Mrs Rochester marry', k: 2 });
    expect(told(result)).toEqual([
      ['Bees are kept behind it', 'GRAPH'],
      ['She teaches there', 'GRAPH'],
    ]);
  });

  test('after the graph come facts that were recalled together with the hits, the closest first', async () => {
    const [ferry, supper, roof, late] = await remember(
      ['The ferry leaves at nine'],
      ['Supper is served at seven'],
      ['The roof leaks'],
      ['Somebody sings'],
    );
    await tie(owner, tenant, [ferry!, supper!], 0.3, clock.now());
    await tie(owner, tenant, [ferry!, roof!], 0.6, clock.now());
    // Too weak by now to last.
    await tie(owner, tenant, [ferry!, late!], 0.06, new Date(clock.now().getTime() - 5 * 86_400_000));
    expect(told(await recallOf(admin, { query: 'ferry' }))).toEqual([
      ['The ferry leaves at nine', 'LEXICAL'],
      ['The roof leaks', 'CO_ACTIVATION'],
      ['Supper is served at seven', 'CO_ACTIVATION'],
      ['Somebody sings', 'RECENCY'],
    ]);
  });

  test('fills only what is left of k, and does not run where nothing is', async () => {
    await house();
    expect(told(await recallOf(admin, { query: 'bees and Jane Eyre', k: 2 }))).toEqual([
      ['Bees are kept behind it', 'LEXICAL'],
      ['She teaches there', 'GRAPH'],
    ]);
    const full = await recallOf(admin, { query: 'bees and Jane Eyre', k: 1 });
    expect(full.receipt.arms.map(({ name }) => name)).toEqual(['LEXICAL']);
  });

  test('is of the kinds, the time and the sources that were asked for', async () => {
    const [, , , bees] = await house();
    await remember(['Prefers tea there', ['Jane Eyre'], { kind: 'PREFERENCE' }]);
    const query = 'Jane Eyre';
    expect(told(await recallOf(admin, { query, kinds: ['PREFERENCE'] }))).toEqual([
      ['Prefers tea there', 'GRAPH'],
    ]);
    const before = clock.now();
    clock.advanceHours(1);
    await admin.retire({ id: bees! }, 'ENDED');
    const texts = async (input: object) =>
      told(await recallOf(admin, { query, ...input })).map(([text]) => text);
    expect(await texts({})).not.toContain('Bees are kept behind it');
    expect(await texts({ validAt: before, k: 3 })).toContain('Bees are kept behind it');
    await admin.say(['The kettle sings', 'Rain is coming'], { extract: 'NEVER' });
    expect(told(await recallOf(admin, { query: 'xyzzy', sources: ['MESSAGE'], k: 1 }))).toEqual([
      ['Rain is coming', 'RECENCY'],
    ]);
    expect((await texts({ k: 200 })).filter((text) => text === 'Rain is coming')).toEqual([]);
  });

  test('takes what fits into the budget that direct hits have left', async () => {
    await house();
    const result = await recallOf(admin, { query: 'bees and Jane Eyre', charBudget: 44 });
    expect(told(result)).toEqual([
      ['Bees are kept behind it', 'LEXICAL'],
      ['She teaches there', 'GRAPH'],
    ]);
    expect(result.receipt).toMatchObject({ skippedForBudget: 3, charactersUsed: 40 });
  });

  test('is nothing that the context does not see', async () => {
    const { agentId, userId } = tenant;
    await remember(['She keeps a diary', ['Jane Eyre'], { userId }]);
    await remember(['She has a secret', ['Jane Eyre'], { agentId }]);
    const query = 'Jane Eyre';
    expect(told(await recallOf(admin, { query }))).toEqual([]);
    expect(told(await recallOf(admin, { query, userId }))).toEqual([['She keeps a diary', 'GRAPH']]);
    expect(told(await recallOf(agent, { query }))).toEqual([['She has a secret', 'GRAPH']]);
    const other = callersOf(salient, await salient.tenant('other'));
    expect(told(await recallOf(other.admin, { query }))).toEqual([]);
  });

  test('an edge that only an unseen fact supports leads nowhere', async () => {
    const { userId } = tenant;
    await remember(
      ['They have met', ['Jane Eyre', 'Bertha Mason'], { userId }],
      ['Lives upstairs', ['Bertha Mason']],
    );
    const armOf = async (input: object) =>
      told(await recallOf(admin, { query: 'Jane Eyre', ...input })).find(
        ([text]) => text === 'Lives upstairs',
      )?.[1];
    expect(await armOf({})).toBe('RECENCY');
    // A name is the same name in every scope that is seen.
    expect(await armOf({ userId })).toBe('GRAPH');
  });

  test('is not strengthened by a LEARN recall, nor tied', async () => {
    const { agentId } = tenant;
    const [hit, filled] = await remember(
      ['The ferry leaves at nine', [], { agentId }],
      ['Supper is served at seven', [], { agentId }],
    );
    expect((await recallOf(agent, { query: 'ferry' })).items).toHaveLength(2);
    await salient.app.services.learner.flush();
    expect(await numbersOf(owner, hit!)).toMatchObject({ recallCount: 1 });
    expect(await numbersOf(owner, filled!)).toMatchObject({ recallCount: 0 });
    expect(await tiesOf(owner, tenant)).toEqual([]);
  });

  test('costs one statement, for any number of facts and names', async () => {
    const { db } = salient.app.services;
    const ofRecall = (statements: readonly string[]) =>
      statements.filter((statement) => !/\bapi_key\b/.test(statement));
    await house();
    const query = 'what does Jane Eyre like?';
    const few = await countStatements(db, () => recallOf(admin, { query, k: 200 }));
    for (let i = 0; i < 12; i++)
      await remember([`Number ${i} of the things`, ['Jane Eyre', `Person ${i}`, 'Thornfield Hall']]);
    const many = await countStatements(db, async () => {
      expect((await recallOf(admin, { query, k: 200 })).items).toHaveLength(17);
    });
    expect(ofRecall(many)).toEqual(ofRecall(few));
    const full = await countStatements(db, () => recallOf(admin, { query: 'things', k: 1 }));
    expect(ofRecall(many).length).toBe(ofRecall(full).length + 1);
  });
});

describe('direct hits', () => {
  let db: Database;
  let world: World;
  beforeAll(async () => {
    db = await testDatabase();
    world = await openWorld(db);
  });
  afterAll(async () => {
    await world?.embedding[Symbol.asyncDispose]();
    await db?.[Symbol.asyncDispose]();
  });

  const WORDS = 'tea coffee kettle harbour ship sails captain storm lantern rope'.split(' ');
  const words = fc
    .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 })
    .map((chosen) => chosen.join(' '));

  test('CASE 34: are the same, in the same order, whatever fills the result behind them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ text: words, message: fc.boolean(), hours: fc.integer({ min: 1, max: 900 }) }), {
          minLength: 1,
          maxLength: 25,
        }),
        words,
        fc.option(fc.integer({ min: 10, max: 200 }), { nil: null }),
        async (rows, query, charBudget) => {
          const tenant = await world.tenant();
          await tenant.facts(
            rows
              .filter(({ message }) => !message)
              .map(({ text, hours }) => ({ text, recordedAt: hoursAgo(hours), importance: 1 + (hours % 9) })),
          );
          await tenant.messages(
            rows
              .filter(({ message }) => message)
              .map(({ text, hours }) => ({ content: text, recordedAt: hoursAgo(hours) })),
          );
          const { embedding, modelId, profiles } = world;
          const failing = {
            model: embedding.model,
            dimensions: embedding.dimensions,
            similarity: embedding.similarity.bind(embedding),
            embed: embedding.embed.bind(embedding),
            embedWindows: embedding.embedWindows.bind(embedding),
            embedQuery: async () => {
              throw new EmbeddingError('ENCODER_CLOSED', 'The embedding provider is closed.');
            },
            [Symbol.asyncDispose]: async () => {},
          };
          const ask = (k: number): Promise<RecallResult> =>
            recall(
              {
                db,
                embedding: failing,
                embeddingModelId: modelId,
                learner: UNLEARNING,
                now: () => NOW,
                profiles,
              },
              tenant.actor(),
              { query, k, charBudget },
            );
          const { items, receipt } = await ask(30);
          const direct = items.filter(({ supplement }) => !supplement);
          const filled = items.slice(direct.length);
          expect(items.slice(0, direct.length)).toEqual(direct);
          expect(filled.every(({ supplement, score }) => supplement && score === 0)).toBe(true);
          // With no room left nothing is filled: the same hits, with the same numbers.
          if (direct.length > 0) expect((await ask(direct.length)).items).toEqual(direct);
          const ids = items.map((item) => (item.source === 'FACT' ? item.fact.id : item.message.id));
          expect(new Set(ids).size).toBe(ids.length);
          expect(items.map(({ rank }) => rank)).toEqual(items.map((_, index) => index + 1));
          if (charBudget !== null) expect(receipt.charactersUsed).toBeLessThanOrEqual(charBudget);
          // Nothing is left out that had room.
          const facts = rows.filter(({ message }) => !message).length;
          const returned = items.filter(({ source }) => source === 'FACT').length;
          if (charBudget === null) expect(returned).toBe(facts);
        },
      ),
      { numRuns: 25 },
    );
  });
});
