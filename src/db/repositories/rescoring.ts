import { Prisma } from '../generated/client.js';
import type { ScopeOwner } from './scopes.js';
import { type ScoringMeans, type ScoringProfile, scoredFacts } from './scoring-sql.js';
import type { Changer } from './tenants.js';
import type { Unit } from './unit.js';

/** Two importances that differ by less are the same: sums in another order differ in their last digits. */
const SAME = 1e-9;

/** Which facts to rescore: by id, or a stretch of the order by scope and id, in some scopes. */
export type RescoreSelection =
  | { readonly factIds: readonly string[]; readonly staleBelow: number }
  | {
      readonly scopeIds: readonly number[];
      readonly after: FactPlace | null;
      readonly through: FactPlace;
    };

/** A place in the order in which jobs walk over facts. */
export interface FactPlace {
  readonly scopeId: number;
  readonly factId: string;
}

/** What a rescoring did to its facts. */
export interface Rescored {
  readonly processed: number;
  /** Facts whose current importance is another now; each has its event. */
  readonly changed: number;
}

/**
 * Scores facts anew by a profile and tells every change of importance as an event (SPEC §7). The scopes of the facts are
 * locked by the caller. What is scored already is written only where the outcome differs, so twice is as good as once.
 * Appends events, hence the last of its transaction but for more of them. One statement.
 */
export async function rescoreFacts(
  unit: Unit,
  means: ScoringMeans,
  profile: ScoringProfile,
  selection: RescoreSelection,
  named: readonly string[],
  actor: Changer,
): Promise<Rescored> {
  const rows = await unit.tx.$queryRaw<Rescored[]>`
    WITH scored AS MATERIALIZED (
      SELECT r.*, (abs(r.encoded - r.old_encoded) > ${SAME}::float8
                   OR abs(r.decay_resistance - r.old_resistance) > ${SAME}::float8) AS differs
      FROM (${scoredFacts(means, profile, selected(selection), named)}) AS r
    ), written AS (
      UPDATE fact_salience s SET
        encoded = r.encoded, z = r.z, base = r.base, topic_boost = r.topic_boost, valence_factor = r.valence_factor,
        self_relevance_factor = r.self_relevance_factor, decay_resistance = r.decay_resistance,
        matched_topics = r.matched_topics, matched_similarities = r.matched_similarities,
        fingerprint = ${fingerprintBytes(profile)}, scored_revision = ${profile.revision}::int,
        current = CASE WHEN r.differs THEN r.current ELSE s.current END,
        told = CASE WHEN r.differs THEN r.current ELSE s.told END
      FROM scored r
      WHERE s.tenant_id = ${unit.tenantId}::uuid AND s.fact_id = r.fact_id
        AND (r.differs OR s.fingerprint IS DISTINCT FROM ${fingerprintBytes(profile)}
             OR s.scored_revision < ${profile.revision}::int)
      RETURNING s.fact_id, s.scope_id, r.old_current, r.current, r.differs
    ), told AS MATERIALIZED (
      SELECT w.fact_id, o.agent_id, o.user_id, w.old_current, w.current, row_number() OVER () AS place
      FROM written w JOIN scope o ON o.tenant_id = ${unit.tenantId}::uuid AND o.id = w.scope_id
      WHERE w.differs AND abs(w.current - w.old_current) > ${SAME}::float8
    ), stream AS (
      UPDATE tenant_stream SET head = head + (SELECT count(*) FROM told)
      WHERE tenant_id = ${unit.tenantId}::uuid AND EXISTS (SELECT FROM told)
      RETURNING head
    ), added AS (
      INSERT INTO event (tenant_id, seq, type, agent_id, user_id, subject_id, fact_id, cause, old_value, new_value,
                         actor_kind, actor_id, occurred_at)
      SELECT ${unit.tenantId}::uuid, s.head - (SELECT count(*) FROM told) + t.place, 'IMPORTANCE_CHANGED', t.agent_id,
             t.user_id, t.fact_id, t.fact_id, 'RESCORE', t.old_current, t.current, ${actor.kind}::text,
             ${actor.id}::uuid, ${means.now}::timestamptz
      FROM told t CROSS JOIN stream s
    )
    SELECT (SELECT count(*)::int FROM scored) AS processed, (SELECT count(*)::int FROM told) AS changed`;
  return rows[0]!;
}

function fingerprintBytes({ fingerprint }: ScoringProfile): Prisma.Sql {
  return Prisma.sql`decode(${fingerprint}::text, 'hex')`;
}

function selected(selection: RescoreSelection): Prisma.Sql {
  if ('factIds' in selection) {
    return Prisma.sql`s.fact_id = ANY(${[...selection.factIds]}::uuid[])
      AND s.scored_revision < ${selection.staleBelow}::int`;
  }
  const { scopeIds, after, through } = selection;
  // A stretch within one scope is a range of the index on both sides; of several scopes it is their whole.
  const from = after
    ? Prisma.sql`(s.scope_id, s.fact_id) > (${after.scopeId}::int, ${after.factId}::uuid)`
    : Prisma.sql`true`;
  return Prisma.sql`s.scope_id = ANY(${[...scopeIds]}::int[]) AND ${from}
    AND (s.scope_id, s.fact_id) <= (${through.scopeId}::int, ${through.factId}::uuid)`;
}

/** A scope with facts to rescore, of a stretch. */
export interface RescoreScope extends ScopeOwner {
  readonly scopeId: number;
  readonly facts: number;
}

/** The next stretch of a job's walk: its scopes in order, and where it ends. */
export interface RescoreStretch {
  readonly scopes: readonly RescoreScope[];
  readonly through: FactPlace;
}

/**
 * The next facts in the order of scope and id, those of the targets alone: at most `limit`. One statement.
 * @returns null where there are no more
 */
export async function nextStretch(
  unit: Unit,
  targets: readonly ScopeOwner[] | null,
  after: FactPlace | null,
  limit: number,
): Promise<RescoreStretch | null> {
  const rows = await unit.tx.$queryRaw<(RescoreScope & { lastId: string })[]>`
    SELECT p.scope_id AS "scopeId", o.agent_id AS "agentId", o.user_id AS "userId", count(*)::int AS facts,
      max(p.fact_id::text)::uuid AS "lastId"
    FROM (
      SELECT s.scope_id, s.fact_id FROM fact_salience s
      WHERE s.tenant_id = ${unit.tenantId}::uuid AND ${beyond(after)} AND ${ofTargets(unit, targets)}
      ORDER BY s.scope_id, s.fact_id LIMIT ${limit}::int) AS p
    JOIN scope o ON o.tenant_id = ${unit.tenantId}::uuid AND o.id = p.scope_id
    GROUP BY 1, 2, 3 ORDER BY 1`;
  const last = rows.at(-1);
  if (!last) return null;
  return { scopes: rows, through: { scopeId: last.scopeId, factId: last.lastId } };
}

/** How many facts there are of the targets. One statement. */
export async function countRescoreFacts(unit: Unit, targets: readonly ScopeOwner[] | null): Promise<number> {
  const rows = await unit.tx.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM fact_salience s
    WHERE s.tenant_id = ${unit.tenantId}::uuid AND ${ofTargets(unit, targets)}`;
  return rows[0]?.count ?? 0;
}

function beyond(after: FactPlace | null): Prisma.Sql {
  if (!after) return Prisma.sql`true`;
  return Prisma.sql`(s.scope_id, s.fact_id) > (${after.scopeId}::int, ${after.factId}::uuid)`;
}

/** A target names an agent, a user or both: facts of scopes that have all that it names. */
function ofTargets(unit: Unit, targets: readonly ScopeOwner[] | null): Prisma.Sql {
  if (targets === null) return Prisma.sql`true`;
  const conditions = targets.map(({ agentId, userId }) => {
    const agent = agentId === null ? Prisma.sql`true` : Prisma.sql`o.agent_id = ${agentId}::uuid`;
    const user = userId === null ? Prisma.sql`true` : Prisma.sql`o.user_id = ${userId}::uuid`;
    return Prisma.sql`(${agent} AND ${user})`;
  });
  return Prisma.sql`s.scope_id IN (SELECT o.id FROM scope o WHERE o.tenant_id = ${unit.tenantId}::uuid AND (${Prisma.join(conditions, ' OR ')}))`;
}
