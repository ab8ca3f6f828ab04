import { Prisma } from '../generated/client.js';
import type { ScopeOwner } from './scopes.js';
import { type ScoringMeans, type ScoringProfile, scoredFacts } from './scoring-sql.js';
import type { Changer } from './tenants.js';
import type { Unit } from './unit.js';

/** Two importances that differ by less are the same: sums in another order differ in their last digits. */
export const SAME = 1e-9;

/** Which facts to rescore: by id, or a stretch of the order by scope and id, in some scopes. */
export type RescoreSelection =
  | {
      readonly factIds: readonly string[];
      /** Only those scored below this revision; all when left out. */
      readonly staleBelow?: number;
    }
  | {
      readonly scopeIds: readonly number[];
      readonly after: FactPlace | null;
      readonly through: FactPlace | null;
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
 * locked by the caller, so a row stays where it was found: by its place it is found again whatever the planner knows. What is scored already is written only where the outcome differs, so twice is as good as once.
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
      WHERE s.ctid = r.place AND s.tenant_id = ${unit.tenantId}::uuid
        AND (r.differs OR s.fingerprint IS DISTINCT FROM ${fingerprintBytes(profile)}
             OR s.scored_revision < ${profile.revision}::int)
      RETURNING s.fact_id, s.scope_id, r.old_current, r.current, r.differs
    ), told AS MATERIALIZED (
      -- the changes of each scope, and how many there are up to and with them
      SELECT w.scope_id, array_agg(w.fact_id) AS facts, array_agg(w.old_current) AS old_values,
        array_agg(w.current) AS new_values, count(*) AS changes, sum(count(*)) OVER (ORDER BY w.scope_id)::int8 AS upto
      FROM written w WHERE w.differs AND abs(w.current - w.old_current) > ${SAME}::float8 GROUP BY w.scope_id
    ), stream AS (
      UPDATE tenant_stream SET head = head + (SELECT max(upto) FROM told)
      WHERE tenant_id = ${unit.tenantId}::uuid AND EXISTS (SELECT FROM told)
      RETURNING head - (SELECT max(upto) FROM told) AS before
    ), added AS (
      INSERT INTO event_batch (tenant_id, first_seq, last_seq, type, agent_id, user_id, cause, actor_kind, actor_id,
                               occurred_at, fact_ids, old_values, new_values)
      SELECT ${unit.tenantId}::uuid, s.before + t.upto - t.changes + 1, s.before + t.upto, 'IMPORTANCE_CHANGED',
             o.agent_id, o.user_id, 'RESCORE', ${actor.kind}::text, ${actor.id}::uuid, ${means.now}::timestamptz,
             t.facts, t.old_values, t.new_values
      FROM told t CROSS JOIN stream s JOIN scope o ON o.tenant_id = ${unit.tenantId}::uuid AND o.id = t.scope_id
    )
    SELECT (SELECT count(*)::int FROM scored) AS processed, (SELECT coalesce(max(upto), 0)::int FROM told) AS changed`;
  return rows[0]!;
}

/** A score as it would be; nothing is stored. */
export interface FreshScore {
  readonly factId: string;
  readonly encoded: number;
  readonly current: number;
  readonly z: number | null;
  readonly base: number;
  readonly topicBoost: number;
  readonly valenceFactor: number;
  readonly selfRelevanceFactor: number;
  readonly decayResistance: number;
  readonly matchedTopics: readonly number[] | null;
  readonly matchedSimilarities: readonly number[] | null;
}

/** Facts to score by a profile. */
export interface ScoreRequest {
  readonly profile: ScoringProfile;
  readonly factIds: readonly string[];
  /** Those of them that name who the profile's owner is. */
  readonly named: readonly string[];
}

/** Scores facts, each by the profile of its request, and stores nothing. One statement. */
export async function readScores(
  unit: Unit,
  means: ScoringMeans,
  requests: readonly ScoreRequest[],
): Promise<FreshScore[]> {
  const parts = requests.map(({ profile, factIds, named }) => {
    return Prisma.sql`
      SELECT fact_id, encoded, current, z, base, topic_boost, valence_factor, self_relevance_factor, decay_resistance,
        matched_topics, matched_similarities
      FROM (${scoredFacts(means, profile, selected({ factIds }), named)}) AS r`;
  });
  if (parts.length === 0) return [];
  return unit.tx.$queryRaw<FreshScore[]>`
    SELECT fact_id AS "factId", encoded, current, z, base, topic_boost AS "topicBoost",
      valence_factor AS "valenceFactor", self_relevance_factor AS "selfRelevanceFactor",
      decay_resistance AS "decayResistance", matched_topics AS "matchedTopics",
      matched_similarities AS "matchedSimilarities"
    FROM (${Prisma.join(parts, ' UNION ALL ')}) AS a`;
}

/** A fact's scope, whose that is, and what the fact was scored with. */
export interface FactScoring extends ScopeOwner {
  readonly id: string;
  readonly scopeId: number;
  readonly fingerprint: string | null;
  readonly scoredRevision: number;
}

/** What facts were scored with. One statement. */
export async function scoringOfFacts(unit: Unit, factIds: readonly string[]): Promise<FactScoring[]> {
  return unit.tx.$queryRaw<FactScoring[]>`
    SELECT s.fact_id AS id, s.scope_id AS "scopeId", o.agent_id AS "agentId", o.user_id AS "userId",
      encode(s.fingerprint, 'hex') AS fingerprint, s.scored_revision AS "scoredRevision"
    FROM fact_salience s JOIN scope o ON o.tenant_id = s.tenant_id AND o.id = s.scope_id
    WHERE s.tenant_id = ${unit.tenantId}::uuid AND s.fact_id = ANY(${[...factIds]}::uuid[])`;
}

/** What a fact says, as far as self-relevance looks at it. */
export interface FactWordsRow {
  readonly id: string;
  readonly text: string;
  readonly entities: readonly string[];
}

/** The words of the selected facts. One statement. */
export async function factWords(unit: Unit, selection: RescoreSelection): Promise<FactWordsRow[]> {
  const rows = await unit.tx.$queryRaw<{ id: string; text: Uint8Array; entities: Uint8Array[] | null }[]>`
    SELECT f.id, f.text, n.entities
    FROM fact_salience s
    CROSS JOIN LATERAL (
      SELECT f.id, f.text FROM fact f WHERE f.tenant_id = ${unit.tenantId}::uuid AND f.id = s.fact_id OFFSET 0) f
    CROSS JOIN LATERAL (
      SELECT array_agg(e.name) AS entities
      FROM fact_entity m JOIN entity e ON e.tenant_id = m.tenant_id AND e.id = m.entity_id
      WHERE m.tenant_id = ${unit.tenantId}::uuid AND m.fact_id = s.fact_id) n
    WHERE s.tenant_id = ${unit.tenantId}::uuid AND ${selected(selection)}`;
  return rows.map(({ id, text, entities }) => ({
    id,
    text: unit.content.open(text),
    entities: (entities ?? []).map((name) => unit.content.open(name)),
  }));
}

function fingerprintBytes({ fingerprint }: ScoringProfile): Prisma.Sql {
  return Prisma.sql`decode(${fingerprint}::text, 'hex')`;
}

export function selected(selection: RescoreSelection): Prisma.Sql {
  if ('factIds' in selection) {
    const { factIds, staleBelow } = selection;
    const stale =
      staleBelow === undefined ? Prisma.sql`true` : Prisma.sql`s.scored_revision < ${staleBelow}::int`;
    return Prisma.sql`s.fact_id = ANY(${[...factIds]}::uuid[]) AND ${stale}`;
  }
  const { scopeIds, after, through } = selection;
  const upTo = through
    ? Prisma.sql`(s.scope_id, s.fact_id) <= (${through.scopeId}::int, ${through.factId}::uuid)`
    : Prisma.sql`true`;
  return Prisma.sql`s.scope_id = ANY(${[...scopeIds]}::int[]) AND ${beyond(after)} AND ${upTo}`;
}

/** A scope of a stretch; it may be that it holds no facts. */
export interface RescoreScope extends ScopeOwner {
  readonly scopeId: number;
}

/** The next stretch of a job's walk: its scopes in order, and where it ends; null: with the last fact. */
export interface RescoreStretch {
  readonly scopes: readonly RescoreScope[];
  readonly through: FactPlace | null;
}

/**
 * The next stretch of facts in the order of scope and id, those of the targets alone: `limit` facts, fewer at the end
 * only. One statement, which also tells PostgreSQL how to run those that follow in the transaction: what scores a
 * stretch is long, and compiling it took 12 s where running it takes 0.1 s; and to keep the outcome of each step in
 * memory, for a fact with the same numbers, doubled the time of scoring.
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
      l.fact_id AS "lastFact", (SELECT set_config('jit', 'off', true)) AS jit,
      (SELECT set_config('enable_memoize', 'off', true)) AS memoize
    FROM scope o LEFT JOIN last l ON true
    WHERE o.tenant_id = ${unit.tenantId}::uuid AND o.id >= ${after?.scopeId ?? 0}::int
      AND (l.scope_id IS NULL OR o.id <= l.scope_id) AND ${isTarget(targets)}
    ORDER BY o.id`;
  const { lastScope, lastFact } = rows[0] ?? { lastScope: null, lastFact: null };
  return {
    scopes: rows,
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

function beyond(after: FactPlace | null): Prisma.Sql {
  if (!after) return Prisma.sql`true`;
  return Prisma.sql`(s.scope_id, s.fact_id) > (${after.scopeId}::int, ${after.factId}::uuid)`;
}

function ofTargets(unit: Unit, targets: readonly ScopeOwner[] | null): Prisma.Sql {
  if (targets === null) return Prisma.sql`true`;
  return Prisma.sql`s.scope_id IN (
    SELECT o.id FROM scope o WHERE o.tenant_id = ${unit.tenantId}::uuid AND ${isTarget(targets)})`;
}

/** A target names an agent, a user or both: scopes `o` that have all that it names. */
function isTarget(targets: readonly ScopeOwner[] | null): Prisma.Sql {
  if (targets === null) return Prisma.sql`true`;
  const conditions = targets.map(({ agentId, userId }) => {
    const agent = agentId === null ? Prisma.sql`true` : Prisma.sql`o.agent_id = ${agentId}::uuid`;
    const user = userId === null ? Prisma.sql`true` : Prisma.sql`o.user_id = ${userId}::uuid`;
    return Prisma.sql`(${agent} AND ${user})`;
  });
  return Prisma.sql`(${Prisma.join(conditions, ' OR ')})`;
}
