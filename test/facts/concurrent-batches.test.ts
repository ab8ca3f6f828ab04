import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LineExtractor } from '../extraction/line-extractor.js';
import { type TestApp, testApp } from '../support/app.js';
import { isPostgres } from '../support/database.js';
import { callersOf, type RememberPayload, uuidOf } from './support.js';
import { eventsOf, rowsOf, scopeTotals, seeingClient } from './tables.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

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

const WRITERS = 50;
const atOnce = <T>(count: number, work: (app: TestApp, client: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n % 2 === 0 ? salient : second, n)));

async function deadlocks(): Promise<number> {
  const { rows } = await owner.query<{ deadlocks: string | null }>(
    'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
  );
  return Number(rows[0]?.deadlocks ?? 0);
}

/** A tenant with a message for each writer. */
async function withSources(count: number) {
  const tenant = await salient.tenant();
  const { admin } = callersOf(salient, tenant);
  const said = await admin.say(
    Array.from({ length: count }, (_, n) => `line ${n}`),
    { extract: 'NEVER', session: { create: { userId: tenant.userId } } },
  );
  return { tenant, admin, sources: said.messages!.map(({ id }) => id) };
}

describe.runIf(isPostgres)('50 writers at once, over several connections', () => {
  const LONG = 'The team deploys the billing service to production every Friday afternoon using Kamal';
  const WAYS = {
    same: () => 'The office is in Lisbon',
    'near-same': (n: number) => [LONG, `${LONG}.`, LONG.toUpperCase(), LONG.replaceAll(' ', '  ')][n % 4]!,
  };

  test.each(['same', 'near-same'] as const)(
    'of the %s statement make one fact with all sources',
    async (way) => {
      const { tenant, admin, sources } = await withSources(WRITERS);
      const payloads = await atOnce(WRITERS, (app, n) =>
        callersOf(app, tenant).admin.remember({
          text: WAYS[way](n),
          userId: tenant.userId,
          sourceMessageIds: [sources[n]],
        }),
      );
      expect(payloads.flatMap(({ errors }) => errors)).toEqual([]);
      expect(payloads.filter(({ reaffirmed }) => reaffirmed === false)).toHaveLength(1);
      expect(new Set(payloads.map(({ fact }) => fact!.id)).size).toBe(1);
      expect(await rowsOf(owner, tenant, 'fact')).toHaveLength(1);
      const found = await admin.find(payloads[0]!.fact!.id);
      expect(found!.sources.edges.map(({ node }) => node.id).sort()).toEqual([...sources].sort());
      const { rows } = await owner.query<{ n: number }>(
        'SELECT reaffirmations AS n FROM fact_salience WHERE tenant_id = $1',
        [uuidOf(tenant.id)],
      );
      expect(rows).toEqual([{ n: WRITERS - 1 }]);
    },
  );

  test('CASE 32: of statements that word order, numbers or negation tell apart keep all of them, once each', async () => {
    const { tenant, admin } = await withSources(1);
    const texts = [
      'Alice manages Bob',
      'Bob manages Alice',
      'Alice does not manage Bob',
      'The cluster runs Postgres 15',
      'The cluster runs Postgres 16',
    ];
    const payloads = await atOnce(WRITERS, (app, n) =>
      callersOf(app, tenant).admin.remember({ text: texts[n % texts.length] }),
    );
    expect(payloads.flatMap(({ errors }) => errors)).toEqual([]);
    expect(await admin.texts()).toEqual([...texts].sort());
    for (const [n, { fact }] of payloads.entries()) expect(fact!.text).toBe(texts[n % texts.length]);
  });

  test('never exceed a budget, alone or many at a time, and fill it as far as they fit', async () => {
    const { tenant } = await withSources(1);
    const size = 100;
    const text = (seed: string) =>
      `${seed} ${seed}y`
        .padEnd(size, ` ${seed}z`)
        .slice(0, size - 1)
        .trimEnd()
        .padEnd(size, 'x');
    const payloads = await atOnce(20, async (app, n) => {
      const { admin } = callersOf(app, tenant);
      const statement = (m: number) => ({
        text: text(`w${n}x${m}`),
        kind: 'USER_PROFILE',
        userId: tenant.userId,
      });
      if (n % 2 === 0) return [(await admin.remember(statement(0))).errors];
      const { results } = await admin.rememberMany([statement(0), statement(1), statement(2)]);
      return results!.map(({ errors }) => errors);
    });
    const outcomes = payloads.flat();
    expect(outcomes.filter((errors) => errors.length === 0)).toHaveLength(Math.floor(1_375 / size));
    for (const [error] of outcomes) if (error) expect(error.code).toBe('BUDGET_EXCEEDED');
    const { rows } = await owner.query<{ sum: number }>(
      `SELECT sum(characters)::int AS sum FROM fact WHERE tenant_id = $1 AND kind = 'USER_PROFILE' AND retired_at IS NULL`,
      [uuidOf(tenant.id)],
    );
    expect(rows[0]!.sum).toBe(Math.floor(1_375 / size) * size);
  });

  test('that state one, state many and forget many in the same scopes, new ones among them, wait for each other in one order', async () => {
    const { tenant, admin, sources } = await withSources(10);
    const before = await deadlocks();
    const { agentId, userId } = tenant;
    const scopes = [{}, { agentId }, { userId }, { agentId, userId }];
    const statement = (client: number, n: number) => ({
      text: `Sensor unit${client}x${n} reports the humidity of room ${client * 100 + n}`,
      entities: ['Sensor', `Room ${n}`],
      sourceMessageIds: [sources[n % 10]],
      // Each in an order of its own.
      ...scopes[(client * 3 + n * (client % 2 === 0 ? 1 : 3)) % scopes.length],
    });
    const errors: unknown[] = [];
    await atOnce(12, async (app, client) => {
      const caller = callersOf(app, tenant).admin;
      for (let round = 0; round < 4; round++) {
        const many = await caller.rememberMany(
          Array.from({ length: 8 }, (_, n) => statement(client, round * 10 + n)),
        );
        errors.push(...many.results!.flatMap((one) => one.errors));
        const one: RememberPayload = await caller.remember(statement(client, round * 10 + 8));
        errors.push(...one.errors);
        const gone = await caller.forgetMany(
          many.results!.filter((_, n) => n % 2 === 0).map(({ fact }) => ({ id: fact!.id })),
          round % 2 === 0 ? 'REDACT' : 'KEEP',
        );
        errors.push(...gone.results!.flatMap((result) => result.errors));
      }
    });
    expect(errors).toEqual([]);
    expect((await admin.facts()).totalCount).toBe(12 * 4 * 5);
    const totals = await scopeTotals(owner, tenant);
    expect(totals.stored).toEqual(totals.recounted);
    const events = await eventsOf(owner, tenant);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, place) => place + 1));
    const count = (type: string) => events.filter((event) => event.type === type).length;
    expect([count('FACT_REMEMBERED'), count('FACT_FORGOTTEN')]).toEqual([12 * 4 * 9, 12 * 4 * 4]);
    expect(await deadlocks()).toBe(before);
  });

  test('of one request with one key do it once, and all are answered the same', async () => {
    const { tenant, admin } = await withSources(1);
    const facts = Array.from({ length: 5 }, (_, n) => ({ text: `The page in question is number ${n}` }));
    const answers = await atOnce(10, (app) =>
      callersOf(app, tenant).admin.rememberMany([...facts, { text: ' ' }], { idempotencyKey: 'k' }),
    );
    for (const answer of answers) {
      expect(answer.results!.map(({ fact }) => fact?.id)).toEqual(
        answers[0]!.results!.map(({ fact }) => fact?.id),
      );
      expect(answer.results![5]!.errors[0]!.code).toBe('CONTENT_REFUSED');
    }
    expect((await admin.facts()).totalCount).toBe(5);
    const refusals = await rowsOf(owner, tenant, 'refusal');
    expect(refusals).toHaveLength(1);
  });
});
