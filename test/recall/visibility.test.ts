import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, Prisma } from '../../src/db/index.js';
import { ForbiddenError, NotFoundError } from '../../src/errors.js';
import { newId } from '../../src/ids.js';
import type { RecallResult } from '../../src/recall/index.js';
import { testDatabase } from '../support/database.js';
import { type Owner, openWorld, type TestTenant, type World } from './fixture.js';

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

function textsOf(result: RecallResult): string[] {
  return result.items.map((item) => (item.source === 'FACT' ? item.fact.text : item.message.content)).sort();
}

describe('visibility', () => {
  let tenant: TestTenant;
  const ids = { a: '', b: '', u: '', v: '' };
  /** Every combination of no, this and another agent and user that a row can have. */
  const AGENTS = { none: null, a: 'a', b: 'b' } as const;
  const USERS = { none: null, u: 'u', v: 'v' } as const;

  beforeAll(async () => {
    tenant = await world.tenant();
    ids.a = await tenant.agent();
    ids.b = await tenant.agent();
    ids.u = await tenant.user();
    ids.v = await tenant.user();
    for (const [agent, agentKey] of Object.entries(AGENTS)) {
      for (const [user, userKey] of Object.entries(USERS)) {
        const owner: Owner = { agentId: agentKey && ids[agentKey], userId: userKey && ids[userKey] };
        await tenant.fact({ text: `lantern fact of ${agent} ${user}`, ...owner });
        await tenant.message({ content: `lantern message of ${agent} ${user}`, ...owner });
      }
    }
  });

  const both = (...scopes: string[]) =>
    scopes.flatMap((scope) => [`lantern fact of ${scope}`, `lantern message of ${scope}`]).sort();

  it.each([
    [{}, ['none none']],
    [{ agent: 'a' }, ['none none', 'a none']],
    [{ user: 'u' }, ['none none', 'none u']],
    [{ agent: 'a', user: 'u' }, ['none none', 'a none', 'none u', 'a u']],
    [{ agent: 'b' }, ['none none', 'b none']],
    [{ user: 'v' }, ['none none', 'none v']],
    [{ agent: 'a', user: 'v' }, ['none none', 'a none', 'none v', 'a v']],
    [{ agent: 'b', user: 'u' }, ['none none', 'b none', 'none u', 'b u']],
    [{ agent: 'b', user: 'v' }, ['none none', 'b none', 'none v', 'b v']],
  ] as const)(
    'an administrator who names %j sees %j',
    async (named: { agent?: 'a' | 'b'; user?: 'u' | 'v' }, scopes) => {
      const context = { agentId: named.agent && ids[named.agent], userId: named.user && ids[named.user] };
      for (const kind of ['TENANT_ADMIN', 'TENANT_AUDITOR', 'PLATFORM_ADMIN'] as const) {
        const found = await tenant.recall({ query: 'lantern', ...context }, tenant.actor(kind));
        expect(textsOf(found)).toEqual(both(...scopes));
      }
    },
  );

  it.each([
    [undefined, ['none none', 'a none']],
    ['u', ['none none', 'a none', 'none u', 'a u']],
    ['v', ['none none', 'a none', 'none v', 'a v']],
  ] as const)('an agent that acts for user %j sees %j', async (user, scopes) => {
    const agent = tenant.actor('AGENT', { agentId: ids.a });
    const found = await tenant.recall({ query: 'lantern', userId: user && ids[user] }, agent);
    expect(textsOf(found)).toEqual(both(...scopes));
  });

  it.each([
    [undefined, ['none none', 'none u']],
    // What an agent shares among all its users is not a user's to read.
    ['a', ['none none', 'none u', 'a u']],
    ['b', ['none none', 'none u', 'b u']],
  ] as const)('a user who comes through agent %j sees %j', async (agent, scopes) => {
    const user = tenant.actor('USER', { userId: ids.u });
    const found = await tenant.recall({ query: 'lantern', agentId: agent && ids[agent] }, user);
    expect(textsOf(found)).toEqual(both(...scopes));
  });

  it('is the same without a query', async () => {
    const context = { agentId: ids.a, userId: ids.u };
    const facts = ['none none', 'a none', 'none u', 'a u'].map((scope) => `lantern fact of ${scope}`).sort();
    expect(textsOf(await tenant.recall(context))).toEqual(facts);
    const messages = facts.map((text) => text.replace('fact', 'message')).sort();
    expect(textsOf(await tenant.recall({ ...context, sources: ['MESSAGE'] }))).toEqual(messages);
    expect(textsOf(await tenant.recall({}, tenant.actor('USER', { userId: ids.u })))).toEqual([
      'lantern fact of none none',
      'lantern fact of none u',
    ]);
  });

  it.each(['agentId', 'userId'] as const)(
    'an unknown %s is an error and not an empty list',
    async (field) => {
      const error = await tenant.recall({ query: 'lantern', [field]: newId() }).catch((caught) => caught);
      expect(error).toBeInstanceOf(NotFoundError);
      expect(error.inputPath).toEqual([field]);
    },
  );

  it("goes by the row's own scope, whatever an index says", async () => {
    const other = await world.tenant();
    const [userId, stranger] = [await other.user(), await other.user()];
    await other.fact({ text: 'a public lantern' });
    await other.fact({ text: 'a secret lantern', userId: stranger });
    await other.message({ content: 'a secret lantern', userId: stranger });
    await other.run(async ({ tx, tenantId }) => {
      const shared = Prisma.sql`(SELECT id FROM scope WHERE tenant_id = ${tenantId}::uuid AND user_id IS NULL)`;
      for (const index of ['posting', 'fact_embedding', 'message_embedding', 'fact_salience']) {
        await tx.$executeRaw`UPDATE ${Prisma.raw(index)} SET scope_id = ${shared} WHERE tenant_id = ${tenantId}::uuid`;
      }
    });
    expect(textsOf(await other.recall({ query: 'lantern', userId }))).toEqual(['a public lantern']);
    expect(textsOf(await other.recall({ userId }))).toEqual(['a public lantern']);
  });

  it("another agent's and another user's memory is refused", async () => {
    const agent = tenant.actor('AGENT', { agentId: ids.a });
    const user = tenant.actor('USER', { userId: ids.u });
    await expect(tenant.recall({ agentId: ids.b }, agent)).rejects.toBeInstanceOf(ForbiddenError);
    await expect(tenant.recall({ userId: ids.v }, user)).rejects.toBeInstanceOf(ForbiddenError);
  });
});

describe('two tenants with equal users and equal texts', () => {
  it('never meet, nor do their statistics', async () => {
    const [one, two] = [await world.tenant(), await world.tenant()];
    const [userOne, userTwo] = [await one.user('sam'), await two.user('sam')];
    const [factOne] = await one.facts([
      { text: 'Sam keeps the spare key under the blue pot', userId: userOne },
      { text: 'The harbour master is called Ines', userId: userOne },
    ]);
    const factTwo = await two.fact({ text: 'Sam keeps the spare key under the blue pot', userId: userTwo });
    const query = 'where is the spare key';

    const found = await one.recall({ query, userId: userOne });
    expect(found.items[0]).toMatchObject({ source: 'FACT', fact: { id: factOne } });
    const before = found.items.map((item) => item.scores.lexical);
    const other = await two.recall({ query, userId: userTwo });
    expect(other.items.map((item) => item.source === 'FACT' && item.fact.id)).toEqual([factTwo]);

    await expect(one.recall({ query, userId: userTwo })).rejects.toBeInstanceOf(NotFoundError);
    await expect(two.recall({ query, userId: userOne })).rejects.toBeInstanceOf(NotFoundError);

    await two.facts(Array.from({ length: 30 }, (_, i) => ({ text: `the spare key number ${i}` })));
    const after = await one.recall({ query, userId: userOne });
    expect(after.items.map((item) => item.scores.lexical)).toEqual(before);
  });
});
