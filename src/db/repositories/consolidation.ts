import { Prisma } from '../generated/client.js';
import type { Transaction } from '../index.js';
import { timeCondition } from './conditions.js';
import { type Decay, importanceAt } from './importance.js';
import { type ImportanceChange, worthTelling } from './learning.js';
import type { Unit } from './unit.js';

/** Snapshots of importance that were renewed, and the changes among them that are to be told. */
export interface Refreshed {
  readonly refreshed: number;
  readonly told: readonly ImportanceChange[];
}

/** A stretch of a tenant's facts in the order of their scopes and ids. */
export interface FactStretch {
  readonly factIds: readonly string[];
  /** The last one's place. */
  readonly scopeId: number;
  readonly factId: string;
}

/** The next live facts after a place, at most `limit`; null when there are none. One statement. */
export async function nextFacts(
  unit: Unit,
  after: { readonly scopeId: number; readonly factId: string } | null,
  limit: number,
  at: Date,
): Promise<FactStretch | null> {
  const begin = after
    ? Prisma.sql`AND (s.scope_id, s.fact_id) > (${after.scopeId}::int, ${after.factId}::uuid)`
    : Prisma.empty;
  const rows = await unit.tx.$queryRaw<{ scopeId: number; factId: string }[]>`
    SELECT s.scope_id AS "scopeId", s.fact_id AS "factId"
    FROM fact_salience s JOIN fact f ON f.tenant_id = s.tenant_id AND f.id = s.fact_id
    WHERE s.tenant_id = ${unit.tenantId}::uuid AND f.tenant_id = ${unit.tenantId}::uuid ${begin} AND ${timeCondition({ now: at })}
    ORDER BY s.scope_id, s.fact_id LIMIT ${limit}::int`;
  const last = rows.at(-1);
  return last ? { ...last, factIds: rows.map(({ factId }) => factId) } : null;
}

/**
 * Renews the stored importance of those of the facts that are live, under the locks of their scopes (SPEC §6.4). One
 * statement.
 * @param delta distance from the value last told that is told now
 */
export async function refreshImportance(
  unit: Unit,
  factIds: readonly string[],
  decay: Decay,
  delta: number,
  at: Date,
): Promise<Refreshed> {
  const rows = await unit.tx.$queryRaw<ImportanceChange[]>`
    WITH reckoned AS MATERIALIZED (
      SELECT f.id, f.agent_id, f.user_id, s.told, s.current AS stored, ${importanceAt(at, decay)} AS current
      FROM fact f JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
      WHERE f.tenant_id = ${unit.tenantId}::uuid AND s.tenant_id = ${unit.tenantId}::uuid
        AND f.id = ANY(${[...factIds]}::uuid[]) AND ${timeCondition({ now: at })}
    ), changed AS MATERIALIZED (
      SELECT r.*, ${worthTelling(delta)} AS tell FROM reckoned r WHERE r.current <> r.stored
    ), written AS (
      UPDATE fact_salience s SET current = c.current, told = CASE WHEN c.tell THEN c.current ELSE s.told END
      FROM changed c WHERE s.tenant_id = ${unit.tenantId}::uuid AND s.fact_id = c.id
    )
    SELECT id AS "factId", agent_id AS "agentId", user_id AS "userId", told, current, tell FROM changed ORDER BY id`;
  return { refreshed: rows.length, told: rows.filter(({ tell }) => tell) };
}

/** A fact that says exactly what another says. */
export interface Duplicate {
  readonly factId: string;
  readonly agentId: string | null;
  readonly userId: string | null;
  /** The one that stays. */
  readonly keptId: string;
}

/**
 * Live facts that say exactly what another live one of the same scope and kind says, where one of either is among
 * `factIds`; under the locks of their scopes. Only facts with an asserted end can have such a twin (a unique key holds
 * the others), so it is looked for from those.
 *
 * Of twins the one that holds longest stays, so that nothing ceases to be known; among equals a pinned one, then the
 * oldest. A pinned one is never retired for one that is not (SPEC §6.5). One statement.
 */
export async function findDuplicates(unit: Unit, factIds: readonly string[], at: Date): Promise<Duplicate[]> {
  return unit.tx.$queryRaw<Duplicate[]>`
    WITH ending AS MATERIALIZED (
      SELECT DISTINCT f.scope_id, f.kind, f.text_hash FROM fact f
      WHERE f.tenant_id = ${unit.tenantId}::uuid AND f.id = ANY(${[...factIds]}::uuid[])
        AND f.valid_to IS NOT NULL AND ${timeCondition({ now: at })}
    ), twin AS MATERIALIZED (
      SELECT f.id, f.agent_id, f.user_id, s.pinned,
        first_value(f.id) OVER w AS kept_id, first_value(s.pinned) OVER w AS kept_pinned
      FROM ending e
      JOIN fact f ON f.tenant_id = ${unit.tenantId}::uuid AND f.scope_id = e.scope_id AND f.kind = e.kind
        AND f.text_hash = e.text_hash
      JOIN fact_salience s ON s.tenant_id = ${unit.tenantId}::uuid AND s.fact_id = f.id
      WHERE ${timeCondition({ now: at })}
      WINDOW w AS (PARTITION BY f.scope_id, f.kind, f.text_hash
                   ORDER BY f.valid_to DESC NULLS FIRST, s.pinned DESC, f.recorded_at, f.id)
    )
    SELECT id AS "factId", agent_id AS "agentId", user_id AS "userId", kept_id AS "keptId"
    FROM twin WHERE id <> kept_id AND (kept_pinned OR NOT pinned) ORDER BY id`;
}

/**
 * Gives what was retired as a duplicate to the facts that stay: its sources, when it was last said, how often it was
 * recalled and stated again, and its reinforcement, where that is greater. One statement.
 */
export async function inheritFromDuplicates(
  unit: Unit,
  duplicates: readonly Duplicate[],
  at: Date,
): Promise<void> {
  if (duplicates.length === 0) return;
  await unit.tx.$executeRaw`
    WITH twin AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(duplicates)}::jsonb) AS d("factId" uuid, "keptId" uuid)
    ), sources AS (
      INSERT INTO fact_source (tenant_id, fact_id, message_id, added_at)
      SELECT DISTINCT ${unit.tenantId}::uuid, t."keptId", o.message_id, ${at}::timestamptz
      FROM twin t JOIN fact_source o ON o.tenant_id = ${unit.tenantId}::uuid AND o.fact_id = t."factId"
      ON CONFLICT DO NOTHING
    ), sums AS (
      SELECT t."keptId" AS id, max(s.last_seen_at) AS last_seen_at, max(s.reinforced_at) AS reinforced_at,
        max(s.reinforcement) AS reinforcement, sum(s.recall_count)::int AS recall_count,
        sum(s.reaffirmations)::int AS reaffirmations
      FROM twin t JOIN fact_salience s ON s.tenant_id = ${unit.tenantId}::uuid AND s.fact_id = t."factId"
      GROUP BY t."keptId"
    )
    UPDATE fact_salience s
    SET last_seen_at = greatest(s.last_seen_at, u.last_seen_at), reinforced_at = greatest(s.reinforced_at, u.reinforced_at),
        reinforcement = greatest(s.reinforcement, u.reinforcement), recall_count = s.recall_count + u.recall_count,
        reaffirmations = s.reaffirmations + u.reaffirmations
    FROM sums u WHERE s.tenant_id = ${unit.tenantId}::uuid AND s.fact_id = u.id`;
}

/** A fact that has faded away. */
export type FadedFact = Omit<Duplicate, 'keptId'>;

/**
 * Those of the facts that are live, below this importance, never recalled and not pinned (SPEC §6.5); after their
 * importance was renewed, under the locks of their scopes. One statement.
 */
export async function findFaded(
  unit: Unit,
  factIds: readonly string[],
  below: number,
  at: Date,
): Promise<FadedFact[]> {
  return unit.tx.$queryRaw<FadedFact[]>`
    SELECT f.id AS "factId", f.agent_id AS "agentId", f.user_id AS "userId"
    FROM fact f JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
    WHERE f.tenant_id = ${unit.tenantId}::uuid AND s.tenant_id = ${unit.tenantId}::uuid
      AND f.id = ANY(${[...factIds]}::uuid[]) AND ${timeCondition({ now: at })}
      AND s.current < ${below}::float8 AND s.recall_count = 0 AND NOT s.pinned
    ORDER BY f.id`;
}

/**
 * Deletes topics that left their profiles before that time and that no fact was scored with, the oldest first, and the
 * vectors of all that left before it. Nobody comes to be scored with one that left so long ago that no transaction began
 * before. One statement, one pass over the tenant's facts where there is any.
 * @returns how many topics were deleted
 */
export async function deleteUnusedTopics(unit: Unit, before: Date, limit: number): Promise<number> {
  return unit.tx.$executeRaw`
    WITH used AS MATERIALIZED (
      SELECT DISTINCT m.number FROM fact_salience s CROSS JOIN LATERAL unnest(s.matched_topics) AS m(number)
      WHERE s.tenant_id = ${unit.tenantId}::uuid
        AND EXISTS (SELECT FROM profile_topic t WHERE t.tenant_id = ${unit.tenantId}::uuid
                    AND t.removed_at < ${before}::timestamptz)
    ), unused AS MATERIALIZED (
      SELECT t.id FROM profile_topic t
      WHERE t.tenant_id = ${unit.tenantId}::uuid AND t.removed_at < ${before}::timestamptz
        AND NOT EXISTS (SELECT FROM used u WHERE u.number = t.number)
      ORDER BY t.removed_at, t.id LIMIT ${limit}::int
      FOR UPDATE
    ), unembedded AS (
      DELETE FROM profile_topic_embedding e USING profile_topic t
      WHERE e.tenant_id = ${unit.tenantId}::uuid AND t.tenant_id = ${unit.tenantId}::uuid AND t.id = e.topic_id
        AND t.removed_at < ${before}::timestamptz
    )
    DELETE FROM profile_topic t USING unused u WHERE t.tenant_id = ${unit.tenantId}::uuid AND t.id = u.id`;
}

/**
 * Tenants with memories that were not consolidated since `before`, and for which nobody has tried to since, the longest
 * waiting first; for the platform's role. One statement.
 */
export async function tenantsToConsolidate(
  tx: Transaction,
  before: Date,
  limit: number,
): Promise<{ readonly id: string }[]> {
  return tx.$queryRaw<{ id: string }[]>`
    SELECT t.id FROM tenant t JOIN tenant_stream s ON s.tenant_id = t.id
    WHERE t.deleted_at IS NULL AND coalesce(t.consolidated_at, t.created_at) < ${before}::timestamptz AND s.documents > 0
      AND NOT EXISTS (
        SELECT FROM job j WHERE j.tenant_id = t.id AND j.kind = 'CONSOLIDATION'
          AND (j.status IN ('QUEUED', 'RUNNING') OR j.requested_at >= ${before}::timestamptz))
    ORDER BY coalesce(t.consolidated_at, t.created_at), t.id LIMIT ${limit}::int`;
}
