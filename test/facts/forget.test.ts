import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LineExtractor } from '../extraction/line-extractor.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { accepted, callersOf, TestClock, uuidOf } from './support.js';
import { eventsOf, rowsOf, scopeTotals, seeingClient, tablesHolding } from './tables.js';

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

/** Tables that may name a fact that is gone: by its id, never by its content. */
const LOGS = ['audit_entry', 'event', 'idempotency'];

async function learned() {
  const tenant = await salient.tenant();
  const { agent, admin, user } = callersOf(salient, tenant);
  const session = { create: { userId: tenant.userId, externalId: 's1' } };
  const { extraction, messages } = await agent.say(
    'FACT [Quixotia, Zanzibarium]: The quixotia vault is below zanzibarium',
    { session },
  );
  return { tenant, agent, admin, user, session, fact: extraction!.facts[0]!, message: messages![0]! };
}

async function counts(tenant: TestTenant): Promise<Record<string, number>> {
  const tables = [
    'fact',
    'fact_salience',
    'fact_embedding',
    'fact_source',
    'fact_entity',
    'entity',
    'edge',
    'edge_source',
    'posting',
    'message',
    'message_embedding',
  ];
  const counted: Record<string, number> = {};
  for (const table of tables) counted[table] = (await rowsOf(owner, tenant, table)).length;
  return counted;
}

describe('CASE 3: forgetFact (SPEC §9) leaves nothing of it', () => {
  test('fact, numbers, vectors, postings, mentions, edges, entities and what its message said', async () => {
    const { tenant, admin, fact, message } = await learned();
    expect(await counts(tenant)).toMatchObject({
      fact: 1,
      fact_embedding: 1,
      entity: 2,
      edge: 1,
      edge_source: 1,
      message: 1,
    });
    const { forgottenId } = await admin.forget({ id: fact.id });
    expect(forgottenId).toBe(fact.id);
    expect(await counts(tenant)).toEqual({
      fact: 0,
      fact_salience: 0,
      fact_embedding: 0,
      fact_source: 0,
      fact_entity: 0,
      entity: 0,
      edge: 0,
      edge_source: 0,
      posting: 0,
      message: 1,
      message_embedding: 0,
    });
    for (const word of ['quixotia', 'Quixotia', 'zanzibarium', 'Zanzibarium', 'vault']) {
      expect(await tablesHolding(owner, tenant, word), word).toEqual([]);
    }
    expect(
      (await tablesHolding(owner, tenant, uuidOf(fact.id))).filter((table) => !LOGS.includes(table)),
    ).toEqual([]);
    expect(await admin.find(fact.id)).toBeNull();
    expect(await admin.facts({ status: 'ALL' })).toMatchObject({ totalCount: 0, edges: [] });
    const read = await admin.query<{ node: { content: string; redactedAt: string } }>(
      'query ($id: ID!) { node(id: $id) { ... on Message { content redactedAt } } }',
      { id: message.id },
    );
    expect(read.node).toEqual({ content: '', redactedAt: clock.now().toISOString() });
  });

  test('sources: KEEP leaves the messages as they are', async () => {
    const { tenant, admin, fact, message } = await learned();
    await admin.forget({ id: fact.id }, 'KEEP');
    expect(await counts(tenant)).toMatchObject({
      fact: 0,
      entity: 0,
      edge: 0,
      message: 1,
      message_embedding: 1,
    });
    const read = await admin.query<{ node: { content: string } }>(
      'query ($id: ID!) { node(id: $id) { ... on Message { content } } }',
      { id: message.id },
    );
    expect(read.node.content).toBe(message.content);
  });

  test('what another fact supports too stays, by the weight of those that are left', async () => {
    const { tenant, admin, agent, fact } = await learned();
    const other = await agent.fact('The zanzibarium gate is near quixotia', {
      userId: tenant.userId,
      entities: ['Zanzibarium', 'quixotia', 'Gate'],
    });
    await admin.forget({ id: fact.id });
    expect(await admin.edges(other.id)).toHaveLength(3);
    const edges = await owner.query<{ weight: number }>('SELECT weight FROM edge WHERE tenant_id = $1', [
      uuidOf(tenant.id),
    ]);
    expect(edges.rows.map((row) => row.weight)).toEqual([1, 1, 1]);
    expect((await rowsOf(owner, tenant, 'entity')).length).toBe(3);
    await admin.forget({ id: other.id });
    expect(await counts(tenant)).toMatchObject({ entity: 0, edge: 0, edge_source: 0 });
  });

  test('a relation that only a retired fact supports besides is kept for the past, and no longer holds', async () => {
    const { tenant, admin, agent, fact } = await learned();
    const entities = ['Quixotia', 'Zanzibarium'];
    const past = await agent.fact('Quixotia was zanzibarium once', { userId: tenant.userId, entities });
    const before = clock.advanceHours(1);
    await admin.retire({ id: past.id }, 'ENDED');
    clock.advanceHours(1);
    await admin.forget({ id: fact.id });
    expect(await admin.edges(past.id)).toEqual([]);
    expect(await admin.edges(past.id, { validAt: new Date(before.getTime() - 1) })).toEqual([
      'Quixotia–Zanzibarium',
    ]);
  });

  test('only messages of the fact are redacted, also where they are of another scope; once', async () => {
    const { tenant, admin, agent } = await learned();
    const session = { create: { userId: tenant.userId, externalId: 's2' } };
    // A PREFERENCE goes to (none, user), its message is the agent's with the user.
    const { extraction, messages } = await agent.say(['PREFERENCE: Prefers marmalade', 'thanks a lot'], {
      session,
    });
    const fact = extraction!.facts[0]!;
    expect(fact.agent).toBeNull();
    clock.advanceHours(1);
    await admin.forget({ id: fact.id });
    const rows = await owner.query<{ id: string; redacted: boolean }>(
      'SELECT id, redacted_at IS NOT NULL AS redacted FROM message WHERE tenant_id = $1 AND session_id = (SELECT session_id FROM message WHERE id = $2) ORDER BY seq',
      [uuidOf(tenant.id), uuidOf(messages![0]!.id)],
    );
    expect(rows.rows.map((row) => row.redacted)).toEqual([true, false]);
    const totals = await scopeTotals(owner, tenant);
    expect(totals.stored).toEqual(totals.recounted);
  });

  test('a retired fact can be forgotten too', async () => {
    const { tenant, admin, fact } = await learned();
    await admin.retire({ id: fact.id }, 'WRONG');
    expect((await admin.forget({ id: fact.id })).forgottenId).toBe(fact.id);
    expect(await tablesHolding(owner, tenant, 'quixotia')).toEqual([]);
    const totals = await scopeTotals(owner, tenant);
    expect(totals.stored).toEqual(totals.recounted);
  });

  test('its event names it by id alone, and shows no fact', async () => {
    const { tenant, admin, fact } = await learned();
    await admin.forget({ id: fact.id });
    expect((await eventsOf(owner, tenant)).at(-1)).toMatchObject({
      type: 'FACT_FORGOTTEN',
      subjectId: uuidOf(fact.id),
      factId: null,
      actorKind: 'TENANT_ADMIN',
    });
  });

  test('a link lost leaves the chain readable', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const ids = [(await admin.fact('The office is in Lisbon')).id];
    for (const city of ['Porto', 'Madrid', 'Paris']) {
      clock.advanceHours(1);
      ids.push(accepted(await admin.replace({ id: ids.at(-1)! }, `The office is in ${city}`)).id);
    }
    await admin.forget({ id: ids[1]! });
    const left = [ids[3]!, ids[2]!, ids[0]!];
    for (const id of left) expect((await admin.history(id)).map((fact) => fact.id)).toEqual(left);
    expect((await admin.find(ids[0]!))!.supersededBy).toEqual({ id: ids[2] });
    // The last one too: what it replaced has ended all the same.
    await admin.forget({ id: ids[3]! });
    expect(await admin.find(ids[2]!)).toMatchObject({ status: 'RETIRED', supersededBy: null });
    expect(await admin.texts()).toEqual([]);
  });

  test('CASE 4: nothing of another agent, user or tenant is touched', async () => {
    const here = await learned();
    const there = await learned();
    const text = here.fact.text;
    const copies = [
      await here.admin.fact(text, { entities: ['Quixotia', 'Zanzibarium'] }),
      await here.admin.fact(text, { userId: here.tenant.userId, entities: ['Quixotia', 'Zanzibarium'] }),
    ];
    const before = await counts(there.tenant);
    await here.admin.forget({ id: here.fact.id });
    for (const copy of copies) {
      expect(await here.admin.find(copy.id)).toEqual(copy);
      expect(await here.admin.edges(copy.id)).toEqual(['Quixotia–Zanzibarium']);
    }
    expect(await counts(there.tenant)).toEqual(before);
    expect(await there.admin.find(there.fact.id)).toEqual(there.fact);
  });

  test('a key whose fact is gone does not bring it back', async () => {
    const { admin, tenant } = await learned();
    const input = { text: 'The marmalade is on the shelf', idempotencyKey: 'k1' };
    const { fact } = await admin.remember(input);
    await admin.forget({ id: fact!.id });
    expect((await admin.remember(input)).errors).toMatchObject([
      { code: 'NOT_FOUND', path: ['input', 'idempotencyKey'] },
    ]);
    expect(await tablesHolding(owner, tenant, 'marmalade')).toEqual([]);
  });

  test('a replacement may state what was forgotten, which is then known again', async () => {
    const { admin, agent, tenant, fact, session } = await learned();
    await admin.forget({ id: fact.id });
    const old = await agent.fact('The vault is empty', { userId: tenant.userId });
    accepted(await agent.replace({ id: old.id }, fact.text));
    expect(await rowsOf(owner, tenant, 'tombstone')).toEqual([]);
    const { extraction } = await agent.say(`FACT: ${fact.text}`, { session });
    expect(extraction).toMatchObject({ refused: [], facts: [{ text: fact.text }] });
  });
});
