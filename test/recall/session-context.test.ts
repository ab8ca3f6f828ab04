import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/index.js';
import type { RecallResult } from '../../src/recall/index.js';
import { countStatements, testDatabase } from '../support/database.js';
import { hoursAgo, openWorld, type TestTenant, type World } from './fixture.js';

let db: Database;
let world: World;
let tenant: TestTenant;

beforeAll(async () => {
  db = await testDatabase();
  world = await openWorld(db);
});
beforeEach(async () => {
  tenant = await world.tenant();
});
afterAll(async () => {
  await world.embedding[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** By words alone: the vectors of these tests mean nothing. */
const WORDS = { vectorWeight: 0 };
const ask = (query: string, more: object = {}, ranking: object = {}) =>
  tenant.recall({ query, ...more }, tenant.actor(), { ...WORDS, ...ranking });
const textsOf = ({ items }: RecallResult) =>
  items.map((item) => (item.source === 'FACT' ? item.fact.text : item.message.content));

describe('a turn is found by what is said around it', () => {
  const TURNS = [
    { content: 'The wind is good today', speaker: 'Bo' },
    { content: 'Which anchor do you carry on board?', speaker: 'Ines' },
    { content: 'A Bruce of fifteen kilos, it has always held', speaker: 'Bo' },
    { content: 'Mine dragged twice', speaker: 'Ines' },
    { content: 'Bad luck', speaker: 'Bo' },
    { content: 'So it goes', speaker: 'Ines' },
  ];

  it('an answer by its question, before the question itself', async () => {
    await tenant.conversation(TURNS);
    const result = await ask('Which anchor does Bo carry?');
    expect(textsOf(result)[0]).toBe('A Bruce of fifteen kilos, it has always held');
    expect(textsOf(result)[1]).toBe(TURNS[1]?.content);
    expect(result.items[0]?.scores.lexical).toBeNull();
    expect(result.receipt.arms).toEqual([{ name: 'LEXICAL', candidates: 1, underfilled: false }]);
    expect(textsOf(result)).not.toContain('So it goes');
  });

  it('not across sessions, nor where another fusion or no reach is asked for', async () => {
    await tenant.conversation(TURNS.slice(0, 2));
    await tenant.conversation(TURNS.slice(2));
    expect(textsOf(await ask('Which anchor does Bo carry?')).sort()).toEqual(
      TURNS.slice(0, 2)
        .map(({ content }) => content)
        .sort(),
    );
    await tenant.conversation(TURNS);
    const only = [TURNS[1]?.content, TURNS[1]?.content];
    expect(textsOf(await ask('Which anchor does Bo carry?', {}, { fusion: 'RRF' }))).toEqual(only);
    expect(textsOf(await ask('Which anchor does Bo carry?', {}, { reach: 0 }))).toEqual(only);
  });

  it('not by a turn that may not be read', async () => {
    const flagged = TURNS.map((turn, i) => (i === 1 ? { ...turn, flags: ['ROLE_PREFIX'] } : turn));
    await tenant.conversation(flagged);
    expect(textsOf(await ask('Which anchor does Bo carry?'))).toEqual([]);
    expect(textsOf(await ask('Which anchor does Bo carry?', { includeFlagged: true }))[0]).toBe(
      TURNS[2]?.content,
    );
  });

  it('not in a conversation of somebody else', async () => {
    const userId = await tenant.user();
    await tenant.conversation(TURNS, { userId });
    expect(textsOf(await ask('Which anchor does Bo carry?'))).toEqual([]);
    expect(textsOf(await ask('Which anchor does Bo carry?', { userId }))[0]).toBe(TURNS[2]?.content);
  });

  it('not by what was not yet recorded', async () => {
    await tenant.conversation(TURNS.map((turn) => ({ ...turn, recordedAt: hoursAgo(5) })));
    expect(textsOf(await ask('Which anchor does Bo carry?', { knownAt: hoursAgo(6) }))).toEqual([]);
    expect(textsOf(await ask('Which anchor does Bo carry?', { knownAt: hoursAgo(4) }))[0]).toBe(
      TURNS[2]?.content,
    );
  });
});

describe('whom a query names', () => {
  const drinks = (speaker: string) => [{ content: 'I always drink black coffee in the morning', speaker }];

  it('is heard first, and the others still', async () => {
    const [bo] = await tenant.conversation(drinks('Bo Larsen'));
    const [ines] = await tenant.conversation(drinks('Ines'));
    const [tom] = await tenant.conversation(drinks('Tom'));
    const idsOf = async (query: string) =>
      (await ask(query)).items.map((item) => (item.source === 'MESSAGE' ? item.message.id : ''));
    expect((await idsOf('What does Ines drink?'))[0]).toBe(ines);
    expect((await idsOf('what does bo larsen drink'))[0]).toBe(bo);
    expect((await idsOf("What is Tom's drink?"))[0]).toBe(tom);
    expect(await idsOf('What does Ines drink?')).toHaveLength(3);
  });

  it('is no word to search for, unless there is no other', async () => {
    await tenant.conversation([
      { content: 'Ines, Ines, Ines, listen', speaker: 'Bo' },
      { content: 'Yes, there it is', speaker: 'Tom' },
    ]);
    await tenant.conversation([{ content: 'The kettle is broken', speaker: 'Ines' }]);
    expect(textsOf(await ask('Does Ines have a kettle?'))).toEqual(['The kettle is broken']);
    expect(textsOf(await ask('Ines'))[0]).toBe('Ines, Ines, Ines, listen');
  });

  it('is whom a fact is preferred for that names them', async () => {
    await tenant.conversation([{ content: 'Hello', speaker: 'Ines' }]);
    await tenant.facts([{ text: 'Tom keeps a kettle on board' }, { text: 'Ines keeps a kettle on board' }]);
    expect(textsOf(await ask('Does Ines have a kettle?'))[0]).toBe('Ines keeps a kettle on board');
  });

  it('is only somebody who speaks in what is visible', async () => {
    const userId = await tenant.user();
    await tenant.conversation(drinks('Ines'), { userId });
    await tenant.conversation([{ content: 'Ines drinks tea', speaker: 'Bo' }]);
    expect(textsOf(await ask('Is Ines here?'))).toEqual(['Ines drinks tea']);
  });
});

describe('a time that a query names', () => {
  it('brings first what was told then', async () => {
    const paid = 'I paid the harbour dues again';
    const sent = ['2026-01-10', '2026-03-12', '2026-05-02'].map((day) => new Date(`${day}T10:00:00Z`));
    for (const sentAt of sent) await tenant.conversation([{ content: paid, speaker: 'Bo', sentAt }]);
    const first = async (query: string) => {
      const [item] = (await ask(query)).items;
      return item?.source === 'MESSAGE' ? item.message.sentAt?.toISOString().slice(0, 10) : undefined;
    };
    expect(await first('What did I pay in March 2026?')).toBe('2026-03-12');
    expect(await first('dues paid on 10 January')).toBe('2026-01-10');
    // It is June.
    expect(await first('dues paid last month')).toBe('2026-05-02');
  });
});

describe('cost', () => {
  it('is four statements as well where somebody is named, one more for what fills the room, and none is open while the query is embedded', async () => {
    await tenant.conversation([{ content: 'I drink tea', speaker: 'Ines' }]);
    const order: string[] = [];
    const embedding = {
      ...world.embedding,
      model: world.embedding.model,
      dimensions: world.embedding.dimensions,
      similarity: world.embedding.similarity,
      embedQuery: async (text: string) => {
        order.push(`embedded ${text}`);
        return world.embedding.embedQuery(text);
      },
    };
    const watching = Object.create(tenant, {
      world: { value: Object.create(world, { embedding: { value: embedding } }) },
    });
    const stop = db.onStatement(({ sql }) => order.push(sql.trim().split(/\s/)[0] ?? ''));
    const statements = await countStatements(db, () => watching.recall({ query: 'What does Ines drink?' }));
    stop();
    expect(statements).toHaveLength(5);
    const at = order.indexOf('embedded What does I drink?');
    expect(at).toBeGreaterThan(0);
    expect(order.slice(0, at).filter((one) => one === 'BEGIN')).toHaveLength(
      order.slice(0, at).filter((one) => one === 'COMMIT').length,
    );
  });
});
