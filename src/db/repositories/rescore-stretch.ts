import { Prisma } from '../generated/client.js';
import type { ScopeOwner } from './scopes.js';
import type { Unit } from './unit.js';

/** A place in the order in which jobs walk over facts. */
export interface FactPlace {
  readonly scopeId: number;
  readonly factId: string;
}

/** A scope of a stretch, with facts in it. */
export interface RescoreScope extends ScopeOwner {
  readonly scopeId: number;
}

/** The next stretch of a job's walk: its scopes in order, and where it ends; null: with the last fact. */
export interface RescoreStretch {
  readonly scopes: readonly RescoreScope[];
  readonly through: FactPlace | null;
}

/** Scopes of one stretch: their profiles are read at once, and their locks held together. */
export const SCOPES_AT_A_TIME = 500;

/** The place behind every fact of a scope. */
export function endOfScope(scopeId: number): FactPlace {
  return { scopeId, factId: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
}

/**
 * The next stretch of facts in the order of scope and id, those of the targets alone: `limit` facts, fewer at the end
 * and where they are in more than {@link SCOPES_AT_A_TIME} scopes. Scopes without facts are not in it.
 *
 * One statement, which also tells PostgreSQL not to keep the outcome of each step of those that follow in memory, for a
 * fact with the same numbers: that doubled the time of scoring.
 */
export async function nextStretch(
  unit: Unit,
  targets: readonly ScopeOwner[] | null,
  after: FactPlace | null,
  limit: number,
): Promise<RescoreStretch> {
  const rows = await unit.tx.$queryRaw<
    (RescoreScope & { lastScope: number | null; lastFact: string | null })[]
  >`
    WITH last AS (
      SELECT s.scope_id, s.fact_id FROM fact_salience s
      WHERE s.tenant_id = ${unit.tenantId}::uuid AND ${beyond(after)} AND ${ofTargets(unit, targets)}
      ORDER BY s.scope_id, s.fact_id LIMIT 1 OFFSET ${limit - 1}::int8)
    SELECT o.id AS "scopeId", o.agent_id AS "agentId", o.user_id AS "userId", l.scope_id AS "lastScope",
      l.fact_id AS "lastFact", (SELECT set_config('enable_memoize', 'off', true)) AS memoize
    FROM scope o LEFT JOIN last l ON true
    -- a look at the index for each scope: its limit keeps this from being planned as a join with all facts
    CROSS JOIN LATERAL (
      SELECT FROM fact_salience s
      WHERE s.tenant_id = ${unit.tenantId}::uuid AND s.scope_id = o.id AND ${beyond(after)} LIMIT 1) f
    WHERE o.tenant_id = ${unit.tenantId}::uuid AND o.id >= ${after?.scopeId ?? 0}::int
      AND (l.scope_id IS NULL OR o.id <= l.scope_id) AND ${isTarget(targets)}
    ORDER BY o.id LIMIT ${SCOPES_AT_A_TIME + 1}::int8`;
  const scopes = rows
    .slice(0, SCOPES_AT_A_TIME)
    .map(({ scopeId, agentId, userId }) => ({ scopeId, agentId, userId }));
  if (rows.length > SCOPES_AT_A_TIME) return { scopes, through: endOfScope(scopes.at(-1)!.scopeId) };
  const { lastScope, lastFact } = rows[0] ?? { lastScope: null, lastFact: null };
  return {
    scopes,
    through: lastScope !== null && lastFact !== null ? { scopeId: lastScope, factId: lastFact } : null,
  };
}

/** How many facts there are of the targets. One statement. */
export async function countRescoreFacts(unit: Unit, targets: readonly ScopeOwner[] | null): Promise<number> {
  const rows = await unit.tx.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM fact_salience s
    WHERE s.tenant_id = ${unit.tenantId}::uuid AND ${ofTargets(unit, targets)}`;
  return rows[0]?.count ?? 0;
}

function ofTargets(unit: Unit, targets: readonly ScopeOwner[] | null): Prisma.Sql {
  if (targets === null) return Prisma.sql`true`;
  return Prisma.sql`s.scope_id IN (
    SELECT o.id FROM scope o WHERE o.tenant_id = ${unit.tenantId}::uuid AND ${isTarget(targets)})`;
}

/** A target names an agent, a user or both: scopes `o` that have all that it names. */
export function isTarget(targets: readonly ScopeOwner[] | null): Prisma.Sql {
  if (targets === null) return Prisma.sql`true`;
  // However many they are, each scope is looked up in three tables.
  const agents = targets.flatMap(({ agentId, userId }) => (agentId && !userId ? [agentId] : []));
  const users = targets.flatMap(({ agentId, userId }) => (userId && !agentId ? [userId] : []));
  const pairs = targets.filter(({ agentId, userId }) => agentId && userId);
  return Prisma.sql`(o.agent_id = ANY(${agents}::uuid[]) OR o.user_id = ANY(${users}::uuid[])
    OR (o.agent_id, o.user_id) IN (
      SELECT * FROM unnest(${pairs.map(({ agentId }) => agentId)}::uuid[], ${pairs.map(({ userId }) => userId)}::uuid[])))`;
}

/** Facts `s` behind a place in that order. */
export function beyond(after: FactPlace | null): Prisma.Sql {
  if (!after) return Prisma.sql`true`;
  return Prisma.sql`(s.scope_id, s.fact_id) > (${after.scopeId}::int, ${after.factId}::uuid)`;
}
