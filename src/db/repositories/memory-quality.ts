import { Prisma } from '../generated/client.js';
import { timeCondition } from './conditions.js';
import type { ScopeOwner } from './scopes.js';
import type { Unit } from './unit.js';

/** What is counted of a memory (SPEC §10). */
export interface QualityFigures {
  /** Live decisions and conventions, and those of them that do not say why. */
  readonly guarded: number;
  readonly bare: number;
  /** The same of the facts that were recorded in the window. */
  readonly recently: { readonly guarded: number; readonly bare: number };
  /** How often its live facts were stated again. */
  readonly reaffirmed: number;
  /** Live facts that no recall has given yet. */
  readonly neverRecalled: number;
  /** Windows of messages that are put aside. */
  readonly openQuarantines: number;
  /** Extractions by how they ended; outcomes that did not occur are left out. */
  readonly extraction: readonly { readonly status: string; readonly count: number }[];
  readonly refusals: readonly { readonly category: string; readonly count: number }[];
}

type Row = Omit<QualityFigures, 'recently'> & { recentlyGuarded: number; recentlyBare: number };

/**
 * Counts what is known of the quality of a memory: of all of the tenant's, or of what belongs to exactly this agent and
 * user as far as they are given. One statement.
 * @param since where the window begins, included
 */
export async function qualityFigures(
  unit: Unit,
  { agentId, userId }: ScopeOwner,
  since: Date,
  now: Date,
): Promise<QualityFigures> {
  const { tenantId } = unit;
  const all = agentId === null && userId === null;
  // What was refused to nobody in particular, such as a topic of a profile, is the tenant's alone.
  const inScope = (column: 'f.scope_id' | 'se.scope_id' | 'r.scope_id') =>
    all ? Prisma.sql`true` : Prisma.sql`${Prisma.raw(column)} IN (SELECT id FROM scoped)`;
  const rows = await unit.tx.$queryRaw<Row[]>`
    WITH scoped AS MATERIALIZED (
      SELECT s.id FROM scope s
      WHERE s.tenant_id = ${tenantId}::uuid
        AND ${agentId === null ? Prisma.sql`true` : Prisma.sql`s.agent_id = ${agentId}::uuid`}
        AND ${userId === null ? Prisma.sql`true` : Prisma.sql`s.user_id = ${userId}::uuid`}
    ), live AS (
      SELECT count(*) FILTER (WHERE f.conclusion IN ('REASONED', 'BARE'))::int AS guarded,
             count(*) FILTER (WHERE f.conclusion = 'BARE')::int AS bare,
             count(*) FILTER (WHERE f.conclusion IN ('REASONED', 'BARE') AND f.recorded_at >= ${since}::timestamptz)::int AS "recentlyGuarded",
             count(*) FILTER (WHERE f.conclusion = 'BARE' AND f.recorded_at >= ${since}::timestamptz)::int AS "recentlyBare",
             coalesce(sum(n.reaffirmations), 0)::int AS reaffirmed,
             count(*) FILTER (WHERE n.recall_count = 0)::int AS "neverRecalled"
      FROM fact f JOIN fact_salience n ON n.tenant_id = f.tenant_id AND n.fact_id = f.id
      WHERE f.tenant_id = ${tenantId}::uuid AND n.tenant_id = ${tenantId}::uuid
        AND ${inScope('f.scope_id')} AND ${timeCondition({ now })}
    ), run AS (
      SELECT r.status, count(*) AS count
      FROM extraction_run r JOIN session se ON se.tenant_id = r.tenant_id AND se.id = r.session_id
      WHERE r.tenant_id = ${tenantId}::uuid AND se.tenant_id = ${tenantId}::uuid AND ${inScope('se.scope_id')}
      GROUP BY r.status
    ), refused AS (
      SELECT r.category, count(*) AS count FROM refusal r
      WHERE r.tenant_id = ${tenantId}::uuid AND ${inScope('r.scope_id')}
      GROUP BY r.category
    ), aside AS (
      SELECT count(*)::int AS count
      FROM quarantined_window q JOIN session se ON se.tenant_id = q.tenant_id AND se.id = q.session_id
      WHERE q.tenant_id = ${tenantId}::uuid AND se.tenant_id = ${tenantId}::uuid AND ${inScope('se.scope_id')}
    )
    SELECT live.*, aside.count AS "openQuarantines",
      (SELECT coalesce(jsonb_agg(jsonb_build_object('status', status, 'count', count) ORDER BY count DESC, status), '[]') FROM run) AS extraction,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('category', category, 'count', count) ORDER BY count DESC, category), '[]') FROM refused) AS refusals
    FROM live CROSS JOIN aside`;
  const [row] = rows;
  if (!row) throw new Error('a count without a row');
  const { recentlyGuarded, recentlyBare, ...figures } = row;
  return { ...figures, recently: { guarded: recentlyGuarded, bare: recentlyBare } };
}

/** What a fact says and is, as it is judged. */
export interface UnjudgedFact {
  readonly id: string;
  readonly kind: string;
  readonly text: string;
  readonly predicate: string | null;
  readonly object: string | null;
}

/** Those of the facts of which it was not decided whether they are bare conclusions. One statement. */
export async function unjudgedFacts(unit: Unit, ids: readonly string[]): Promise<UnjudgedFact[]> {
  const rows = await unit.tx.fact.findMany({
    where: { tenantId: unit.tenantId, id: { in: [...ids] }, conclusion: null },
    select: { id: true, kind: true, text: true, predicate: true, object: true },
  });
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    text: unit.content.open(row.text),
    predicate: unit.content.openOptional(row.predicate),
    object: unit.content.openOptional(row.object),
  }));
}

/** Keeps what was decided of facts. One statement. */
export async function setConclusions(
  unit: Unit,
  conclusions: readonly { readonly id: string; readonly conclusion: string }[],
): Promise<void> {
  await unit.tx.$executeRaw`
    UPDATE fact f SET conclusion = r.conclusion
    FROM jsonb_to_recordset(${JSON.stringify(conclusions)}::jsonb) AS r(id uuid, conclusion text)
    WHERE f.tenant_id = ${unit.tenantId}::uuid AND f.id = r.id AND f.conclusion IS NULL`;
}
