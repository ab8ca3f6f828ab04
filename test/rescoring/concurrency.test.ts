import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { enqueueRescore, inTenant } from '../../src/db/index.js';
import { newId } from '../../src/ids.js';
import type { TenantContext } from '../../src/tenancy/index.js';
import { type Caller, callersOf, type FactView, TestClock, uuidOf } from '../facts/support.js';
import { eventsOf, seeingClient } from '../facts/tables.js';
import { type ProfileCaller, profileCallers } from '../profiles/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { isPostgres, sharedConnection } from '../support/database.js';
import { changes, contextOf, ended, findJob, listJobs } from './support.js';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

const WORKER = fileURLToPath(new URL('worker.mjs', import.meta.url));
const INTEREST = { interests: [{ topic: 'patient safety', level: 'CRITICAL' }] };

const clock = new TestClock(new Date());
let salient: TestApp;
let owner: pg.Client;
let tenant: TestTenant;
let context: TenantContext;
let admin: Caller;
let profiles: ProfileCaller;
beforeAll(async () => {
  salient = await testApp({ now: clock.now, rescoring: { factsAtATime: 3 } });
  owner = await seeingClient();
});
beforeEach(async () => {
  tenant = await salient.tenant();
  context = await contextOf(owner, tenant);
  ({ admin } = callersOf(salient, tenant));
  profiles = profileCallers(salient, tenant).admin;
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

/** Facts that were scored with another profile than the one that applies to them. */
async function leftBehind(): Promise<string[]> {
  const { rows } = await owner.query<{ agentId: string | null; userId: string | null; found: string[] }>(
    `SELECT f.agent_id AS "agentId", f.user_id AS "userId", array_agg(DISTINCT encode(s.fingerprint, 'hex')) AS found
     FROM fact f JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
     WHERE f.tenant_id = $1 GROUP BY 1, 2`,
    [context.id],
  );
  const behind: string[] = [];
  for (const { agentId, userId, found } of rows) {
    const wanted = await profiles.effective({
      ...(agentId ? { agentId: Buffer.from(`Agent:${agentId}`).toString('base64') } : {}),
      ...(userId ? { userId: Buffer.from(`User:${userId}`).toString('base64') } : {}),
    });
    if (found.length !== 1 || found[0] !== wanted['fingerprint'])
      behind.push(`${agentId}/${userId}: ${found}`);
  }
  return behind;
}

describe.runIf(isPostgres)('with other processes on the database', () => {
  test('kill −9 in the middle of a transaction: another finishes, each fact once', async () => {
    const facts: FactView[] = [];
    for (let n = 0; n < 8; n++) facts.push(await admin.fact(`Patient safety of ward${n}`));
    const last = [
      await admin.fact('Patient safety of ward8', { agentId: tenant.agentId }),
      await admin.fact('Patient safety of ward9', { agentId: tenant.agentId }),
    ];
    facts.push(...last);
    await profiles.saved({ tenant: true }, { ...INTEREST, rescore: 'LAZY' });
    const { cursor } = await changes(admin);
    const { db } = salient.app.services;
    await inTenant(db, context, (unit) => enqueueRescore(unit, newId(), null, clock.now()));
    const [job] = await listJobs(admin);
    // The worker gets as far as the second scope, and then waits for its lock in the midst of a transaction.
    await owner.query('BEGIN');
    await owner.query(
      `SELECT FROM scope_state WHERE tenant_id = $1 AND scope_id = (SELECT scope_id FROM fact WHERE id = $2) FOR UPDATE`,
      [context.id, uuidOf(last[0]!.id)],
    );
    const url = sharedConnection().connectionString as string;
    const worker: ChildProcess = spawn(process.execPath, [WORKER, url, context.id], { stdio: 'inherit' });
    const gone = new Promise((resolve) => worker.once('exit', (_code, signal) => resolve(signal)));
    try {
      await vi.waitUntil(async () => (await findJob(admin, job!.id))!.processed === 8, {
        timeout: 90_000,
        interval: 50,
      });
    } finally {
      worker.kill('SIGKILL');
      expect(await gone).toBe('SIGKILL');
      await owner.query('ROLLBACK');
    }
    expect(await findJob(admin, job!.id)).toMatchObject({
      status: 'RUNNING',
      total: 10,
      processed: 8,
      changed: 8,
    });
    // Its lease was taken by the clock of this machine.
    clock.moveTo(new Date(Date.now() + 31_000));
    salient.app.services.rescorer.wake(context);
    expect(await ended(admin, job!.id)).toMatchObject({
      status: 'SUCCEEDED',
      total: 10,
      processed: 10,
      changed: 10,
      failed: 0,
    });
    const told = (await changes(admin, cursor)).changes.map(({ factId }) => factId);
    expect(told.sort()).toEqual(facts.map(({ id }) => id).sort());
    expect(await leftBehind()).toEqual([]);
    const finished = (await eventsOf(owner, tenant)).filter(({ type }) => type === 'RESCORE_FINISHED');
    expect(finished).toHaveLength(1);
  });

  test('facts that are written while it runs are scored by the new profile at its end', async () => {
    await using other = await testApp({ now: clock.now });
    const elsewhere = callersOf(other, tenant).admin;
    for (let n = 0; n < 12; n++) await admin.fact(`Patient safety of ward${n}`);
    let n = 100;
    let writing = true;
    const { agentId, userId } = tenant;
    const owners = [{}, { agentId }, { userId }, { agentId, userId }];
    const write = async (caller: Caller) => {
      while (writing) {
        const place = n++;
        await caller.fact(`Patient safety of ward${place}`, owners[place % owners.length]);
      }
    };
    const writers = [write(admin), write(elsewhere), write(admin), write(elsewhere)];
    const jobs: string[] = [];
    for (const level of ['CRITICAL', 'HIGH', 'CRITICAL', 'HIGH']) {
      const { rescoreJob, errors } = await profiles.set(
        { tenant: true },
        { interests: [{ topic: 'patient safety', level }] },
      );
      expect(errors).toEqual([]);
      jobs.push(rescoreJob!.id);
    }
    for (const id of new Set(jobs))
      expect(await ended(admin, id)).toMatchObject({ status: 'SUCCEEDED', failed: 0 });
    writing = false;
    await Promise.all(writers);
    expect(n).toBeGreaterThan(105);
    expect(await leftBehind()).toEqual([]);
  });

  test('the first fact of a scope that is being written is not left behind either', async () => {
    // A writer has read the old profile for a scope that nobody else sees yet, and gets no further.
    await owner.query('BEGIN');
    await owner.query('LOCK TABLE fact IN SHARE MODE');
    const writing = admin.fact('Patient safety of ward1', { userId: tenant.userId });
    const waiting = async () => {
      const { rows } = await owner.query<{ count: number }>(
        `SELECT count(*)::int FROM pg_locks l JOIN pg_database d ON d.oid = l.database
         WHERE d.datname = current_database() AND l.relation = 'fact'::regclass AND NOT l.granted`,
      );
      return rows[0]!.count > 0;
    };
    await vi.waitUntil(waiting, { timeout: 60_000, interval: 20 });
    let saved = false;
    const saving = profiles.set({ tenant: true }, INTEREST).finally(() => {
      saved = true;
    });
    // The job has all the time it wants, if it is there already.
    await Promise.race([saving, new Promise((resolve) => setTimeout(resolve, 1_000))]);
    if (saved) await ended(admin, (await saving).rescoreJob!.id);
    await owner.query('ROLLBACK');
    await writing;
    await ended(admin, (await saving).rescoreJob!.id);
    expect(await leftBehind()).toEqual([]);
  });
});
