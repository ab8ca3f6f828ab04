import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LineExtractor } from '../extraction/line-extractor.js';
import { type TestApp, testApp } from '../support/app.js';
import { countStatements } from '../support/database.js';
import { type Caller, callersOf, TestClock } from './support.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

// The clock stands still: a key's use is noted once.
const clock = new TestClock();
let salient: TestApp;
beforeAll(async () => {
  salient = await testApp({ now: clock.now, extractor: new LineExtractor() });
});
afterAll(() => salient?.[Symbol.asyncDispose]());

/**
 * Statements that a request takes, authentication included, transaction control not; sorted, for several connections
 * have no order among them.
 */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const statements = await countStatements(salient.app.services.db, work);
  return statements.map((sql) => sql.trim().replace(/\s+/g, ' ').slice(0, 100)).sort();
}

async function setUp() {
  const tenant = await salient.tenant();
  const { agent, admin } = callersOf(salient, tenant);
  const session = { create: { userId: tenant.userId, externalId: 's1' } };
  const { messages, session: opened } = await agent.say(['one', 'two', 'three'], {
    session,
    extract: 'NEVER',
  });
  return {
    tenant,
    agent,
    admin,
    session,
    sessionId: opened!.id,
    sources: messages!.map((message) => message.id),
  };
}

/** A remember without the relations that the payload would read. */
function remember(caller: Caller, input: Record<string, unknown>) {
  return caller.query(
    'mutation ($input: RememberInput!) { remember(input: $input) { fact { id } errors { code } } }',
    {
      input,
    },
  );
}

describe('remember', () => {
  const full = (n: number, of: Awaited<ReturnType<typeof setUp>>) => ({
    text: `The page in question is number ${n}`,
    userId: of.tenant.userId,
    entities: [`Page ${n}`, 'Book', 'Shelf'],
    sourceMessageIds: of.sources,
    sessionId: of.sessionId,
    metadata: { n },
    idempotencyKey: `k${n}`,
  });

  test('takes at most 12 statements with all that it can be given, however many facts there are', async () => {
    const of = await setUp();
    await remember(of.agent, full(0, of));
    const few = await statementsOf(() => remember(of.agent, full(1, of)));
    for (let n = 2; n < 30; n++)
      await remember(of.agent, { text: `The page in question is number ${n}`, userId: of.tenant.userId });
    const many = await statementsOf(() => remember(of.agent, full(30, of)));
    expect(few.length, few.join('\n')).toBeLessThanOrEqual(12);
    expect(many).toEqual(few);
  });

  test('takes no more when it reaffirms, and two more at the first fact of a scope', async () => {
    const of = await setUp();
    await remember(of.agent, full(0, of));
    const added = await statementsOf(() => remember(of.agent, full(1, of)));
    const again = await statementsOf(() => remember(of.agent, { ...full(1, of), idempotencyKey: 'again' }));
    expect(again.length).toBeLessThanOrEqual(added.length);
    const { idempotencyKey: _key, ...input } = full(2, of);
    const first = await statementsOf(() => remember(of.admin, input));
    const second = await statementsOf(() =>
      remember(of.admin, { ...input, text: 'The book is on the shelf' }),
    );
    expect(first.length).toBeLessThanOrEqual(second.length + 3);
    expect(first.length).toBeLessThanOrEqual(12);
  });
});

describe('appendMessages', () => {
  const append = (
    caller: Caller,
    session: unknown,
    contents: string[],
    input: Record<string, unknown> = {},
  ) =>
    caller.query(
      `mutation ($input: AppendMessagesInput!) { appendMessages(input: $input) {
         session { id } messages { id externalId flagged }
         extraction { id status facts { id text kind importance } refused { category } } errors { code } } }`,
      { input: { session, messages: contents.map((content) => ({ role: 'USER', content })), ...input } },
    );
  const lines = (count: number, from: number) =>
    Array.from({ length: count }, (_, n) => `FACT [Page, Book]: The page in question is number ${from + n}`);

  test.each(['NOW', 'NEVER'])(
    'with 100 messages sends exactly as many as with 10: %s',
    async (extract) => {
      const { agent, session } = await setUp();
      await append(agent, session, lines(5, 10_000), { extract });
      const few = await statementsOf(() =>
        append(agent, session, lines(10, 0), { extract, idempotencyKey: 'a' }),
      );
      const many = await statementsOf(() =>
        append(agent, session, lines(100, 100), { extract, idempotencyKey: 'b' }),
      );
      expect(many).toEqual(few);
      expect(few.length, few.join('\n')).toBeLessThanOrEqual(extract === 'NOW' ? 30 : 13);
    },
    60_000,
  );
});

describe('lists', () => {
  const LIST = `query ($first: Int) { facts(first: $first, orderBy: { field: RECORDED_AT, direction: ASC }) {
    totalCount edges { node {
      id text agent { id name } user { id externalId } session { id } supersedes { id } supersededBy { id }
      entities { name } sources(first: 2) { edges { node { id content } } }
      edges(first: 2) { edges { node { relation source { name } target { name } } } } history(first: 2) { edges { node { id } } }
    } } } }`;

  test('facts with all their relations take as many statements for 30 rows as for 3', async () => {
    const { agent, session } = await setUp();
    const contents = Array.from(
      { length: 32 },
      (_, n) => `FACT [Page ${n}, Book]: The page in question is number ${n}`,
    );
    const { extraction } = await agent.say(contents, { session });
    for (const fact of extraction!.facts.slice(0, 10))
      await agent.replace({ id: fact.id }, `${fact.text}, they say`);
    const few = await statementsOf(() => agent.query(LIST, { first: 3 }));
    const many = await statementsOf(() => agent.query(LIST, { first: 30 }));
    expect(many).toEqual(few);
    expect(few.length, few.join('\n')).toBeLessThanOrEqual(14);
  });

  const OVERVIEW = `query ($slug: String!) { tenant(slug: $slug) {
    id name overridePolicy
    agents(first: 10) { edges { cursor node { id name salienceProfile { id version } } } pageInfo { hasNextPage endCursor } }
    users(first: 10) { edges { node { id externalId } } }
    facts(first: 10, orderBy: { field: IMPORTANCE, direction: DESC }) { edges { node { id text kind importance pinned } } }
    sessions(first: 10) { edges { node { id externalId } } }
    apiKeys(first: 10) { edges { node { id name role lastUsedAt } } }
    rescoreJobs(first: 5) { edges { node { id status } } }
  } }`;

  test("a tenant's overview takes at most 8, however many rows it has", async () => {
    const { tenant, admin, agent } = await setUp();
    await admin.query(OVERVIEW, { slug: tenant.slug });
    const few = await statementsOf(() => admin.query(OVERVIEW, { slug: tenant.slug }));
    for (let n = 0; n < 9; n++) {
      await admin.query(
        `mutation ($name: String!) { createAgent(input: { name: $name }) { agent { id } }
           createUser(input: { externalId: $name }) { user { id } }
           createApiKey(input: { role: TENANT_AUDITOR, name: $name }) { secret } }`,
        { name: `member ${n}` },
      );
      await agent.say(`FACT: The page in question is number ${n}`);
    }
    const many = await statementsOf(() => admin.query(OVERVIEW, { slug: tenant.slug }));
    expect(many).toEqual(few);
    expect(few.length, few.join('\n')).toBeLessThanOrEqual(8);
  });
});
