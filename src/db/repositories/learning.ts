import { Prisma } from '../generated/client.js';
import { timeCondition } from './conditions.js';
import { type Decay, importanceAt } from './importance.js';
import type { Unit } from './unit.js';

/** A change of a fact's importance, beside the value that subscribers were last told. */
export interface ImportanceChange {
  readonly factId: string;
  readonly agentId: string | null;
  readonly userId: string | null;
  /** What was last told, and what is so now: 0.05 to 10. */
  readonly told: number;
  readonly current: number;
  /** Whether they are so far apart that it is told now (SPEC §6.4). */
  readonly tell: boolean;
}

/** How a recall reinforces (SPEC §6.2), and when a change is told (SPEC §6.4). */
export interface Reinforcement {
  /** Share of what is left to `max` that one recall adds. */
  readonly step: number;
  readonly max: number;
  /** Least time between two reinforcements of a fact, in milliseconds. */
  readonly intervalMs: number;
  readonly decay: Decay;
  /** Distance from the value last told that is worth an event. */
  readonly delta: number;
}

/**
 * Takes the locks of these facts' scopes, in the one order of all writers. Facts that are gone have none. One statement.
 */
export async function lockScopesOfFacts(unit: Unit, factIds: readonly string[]): Promise<void> {
  await unit.tx.$queryRaw`
    SELECT st.scope_id FROM scope_state st
    WHERE st.tenant_id = ${unit.tenantId}::uuid AND st.scope_id IN (
      SELECT f.scope_id FROM fact f WHERE f.tenant_id = ${unit.tenantId}::uuid AND f.id = ANY(${[...factIds]}::uuid[]))
    ORDER BY st.scope_id
    FOR UPDATE OF st`;
}

/**
 * Reinforces those of the facts that are live and were not reinforced within the interval, whoever did it, and stores
 * their importance as of `at` (SPEC §6.2, §6.4). When they were last seen stays as it is: a recall is no evidence. Under
 * the locks of their scopes. One statement.
 * @returns the facts that were reinforced
 */
export async function reinforceFacts(
  unit: Unit,
  factIds: readonly string[],
  at: Date,
  { step, max, intervalMs, decay, delta }: Reinforcement,
): Promise<ImportanceChange[]> {
  if (factIds.length === 0) return [];
  const before = new Date(at.getTime() - intervalMs);
  return unit.tx.$queryRaw<ImportanceChange[]>`
    WITH due AS MATERIALIZED (
      SELECT f.id, f.agent_id, f.user_id, f.recorded_at, s.encoded, s.decay_resistance, s.pinned, s.flashbulb,
        s.last_seen_at, s.told, greatest(s.reinforced_at, ${at}::timestamptz) AS reinforced_at,
        least(${max}::float8, s.reinforcement + ${step}::float8 * (${max}::float8 - s.reinforcement)) AS reinforcement
      FROM fact f JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
      WHERE f.tenant_id = ${unit.tenantId}::uuid AND s.tenant_id = ${unit.tenantId}::uuid
        AND f.id = ANY(${[...factIds]}::uuid[]) AND ${timeCondition({ now: at })}
        AND (s.reinforced_at IS NULL OR s.reinforced_at <= ${before}::timestamptz)
    ), reckoned AS MATERIALIZED (
      SELECT s.*, ${importanceAt(at, decay)} AS current FROM due s
    ), judged AS MATERIALIZED (
      SELECT r.*, ${worthTelling(delta)} AS tell FROM reckoned r
    ), written AS (
      UPDATE fact_salience s
      SET reinforcement = j.reinforcement, reinforced_at = j.reinforced_at, recall_count = s.recall_count + 1,
          current = j.current, told = CASE WHEN j.tell THEN j.current ELSE s.told END
      FROM judged j WHERE s.tenant_id = ${unit.tenantId}::uuid AND s.fact_id = j.id
    )
    SELECT id AS "factId", agent_id AS "agentId", user_id AS "userId", told, current, tell FROM judged ORDER BY id`;
}

/** Whether `current` of `r` is so far from its `told` that it is told; absorbs the rounding of the subtraction. */
export function worthTelling(delta: number): Prisma.Sql {
  return Prisma.sql`(abs(r.current - r.told) >= ${delta - 1e-9}::float8)`;
}
