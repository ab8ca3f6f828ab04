import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Database,
  type FactListFilter,
  type FactOrderField,
  type FactPage,
  type FactRecord,
  listFacts,
  lockScopes,
  lookUpFacts,
} from '../../src/db/index.js';
import { hoursAgo, NOW, openWorld, type World } from '../recall/fixture.js';
import { testDatabase } from '../support/database.js';

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

const ALL: FactListFilter = {
  agentId: null,
  userId: null,
  kinds: null,
  status: 'ALL',
  pinned: null,
  words: null,
  entityKey: null,
  recordedFrom: null,
  recordedTo: null,
  now: NOW,
  range: {},
};

describe('a list of facts by time', () => {
  it.each(['RECORDED_AT', 'VALID_FROM'] as const)(
    'goes through all of them once by %s, to the millisecond, either way',
    async (orderBy: FactOrderField) => {
      const tenant = await world.tenant();
      const at = (ms: number) => new Date(NOW.getTime() - ms);
      // Two of them share a time; 1 ms lies between the others.
      const times = [5, 4, 3, 3, 2, 1].map(at);
      const ids = await tenant.facts(
        times.map((time, i) => ({
          text: `number ${i}`,
          recordedAt: orderBy === 'RECORDED_AT' ? time : hoursAgo(1),
          validFrom: orderBy === 'VALID_FROM' ? time : hoursAgo(2),
        })),
      );
      const pages = async (descending: boolean) => {
        const seen: string[] = [];
        let after: FactPage['after'] = null;
        for (;;) {
          const page: FactPage = {
            limit: 1,
            after,
            before: null,
            backward: false,
            orderBy,
            descending,
          };
          const rows: readonly FactRecord[] = await tenant.run((unit) => listFacts(unit, ALL, page));
          const [row] = rows;
          if (!row) return seen;
          seen.push(row.id);
          after = [(orderBy === 'RECORDED_AT' ? row.recordedAt : row.validFrom).getTime(), row.id];
        }
      };
      const ascending = await pages(false);
      expect([...ascending].sort()).toEqual([...ids].sort());
      expect(ascending.slice(0, 2)).toEqual(ids.slice(0, 2));
      expect(ascending.slice(4)).toEqual(ids.slice(4));
      expect(await pages(true)).toEqual([...ascending].reverse());
    },
  );

  it('is empty beyond times that no calendar has', async () => {
    const tenant = await world.tenant();
    const id = await tenant.fact({ text: 'tea' });
    const list = (value: number) =>
      tenant.run((unit) => {
        const page = {
          limit: 5,
          before: null,
          backward: false,
          orderBy: 'RECORDED_AT',
          descending: false,
        } as const;
        return listFacts(unit, ALL, { ...page, after: [value, id] });
      });
    expect(await list(1e300)).toEqual([]);
    expect((await list(-1e300)).map((fact) => fact.id)).toEqual([id]);
  });
});

describe('the nearest facts of a new statement', () => {
  it('are live ones, however many past their end are nearer', async () => {
    const tenant = await world.tenant();
    await tenant.facts(
      Array.from({ length: 40 }, () => ({ text: 'the ship is in the harbour', validTo: hoursAgo(1) })),
    );
    const live = await tenant.fact({ text: 'the ship is in the harbour of Lisbon' });
    const lookUp = (embedding: Float32Array | null) =>
      tenant.run(async (unit) => {
        const [scope] = await lockScopes(unit, [{ agentId: null, userId: null }], NOW);
        const terms = ['ship', 'harbour'].map((term) => unit.content.term(term));
        const draft = {
          scopeId: scope!.id,
          kind: 'FACT',
          textHash: new Uint8Array(32),
          terms,
          replaces: null,
        };
        const { results } = await lookUpFacts(unit, [{ ...draft, embedding }], world.modelId, NOW);
        return results[0]!;
      });
    const [embedding] = await world.embedding.embed(['the ship is in the harbour']);
    const byVector = await lookUp(embedding!);
    expect(byVector.candidates.map(({ id }) => id)).toEqual([live]);
    expect(byVector.nearest?.distance).toBeGreaterThan(0.01);
    expect((await lookUp(null)).candidates.map(({ id }) => id)).toEqual([live]);
  });
});
