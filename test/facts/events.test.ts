import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LineExtractor } from '../extraction/line-extractor.js';
import { type TestApp, testApp } from '../support/app.js';
import { accepted, callersOf, refused, TestClock, uuidOf } from './support.js';
import { eventsOf, rowsOf, seeingClient } from './tables.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
beforeAll(async () => {
  salient = await testApp({ now: clock.now, extractor: new LineExtractor() });
  owner = await seeingClient();
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

describe('events of each mutation (SPEC §11)', () => {
  test('are of the right types, in order, without gaps, with actor and scope', async () => {
    const tenant = await salient.tenant();
    const { admin, agent, user } = callersOf(salient, tenant);
    const told: string[] = [];
    const expected: string[] = [];
    const does = async <T>(work: Promise<T>, ...types: string[]): Promise<T> => {
      const result = await work;
      const events = await eventsOf(owner, tenant, told.length);
      told.push(...events.map((event) => event.type));
      expected.push(...types);
      expect(told).toEqual(expected);
      return result;
    };
    const text = 'The office is in Lisbon';
    const fact = await does(
      agent.fact(text, { userId: tenant.userId }),
      'FACT_REMEMBERED',
      'IMPORTANCE_CHANGED',
    );
    clock.advanceHours(10);
    await does(agent.remember({ text, userId: tenant.userId }), 'FACT_REAFFIRMED');
    const pinned = accepted(await does(admin.pin(fact.id), 'FACT_PINNED'));
    await does(admin.pin(fact.id));
    clock.advanceHours(10);
    await does(admin.unpin(pinned.id), 'FACT_UNPINNED', 'IMPORTANCE_CHANGED');
    const next = accepted(
      await does(
        agent.replace({ id: fact.id }, 'The office is in Porto'),
        'FACT_REMEMBERED',
        'IMPORTANCE_CHANGED',
        'FACT_SUPERSEDED',
      ),
    );
    await does(agent.replace({ id: next.id }, 'The office is in PORTO'));
    const other = await does(
      agent.fact('The office is in Madrid', { userId: tenant.userId }),
      'FACT_REMEMBERED',
      'IMPORTANCE_CHANGED',
    );
    await does(agent.replace({ id: next.id }, other.text), 'FACT_REAFFIRMED', 'FACT_SUPERSEDED');
    await does(admin.retire({ id: other.id }, 'ENDED'), 'FACT_RETIRED');
    await does(admin.forget({ id: next.id }), 'FACT_FORGOTTEN');
    await does(user.fact('Likes tea'), 'FACT_REMEMBERED', 'IMPORTANCE_CHANGED');
    await does(
      agent.say('FACT: The garage is in Faro', { session: { create: { userId: tenant.userId } } }),
      'FACT_REMEMBERED',
      'IMPORTANCE_CHANGED',
      'EXTRACTION_FINISHED',
    );
    await does(agent.say('thanks'), 'EXTRACTION_FINISHED');
    await does(agent.say('thanks', { extract: 'NEVER' }));
    refused(await does(admin.remember({ text: ' ' })));
    refused(await does(admin.forget({ id: next.id })));

    const events = await eventsOf(owner, tenant);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, place) => place + 1));
    const stream = await owner.query('SELECT head::int FROM tenant_stream WHERE tenant_id = $1', [
      uuidOf(tenant.id),
    ]);
    expect(stream.rows).toEqual([{ head: events.length }]);
    const [agentId, userId] = [uuidOf(tenant.agentId), uuidOf(tenant.userId)];
    expect(events[0]).toMatchObject({ agentId, userId, subjectId: uuidOf(fact.id), actorKind: 'AGENT' });
    expect(events.find((event) => event.type === 'FACT_PINNED')).toMatchObject({
      agentId,
      userId,
      actorKind: 'TENANT_ADMIN',
    });
    const own = events.findLast((event) => event.type === 'FACT_REMEMBERED' && event.actorKind === 'USER');
    expect(own).toMatchObject({ agentId: null, userId });
  });

  test('IMPORTANCE_CHANGED has old and new value and the cause; lists show the new one', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const fact = await admin.fact('The fire in the kitchen was terrible', { hints: { interest: 1 } });
    clock.advanceHours(48);
    await admin.pin(fact.id);
    const unpinned = accepted(await admin.unpin(fact.id));
    const changes = (await eventsOf(owner, tenant)).filter((event) => event.type === 'IMPORTANCE_CHANGED');
    expect(changes).toMatchObject([
      { cause: 'INGEST', oldValue: null, newValue: fact.importance },
      { cause: 'PIN', oldValue: fact.importance, newValue: unpinned.importance },
    ]);
    expect(unpinned.importance).toBeLessThan(fact.importance);
  });

  test('hold no content in any column', async () => {
    const tenant = await salient.tenant();
    const { admin, agent } = callersOf(salient, tenant);
    const secret = 'marmalade';
    const fact = await admin.fact(`The ${secret} is on the shelf`, {
      entities: [`${secret} jar`],
      subject: secret,
      metadata: { secret },
    });
    accepted(await admin.replace({ id: fact.id }, `The ${secret} is in the cellar`));
    await agent.say(`FACT [${secret}]: The ${secret} is gone`);
    await admin.forget({ match: { kind: 'FACT', text: 'cellar' } });
    for (const table of ['event', 'audit_entry', 'job', 'extraction_run']) {
      const rows = (await rowsOf(owner, tenant, table)).join('\n').toLowerCase();
      expect(rows.length, table).toBeGreaterThan(0);
      expect(rows, table).not.toContain(secret);
      expect(rows, table).not.toContain(Buffer.from(secret).toString('hex'));
    }
    // Nor does the log.
    expect(salient.logged()).not.toContain(secret);
  });

  test('every mutation is in the audit log, with what it was about', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const fact = await admin.fact('The office is in Lisbon');
    const next = accepted(await admin.replace({ id: fact.id }, 'The office is in Porto'));
    await admin.pin(next.id);
    await admin.unpin(next.id);
    await admin.retire({ id: next.id }, 'WRONG');
    await admin.forget({ id: next.id });
    const said = await admin.say('thanks', { extract: 'NEVER' });
    const { rows } = await owner.query<{ operation: string; targets: string[] }>(
      'SELECT operation, target_ids AS targets FROM audit_entry WHERE tenant_id = $1 ORDER BY occurred_at, id',
      [uuidOf(tenant.id)],
    );
    const done = rows.filter(({ operation }) => !/^(create|platformAccess)/.test(operation));
    expect(done).toMatchObject([
      { operation: 'remember', targets: [uuidOf(fact.id)] },
      { operation: 'replaceFact', targets: [uuidOf(fact.id), uuidOf(next.id)] },
      { operation: 'pinFact', targets: [uuidOf(next.id)] },
      { operation: 'unpinFact', targets: [uuidOf(next.id)] },
      { operation: 'retireFact', targets: [uuidOf(next.id)] },
      { operation: 'forgetFact', targets: [uuidOf(next.id)] },
      { operation: 'appendMessages', targets: [uuidOf(said.session!.id)] },
    ]);
  });
});
