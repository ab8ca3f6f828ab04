import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { appendMessages } from '../../src/conversations/index.js';
import { createJobRunner } from '../../src/jobs/index.js';
import { authenticate } from '../../src/tenancy/index.js';
import { callersOf, TestClock, uuidOf } from '../facts/support.js';
import { eventsOf, rowsOf, seeingClient } from '../facts/tables.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { LineExtractor, until } from './line-extractor.js';

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

async function conversation() {
  const tenant = await salient.tenant();
  const { agent, admin } = callersOf(salient, tenant);
  const session = { create: { userId: tenant.userId, externalId: 's1' } };
  const say = (contents: string | string[], input: Record<string, unknown> = {}) =>
    agent.say(contents, { session, ...input });
  return { tenant, agent, admin, say };
}

class ExtractorDown extends Error {
  readonly code = 'EXTRACTOR_DOWN';
}
const SECRET = 'the passphrase is correct horse battery staple';

describe('an extractor that fails', () => {
  test('FAILED, never "nothing": messages are kept, the cursor stays, the next append mines them too', async () => {
    const { tenant, say, admin } = await conversation();
    extractor.before = () => {
      throw new ExtractorDown(SECRET);
    };
    const failed = await say(['FACT: The office is in Lisbon', `FACT: ${SECRET}`]);
    expect(failed.messages).toHaveLength(2);
    expect(failed.extraction).toMatchObject({
      status: 'FAILED',
      error: 'EXTRACTOR_DOWN',
      facts: [],
      refused: [],
    });
    expect(failed.session).toMatchObject({ messageCount: 2, minedCount: 0 });
    expect(await eventsOf(owner, tenant)).toMatchObject([
      { type: 'EXTRACTION_FINISHED', subjectId: uuidOf(failed.extraction!.id) },
    ]);
    extractor.before = () => {};
    const next = await say('FACT: The warehouse is in Porto');
    expect(next.extraction).toMatchObject({ status: 'EXTRACTED' });
    expect(next.extraction!.facts).toHaveLength(3);
    expect(next.session).toMatchObject({ messageCount: 3, minedCount: 3 });
    expect(await admin.texts()).toHaveLength(3);
    // The failed run stays what it was.
    expect(
      await admin.query('query ($id: ID!) { node(id: $id) { ... on Extraction { status } } }', {
        id: failed.extraction!.id,
      }),
    ).toEqual({ node: { status: 'FAILED' } });
  });

  test('CASE 54: neither its message nor what was said gets into the log or the run', async () => {
    const { tenant, say } = await conversation();
    extractor.before = () => {
      throw new Error(SECRET);
    };
    const { extraction } = await say(`FACT: ${SECRET}`);
    expect(extraction).toMatchObject({ status: 'FAILED', error: 'Error' });
    expect(salient.logged()).toContain('extraction failed');
    expect(salient.logged()).not.toContain('passphrase');
    expect((await rowsOf(owner, tenant, 'extraction_run')).join()).not.toContain('passphrase');
  });

  test.each<[string, () => unknown]>([
    ['nothing at all', () => undefined],
    ['a number that is none', () => ({ add: [{ ...broken(), confidence: Number.NaN }], supersede: [] })],
    ['an unknown kind', () => ({ add: [{ ...broken(), kind: 'MOOD' }], supersede: [] })],
  ])('an answer that is no answer (%s) is a failure as well, and leaves no fact', async (_name, answer) => {
    const { say, admin, tenant } = await conversation();
    const { extract } = extractor;
    extractor.extract = async () => answer() as never;
    const { extraction, session } = await say('FACT: The office is in Lisbon');
    extractor.extract = extract;
    expect(extraction).toMatchObject({ status: 'FAILED', facts: [] });
    expect(session!.minedCount).toBe(0);
    expect(await admin.texts({ status: 'ALL' })).toEqual([]);
    expect(await rowsOf(owner, tenant, 'entity')).toEqual([]);
  });

  test('what the windows before the failing one gave is kept, and is not mined again', async () => {
    const { say, admin, tenant } = await conversation();
    extractor.before = (input) => {
      if (input.messages.some((message) => message.content.includes('number 60'))) throw new ExtractorDown();
    };
    const contents = Array.from({ length: 70 }, (_, n) => `FACT: The page in question is number ${n}`);
    const failed = await say(contents);
    expect(failed.extraction).toMatchObject({ status: 'FAILED', error: 'EXTRACTOR_DOWN' });
    expect(failed.extraction!.facts).toHaveLength(50);
    expect(failed.session).toMatchObject({ messageCount: 70, minedCount: 50 });
    extractor.calls.length = 0;
    extractor.before = () => {};
    const next = await say('FACT: The book in question is blue');
    expect(extractor.seen).toHaveLength(21);
    expect(next.session).toMatchObject({ messageCount: 71, minedCount: 71 });
    expect((await admin.facts()).totalCount).toBe(71);
    const types = (await eventsOf(owner, tenant)).map((event) => event.type);
    expect(types.filter((type) => type === 'EXTRACTION_FINISHED')).toHaveLength(2);
  });
});

/** The services of the app with their job runner's waiting time cut, and its agent as an actor. */
async function impatient(tenant: TestTenant, wait: number) {
  const { services } = salient.app;
  const jobs = createJobRunner(services, { wait });
  const actor = await authenticate(services, {
    authorization: `Bearer ${tenant.keys.AGENT}`,
    tenantSlug: null,
    requestId: 'test',
  });
  if (!actor?.tenant) throw new Error('the agent has no tenant');
  return { services: { ...services, jobs }, jobs, actor: { ...actor, tenant: actor.tenant } };
}

describe('an extractor that hangs', () => {
  test('the append answers PENDING after its waiting time; the run goes on and is told', async () => {
    const { tenant, admin } = await conversation();
    const { services, jobs, actor } = await impatient(tenant, 30);
    let release = () => {};
    extractor.before = () => new Promise((resolve) => (release = resolve));
    const result = await appendMessages(services, actor, {
      session: { create: { userId: uuidOf(tenant.userId) } },
      messages: [{ role: 'USER', content: 'FACT: The office is in Lisbon' }],
      extract: 'NOW',
    });
    expect(result.extraction).toMatchObject({ status: 'PENDING', factIds: [] });
    expect(await rowsOf(owner, tenant, 'message')).toHaveLength(1);
    expect(await eventsOf(owner, tenant)).toEqual([]);
    release();
    await until(async () =>
      (await eventsOf(owner, tenant)).some(({ type }) => type === 'EXTRACTION_FINISHED'),
    );
    expect(await admin.texts()).toEqual(['The office is in Lisbon']);
    await jobs[Symbol.asyncDispose]();
  });

  test('no transaction is open meanwhile: everything else goes on', async () => {
    const { say, admin, agent } = await conversation();
    let release = () => {};
    extractor.before = () => new Promise((resolve) => (release = resolve));
    const slow = say('FACT: The office is in Lisbon');
    await until(() => extractor.calls.length === 1);
    await admin.fact('The warehouse is in Porto');
    const aside = await say('FACT: The garage is in Faro', { extract: 'NEVER' });
    expect(aside.session!.messageCount).toBe(2);
    expect(await agent.texts()).toEqual(['The warehouse is in Porto']);
    release();
    expect((await slow).extraction!.status).toBe('EXTRACTED');
  });
});

function broken() {
  return {
    text: 'The office is in Lisbon',
    kind: 'FACT',
    entities: ['Lisbon'],
    confidence: 1,
    sourceMessageIds: [],
  };
}
