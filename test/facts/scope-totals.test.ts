import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LineExtractor } from '../extraction/line-extractor.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { isPostgres } from '../support/database.js';
import { type Caller, callersOf, type FactView, uuidOf } from './support.js';
import { scopeTotals, seeingClient } from './tables.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let salient: TestApp;
let owner: pg.Client;
beforeAll(async () => {
  salient = await testApp({ extractor: new LineExtractor() });
  owner = await seeingClient();
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

/** Few statements, so that they meet: equal, alike, replaced by each other. The last two have hardly a word that counts. */
const TEXTS = [
  'The office is in Lisbon',
  'THE OFFICE is in Lisbon',
  'The office of Acme is in the old town of Lisbon, near the river and the station',
  'The office of Acme is in the old town of Lisbon, near the river and the station.',
  'Alice manages Bob',
  'Bob manages Alice',
  'the of and',
  '...!?',
];

type Step =
  | { does: 'remember'; text: number; scope: number; kind: number; sources: boolean }
  | { does: 'append'; texts: number[]; scope: number; extract: boolean; kind: number }
  | { does: 'replace'; which: number; text: number }
  | { does: 'retire'; which: number }
  | { does: 'forget'; which: number; keep: boolean };

const text = fc.nat(TEXTS.length - 1);
const which = fc.nat(20);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('remember' as const),
      text,
      scope: fc.nat(3),
      kind: fc.nat(1),
      sources: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('append' as const),
      texts: fc.array(text, { minLength: 1, maxLength: 4 }),
      scope: fc.nat(3),
      extract: fc.boolean(),
      kind: fc.nat(1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('replace' as const), which, text }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('retire' as const), which }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('forget' as const), which, keep: fc.boolean() }) },
);

const KINDS = ['FACT', 'PREFERENCE'];

/** A message without a word, which has no postings, is redacted. */
const WORDLESS: Step[] = [
  { does: 'append', texts: [7, 0], scope: 1, extract: false, kind: 0 },
  { does: 'remember', text: 0, scope: 3, kind: 0, sources: true },
  { does: 'forget', which: 0, keep: false },
];

async function run(step: Step, caller: Caller, tenant: TestTenant): Promise<void> {
  const scopes = [
    {},
    { userId: tenant.userId },
    { agentId: tenant.agentId },
    { agentId: tenant.agentId, userId: tenant.userId },
  ];
  const any = async (place: number): Promise<FactView | undefined> => {
    const { rows } = await owner.query<{ id: string }>(
      'SELECT id FROM fact WHERE tenant_id = $1 ORDER BY id',
      [uuidOf(tenant.id)],
    );
    const row = rows[place % Math.max(rows.length, 1)];
    return row ? ((await caller.find(row.id)) ?? undefined) : undefined;
  };
  switch (step.does) {
    case 'remember': {
      const entities = step.text % 2 === 0 ? ['Acme', 'Lisbon'] : [];
      const sourceMessageIds = step.sources ? await newestMessages(tenant) : [];
      const input = { text: TEXTS[step.text], kind: KINDS[step.kind], entities, sourceMessageIds };
      await caller.remember({ ...input, ...scopes[step.scope] });
      return;
    }
    case 'append': {
      const contents = step.texts.map(
        (place) => `${step.extract ? `${KINDS[step.kind]}: ` : ''}${TEXTS[place]}`,
      );
      const session = { create: { ...scopes[step.scope], externalId: 's1' } };
      await caller.say(contents, { session, extract: step.extract ? 'NOW' : 'NEVER' });
      return;
    }
    case 'replace': {
      const fact = await any(step.which);
      if (fact) await caller.replace({ id: fact.id }, TEXTS[step.text]!);
      return;
    }
    case 'retire': {
      const fact = await any(step.which);
      if (fact) await caller.retire({ id: fact.id }, 'WRONG');
      return;
    }
    case 'forget': {
      const fact = await any(step.which);
      if (fact) await caller.forget({ id: fact.id }, step.keep ? 'KEEP' : 'REDACT');
    }
  }
}

async function newestMessages(tenant: TestTenant): Promise<string[]> {
  const { rows } = await owner.query<{ id: string }>(
    'SELECT id FROM message WHERE tenant_id = $1 ORDER BY id DESC LIMIT 2',
    [uuidOf(tenant.id)],
  );
  return rows.map((row) => row.id);
}

/** What the indexes take for live that is not, or the reverse. */
async function wrongInIndexes(tenant: TestTenant): Promise<unknown[]> {
  const { rows } = await owner.query(
    `SELECT 'posting' AS index, p.document_id AS id FROM posting p
     LEFT JOIN fact f ON f.tenant_id = p.tenant_id AND f.id = p.document_id
     LEFT JOIN message m ON m.tenant_id = p.tenant_id AND m.id = p.document_id
     WHERE p.tenant_id = $1 AND p.live <>
       coalesce(f.id IS NOT NULL AND f.retired_at IS NULL OR m.id IS NOT NULL AND m.redacted_at IS NULL, false)
     UNION ALL
     SELECT 'vector', e.fact_id FROM fact_embedding e JOIN fact f ON f.tenant_id = e.tenant_id AND f.id = e.fact_id
     WHERE e.tenant_id = $1 AND e.live <> (f.retired_at IS NULL)
     UNION ALL
     SELECT 'message vector', e.message_id FROM message_embedding e
     JOIN message m ON m.tenant_id = e.tenant_id AND m.id = e.message_id
     WHERE e.tenant_id = $1 AND m.redacted_at IS NOT NULL`,
    [uuidOf(tenant.id)],
  );
  return rows;
}

describe("a scope's totals: what BM25 takes for the number and length of documents", () => {
  test('equal a recount after any sequence of writes; indexes and edges hold what is live', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), async (steps) => {
        const tenant = await salient.tenant();
        const { admin } = callersOf(salient, tenant);
        for (const one of steps) {
          await run(one, admin, tenant);
          const { stored, recounted } = await scopeTotals(owner, tenant);
          expect(stored, one.does).toEqual(recounted);
          expect(await wrongInIndexes(tenant), one.does).toEqual([]);
        }
        // Edges: the weight is the number of live facts that state it, at least 1; without any it is retired.
        const edges = await owner.query<{
          weight: number;
          live: number;
          retired: boolean;
          supported: number;
        }>(
          `SELECT e.weight, e.retired_at IS NOT NULL AS retired, count(f.id)::int AS supported,
                  (count(f.id) FILTER (WHERE f.retired_at IS NULL))::int AS live
           FROM edge e LEFT JOIN edge_source s ON s.tenant_id = e.tenant_id AND s.edge_id = e.id
           LEFT JOIN fact f ON f.tenant_id = s.tenant_id AND f.id = s.fact_id
           WHERE e.tenant_id = $1 GROUP BY e.tenant_id, e.id`,
          [uuidOf(tenant.id)],
        );
        for (const edge of edges.rows) {
          expect(edge.supported).toBeGreaterThan(0);
          expect(edge.retired).toBe(edge.live === 0);
          expect(edge.weight).toBe(Math.max(1, edge.live));
        }
        const orphans = await owner.query(
          `SELECT 1 FROM entity e WHERE e.tenant_id = $1
           AND NOT EXISTS (SELECT FROM fact_entity m WHERE m.tenant_id = e.tenant_id AND m.entity_id = e.id)`,
          [uuidOf(tenant.id)],
        );
        expect(orphans.rows).toEqual([]);
      }),
      { numRuns: isPostgres ? 25 : 12, examples: [[WORDLESS]] },
    );
  }, 240_000);
});
