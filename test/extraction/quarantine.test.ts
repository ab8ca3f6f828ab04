import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Caller, callersOf, TestClock, uuidOf } from '../facts/support.js';
import { eventsOf, rowsOf, seeingClient } from '../facts/tables.js';
import { type TestApp, testApp } from '../support/app.js';
import { LineExtractor } from './line-extractor.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
const extractor = new LineExtractor();
let salient: TestApp;
let owner: pg.Client;
beforeAll(async () => {
  salient = await testApp({ now: clock.now, extractor });
  owner = await seeingClient();
});
beforeEach(() => {
  extractor.before = () => {};
  extractor.calls.length = 0;
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

class Unparseable extends Error {
  readonly code = 'EXTRACTOR_UNPARSEABLE';
}

/** The extractor fails at every window with this word in it. */
function failAt(word: string): void {
  extractor.before = ({ messages }) => {
    if (messages.some(({ content }) => content.includes(word))) throw new Unparseable();
  };
}

async function conversation() {
  const tenant = await salient.tenant();
  const callers = callersOf(salient, tenant);
  const session = { create: { userId: tenant.userId, externalId: 's1' } };
  const say = (contents: string | string[], input: Record<string, unknown> = {}) =>
    callers.agent.say(contents, { session, ...input });
  return { tenant, ...callers, say };
}

const POISON = 'FACT: The office is in Lisbon, poison';

/** A session whose first message failed five times, with the answers of the five appends. */
async function poisoned() {
  const made = await conversation();
  failAt('poison');
  const answers = [await made.say(POISON)];
  for (let n = 2; n <= 5; n++) answers.push(await made.say(`FACT: The page in question is number ${n}`));
  return { ...made, answers };
}

interface Run {
  readonly id: string;
  readonly status: string;
  readonly error: string | null;
  readonly attempts: number;
  readonly window: { from: number; to: number } | null;
  readonly quarantined: { from: number; to: number; error: string; retryAt: string | null }[];
  readonly facts: { text: string }[];
  readonly refusals: { category: string; count: number }[];
  readonly usage: { inputTokens: number; outputTokens: number; cost: number | null };
  readonly notes: string[];
}

const RUN = `id status error attempts window { from to } quarantined { from to error retryAt } facts { text }
  refusals { category count } usage { inputTokens outputTokens cost } notes`;

async function runsOf(caller: Caller, args = ''): Promise<Run[]> {
  const query = `{ tenant { extractionRuns${args} { edges { node { ${RUN} } } } } }`;
  type Answer = { tenant: { extractionRuns: { edges: { node: Run }[] } } };
  return (await caller.query<Answer>(query)).tenant.extractionRuns.edges.map(({ node }) => node);
}

async function retry(caller: Caller, id: string) {
  const query = `mutation ($input: RetryExtractionInput!) { retryExtraction(input: $input) {
    extraction { ${RUN} } errors { code message path } } }`;
  type Answer = { retryExtraction: { extraction: Run | null; errors: { code: string; path: string[] }[] } };
  return (await caller.query<Answer>(query, { input: { id } })).retryExtraction;
}

describe('CASE 17: a window that can never be read', () => {
  test('blocks the session no longer than five failures, does not grow, and is put aside with its error', async () => {
    const { tenant, admin, answers } = await poisoned();
    expect(answers.map(({ extraction }) => extraction!.status)).toEqual([
      'FAILED',
      'FAILED',
      'FAILED',
      'FAILED',
      'EXTRACTED',
    ]);
    // What came after was not drawn in: each try had the one message.
    expect(extractor.calls.map(({ messages }) => messages.length)).toEqual([1, 1, 1, 1, 1, 4]);
    expect(answers[4]!.session).toMatchObject({ messageCount: 5, minedCount: 5 });
    expect(await admin.texts()).toEqual([2, 3, 4, 5].map((n) => `The page in question is number ${n}`));
    const runs = await runsOf(admin);
    expect(runs[0]).toMatchObject({
      status: 'QUARANTINED',
      error: 'EXTRACTOR_UNPARSEABLE',
      window: { from: 1, to: 1 },
      quarantined: [{ from: 1, to: 1, error: 'EXTRACTOR_UNPARSEABLE', retryAt: null }],
    });
    expect(runs.slice(1).map(({ status, quarantined }) => [status, quarantined])).toEqual([
      ['FAILED', []],
      ['FAILED', []],
      ['FAILED', []],
      ['EXTRACTED', []],
    ]);
    const told = (await eventsOf(owner, tenant)).filter(({ type }) => type === 'EXTRACTION_QUARANTINED');
    expect(told).toHaveLength(1);
    expect(runs.map(({ id }) => uuidOf(id))).toContain(told[0]!.subjectId);
    expect(await runsOf(admin, '(status: [QUARANTINED])')).toEqual([runs[0]]);
    // Its message is where it was.
    expect(await rowsOf(owner, tenant, 'message')).toHaveLength(5);
  });

  test('is mined when it is tried again and can be read; nothing else is mined a second time', async () => {
    const { tenant, admin, agent } = await poisoned();
    const [run] = await runsOf(admin);
    const before = await admin.texts();
    extractor.calls.length = 0;
    extractor.before = () => {};
    const { extraction, errors } = await retry(agent, run!.id);
    expect(errors).toEqual([]);
    expect(extraction).toMatchObject({
      id: run!.id,
      status: 'EXTRACTED',
      error: null,
      quarantined: [],
      facts: [{ text: 'The office is in Lisbon, poison' }],
    });
    expect(extractor.seen).toHaveLength(1);
    expect(await admin.texts()).toEqual([...before, 'The office is in Lisbon, poison'].sort());
    expect(await rowsOf(owner, tenant, 'quarantined_window')).toEqual([]);
    const again = await retry(agent, run!.id);
    expect(again.errors).toMatchObject([{ code: 'BAD_INPUT', path: ['input', 'id'] }]);
  });

  test('goes back into quarantine when it fails again, and the conversation goes on meanwhile', async () => {
    const { admin, agent, say } = await poisoned();
    const [run] = await runsOf(admin);
    const { extraction } = await retry(agent, run!.id);
    expect(extraction).toMatchObject({ status: 'QUARANTINED', error: 'EXTRACTOR_UNPARSEABLE', attempts: 1 });
    expect(extraction!.quarantined).toMatchObject([{ from: 1, to: 1, retryAt: null }]);
    expect((await say('FACT: The garage is in Faro')).extraction).toMatchObject({
      status: 'EXTRACTED',
      facts: [{ text: 'The garage is in Faro' }],
    });
  });

  test('where the cause may pass, is tried by itself after a retry, and does not hold up what follows', async () => {
    const { admin, agent, say, tenant } = await poisoned();
    const [run] = await runsOf(admin);
    class Away extends Error {
      readonly code = 'EXTRACTOR_UNAVAILABLE';
      readonly retryable = true;
    }
    extractor.before = ({ messages }) => {
      if (messages.some(({ content }) => content.includes('poison'))) throw new Away();
    };
    const { extraction } = await retry(agent, run!.id);
    expect(extraction).toMatchObject({ status: 'PENDING', error: 'EXTRACTOR_UNAVAILABLE' });
    expect(extraction!.quarantined).toMatchObject([
      { retryAt: new Date(clock.now().getTime() + 5_000).toISOString() },
    ]);
    expect((await say('FACT: The garage is in Faro')).extraction!.status).toBe('EXTRACTED');
    extractor.before = () => {};
    clock.advance(5_000);
    expect((await say('FACT: The lift is in repair')).extraction!.status).toBe('EXTRACTED');
    expect(await admin.texts()).toContain('The office is in Lisbon, poison');
    expect((await runsOf(admin))[0]).toMatchObject({ status: 'EXTRACTED', quarantined: [] });
    const { rows } = await owner.query(
      `SELECT 1 FROM job WHERE tenant_id = $1 AND kind = 'EXTRACTION' AND status NOT IN ('SUCCEEDED', 'FAILED')`,
      [uuidOf(tenant.id)],
    );
    expect(rows).toEqual([]);
  });

  test('in the middle of a long append: the rest is mined, and the run says what is put aside', async () => {
    const { admin, say } = await conversation();
    failAt('number 60');
    const contents = Array.from({ length: 120 }, (_, n) => `FACT: The page in question is number ${n}`);
    const first = await say(contents);
    expect(first.extraction).toMatchObject({ status: 'FAILED', facts: { length: 50 } });
    for (let n = 2; n <= 5; n++) await say('thanks');
    const [run] = await runsOf(admin);
    expect(run).toMatchObject({
      status: 'QUARANTINED',
      window: { from: 1, to: 120 },
      quarantined: [{ from: 51, to: 100 }],
    });
    expect((await admin.facts()).totalCount).toBe(70);
    extractor.before = () => {};
    extractor.calls.length = 0;
    expect((await retry(admin, run!.id)).extraction).toMatchObject({ status: 'EXTRACTED', quarantined: [] });
    expect(extractor.seen).toHaveLength(50);
    expect((await admin.facts()).totalCount).toBe(120);
  });
});

describe('retryExtraction', () => {
  test('of a run that FAILED mines it at once', async () => {
    const { say, agent, admin } = await conversation();
    failAt('poison');
    const { extraction } = await say(POISON);
    extractor.before = () => {};
    expect((await retry(agent, extraction!.id)).extraction).toMatchObject({
      status: 'EXTRACTED',
      facts: [{ text: 'The office is in Lisbon, poison' }],
    });
    expect(await admin.texts()).toEqual(['The office is in Lisbon, poison']);
  });

  test('of one whose messages a later run has mined mines nothing twice', async () => {
    const { say, agent, admin } = await conversation();
    failAt('poison');
    const failed = await say(POISON);
    extractor.before = () => {};
    await say('FACT: The garage is in Faro');
    extractor.calls.length = 0;
    expect((await retry(agent, failed.extraction!.id)).extraction).toMatchObject({ status: 'EXTRACTED' });
    expect(extractor.calls).toEqual([]);
    expect(await admin.texts()).toHaveLength(2);
  });

  test("is for who may write to the conversation: not for an auditor, nor for another tenant's or user's", async () => {
    const { say, auditor, tenant, user } = await conversation();
    failAt('poison');
    const { extraction } = await say(POISON, { session: { create: {} } });
    await expect(retry(auditor, extraction!.id)).rejects.toThrow('FORBIDDEN');
    // A conversation without a user is not a user's.
    expect((await retry(user, extraction!.id)).errors).toMatchObject([{ code: 'NOT_FOUND' }]);
    const other = await conversation();
    expect((await retry(other.admin, extraction!.id)).errors).toMatchObject([{ code: 'NOT_FOUND' }]);
    expect((await retry(other.admin, tenant.id)).errors).toMatchObject([{ code: 'NOT_FOUND' }]);
    expect((await runsOf(other.admin)).map(({ id }) => id)).not.toContain(extraction!.id);
  });
});

test('lists of runs page both ways, in the tenant and in a session, with a constant number of statements', async () => {
  const { agent, admin } = await conversation();
  const sessions: string[] = [];
  for (const name of ['a', 'b', 'c'])
    for (let n = 0; n < 3; n++) {
      const said = await agent.say('thanks', { session: { create: { externalId: name } } });
      if (n === 0) sessions.push(said.session!.id);
    }
  const all = (await runsOf(admin)).map(({ id }) => id);
  expect(all).toHaveLength(9);
  const page = async (args: string) => {
    type Answer = { tenant: { extractionRuns: { edges: { cursor: string; node: { id: string } }[] } } };
    const query = `{ tenant { extractionRuns(${args}) { edges { cursor node { id } } } } }`;
    return (await admin.query<Answer>(query)).tenant.extractionRuns.edges;
  };
  const first = await page('first: 4');
  const next = await page(`first: 4, after: "${first[3]!.cursor}"`);
  expect([...first, ...next].map(({ node }) => node.id)).toEqual(all.slice(0, 8));
  expect((await page('last: 2')).map(({ node }) => node.id)).toEqual(all.slice(7));
  const count = async (ids: string[]) => {
    let statements = 0;
    const stop = salient.app.services.db.onStatement(() => {
      statements += 1;
    });
    const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Session { extractionRuns(first: 2) {
      edges { node { id refusals { count } quarantined { from } } } } } } }`;
    type Answer = { nodes: { extractionRuns: { edges: { node: { id: string } }[] } }[] };
    const { nodes } = await admin.query<Answer>(query, { ids });
    stop();
    return { statements, runs: nodes.map(({ extractionRuns }) => extractionRuns.edges.length) };
  };
  const one = await count(sessions.slice(0, 1));
  const three = await count(sessions);
  expect(three.runs).toEqual([2, 2, 2]);
  expect(three.statements).toBe(one.statements);
});
