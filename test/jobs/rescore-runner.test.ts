import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  abandonRescore,
  beginRescore,
  enqueueRescore,
  inTenant,
  tenantsToRescore,
} from '../../src/db/index.js';
import { newId } from '../../src/ids.js';
import { createRescoreRunner, type RescoreRunner } from '../../src/jobs/index.js';
import { rescoreStep } from '../../src/rescoring/index.js';
import type { Services } from '../../src/services.js';
import type { TenantContext } from '../../src/tenancy/index.js';
import { type Caller, callersOf, type FactView, TestClock, uuidOf } from '../facts/support.js';
import { eventsOf, seeingClient } from '../facts/tables.js';
import { type ProfileCaller, profileCallers } from '../profiles/support.js';
import {
  cancelRescore,
  changes,
  contextOf,
  ended,
  findJob,
  listJobs,
  startRescore,
} from '../rescoring/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
const TIMING = { factsAtATime: 2, retry: 1, close: 200 };
let salient: TestApp;
let owner: pg.Client;
let tenant: TestTenant;
let context: TenantContext;
let admin: Caller;
let profiles: ProfileCaller;
const runners: RescoreRunner[] = [];
beforeAll(async () => {
  salient = await testApp({ now: clock.now, rescoring: TIMING });
  owner = await seeingClient();
});
beforeEach(async () => {
  tenant = await salient.tenant();
  context = await contextOf(owner, tenant);
  ({ admin } = callersOf(salient, tenant));
  profiles = profileCallers(salient, tenant).admin;
});
afterEach(async () => {
  for (const runner of runners.splice(0)) await runner[Symbol.asyncDispose]();
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

const INTEREST = { interests: [{ topic: 'patient safety', level: 'CRITICAL' }] };

/** Another process's runner, on the same database. */
function another(services: Partial<Services> = {}): RescoreRunner {
  const runner = createRescoreRunner({ ...salient.app.services, ...services }, TIMING);
  runners.push(runner);
  return runner;
}

/** Facts about the topic, which the profile from then on raises, and which are scored without it. */
async function raisable(count: number, input: Record<string, unknown> = {}): Promise<FactView[]> {
  const facts: FactView[] = [];
  for (let n = 0; n < count; n++) facts.push(await admin.fact(`Patient safety of ward${n}`, input));
  return facts;
}

/** A process that begins the tenant's queued job and does what it is told to, a stretch at a time. */
class Process {
  readonly #id = randomUUID();
  constructor(readonly jobId: string) {}

  static async begin(
    target: { agentId: string | null; userId: string | null } | null = null,
  ): Promise<Process> {
    const { db } = salient.app.services;
    await inTenant(db, context, (unit) => enqueueRescore(unit, newId(), target, clock.now()));
    const id = await inTenant(db, context, (unit) => beginRescore(unit, clock.now()));
    return new Process(id!);
  }

  step(limit = 2) {
    return rescoreStep(salient.app.services, context, this.jobId, this.#id, limit);
  }

  async finish(): Promise<void> {
    let outcome = await this.step();
    while (outcome === 'MORE') outcome = await this.step();
    expect(outcome).toBe('DONE');
  }

  get globalId(): string {
    return Buffer.from(`RescoreJob:${this.jobId}`).toString('base64');
  }
}

async function encodedOf(facts: readonly FactView[]): Promise<number[]> {
  const { rows } = await owner.query<{ fact_id: string; encoded: number }>(
    'SELECT fact_id, encoded FROM fact_salience WHERE tenant_id = $1',
    [context.id],
  );
  return facts.map(({ id }) => rows.find((row) => row.fact_id === uuidOf(id))!.encoded);
}

async function raisedOf(facts: readonly FactView[]): Promise<boolean[]> {
  const now = await encodedOf(facts);
  return facts.map(({ encodedImportance }, place) => now[place]! > encodedImportance * 1.05);
}

describe('one job at a time', () => {
  test('ten requests while one runs make exactly one more, over the union of what they name', async () => {
    const facts = [
      ...(await raisable(2)),
      ...(await raisable(2, { agentId: tenant.agentId })),
      ...(await raisable(2, { userId: tenant.userId })),
    ];
    const running = await Process.begin();
    expect(await running.step()).toBe('MORE');
    const { agentId, userId } = tenant;
    const asked = new Set<string>();
    for (let n = 0; n < 5; n++) {
      const { rescoreJob } = await profiles.set({ agentId }, { alpha: 0.1 + n / 100 });
      asked.add(rescoreJob!.id);
      expect(rescoreJob!.status).toBe('QUEUED');
    }
    for (let n = 0; n < 4; n++) asked.add((await startRescore(admin, { userId })).job!.id);
    asked.add((await profiles.set({ agentId }, INTEREST)).rescoreJob!.id);
    expect(asked.size).toBe(1);
    const [waiting] = [...asked];
    expect(await findJob(admin, waiting!)).toMatchObject({
      status: 'QUEUED',
      scope: [
        { agent: { id: agentId }, user: null },
        { agent: null, user: { id: userId } },
      ],
    });
    // The first goes on as it was meant to, and works for the profiles of now already.
    await running.finish();
    salient.app.services.rescorer.wake(context);
    const second = await ended(admin, waiting!);
    expect(second).toMatchObject({ status: 'SUCCEEDED', total: 4, processed: 4, failed: 0 });
    expect(await raisedOf(facts)).toEqual([false, false, true, true, false, false]);
    expect(await listJobs(admin)).toHaveLength(2);
    const { fingerprint } = (await profiles.effective({ agentId })) as { fingerprint: string };
    const { rows } = await owner.query(
      `SELECT DISTINCT encode(fingerprint, 'hex') AS fingerprint FROM fact_salience WHERE fact_id = ANY($1)`,
      [facts.slice(2, 4).map(({ id }) => uuidOf(id))],
    );
    expect(rows).toEqual([{ fingerprint }]);
  });

  test('a request for all facts takes the others in, whichever comes first', async () => {
    await raisable(3);
    const running = await Process.begin();
    await running.step();
    const { agentId, userId } = tenant;
    const first = await startRescore(admin, { agentId, userId });
    expect(first.job!.scope).toEqual([{ agent: { id: agentId }, user: { id: userId } }]);
    expect((await startRescore(admin)).job).toMatchObject({ id: first.job!.id, scope: null });
    expect((await startRescore(admin, { agentId })).job).toMatchObject({ id: first.job!.id, scope: null });
    await running.finish();
    salient.app.services.rescorer.wake(context);
    expect(await ended(admin, first.job!.id)).toMatchObject({ total: 3 });
  });

  test('two runners share the work without doing any of it twice', async () => {
    const facts = await raisable(9);
    await profiles.saved({ tenant: true }, { ...INTEREST, rescore: 'LAZY' });
    const { cursor } = await changes(admin);
    const { db } = salient.app.services;
    await inTenant(db, context, (unit) => enqueueRescore(unit, newId(), null, clock.now()));
    const [first, second] = [another(), another()];
    first.wake(context);
    second.wake(context);
    let most = 0;
    const [job] = await listJobs(admin);
    await expect
      .poll(
        async () => {
          const jobs = await listJobs(admin);
          most = Math.max(most, jobs.filter(({ status }) => status === 'RUNNING').length);
          return jobs.every(({ status }) => status === 'SUCCEEDED');
        },
        { timeout: 60_000, interval: 10 },
      )
      .toBe(true);
    expect(most).toBeLessThanOrEqual(1);
    expect(await findJob(admin, job!.id)).toMatchObject({ total: 9, processed: 9, changed: 9 });
    const told = (await changes(admin, cursor)).changes.map(({ factId }) => factId);
    expect(told.sort()).toEqual(facts.map(({ id }) => id).sort());
  });

  test('jobs of other tenants run beside it', async () => {
    await raisable(3);
    const running = await Process.begin();
    await running.step();
    const elsewhere = await salient.tenant();
    const other = callersOf(salient, elsewhere).admin;
    const fact = await other.fact('Patient safety of ward7');
    const { rescoreJob } = await profileCallers(salient, elsewhere).admin.set({ tenant: true }, INTEREST);
    expect(await ended(other, rescoreJob!.id)).toMatchObject({ status: 'SUCCEEDED', changed: 1 });
    expect((await other.find(fact.id))!.importance).toBeGreaterThan(fact.importance);
    expect(await findJob(admin, running.globalId)).toMatchObject({ status: 'RUNNING', processed: 2 });
    await running.finish();
  });
});

describe('CASE 52: a process that dies', () => {
  test('leaves the job to another, which goes on where it stood: each fact once, each change told once', async () => {
    const facts = await raisable(7);
    await profiles.saved({ tenant: true }, { ...INTEREST, rescore: 'LAZY' });
    const { cursor } = await changes(admin);
    const dead = await Process.begin();
    expect([await dead.step(), await dead.step()]).toEqual(['MORE', 'MORE']);
    expect(await findJob(admin, dead.globalId)).toMatchObject({ total: 7, processed: 4, changed: 4 });
    const { db } = salient.app.services;
    const due = async () =>
      (await db.withPlatform((tx) => tenantsToRescore(tx, clock.now(), 10_000))).includes(context.id);
    // While it may be alive it is left alone.
    clock.advance(29_000);
    expect(await due()).toBe(false);
    const heir = another();
    heir.wake(context);
    await heir[Symbol.asyncDispose]();
    expect(await findJob(admin, dead.globalId)).toMatchObject({ status: 'RUNNING', processed: 4 });
    clock.advance(2_000);
    expect(await due()).toBe(true);
    another().wake(context);
    expect(await ended(admin, dead.globalId)).toMatchObject({
      status: 'SUCCEEDED',
      total: 7,
      processed: 7,
      changed: 7,
      failed: 0,
    });
    expect(await due()).toBe(false);
    // It was only slow: it finds that it lost the job.
    expect(await dead.step()).toBe('LOST');
    const told = (await changes(admin, cursor)).changes;
    expect(told.map(({ factId }) => factId).sort()).toEqual(facts.map(({ id }) => id).sort());
    expect(await raisedOf(facts)).toEqual(facts.map(() => true));
    const finished = (await eventsOf(owner, tenant)).filter(({ type }) => type === 'RESCORE_FINISHED');
    expect(finished).toEqual([expect.objectContaining({ subjectId: dead.jobId, actorKind: 'SYSTEM' })]);
  });

  test('and one that closes gives it up at once', async () => {
    await raisable(5);
    const runner = another();
    const { db } = salient.app.services;
    await inTenant(db, context, (unit) => enqueueRescore(unit, newId(), null, clock.now()));
    runner.wake(context);
    await runner[Symbol.asyncDispose]();
    const { rows } = await owner.query('SELECT status, lease_owner FROM job WHERE tenant_id = $1', [
      context.id,
    ]);
    expect(rows).toHaveLength(1);
    if (rows[0].status === 'RUNNING') expect(rows[0].lease_owner).toBeNull();
    // Nobody has to wait for a lease to run out.
    another().wake(context);
    const [job] = await listJobs(admin);
    expect(await ended(admin, job!.id)).toMatchObject({ status: 'SUCCEEDED', total: 5, processed: 5 });
  });
});

describe('CASE 49: what fails', () => {
  /** Makes the database refuse to change a fact. */
  async function refuseUpdates(fact: FactView): Promise<() => Promise<void>> {
    const name = `refuse_${randomUUID().replaceAll('-', '')}`;
    await owner.query(`CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'refused by the test'; END $$`);
    await owner.query(`CREATE TRIGGER ${name} BEFORE UPDATE ON fact_salience FOR EACH ROW
      WHEN (NEW.fact_id = '${uuidOf(fact.id)}') EXECUTE FUNCTION ${name}()`);
    return async () => {
      await owner.query(`DROP TRIGGER ${name} ON fact_salience`);
      await owner.query(`DROP FUNCTION ${name}()`);
    };
  }

  test.each([1, 2, 100])(
    'one bad fact is counted, and all others are done: %d at a time',
    async (factsAtATime) => {
      const facts = await raisable(6);
      const allow = await refuseUpdates(facts[3]!);
      try {
        await profiles.saved({ tenant: true }, { ...INTEREST, rescore: 'LAZY' });
        const { cursor } = await changes(admin);
        const { db, ...services } = salient.app.services;
        await inTenant(db, context, (unit) => enqueueRescore(unit, newId(), null, clock.now()));
        const runner = createRescoreRunner({ db, ...services }, { ...TIMING, factsAtATime });
        runners.push(runner);
        runner.wake(context);
        const [job] = await listJobs(admin);
        expect(await ended(admin, job!.id)).toMatchObject({
          status: 'FAILED',
          error: 'FACTS_FAILED',
          total: 6,
          processed: 6,
          changed: 5,
          failed: 1,
        });
        expect(await raisedOf(facts)).toEqual([true, true, true, false, true, true]);
        const told = (await changes(admin, cursor)).changes.map(({ factId }) => factId);
        expect(told.sort()).toEqual(
          facts
            .filter((_fact, n) => n !== 3)
            .map(({ id }) => id)
            .sort(),
        );
        expect(salient.logged()).not.toContain('Patient safety');
      } finally {
        await allow();
      }
      // When it is mended, it is done by the next.
      const { job } = await startRescore(admin);
      expect(await ended(admin, job!.id)).toMatchObject({ status: 'SUCCEEDED', changed: 1, failed: 0 });
    },
  );

  test('a job of which every fact fails ends, and says so', async () => {
    const facts = await raisable(3);
    await profiles.saved({ tenant: true }, { ...INTEREST, rescore: 'LAZY' });
    const broken = {
      effectiveOf: async () => {
        throw new Error('no profile can be read');
      },
    };
    const { db } = salient.app.services;
    await inTenant(db, context, (unit) => enqueueRescore(unit, newId(), null, clock.now()));
    another({ profiles: broken as unknown as Services['profiles'] }).wake(context);
    const [job] = await listJobs(admin);
    expect(await ended(admin, job!.id)).toMatchObject({
      status: 'FAILED',
      processed: 3,
      failed: 3,
      changed: 0,
    });
    expect(await raisedOf(facts)).toEqual([false, false, false]);
  });
});

describe('a job that cannot go on', () => {
  test('is ended by who finds its holder gone, and left to one that lives', async () => {
    await raisable(1);
    const dead = await Process.begin();
    expect(await dead.step(1)).toBe('MORE');
    const end = (owner: string) =>
      inTenant(salient.app.services.db, context, (unit) =>
        abandonRescore(unit, dead.jobId, owner, 'INTERNAL', clock.now()),
      );
    const heir = randomUUID();
    expect(await end(heir)).toBe(false);
    expect(await findJob(admin, dead.globalId)).toMatchObject({ status: 'RUNNING' });
    clock.advance(31_000);
    expect(await end(heir)).toBe(true);
    expect(await findJob(admin, dead.globalId)).toMatchObject({ status: 'FAILED', error: 'INTERNAL' });
    // It is over: nobody ends it twice.
    expect(await end(heir)).toBe(false);
    expect(await dead.step()).toBe('LOST');
  });

  test('is not tried for ever while another process has it', async () => {
    await raisable(1);
    const running = await Process.begin();
    expect(await running.step(1)).toBe('MORE');
    const { db } = salient.app.services;
    let tries = 0;
    // Eight attempts in vain, all but the first two of which try to pass over a fact as well; then the end of the job.
    const failing = {
      ...db,
      withTenant: (...args: Parameters<typeof db.withTenant>) => {
        tries++;
        if (tries > 1 && tries < 16) throw new Error('no connection');
        return db.withTenant(...args);
      },
    };
    const runner = another({ db: failing as typeof db });
    runner.wake(context);
    await expect.poll(() => tries, { timeout: 30_000 }).toBeGreaterThanOrEqual(16);
    await runner[Symbol.asyncDispose]();
    expect(tries).toBe(16);
    expect(await findJob(admin, running.globalId)).toMatchObject({ status: 'RUNNING', processed: 1 });
  });
});

test('many tenants are worked at by turns, two at the same time', async () => {
  const others = [];
  for (let n = 0; n < 4; n++) {
    const one = await salient.tenant();
    const { admin: caller } = callersOf(salient, one);
    for (let m = 0; m < 3; m++) await caller.fact(`Patient safety of ward${m}`);
    others.push({ caller, own: await contextOf(owner, one) });
  }
  const { db, profiles: reader } = salient.app.services;
  let now = 0;
  let most = 0;
  const order: string[] = [];
  const counting = {
    effectiveOf: async (...args: Parameters<typeof reader.effectiveOf>) => {
      now++;
      most = Math.max(most, now);
      order.push(args[0].tenantId);
      await new Promise((resolve) => setTimeout(resolve, 20));
      now--;
      return reader.effectiveOf(...args);
    },
  };
  const runner = another({ profiles: counting });
  for (const { own } of others)
    await inTenant(db, own, (unit) => enqueueRescore(unit, newId(), null, clock.now()));
  for (const { own } of others) runner.wake(own);
  for (const { caller } of others) {
    const [job] = await listJobs(caller);
    expect(await ended(caller, job!.id)).toMatchObject({ status: 'SUCCEEDED', processed: 3 });
  }
  expect(most).toBeLessThanOrEqual(2);
  // All have begun before any is at its second stretch; another process may have taken one up.
  const begun = new Set(order);
  expect(begun.size).toBeGreaterThan(2);
  expect(new Set(order.slice(0, begun.size))).toEqual(begun);
});

describe('cancelling', () => {
  test('in the middle: what is done stays, and nothing changes after it', async () => {
    const facts = await raisable(6);
    await profiles.saved({ tenant: true }, { ...INTEREST, rescore: 'LAZY' });
    const running = await Process.begin();
    await running.step();
    const payload = await cancelRescore(admin, running.globalId);
    expect(payload).toMatchObject({
      errors: [],
      job: { id: running.globalId, status: 'CANCELLED', total: 6, processed: 2, changed: 2 },
    });
    expect(payload.job!.finishedAt).toBe(clock.now().toISOString());
    expect(await running.step()).toBe('LOST');
    const heir = another();
    heir.wake(context);
    clock.advance(60_000);
    heir.wake(context);
    await heir[Symbol.asyncDispose]();
    expect(await raisedOf(facts)).toEqual([true, true, false, false, false, false]);
    const finished = (await eventsOf(owner, tenant)).filter(({ type }) => type === 'RESCORE_FINISHED');
    expect(finished).toEqual([
      expect.objectContaining({ subjectId: running.jobId, actorKind: 'TENANT_ADMIN' }),
    ]);
    const { rows } = await owner.query(
      `SELECT operation, target_ids FROM audit_entry WHERE tenant_id = $1 AND operation = 'cancelRescore'`,
      [context.id],
    );
    expect(rows).toEqual([{ operation: 'cancelRescore', target_ids: [running.jobId] }]);
  });

  test('lets what waits behind it begin', async () => {
    await raisable(3);
    const running = await Process.begin();
    await running.step();
    const { job } = await startRescore(admin);
    expect(job!.status).toBe('QUEUED');
    await cancelRescore(admin, running.globalId);
    expect(await ended(admin, job!.id)).toMatchObject({ status: 'SUCCEEDED', processed: 3 });
  });

  test('one that waits never begins', async () => {
    const facts = await raisable(3);
    const running = await Process.begin();
    await running.step();
    await profiles.saved({ tenant: true }, { ...INTEREST, rescore: 'LAZY' });
    const { job } = await startRescore(admin);
    expect((await cancelRescore(admin, job!.id)).job).toMatchObject({ status: 'CANCELLED', startedAt: null });
    await cancelRescore(admin, running.globalId);
    const heir = another();
    heir.wake(context);
    await heir[Symbol.asyncDispose]();
    expect(await raisedOf(facts)).toEqual([false, false, false]);
  });

  test('is refused for one that is over, and for what the tenant does not have', async () => {
    const { job } = await startRescore(admin);
    await ended(admin, job!.id);
    expect(await cancelRescore(admin, job!.id)).toMatchObject({
      job: null,
      errors: [{ code: 'CONFLICT', path: ['input', 'id'] }],
    });
    const elsewhere = callersOf(salient, await salient.tenant()).admin;
    const refusals = [];
    for (const id of [job!.id, randomUUID(), 'nonsense', tenant.agentId]) {
      const { errors } = await cancelRescore(elsewhere, id);
      refusals.push(errors);
    }
    for (const errors of refusals)
      expect(errors).toEqual([{ code: 'NOT_FOUND', message: 'RescoreJob not found', path: ['input', 'id'] }]);
    const { auditor, agent, user } = callersOf(salient, tenant);
    for (const caller of [auditor, agent, user])
      await expect(cancelRescore(caller, job!.id)).rejects.toThrow('FORBIDDEN');
  });
});
