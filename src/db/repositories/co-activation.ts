import { Prisma } from '../generated/client.js';
import { timeCondition } from './conditions.js';
import type { Unit } from './unit.js';

/** Two facts that recalls returned together, and how often (SPEC §6.3). */
export interface TiedPair {
  /** The smaller id first. */
  readonly first: string;
  readonly second: string;
  /** Recalls, ≥ 1. */
  readonly times: number;
}

/** How ties grow, fade and end (SPEC §6.3). */
export interface TieRules {
  /** Share of what is left to 1 that one recall adds. */
  readonly step: number;
  /** What a day leaves of a weight. */
  readonly dailyRemainder: number;
  readonly minWeight: number;
  readonly maxDegree: number;
}

/** The weight of tie `t` as time has left it at `at`. */
function weightAt(at: Date, { dailyRemainder }: TieRules): Prisma.Sql {
  return Prisma.sql`(t.weight * power(${dailyRemainder}::float8,
    greatest(extract(epoch FROM ${at}::timestamptz - t.updated_at), 0)::float8 / 86400))`;
}

/**
 * Ties facts that are both live more closely, once for each recall that returned them together; then the ties of each
 * of them that have become too weak go, and the weakest beyond the most that a fact keeps (SPEC §6.3). Under the locks
 * of their scopes. Two statements.
 */
export async function strengthenTies(
  unit: Unit,
  pairs: readonly TiedPair[],
  at: Date,
  rules: TieRules,
): Promise<void> {
  if (pairs.length === 0) return;
  const live = (id: 'first' | 'second') => Prisma.sql`EXISTS (
    SELECT FROM fact f
    WHERE f.tenant_id = ${unit.tenantId}::uuid AND f.id = p.${Prisma.raw(id)} AND ${timeCondition({ now: at })})`;
  await unit.tx.$executeRaw`
    INSERT INTO co_activation AS t (tenant_id, first_id, second_id, weight, updated_at)
    SELECT ${unit.tenantId}::uuid, p.first, p.second, 1 - power(1 - ${rules.step}::float8, p.times), ${at}::timestamptz
    FROM jsonb_to_recordset(${JSON.stringify(pairs)}::jsonb) AS p(first uuid, second uuid, times int)
    WHERE ${live('first')} AND ${live('second')}
    ORDER BY p.first, p.second
    ON CONFLICT (tenant_id, first_id, second_id) DO UPDATE
      SET weight = least(1, greatest(0, 1 - (1 - ${weightAt(at, rules)}) * (1 - excluded.weight))),
          updated_at = greatest(t.updated_at, excluded.updated_at)`;
  const ids = [...new Set(pairs.flatMap(({ first, second }) => [first, second]))];
  // By the index of each fact and of each tie, whatever the planner thinks of their number.
  const tiesOf = (column: 'first_id' | 'second_id') => Prisma.sql`
    SELECT r.id AS fact_id, t.* FROM unnest(${ids}::uuid[]) AS r(id) CROSS JOIN LATERAL (
      SELECT t.first_id, t.second_id, ${weightAt(at, rules)} AS weight FROM co_activation t
      WHERE t.tenant_id = ${unit.tenantId}::uuid AND t.${Prisma.raw(column)} = r.id OFFSET 0) t`;
  await unit.tx.$executeRaw`
    WITH placed AS (
      SELECT t.*, row_number() OVER (PARTITION BY t.fact_id ORDER BY t.weight DESC, t.first_id, t.second_id) AS place
      FROM (${tiesOf('first_id')} UNION ALL ${tiesOf('second_id')}) AS t
    ), ended AS MATERIALIZED (
      -- in the one order in which all who change ties lock them
      SELECT DISTINCT first_id, second_id FROM placed
      WHERE place > ${rules.maxDegree}::int OR weight < ${rules.minWeight}::float8
      ORDER BY first_id, second_id
    ), gone AS MATERIALIZED (
      SELECT t.place FROM ended e CROSS JOIN LATERAL (
        SELECT t.ctid AS place FROM co_activation t
        WHERE t.tenant_id = ${unit.tenantId}::uuid AND t.first_id = e.first_id AND t.second_id = e.second_id
        FOR UPDATE) t
    )
    DELETE FROM co_activation t
    WHERE t.tenant_id = ${unit.tenantId}::uuid AND t.ctid = ANY(ARRAY(SELECT place FROM gone))`;
}

/** How far a round over a tenant's ties has come. */
export interface TiePruning {
  /** The last fact whose ties were looked at; null when there were none left. */
  readonly through: string | null;
  readonly removed: number;
}

/**
 * Removes the ties that time has made too weak (SPEC §6.3), of the next facts after `after`. What a tie weighs follows
 * from when it was last strengthened, so the others need no rewriting. A tie that is strengthened meanwhile stays. One
 * statement.
 * @param facts how many facts' ties are looked at, those to facts of greater ids
 */
export async function pruneTies(
  unit: Unit,
  after: string | null,
  facts: number,
  at: Date,
  rules: TieRules,
): Promise<TiePruning> {
  const begin = after === null ? Prisma.empty : Prisma.sql`AND t.first_id > ${after}::uuid`;
  const rows = await unit.tx.$queryRaw<{ through: string | null; removed: number }[]>`
    WITH batch AS MATERIALIZED (
      SELECT DISTINCT t.first_id FROM co_activation t WHERE t.tenant_id = ${unit.tenantId}::uuid ${begin}
      ORDER BY t.first_id LIMIT ${facts}::int
    ), weak AS MATERIALIZED (
      SELECT t.first_id, t.second_id FROM co_activation t
      WHERE t.tenant_id = ${unit.tenantId}::uuid AND t.first_id IN (SELECT first_id FROM batch)
        AND ${weightAt(at, rules)} < ${rules.minWeight}::float8
      ORDER BY t.first_id, t.second_id
      FOR UPDATE
    ), removed AS (
      DELETE FROM co_activation t USING weak w
      WHERE t.tenant_id = ${unit.tenantId}::uuid AND t.first_id = w.first_id AND t.second_id = w.second_id
      RETURNING 1
    )
    SELECT (SELECT first_id FROM batch ORDER BY first_id DESC LIMIT 1) AS through,
      (SELECT count(*)::int FROM removed) AS removed`;
  return rows[0] as TiePruning;
}
