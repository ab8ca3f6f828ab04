import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createJobRunner, type JobRunner } from '../../src/jobs/index.js';
import { LineExtractor, until } from '../extraction/line-extractor.js';
import { callersOf, TestClock, uuidOf } from '../facts/support.js';
import { eventsOf, seeingClient } from '../facts/tables.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

// In a past of its own: what other test files have to do is not due by this clock.
const clock = new TestClock('2001-01-01T00:00:00.000Z');
const extractor = new LineExtractor();
let salient: TestApp;
let owner: pg.Client;
const runners: JobRunner[] = [];
beforeAll(async () => {
  salient = await testApp({ now: clock.now, extractor });
  owner = await seeingClient();
});
beforeEach(() => {
  extractor.before = () => {};
  extractor.calls.length = 0;
});
afterEach(async () => {
  for (const runner of runners.splice(0)) await runner[Symbol.asyncDispose]();
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

/** Another process: a runner and an extractor of its own on the same database. */
function another() {
  const own = new LineExtractor();
  const jobs = createJobRunner(
    { ...salient.app.services, extractor: own },
    { retry: 5, sweep: 20, close: 50 },
  );
  runners.push(jobs);
  return { jobs, extractor: own };
}

async function conversation() {
  const tenant = await salient.tenant();
  const { agent, admin } = callersOf(salient, tenant);
  return { tenant, agent, admin, session: { create: { userId: tenant.userId, externalId: 's1' } } };
}

async function statusOf(extractionId: string): Promise<string> {
  const { rows } = await owner.query<{ status: string }>('SELECT status FROM extraction_run WHERE id = $1', [
    uuidOf(extractionId),
  ]);
  return rows[0]!.status;
}

async function jobsOf(tenant: TestTenant): Promise<string[]> {
  const { rows } = await owner.query<{ status: string }>('SELECT status FROM job WHERE tenant_id = $1', [
    uuidOf(tenant.id),
  ]);
  return rows.map((row) => row.status);
}

/** An extraction whose process dies in the middle: what it does never ends, and its claim runs out. */
async function abandoned() {
  const { tenant, agent, admin, session } = await conversation();
  extractor.before = () => new Promise(() => {});
  const calls = extractor.calls.length;
  const { extraction } = await agent.say('FACT: The office is in Lisbon', { session, extract: 'LATER' });
  await until(() => extractor.calls.length === calls + 1);
  return { tenant, agent, admin, session, extraction: extraction! };
}

describe('CASE 52: work that a process left behind', () => {
  test('is taken up by another once the claim on the session has run out, and done once', async () => {
    const { tenant, admin, extraction } = await abandoned();
    const other = another();
    other.jobs.start();
    clock.advance(20_000);
    // The job is due, the claim still holds.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(other.extractor.calls).toEqual([]);
    clock.advance(11_000);
    await until(async () => (await statusOf(extraction.id)) === 'EXTRACTED');
    expect(await admin.texts()).toEqual(['The office is in Lisbon']);
    expect(other.extractor.calls).toHaveLength(1);
    expect(await jobsOf(tenant)).toEqual(['SUCCEEDED']);
  });

  test('what the slow process finds after all is dropped: it lost its claim', async () => {
    const { tenant, agent, session } = await conversation();
    let release = () => {};
    extractor.before = () => new Promise((resolve) => (release = resolve));
    const slow = agent.say('FACT: The office is in Lisbon', { session });
    await until(() => extractor.calls.length === 1);
    clock.advance(121_000);
    const other = another();
    other.jobs.start();
    await until(async () => (await jobsOf(tenant))[0] === 'SUCCEEDED');
    const events = await eventsOf(owner, tenant);
    release();
    expect((await slow).extraction).toMatchObject({
      status: 'EXTRACTED',
      facts: [{ text: 'The office is in Lisbon' }],
    });
    expect(await eventsOf(owner, tenant)).toEqual(events);
  });

  test('a slow process that fails does not undo what another has done', async () => {
    const { tenant, agent, session } = await conversation();
    let fail = () => {};
    extractor.before = () => new Promise((_resolve, reject) => (fail = () => reject(new Error('down'))));
    const slow = agent.say('FACT: The office is in Lisbon', { session });
    await until(() => extractor.calls.length === 1);
    clock.advance(121_000);
    const other = another();
    other.jobs.start();
    await until(async () => (await jobsOf(tenant))[0] === 'SUCCEEDED');
    fail();
    expect((await slow).extraction).toMatchObject({ status: 'EXTRACTED', facts: [{}] });
  });

  test('fresh work is left to the process that took it on', async () => {
    const { tenant } = await abandoned();
    const other = another();
    other.jobs.start();
    clock.advance(14_000);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(other.extractor.calls).toEqual([]);
    expect(await jobsOf(tenant)).toEqual(['QUEUED']);
  });
});

describe('a job that cannot be done', () => {
  test('keeps those of others not waiting, and is due again later', async () => {
    const [bad, good] = [await abandoned(), await abandoned()];
    clock.advance(121_000);
    // Its settings cannot be read, as by an older version.
    await owner.query(`UPDATE tenant SET settings = '{"gate": 1}' WHERE id = $1`, [uuidOf(bad.tenant.id)]);
    another().jobs.start();
    await until(async () => (await statusOf(good.extraction.id)) === 'EXTRACTED');
    expect(await jobsOf(bad.tenant)).toEqual(['QUEUED']);
    await until(async () => {
      const { rows } = await owner.query<{ later: boolean }>(
        'SELECT run_after > $2::timestamptz AS later FROM job WHERE tenant_id = $1',
        [uuidOf(bad.tenant.id), clock.now()],
      );
      return rows[0]!.later;
    });
  });

  test('ends when its session is gone', async () => {
    const { tenant } = await abandoned();
    await owner.query('DELETE FROM extraction_run WHERE tenant_id = $1', [uuidOf(tenant.id)]);
    await owner.query('DELETE FROM message WHERE tenant_id = $1', [uuidOf(tenant.id)]);
    await owner.query('DELETE FROM session WHERE tenant_id = $1', [uuidOf(tenant.id)]);
    clock.advance(121_000);
    another().jobs.start();
    await until(async () => (await jobsOf(tenant))[0] === 'FAILED');
  });
});

describe('closing', () => {
  test('leaves unfinished work as it was, free for others', async () => {
    const { tenant, agent, session } = await conversation();
    // A process that closes: its extractor heeds the signal.
    const closing = another();
    closing.extractor.before = (_input, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    extractor.before = () => {
      throw new Error('this process does nothing');
    };
    const first = await agent.say('FACT: The office is in Lisbon', { session });
    expect(first.extraction!.status).toBe('FAILED');
    const sessionId = uuidOf(first.session!.id);
    await owner.query(`UPDATE extraction_run SET status = 'PENDING' WHERE tenant_id = $1`, [
      uuidOf(tenant.id),
    ]);
    await owner.query(`UPDATE job SET status = 'QUEUED' WHERE tenant_id = $1`, [uuidOf(tenant.id)]);
    const context = (await tenantContext(tenant)) as never;
    const outcome = closing.jobs.extract(context, sessionId, uuidOf(first.extraction!.id), true);
    await until(() => closing.extractor.calls.length === 1);
    await closing.jobs[Symbol.asyncDispose]();
    expect((await outcome).status).toBe('PENDING');
    expect(await statusOf(first.extraction!.id)).toBe('PENDING');
    expect(await jobsOf(tenant)).toEqual(['QUEUED']);
    const lease = await owner.query('SELECT lease_owner FROM session WHERE tenant_id = $1', [
      uuidOf(tenant.id),
    ]);
    expect(lease.rows).toEqual([{ lease_owner: null }]);
    // The next one needs not wait for a claim to run out.
    clock.advance(16_000);
    another().jobs.start();
    await until(async () => (await statusOf(first.extraction!.id)) === 'EXTRACTED');
  });

  test('does not wait for ever for an extractor that heeds nothing', async () => {
    const { agent, session } = await conversation();
    const closing = another();
    closing.extractor.before = () => new Promise(() => {});
    const { messages, session: opened } = await agent.say('FACT: The office is in Lisbon', {
      session,
      extract: 'NEVER',
    });
    expect(messages).toHaveLength(1);
    await owner.query('UPDATE message SET extract = true WHERE id = $1', [uuidOf(messages![0]!.id)]);
    const { rows } = await owner.query<{ tenant_id: string }>('SELECT tenant_id FROM session WHERE id = $1', [
      uuidOf(opened!.id),
    ]);
    const context = await contextOf(rows[0]!.tenant_id);
    void closing.jobs.extract(context as never, uuidOf(opened!.id), uuidOf(opened!.id), false);
    await until(() => closing.extractor.calls.length === 1);
    await closing.jobs[Symbol.asyncDispose]();
  });
});

async function tenantContext(tenant: TestTenant) {
  return contextOf(uuidOf(tenant.id));
}

async function contextOf(id: string) {
  const { rows } = await owner.query(
    'SELECT id, slug, name, settings, hash_key AS "hashKey" FROM tenant WHERE id = $1',
    [id],
  );
  return rows[0];
}
