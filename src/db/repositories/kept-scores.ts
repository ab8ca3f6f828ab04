import { isTarget, type RescoreScope } from './rescore-stretch.js';
import type { ScopeOwner } from './scopes.js';
import type { Unit } from './unit.js';

/**
 * Scopes behind `after` with facts that were scored before the latest change that made facts stale: some of these are
 * stale, others were scored by what applies now. In the order of their ids. One statement.
 * @param targets whose scopes; null: all
 */
export async function scopesOfOlderScores(
  unit: Unit,
  targets: readonly ScopeOwner[] | null,
  after: number,
  limit: number,
): Promise<RescoreScope[]> {
  return unit.tx.$queryRaw<RescoreScope[]>`
    SELECT o.id AS "scopeId", o.agent_id AS "agentId", o.user_id AS "userId"
    FROM tenant t JOIN scope o ON o.tenant_id = ${unit.tenantId}::uuid
    CROSS JOIN LATERAL (
      SELECT FROM fact_salience s
      WHERE s.tenant_id = ${unit.tenantId}::uuid AND s.scope_id = o.id AND s.scored_revision < t.stale_below LIMIT 1) f
    WHERE t.id = ${unit.tenantId}::uuid AND t.stale_below > 0 AND o.id > ${after}::int AND ${isTarget(targets)}
    ORDER BY o.id LIMIT ${limit}::int8`;
}

/** What applies to the facts of a scope. */
export interface AppliedScoring {
  readonly scopeId: number;
  readonly fingerprint: string;
  readonly staleBelow: number;
}

/**
 * Notes of facts that were scored by what applies to their scopes that they are right as of a revision: what comes later
 * decides from there on whether they are stale. Under the locks of the scopes. One statement.
 * @returns how many facts
 */
export async function confirmScores(
  unit: Unit,
  applied: readonly AppliedScoring[],
  revision: number,
): Promise<number> {
  return unit.tx.$executeRaw`
    UPDATE fact_salience s SET scored_revision = ${revision}::int
    FROM jsonb_to_recordset(${JSON.stringify(applied)}::jsonb) AS a("scopeId" int, fingerprint text, "staleBelow" int)
    WHERE s.tenant_id = ${unit.tenantId}::uuid AND s.scope_id = a."scopeId"
      AND s.fingerprint = decode(a.fingerprint, 'hex') AND s.scored_revision < a."staleBelow"`;
}
