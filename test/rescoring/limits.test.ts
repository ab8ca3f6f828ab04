import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { inTenant, nextStretch, SCOPES_AT_A_TIME } from '../../src/db/index.js';
import { scopesWithin } from '../../src/rescoring/rescore-scopes.js';
import type { TenantContext } from '../../src/tenancy/index.js';
import { type Caller, callersOf, type FactView, TestClock, uuidOf } from '../facts/support.js';
import { seeingClient } from '../facts/tables.js';
import { profileCallers, setPolicy } from '../profiles/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { countStatements } from '../support/database.js';
import { changes, contextOf, ended, startRescore } from './support.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const USERS = 20;
const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
let tenant: TestTenant;
let context: TenantContext;
let admin: Caller;
/** A fact of each user, which the user takes an interest in. */
const facts: FactView[] = [];

const many = (name: string) =>
  Array.from({ length: 100 }, (_, n) => ({ topic: `${name} ${n}`, level: 'HIGH' }));

beforeAll(async () => {
  salient = await testApp({ now: clock.now });
  owner = await seeingClient();
  tenant = await salient.tenant();
  context = await contextOf(owner, tenant);
  ({ admin } = callersOf(salient, tenant));
  const { admin: profiles } = profileCallers(salient, tenant);
  await setPolicy(salient, tenant, 'FULL_OVERRIDE');
  for (let n = 0; n < USERS; n++) {
    const { createUser } = await admin.query<{ createUser: { user: { id: string } } }>(
      `mutation ($externalId: String!) { createUser(input: { externalId: $externalId }) { user { id } } }`,
      { externalId: `of-limits-${n}` },
    );
    const userId = createUser.user.id;
    facts.push(await admin.fact(`Harbour${n} cranes are painted yellow`, { userId }));
    await profiles.saved(
      { userId },
      { interests: [{ topic: `Harbour${n} cranes`, level: 'CRITICAL' }], rescore: 'RECALL_ONLY' },
    );
  }
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

/** As many profiles as there are users, with two hundred topics each and one of their own. */
describe('twenty profiles with two hundred topics', () => {
  const input = () => ({ interests: many('Ledger'), disinterests: many('Lichen') });
  let previewed: Map<string, number>;

  test('are all looked at by a preview', async () => {
    const { previewSalienceProfile } = await admin.query<{
      previewSalienceProfile: {
        affected: number;
        raised: number;
        changes: { fact: { id: string }; before: number; after: number }[];
      };
    }>(
      `query ($input: SetSalienceProfileInput!) { previewSalienceProfile(input: $input, first: 50) {
         affected raised changes { fact { id } before after } } }`,
      { input: { ...input(), owner: { tenant: true } } },
    );
    expect(previewSalienceProfile).toMatchObject({ affected: USERS, raised: USERS });
    previewed = new Map(previewSalienceProfile.changes.map(({ fact, after }) => [fact.id, after]));
    expect([...previewed.keys()].sort()).toEqual(facts.map(({ id }) => id).sort());
  });

  test('are read in one list, each fact with the score of its own', async () => {
    const { admin: profiles } = profileCallers(salient, tenant);
    await profiles.saved({ tenant: true }, { ...input(), rescore: 'LAZY' });
    const { edges } = await admin.facts({}, { first: USERS });
    expect(edges).toHaveLength(USERS);
    for (const { node } of edges) {
      expect(node.importanceBreakdown.topicBoost).toBeGreaterThan(1);
      expect(node.importanceBreakdown.current).toBeCloseTo(previewed.get(node.id)!, 9);
    }
  });

  test('are scored by a rescoring in several transactions, which tells each change once', async () => {
    const { cursor } = await changes(admin);
    const { job } = await startRescore(admin);
    expect(await ended(admin, job!.id)).toMatchObject({
      status: 'SUCCEEDED',
      total: USERS,
      processed: USERS,
      changed: USERS,
    });
    const told = (await changes(admin, cursor)).changes;
    expect(told.map(({ factId }) => factId).sort()).toEqual(facts.map(({ id }) => id).sort());
    for (const { factId, new: importance } of told) expect(importance).toBeCloseTo(previewed.get(factId)!, 9);
    const { rows } = await owner.query(
      `SELECT first_seq, last_seq FROM event_batch WHERE tenant_id = $1 ORDER BY first_seq`,
      [context.id],
    );
    expect(rows).toHaveLength(USERS);
    const { rows: events } = await owner.query(
      `SELECT s.head - s.floor = (SELECT count(*) FROM event WHERE tenant_id = $1) + $2 AS whole
       FROM tenant_stream s WHERE tenant_id = $1`,
      [context.id, USERS],
    );
    expect(events).toEqual([{ whole: true }]);
  });

  test('what fits one transaction is a beginning of the scopes, never none', async () => {
    const { services } = salient.app;
    const owners = facts.map(({ user }) => ({ agentId: null, userId: uuidOf(user!.id) }));
    const read = (some: typeof owners) =>
      inTenant(services.db, context, (unit) => services.profiles.effectiveOf(unit, some));
    const profiles = await read(owners);
    // 15 and 201 topics each.
    expect(scopesWithin(profiles, 216 * 3)).toBe(3);
    expect(scopesWithin(profiles, 216 * 3 - 1)).toBe(2);
    expect(scopesWithin(profiles, 1)).toBe(1);
    expect(scopesWithin(profiles)).toBe(11);
    // One profile is one, in however many scopes.
    const [first] = profiles;
    expect(
      scopesWithin(
        profiles.map(() => first!),
        216,
      ),
    ).toBe(USERS);
    expect(scopesWithin([])).toBe(0);
  });
});

describe('a stretch', () => {
  test('leaves out scopes without facts, and ends with the last that it may have', async () => {
    const elsewhere = await salient.tenant();
    const own = await contextOf(owner, elsewhere);
    const { admin: other } = callersOf(salient, elsewhere);
    const fact = await other.fact('Harbour cranes are painted yellow');
    const { rows: tables } = await owner.query<{ columns: string }>(
      `SELECT string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
       WHERE table_name = 'fact_salience' AND column_name NOT IN ('fact_id', 'scope_id')`,
    );
    const count = SCOPES_AT_A_TIME + 5;
    // Of users and facts that are rows of these tables alone.
    await owner.query('SET session_replication_role = replica');
    // Two scopes for each that has a fact: the second has none.
    const { rows: scopes } = await owner.query<{ id: number }>(
      `INSERT INTO scope (tenant_id, user_id, created_at)
       SELECT $1, gen_random_uuid(), now() FROM generate_series(1, $2::int) RETURNING id`,
      [own.id, 2 * count],
    );
    const held = scopes
      .map(({ id }) => id)
      .sort((a, b) => a - b)
      .filter((_id, n) => n % 2 === 0);
    const { columns } = tables[0]!;
    await owner.query(
      `INSERT INTO fact_salience (fact_id, scope_id, ${columns})
       SELECT gen_random_uuid(), x.id, ${columns
         .split(', ')
         .map((name) => `s.${name}`)
         .join(', ')}
       FROM fact_salience s CROSS JOIN unnest($2::int[]) AS x(id) WHERE s.fact_id = $1`,
      [uuidOf(fact.id), held],
    );
    await owner.query('SET session_replication_role = origin');
    const { db } = salient.app.services;
    const walk = async (limit: number) => {
      const met: number[] = [];
      const lengths: number[] = [];
      let after: Awaited<ReturnType<typeof nextStretch>>['through'] = null;
      do {
        const stretch = await inTenant(db, own, (unit) => nextStretch(unit, null, after, limit));
        lengths.push(stretch.scopes.length);
        for (const { scopeId } of stretch.scopes) met.push(scopeId);
        after = stretch.through;
      } while (after);
      return { met, lengths };
    };
    const { met, lengths } = await walk(10_000);
    // The first is of the fact that was remembered.
    expect(met.slice(1)).toEqual(held);
    expect(lengths).toEqual([SCOPES_AT_A_TIME, 6]);
    expect((await walk(100)).met.slice(1)).toEqual(held);
    const statements = await countStatements(db, () => walk(10_000));
    expect(statements).toHaveLength(2);
  });
});
