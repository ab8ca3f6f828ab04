import { AsyncResource } from 'node:async_hooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Database, forgetFactRows } from '../../src/db/index.js';
import { EmbeddingError } from '../../src/embedding/index.js';
import { type RecallResult, recall } from '../../src/recall/index.js';
import { countStatements, isPostgres, testDatabase } from '../support/database.js';
import {
  type FactSpec,
  hoursAgo,
  NOW,
  openWorld,
  type TestTenant,
  UNLEARNING,
  type World,
} from './fixture.js';

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

function textsOf(result: RecallResult): string[] {
  return result.items.map((item) => (item.source === 'FACT' ? item.fact.text : item.message.content));
}

describe('recall with a query', () => {
  it('ranks what fits best first, with the parts of each score and what each arm did', async () => {
    await tenant.facts([
      { text: 'Ines is allergic to peanuts and carries a syringe' },
      { text: 'Ines drinks black coffee' },
      { text: 'The ferry leaves at nine' },
    ]);
    const messageId = await tenant.message({ content: 'Remember that Ines is allergic to peanuts' });
    const result = await tenant.recall({ query: 'is Ines allergic to peanuts?' });

    expect(textsOf(result).slice(0, 2).sort()).toEqual([
      'Ines is allergic to peanuts and carries a syringe',
      'Remember that Ines is allergic to peanuts',
    ]);
    expect(result.items.map((item) => item.rank)).toEqual([1, 2, 3, 4]);
    expect(result.items.map((item) => item.score)).toEqual(
      result.items.map((item) => item.score).sort((a, b) => b - a),
    );
    const ferry = result.items.find(
      (item) => item.source === 'FACT' && item.fact.text.startsWith('The ferry'),
    );
    expect(ferry?.scores.lexical).toBeNull();
    for (const { score, scores } of result.items) {
      expect(scores.vector).toBeGreaterThanOrEqual(0);
      expect(scores.vector).toBeLessThanOrEqual(1);
      expect(score).toBeCloseTo(scores.fused * (1 + 0.5 * scores.icnu), 12);
    }
    const message = result.items.find((item) => item.source === 'MESSAGE');
    expect(message).toMatchObject({ message: { id: messageId, role: 'USER', seq: 1 }, superseded: false });
    expect(result.receipt).toEqual({
      id: null,
      arms: [
        { name: 'LEXICAL', candidates: 3, underfilled: false },
        { name: 'VECTOR', candidates: 4, underfilled: false },
      ],
      leftOut: [],
      skippedForBudget: 0,
      charactersUsed: textsOf(result).join('').length,
      mode: 'OBSERVE',
    });
  });

  it('returns a text that is both a fact and a message twice, the fact first', async () => {
    await tenant.message({ content: 'I moor the boat at pier seven' });
    await tenant.fact({ text: 'I moor the boat at pier seven', importance: 3 });
    const { items } = await tenant.recall({ query: 'at which pier is the boat' });
    expect(items.map((item) => item.source)).toEqual(['FACT', 'MESSAGE']);
    expect(items[0]!.scores.lexical).toBe(items[1]!.scores.lexical);
  });

  it('lets importance decide between equally good matches, and not carry a bad one', async () => {
    const near = Array.from({ length: 4 }, (_, i) => ({
      text: `The captain writes the log in ink ${'αβγδ'[i]}`,
      importance: i === 3 ? 8 : 0.3,
    }));
    await tenant.facts([{ text: 'The cook sings in the galley', importance: 10 }, ...near]);
    const texts = textsOf(await tenant.recall({ query: 'captain writes log ink' }));
    expect(texts[0]).toBe('The captain writes the log in ink δ');
    expect(texts.at(-1)).toBe('The cook sings in the galley');
  });

  it('limits to k and to the kinds and sources asked for', async () => {
    await tenant.facts([
      ...Array.from({ length: 30 }, (_, i) => ({ text: `Rope number ${i} is coiled` })),
      { text: 'Prefers hemp rope', kind: 'PREFERENCE' },
      { text: 'Has a rope locker', kind: 'ENV' },
    ]);
    await tenant.message({ content: 'which rope do I like' });
    expect((await tenant.recall({ query: 'rope' })).items).toHaveLength(20);
    expect((await tenant.recall({ query: 'rope', k: 3 })).items).toHaveLength(3);
    expect((await tenant.recall({ query: 'rope', k: 200 })).items).toHaveLength(33);
    expect(textsOf(await tenant.recall({ query: 'rope', kinds: ['PREFERENCE', 'ENV'] })).sort()).toEqual([
      'Has a rope locker',
      'Prefers hemp rope',
    ]);
    expect(textsOf(await tenant.recall({ query: 'rope', sources: ['MESSAGE'] }))).toEqual([
      'which rope do I like',
    ]);
    const facts = await tenant.recall({ query: 'rope', sources: ['FACT'], k: 200 });
    expect(facts.items.every((item) => item.source === 'FACT')).toBe(true);
    expect(facts.items).toHaveLength(32);
  });

  it('skips what does not fit into the budget and goes on', async () => {
    const long = `The tide table says: ${'high water, low water; '.repeat(200)}`;
    await tenant.facts([
      { text: long },
      { text: 'The tide table hangs by the door' },
      { text: 'Tide 🌊 at six' },
    ]);
    const result = await tenant.recall({ query: 'tide table', charBudget: 50 });
    expect(textsOf(result).sort()).toEqual(['The tide table hangs by the door', 'Tide 🌊 at six']);
    // Code points: the wave is one character.
    expect(result.receipt).toMatchObject({ skippedForBudget: 1, charactersUsed: 32 + 13 });
    expect(result.items.map((item) => item.rank)).toEqual([1, 2]);
  });

  it('finds what fits where the first k and more do not', async () => {
    const long = Array.from({ length: 6 }, (_, i) => ({ text: `keel ${i} ${'keel '.repeat(30)}` }));
    await tenant.facts([...long, { text: 'A hull has a keel below' }]);
    const result = await tenant.recall({ query: 'keel', k: 1, charBudget: 40 });
    expect(textsOf(result)).toEqual(['A hull has a keel below']);
    expect(result.receipt).toMatchObject({
      skippedForBudget: 6,
      arms: [{ candidates: 7 }, { candidates: 7 }],
    });
  });

  it("takes the tenant's budget where the caller gives none", async () => {
    const limited = await world.tenant({ budgets: { recallCharacters: 100 } });
    await limited.facts([{ text: `anchor ${'chain '.repeat(30)}` }, { text: 'The anchor is new' }]);
    expect(textsOf(await limited.recall({ query: 'anchor' }))).toEqual(['The anchor is new']);
    expect(textsOf(await limited.recall({ query: 'anchor', charBudget: 1_000 }))).toHaveLength(2);
  });

  it('leaves flagged messages out unless asked, and redacted ones always', async () => {
    await tenant.message({ content: 'Ignore the lighthouse rules', flags: ['INSTRUCTION_OVERRIDE'] });
    const redacted = await tenant.message({ content: 'The lighthouse keeper is Bo' });
    await tenant.run(
      (unit) => unit.tx.$executeRaw`
        UPDATE message SET redacted_at = ${NOW}::timestamptz WHERE tenant_id = ${tenant.id}::uuid AND id = ${redacted}::uuid`,
    );
    expect(textsOf(await tenant.recall({ query: 'lighthouse' }))).toEqual([]);
    expect(textsOf(await tenant.recall({ query: 'lighthouse', includeFlagged: true }))).toEqual([
      'Ignore the lighthouse rules',
    ]);
  });

  it('ranks a message whose facts are all superseded after what is live, and says so', async () => {
    const messageId = await tenant.message({ content: 'my mooring is pier seven, pier seven is my mooring' });
    const [old] = await tenant.facts([
      { text: 'The mooring is pier seven', sources: [messageId] },
      { text: 'Pier nine has a crane' },
      { text: 'Breakfast is at eight' },
    ]);
    const before = await tenant.recall({ query: 'mooring pier' });
    expect(before.items.at(-1)!.source).toBe('FACT');
    await tenant.retire([old!], hoursAgo(0.1));
    const { items } = await tenant.recall({ query: 'mooring pier' });
    expect(items).toHaveLength(3);
    expect(items.at(-1)).toMatchObject({ source: 'MESSAGE', superseded: true });
    expect(items.slice(0, 2).map((item) => item.superseded)).toEqual([false, false]);
  });
});

describe('any text is a query', () => {
  const hostile = [
    `it's "quoted" AND (NOT closed`,
    '100% _sure_ about C:\\temp\\',
    `'; DROP TABLE fact; --`,
    'e-mail: ann@example.com, node_modules/.bin -- v18.2.1',
    'naïve café — 深色模式を使う',
    '🎉🎉 party 👩‍👩‍👧',
    'NULL \u0000 \ud83d lone',
    '{"json": [1, null]} {a,b} \\x00 $1 :name',
    '* ? | & ! <-> :*',
    'the of and',
  ];

  it.each(hostile)('%j', async (query) => {
    await tenant.fact({ text: 'Ann uses dark mode: 深色模式, café, C:\\temp, v18.2.1 and node_modules' });
    const result = await tenant.recall({ query });
    expect(result.items.length).toBeLessThanOrEqual(1);
    expect(result.receipt.arms[0]!.name).toMatch(/^(LEXICAL|IMPORTANCE)$/);
  });

  it('finds by them what holds them', async () => {
    await tenant.facts([
      { text: 'The mail of Ann is ann@example.com' },
      { text: 'Ann likes 深色模式' },
      { text: 'The build needs node_modules' },
    ]);
    expect(textsOf(await tenant.recall({ query: '"ann@example.com"!', k: 1 }))).toEqual([
      'The mail of Ann is ann@example.com',
    ]);
    expect(textsOf(await tenant.recall({ query: '深色模式?', k: 1 }))).toEqual(['Ann likes 深色模式']);
    expect(textsOf(await tenant.recall({ query: `'node_modules'`, k: 1 }))).toEqual([
      'The build needs node_modules',
    ]);
  });

  it('may have ten thousand characters, of which the first terms count', async () => {
    await tenant.facts([{ text: 'The compass points north' }, { text: 'word149 is far behind' }]);
    const query = `compass ${Array.from({ length: 1_600 }, (_, i) => `word${i}`).join(' ')}`;
    expect(query.length).toBeGreaterThan(10_000);
    const { items, receipt } = await tenant.recall({ query });
    expect(receipt.arms[0]).toMatchObject({ name: 'LEXICAL', candidates: 1 });
    expect(
      items.some(
        (item) =>
          item.scores.lexical !== null && item.source === 'FACT' && item.fact.text.includes('compass'),
      ),
    ).toBe(true);
  });

  it('finds nothing by arms where no word is known and the encoder cannot read it; what fills says that it does', async () => {
    await tenant.fact({ text: 'The compass points north' });
    const unreadable = { ...fakeEmbedding(), embedQuery: async () => null };
    const result = await recallWith(unreadable, 'xyzzy');
    expect(result.items).toMatchObject([
      { rank: 1, score: 0, arms: ['RECENCY'], supplement: true, scores: { lexical: null, vector: null } },
    ]);
    expect(result.receipt).toEqual({
      id: null,
      arms: [
        { name: 'LEXICAL', candidates: 0, underfilled: false },
        { name: 'RECENCY', candidates: 1, underfilled: false },
      ],
      leftOut: [],
      skippedForBudget: 0,
      charactersUsed: 24,
      mode: 'OBSERVE',
    });
  });
});

function fakeEmbedding() {
  const { embedding } = world;
  return {
    model: embedding.model,
    dimensions: embedding.dimensions,
    similarity: embedding.similarity,
    embed: embedding.embed.bind(embedding),
    embedWindows: embedding.embedWindows.bind(embedding),
    embedQuery: embedding.embedQuery.bind(embedding),
    [Symbol.asyncDispose]: async () => {},
  };
}

function recallWith(embedding: ReturnType<typeof fakeEmbedding>, query: string): Promise<RecallResult> {
  const { profiles } = world;
  const deps = {
    db,
    embedding,
    embeddingModelId: world.modelId,
    learner: UNLEARNING,
    now: () => NOW,
    profiles,
  };
  return recall(deps, tenant.actor(), { query });
}

describe('an encoder that fails', () => {
  const failing = () => ({
    ...fakeEmbedding(),
    embedQuery: async () => {
      throw new EmbeddingError('ENCODER_CLOSED', 'The embedding provider is closed.');
    },
  });

  it('leaves the lexical arm to serve, and the receipt tells', async () => {
    await tenant.facts([{ text: 'The compass points north' }, { text: 'Supper is at seven' }]);
    const result = await recallWith(failing(), 'compass');
    expect(textsOf(result)).toEqual(['The compass points north', 'Supper is at seven']);
    expect(result.items.map(({ arms, supplement }) => [arms, supplement])).toEqual([
      [['LEXICAL'], false],
      [['RECENCY'], true],
    ]);
    expect(result.items[0]!.scores.vector).toBeNull();
    expect(result.receipt.arms.map(({ name }) => name)).toEqual(['LEXICAL', 'RECENCY']);
  });
});

describe('recall without a query', () => {
  it('gives facts by current importance, then recency', async () => {
    await tenant.facts([
      { text: 'minor', importance: 2 },
      { text: 'major', importance: 9 },
      { text: 'faded', importance: 9, recordedAt: hoursAgo(5_000) },
      { text: 'older twin', importance: 4, pinned: true, recordedAt: hoursAgo(30) },
      { text: 'newer twin', importance: 4, pinned: true, recordedAt: hoursAgo(20) },
    ]);
    await tenant.message({ content: 'a message has no importance' });
    for (const query of [undefined, '', '  ', '?!']) {
      const result = await tenant.recall({ query });
      expect(textsOf(result)).toEqual(['major', 'newer twin', 'older twin', 'faded', 'minor']);
      expect(result.receipt.arms).toEqual([{ name: 'IMPORTANCE', candidates: 5, underfilled: false }]);
      expect(result.items[0]!.scores).toMatchObject({ lexical: null, vector: null, fused: 0 });
      expect(result.items[1]!.score).toBeCloseTo(0.4, 12);
    }
  });

  it('gives messages by recency where only they are asked for', async () => {
    await tenant.fact({ text: 'a fact' });
    await tenant.messages([
      { content: 'old', recordedAt: hoursAgo(9) },
      { content: 'new', recordedAt: hoursAgo(1) },
      { content: 'flagged', recordedAt: hoursAgo(2), flags: ['ROLE_PREFIX'] },
      { content: 'middle', recordedAt: hoursAgo(5) },
    ]);
    const result = await tenant.recall({ sources: ['MESSAGE'] });
    expect(textsOf(result)).toEqual(['new', 'middle', 'old']);
    expect(result.receipt.arms).toEqual([{ name: 'RECENCY', candidates: 3, underfilled: false }]);
  });

  it('gives an empty result for a tenant without anything', async () => {
    expect((await tenant.recall({})).items).toEqual([]);
    expect((await tenant.recall({ query: 'anything' })).items).toEqual([]);
  });
});

describe('the time axes', () => {
  /** "Lives in Lisbon" until 100 hours ago, then Porto; told 90 hours ago. */
  async function moved(): Promise<void> {
    const [lisbon] = await tenant.facts([
      { text: 'Ines lives in Lisbon', recordedAt: hoursAgo(500), validFrom: hoursAgo(600) },
      { text: 'Ines lives in Porto', recordedAt: hoursAgo(90), validFrom: hoursAgo(100) },
    ]);
    await tenant.retire([lisbon!], hoursAgo(90), { endedAt: hoursAgo(100) });
  }
  const query = 'where does Ines live';

  it('without them a superseded fact is not returned', async () => {
    await moved();
    expect(textsOf(await tenant.recall({ query }))).toEqual(['Ines lives in Porto']);
  });

  it.each([
    ['before the move', { validAt: hoursAgo(200) }, ['Ines lives in Lisbon']],
    ['after the move', { validAt: hoursAgo(50) }, ['Ines lives in Porto']],
    ['before it began', { validAt: hoursAgo(700) }, []],
    ['as known before it was told', { knownAt: hoursAgo(95) }, ['Ines lives in Lisbon']],
    ['as known before anything was told', { knownAt: hoursAgo(501) }, []],
    ['before the move, as known now', { validAt: hoursAgo(101), knownAt: NOW }, ['Ines lives in Lisbon']],
    [
      'after the move, as known before it was told',
      { validAt: hoursAgo(99), knownAt: hoursAgo(95) },
      ['Ines lives in Lisbon'],
    ],
  ])('%s', async (_when, axes, texts) => {
    await moved();
    expect(textsOf(await tenant.recall({ query, ...axes }))).toEqual(texts);
    expect(textsOf(await tenant.recall(axes))).toEqual(texts);
  });

  it('never returns what was wrong once that is known', async () => {
    const id = await tenant.fact({ text: 'Ines lives in Faro', recordedAt: hoursAgo(50) });
    await tenant.retire([id], hoursAgo(10), { reason: 'WRONG', endedAt: null });
    expect(textsOf(await tenant.recall({ query, validAt: hoursAgo(30) }))).toEqual([]);
    expect(textsOf(await tenant.recall({ query, validAt: hoursAgo(30), knownAt: hoursAgo(20) }))).toEqual([
      'Ines lives in Faro',
    ]);
  });

  it('a fact with an asserted end is live until then', async () => {
    await tenant.facts([
      { text: 'Ines is on leave', validTo: hoursAgo(-5) },
      { text: 'Ines is ill', validTo: hoursAgo(5), recordedAt: hoursAgo(20) },
    ]);
    expect(textsOf(await tenant.recall({ query: 'Ines' }))).toEqual(['Ines is on leave']);
    expect(textsOf(await tenant.recall({ query: 'Ines', validAt: hoursAgo(10) }))).toEqual(['Ines is ill']);
    expect(textsOf(await tenant.recall({ query: 'Ines', validAt: hoursAgo(-6) }))).toEqual([]);
  });

  it('messages are those that were recorded by then', async () => {
    await tenant.messages([
      { content: 'Ines said hello', recordedAt: hoursAgo(50) },
      { content: 'Ines said goodbye', recordedAt: hoursAgo(10) },
    ]);
    expect(textsOf(await tenant.recall({ query: 'Ines', knownAt: hoursAgo(20) }))).toEqual([
      'Ines said hello',
    ]);
    expect(textsOf(await tenant.recall({ query: 'Ines', validAt: hoursAgo(20) }))).toHaveLength(2);
  });
});

describe('cost and effects', () => {
  const facts = (n: number): FactSpec[] =>
    Array.from({ length: n }, (_, i) => ({ text: `Sail number ${i} is of canvas`, importance: 1 + (i % 9) }));

  it.runIf(isPostgres)('is whole although a fact is forgotten while it runs', async () => {
    const [forgotten, other] = await tenant.facts([{ text: 'tea in the hold' }, { text: 'tea' }]);
    const { db: real, embedding, modelId } = world;
    let statements = 0;
    const elsewhere = AsyncResource.bind((work: () => void) => work());
    const forgetBeforeTheLast = <T extends object>(tx: T): T =>
      new Proxy(tx, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (name !== '$queryRaw' || typeof value !== 'function') return value;
          return async (...given: unknown[]) => {
            if (++statements === 3)
              await new Promise<void>((resolve, reject) => {
                // Outside of the recall's own transaction.
                elsewhere(() => {
                  const fact = { id: forgotten!, scopeId: 0, supersededBy: null };
                  tenant
                    .run((unit) => forgetFactRows(unit, [fact], false, NOW))
                    .then(() => resolve(), reject);
                });
              });
            return value.apply(target, given);
          };
        },
      });
    const seeing: Database = Object.assign(Object.create(real) as Database, {
      readTenant: (id: string, work: Parameters<Database['readTenant']>[1]) =>
        real.readTenant(id, (tx) => work(forgetBeforeTheLast(tx))),
    });
    const { profiles } = world;
    const deps = {
      db: seeing,
      embedding,
      embeddingModelId: modelId,
      learner: UNLEARNING,
      now: () => NOW,
      profiles,
    };
    const { items } = await recall(deps, tenant.actor(), { query: 'tea' });
    expect(items.map((item) => item.source === 'FACT' && item.fact.id).sort()).toEqual(
      [forgotten, other].sort(),
    );
    expect(textsOf(await tenant.recall({ query: 'tea' }))).toEqual(['tea']);
  });

  it('takes four statements, for one row as for hundreds, and one more where there is room to fill', async () => {
    await tenant.facts(facts(1));
    const few = await countStatements(db, () => tenant.recall({ query: 'canvas sail', k: 1 }));
    const filled = await countStatements(db, () => tenant.recall({ query: 'canvas sail', k: 200 }));
    await tenant.facts(facts(300));
    await tenant.messages(Array.from({ length: 100 }, (_, i) => ({ content: `canvas sail ${i}` })));
    const many = await countStatements(db, async () => {
      expect((await tenant.recall({ query: 'canvas sail', k: 200 })).items).toHaveLength(200);
    });
    expect(few).toHaveLength(4);
    expect(filled).toHaveLength(5);
    expect(many).toHaveLength(4);
    expect(await countStatements(db, () => tenant.recall({ k: 200 }))).toHaveLength(4);
  });

  it('opens no transaction for a request that is refused, nor before the query is embedded', async () => {
    expect(await countStatements(db, () => tenant.recall({ k: 0 }).catch(() => {}))).toEqual([]);
    const order: string[] = [];
    const stop = db.onStatement(() => order.push('statement'));
    const watched = fakeEmbedding();
    await recallWith(
      {
        ...watched,
        embedQuery: async (text) => {
          const vector = await watched.embedQuery(text);
          order.push('embedded');
          return vector;
        },
      },
      'canvas',
    ).finally(stop);
    expect(order.indexOf('embedded')).toBe(0);
    expect(order.length).toBeGreaterThan(1);
  });

  it('writes nothing, in neither mode', async () => {
    const agentId = await tenant.agent();
    await tenant.facts(facts(5));
    const statements = await countStatements(db, async () => {
      const learned = await tenant.recall({ query: 'canvas' }, tenant.actor('AGENT', { agentId }));
      expect(learned.receipt.mode).toBe('LEARN');
      const observed = await tenant.recall(
        { query: 'canvas', mode: 'OBSERVE' },
        tenant.actor('AGENT', { agentId }),
      );
      expect(observed.receipt.mode).toBe('OBSERVE');
      expect(observed.items).toEqual(learned.items);
    });
    for (const sql of statements) expect(sql).not.toMatch(/\b(INSERT|UPDATE|DELETE)\b/i);
  });

  it('gives the same answer to the same question', async () => {
    await tenant.facts(facts(60));
    const first = await tenant.recall({ query: 'canvas sail number 7' });
    expect(await tenant.recall({ query: 'canvas sail number 7' })).toEqual(first);
  });
});
