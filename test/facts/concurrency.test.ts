import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LineExtractor } from '../extraction/line-extractor.js';
import { type TestApp, testApp } from '../support/app.js';
import { isPostgres } from '../support/database.js';
import { callersOf, uuidOf } from './support.js';
import { eventsOf, rowsOf, scopeTotals, seeingClient } from './tables.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let salient: TestApp;
/** A second process on the same database. */
let second: TestApp;
let owner: pg.Client;
beforeAll(async () => {
  salient = await testApp({ extractor: new LineExtractor() });
  second = await testApp({ extractor: new LineExtractor() });
  owner = await seeingClient();
});
afterAll(async () => {
  await owner?.end();
  await second?.[Symbol.asyncDispose]();
  await salient?.[Symbol.asyncDispose]();
});

// The embedded database has one connection: what is tried there is that requests at once do not mix.
const WRITERS = isPostgres ? 12 : 4;
const WRITES = isPostgres ? 6 : 3;

/** Several clients at once, half of them at each process. */
async function atOnce<T>(work: (app: TestApp, client: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: WRITERS }, (_, n) => work(n % 2 === 0 ? salient : second, n)));
}

async function deadlocks(): Promise<number> {
  const { rows } = await owner.query<{ deadlocks: string | null }>(
    'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
  );
  return Number(rows[0]?.deadlocks ?? 0);
}

describe('CASE 29: concurrent writers', () => {
  test('of the same statement make one fact', async () => {
    const tenant = await salient.tenant();
    const payloads = await atOnce((app, client) =>
      callersOf(app, tenant).admin.remember({
        text: client % 3 === 0 ? 'The office is in Lisbon' : 'the OFFICE is in  Lisbon',
        userId: tenant.userId,
      }),
    );
    expect(new Set(payloads.map((payload) => payload.fact?.id)).size).toBe(1);
    expect(payloads.filter((payload) => payload.reaffirmed === false)).toHaveLength(1);
    expect(await rowsOf(owner, tenant, 'fact')).toHaveLength(1);
    // The unique key would hold even where nobody looked.
    const keys = await owner.query<{ indexdef: string }>(
      `SELECT indexdef FROM pg_indexes WHERE indexname = 'fact_live_text_key'`,
    );
    expect(keys.rows[0]!.indexdef).toMatch(/UNIQUE .*tenant_id, scope_id, kind, text_hash/);
  });

  test('of near-duplicates make one fact', async () => {
    const tenant = await salient.tenant();
    const text = 'The team deploys the billing service to production every Friday afternoon using Kamal';
    const payloads = await atOnce((app, client) =>
      callersOf(app, tenant).admin.remember({ text: client % 2 === 0 ? text : `${text}.` }),
    );
    expect(new Set(payloads.map((payload) => payload.fact?.id)).size).toBe(1);
  });

  test('of one budget never exceed it', async () => {
    const tenant = await salient.tenant();
    const sizes = 200;
    const payloads = await atOnce((app, client) => {
      const words = Array.from({ length: 60 }, (_, n) => `w${client}x${n.toString(36)}`).join(' ');
      return callersOf(app, tenant).admin.remember({
        text: words
          .slice(0, sizes - 1)
          .trimEnd()
          .padEnd(sizes, 'x'),
        kind: 'USER_PROFILE',
        userId: tenant.userId,
      });
    });
    const fit = Math.min(WRITERS, Math.floor(1_375 / sizes));
    expect(payloads.filter((payload) => payload.errors.length === 0)).toHaveLength(fit);
    for (const { errors } of payloads) {
      if (errors[0]) expect(errors[0]).toMatchObject({ code: 'BUDGET_EXCEEDED', current: fit * sizes });
    }
  });

  test('of one replacement: one of them replaces, the others are told', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const old = await admin.fact('The office is in Lisbon');
    const payloads = await atOnce((app, client) =>
      callersOf(app, tenant).admin.replace({ id: old.id }, `The office is in town ${client}`),
    );
    const done = payloads.filter((payload) => payload.errors.length === 0);
    expect(done).toHaveLength(1);
    for (const { errors } of payloads) if (errors[0]) expect(errors[0].code).toBe('CONFLICT');
    expect(await admin.texts()).toEqual([done[0]!.fact!.text]);
    expect(await rowsOf(owner, tenant, 'fact')).toHaveLength(2);
  });

  test('lose no sample of the baseline, no event, no count', async () => {
    const tenant = await salient.tenant();
    const before = await deadlocks();
    const { agentId, userId } = tenant;
    const scopes = [{ userId }, { agentId, userId }, { agentId }];
    await atOnce(async (app, client) => {
      const { admin } = callersOf(app, tenant);
      for (let n = 0; n < WRITES; n++) {
        const payload = await admin.remember({
          text: `Sensor unit${client}x${n} reports the temperature of room ${client * 100 + n}`,
          entities: ['Sensor', `Room ${n}`, 'Temperature'],
          ...scopes[n % scopes.length],
        });
        expect(payload.errors).toEqual([]);
      }
    });
    const facts = WRITERS * WRITES;
    const samples = await owner.query<{ n: number }>(
      'SELECT sum(n)::int AS n FROM novelty_baseline WHERE tenant_id = $1',
      [uuidOf(tenant.id)],
    );
    expect(samples.rows[0]!.n).toBe(facts - scopes.length);
    const events = await eventsOf(owner, tenant);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, place) => place + 1));
    expect(events.filter((event) => event.type === 'FACT_REMEMBERED')).toHaveLength(facts);
    const totals = await scopeTotals(owner, tenant);
    expect(totals.stored).toEqual(totals.recounted);
    const weights = await owner.query<{ weight: number; supporters: number }>(
      `SELECT e.weight, (SELECT count(*)::int FROM edge_source s WHERE s.edge_id = e.id) AS supporters
       FROM edge e WHERE tenant_id = $1`,
      [uuidOf(tenant.id)],
    );
    for (const { weight, supporters } of weights.rows) expect(weight).toBe(supporters);
    expect(await deadlocks()).toBe(before);
  }, 60_000);

  test('that learn, state, forget and append in the same scopes wait for each other in one order', async () => {
    const tenant = await salient.tenant();
    const before = await deadlocks();
    const { agentId, userId } = tenant;
    await atOnce(async (app, client) => {
      const { admin } = callersOf(app, tenant);
      for (let n = 0; n < WRITES; n++) {
        const session = { create: { agentId, userId, externalId: `s${client % 3}` } };
        // One goes to (none, user), one to (agent, user): two scopes at a time, beside the session's own.
        const said = await admin.say(
          [`PREFERENCE: Likes dish number ${client}x${n}`, `FACT: Room ${client}x${n} is booked`],
          { session },
        );
        expect(said.errors).toEqual([]);
        const fact = await admin.remember({ text: `Room ${client}x${n} is blue`, agentId, userId });
        expect(fact.errors).toEqual([]);
        const learned = said.extraction!.facts[n % 2];
        if (learned) {
          const forgotten = await admin.forget({ id: learned.id });
          expect(forgotten.errors.filter((error) => error.code !== 'NOT_FOUND')).toEqual([]);
        }
      }
    });
    const totals = await scopeTotals(owner, tenant);
    expect(totals.stored).toEqual(totals.recounted);
    expect(await deadlocks()).toBe(before);
  }, 120_000);

  test('of one session at two processes: each message is mined once', async () => {
    const tenant = await salient.tenant();
    const create = { userId: tenant.userId, externalId: 's1' };
    const payloads = await atOnce((app, client) =>
      callersOf(app, tenant).agent.say(
        [`FACT: The page in question is number ${client}`, 'FACT: All of it is read'],
        {
          session: { create },
        },
      ),
    );
    expect(new Set(payloads.map((payload) => payload.session!.id)).size).toBe(1);
    for (const payload of payloads) expect(payload.extraction!.status).toBe('EXTRACTED');
    const { admin } = callersOf(salient, tenant);
    expect((await admin.facts()).totalCount).toBe(WRITERS + 1);
    const sources = await owner.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM fact_source WHERE tenant_id = $1',
      [uuidOf(tenant.id)],
    );
    expect(sources.rows[0]!.n).toBe(2 * WRITERS);
  }, 60_000);
});

describe('the graph', () => {
  test('that cannot be written never loses a fact (SPEC §2.4)', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const id = uuidOf(tenant.id);
    const name = `refuse_${id.replaceAll('-', '_')}`;
    await owner.query(`CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF NEW.tenant_id = '${id}' THEN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END IF; RETURN NEW; END $$`);
    await owner.query(
      `CREATE TRIGGER ${name} BEFORE INSERT ON entity FOR EACH ROW EXECUTE FUNCTION ${name}()`,
    );
    try {
      const fact = await admin.fact('Acme is in Lisbon', { entities: ['Acme', 'Lisbon'] });
      expect(await admin.find(fact.id)).toMatchObject({ text: 'Acme is in Lisbon', entities: [] });
      expect((await eventsOf(owner, tenant)).map((event) => event.type)).toContain('FACT_REMEMBERED');
      expect(salient.logged()).toContain('indexing facts in the graph failed');
      expect(salient.logged()).not.toContain('Lisbon');
    } finally {
      await owner.query(`DROP FUNCTION ${name}() CASCADE`);
    }
    const fact = await admin.fact('Acme is in Porto', { entities: ['Acme', 'Porto'] });
    expect(await admin.edges(fact.id)).toEqual(['Acme–Porto']);
  });
});
