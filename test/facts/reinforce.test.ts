import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { numbersOf, setNumbers } from '../learning/support.js';
import { profileCallers } from '../profiles/support.js';
import { changes } from '../rescoring/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { accepted, type Caller, callersOf, refused, TestClock, uuidOf } from './support.js';
import { eventsOf, seeingClient, snapshot } from './tables.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
let tenant: TestTenant;
let admin: Caller;
beforeAll(async () => {
  salient = await testApp({ now: clock.now });
  owner = await seeingClient();
});
beforeEach(async () => {
  tenant = await salient.tenant();
  ({ admin } = callersOf(salient, tenant));
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

describe('reinforceFact', () => {
  test('adds a twentieth of what is left to 2, and lets it fade from now on, each time it is asked', async () => {
    const fact = await admin.fact('The office is in Lisbon');
    clock.advanceHours(24 * 30);
    const { seq } = (await eventsOf(owner, tenant)).at(-1)!;
    const once = accepted(await admin.reinforce(fact.id));
    expect(once.importance).toBeCloseTo(fact.encodedImportance * 1.05, 12);
    expect(once.importanceBreakdown).toMatchObject({ reinforcement: 1.05, decay: 1 });
    expect(once.importanceBreakdown.current).toBeCloseTo(once.importance, 12);
    // At the same moment: the five minutes are between recalls.
    const twice = accepted(await admin.reinforce(fact.shortId));
    expect(twice.importanceBreakdown.reinforcement).toBeCloseTo(1.0975, 12);
    expect(await numbersOf(owner, fact.id)).toMatchObject({
      current: twice.importance,
      told: twice.importance,
      reinforcedAt: clock.now(),
      // Nobody recalled it, and nobody said it again.
      recallCount: 0,
      lastSeenAt: new Date(fact.lastSeenAt),
    });
    const subject = { factId: uuidOf(fact.id), type: 'IMPORTANCE_CHANGED', cause: 'MANUAL' };
    expect(await eventsOf(owner, tenant, seq)).toMatchObject([
      { ...subject, oldValue: fact.importance, newValue: once.importance },
      { ...subject, oldValue: once.importance, newValue: twice.importance },
    ]);
  });

  test('never exceeds 2, and says nothing of what stays as it is', async () => {
    const fact = await admin.fact('The office is in Lisbon');
    await setNumbers(owner, fact.id, { reinforcement: 2, current: 2, told: 2 });
    const events = await eventsOf(owner, tenant);
    expect(accepted(await admin.reinforce(fact.id)).importanceBreakdown.reinforcement).toBe(2);
    expect(await eventsOf(owner, tenant)).toEqual(events);
  });

  test('an event begins at what was last told, however a snapshot has drifted from it', async () => {
    const fact = await admin.fact('The office is in Lisbon');
    await setNumbers(owner, fact.id, { current: 0.9 });
    const { seq } = (await eventsOf(owner, tenant)).at(-1)!;
    accepted(await admin.reinforce(fact.id));
    expect(await eventsOf(owner, tenant, seq)).toMatchObject([{ oldValue: fact.importance, newValue: 1.05 }]);
  });

  test('a fact whose score is out of date is rescored first, and the second event begins where the first ended', async () => {
    const fact = await admin.fact('Wards report patient safety');
    const interests = [{ topic: 'patient safety', level: 'CRITICAL' }];
    await profileCallers(salient, tenant).admin.saved({ tenant: true }, { interests, rescore: 'LAZY' });
    const { cursor } = await changes(admin);
    const idempotencyKey = 'once';
    const after = accepted(await admin.reinforce(fact.id, { idempotencyKey }));
    expect(after.encodedImportance).toBeGreaterThan(fact.encodedImportance * 1.1);
    expect(after.importance).toBeCloseTo(after.encodedImportance * 1.05, 9);
    expect(after.importanceBreakdown.current).toBeCloseTo(after.importance, 9);
    const told = (await changes(admin, cursor)).changes;
    expect(told).toMatchObject([
      { factId: fact.id, cause: 'RESCORE', old: fact.importance },
      { factId: fact.id, cause: 'MANUAL', old: told[0]?.new, new: after.importance },
    ]);
    expect(told[0]?.new).toBeCloseTo(after.encodedImportance, 9);
    // Neither happens again with the same key, and no second rescoring without it.
    accepted(await admin.reinforce(fact.id, { idempotencyKey }));
    accepted(await admin.reinforce(fact.id));
    const causes = (await changes(admin, cursor)).changes.map(({ cause }) => cause);
    expect(causes).toEqual(['RESCORE', 'MANUAL', 'MANUAL']);
  });

  test('the same key again does nothing and answers with the same fact; for another fact it is refused', async () => {
    const [fact, other] = [await admin.fact('The office is in Lisbon'), await admin.fact('Tea is at five')];
    const idempotencyKey = 'once';
    accepted(await admin.reinforce(fact.id, { idempotencyKey }));
    const before = await snapshot(owner, tenant);
    const again = accepted(await admin.reinforce(fact.id, { idempotencyKey }));
    expect(again).toMatchObject({ id: fact.id, importanceBreakdown: { reinforcement: 1.05 } });
    expect(refused(await admin.reinforce(other.id, { idempotencyKey }))).toMatchObject({
      code: 'CONFLICT',
      path: ['input', 'idempotencyKey'],
    });
    expect(await snapshot(owner, tenant)).toEqual(before);
  });

  test('of a fact that is not live is refused and changes nothing', async () => {
    const retired = await admin.fact('The office is in Lisbon');
    await admin.retire({ id: retired.id }, 'WRONG');
    const past = await admin.fact('The sale is on', { validTo: new Date(clock.now().getTime() + 3_600_000) });
    clock.advanceHours(2);
    const before = await snapshot(owner, tenant);
    for (const fact of [retired, past]) {
      expect(refused(await admin.reinforce(fact.id))).toMatchObject({
        code: 'CONFLICT',
        path: ['input', 'id'],
      });
    }
    expect(await snapshot(owner, tenant)).toEqual(before);
  });

  test('is for who may change the fact, and is in the audit log', async () => {
    const { auditor, agent, user } = callersOf(salient, tenant);
    const shared = await admin.fact('The office is in Lisbon');
    const own = await user.fact('I drink tea');
    expect(accepted(await agent.reinforce(shared.id)).id).toBe(shared.id);
    expect(accepted(await user.reinforce(own.id)).id).toBe(own.id);
    // A user reads what all share, and does not change it.
    expect(refused(await user.reinforce(shared.id))).toMatchObject({ code: 'NOT_FOUND' });
    const other = await admin.fact('Only its agent knows', { agentId: tenant.agentId });
    expect(refused(await user.reinforce(other.id))).toMatchObject({ code: 'NOT_FOUND' });
    await expect(auditor.reinforce(shared.id)).rejects.toThrow('FORBIDDEN');
    const { rows } = await owner.query(
      `SELECT actor_kind AS actor, target_ids AS targets FROM audit_entry
       WHERE tenant_id = $1 AND operation = 'reinforceFact' ORDER BY occurred_at, id`,
      [uuidOf(tenant.id)],
    );
    expect(rows).toEqual([
      { actor: 'AGENT', targets: [uuidOf(shared.id)] },
      { actor: 'USER', targets: [uuidOf(own.id)] },
    ]);
  });
});
