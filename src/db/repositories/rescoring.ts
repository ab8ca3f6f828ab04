import { Prisma } from '../generated/client.js';
import { noteAppended } from './events.js';
import { beyond, type FactPlace } from './rescore-stretch.js';
import type { ScopeOwner } from './scopes.js';
import { scoringBatches, unsavedVectors } from './scoring-batches.js';
import {
  matches,
  renewedSnapshot,
  SAME,
  type ScoringMeans,
  type ScoringProfile,
  scoredCurrent,
  scoredFacts,
  scoringSteps,
} from './scoring-sql.js';
import { float, integer } from './sql-literals.js';
import type { Changer } from './tenants.js';
import type { Unit } from './unit.js';

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

/** What a rescoring did to its facts. */
export interface Rescored {
  readonly processed: number;
  /** Live facts whose importance is another now than what was last told; each has its event. */
  readonly changed: number;
}

/** Facts to score by one profile. */
export interface RescoreGroup {
  readonly profile: ScoringProfile;
  readonly selection: RescoreSelection;
  /** Those of the facts that name who the profile's owner is. */
  readonly named: readonly string[];
}

/** The changes of importance in one scope. */
interface ScopeChanges {
  readonly scopeId: number;
  readonly factIds: readonly string[];
  readonly oldValues: readonly number[];
  readonly newValues: readonly number[];
}

/**
 * Scores facts anew by the profiles of their groups, which share no scope, and tells every change of importance as an
 * event (SPEC §7), under the locks of their scopes. An event begins at what was last told, not at a snapshot that drifted
 * from it, so that who adds up events has the present importance. Retired facts are scored like the others and told to
 * nobody. What is scored by its profile already has that outcome and is not
 * touched, so twice is as good as once.
 *
 * Appends events, so nothing but short statements may follow it: they hold up the tenant's writers. One statement; where there are too many
 * profiles and topics for one, the row of the tenant's stream is locked by the last of them alone.
 */
export async function rescoreFacts(
  unit: Unit,
  means: ScoringMeans,
  groups: readonly RescoreGroup[],
  actor: Changer,
): Promise<Rescored> {
  const batches = scoringBatches(groups);
  if (batches.length === 1) {
    const rows = await unit.tx.$queryRaw<Rescored[]>`
      WITH ${writtenScores(unit, means, groups)}, ${appended(unit, means, actor)}
      SELECT ${selectedCount(unit, groups)} AS processed, (SELECT coalesce(max(upto), 0)::int FROM told) AS changed`;
    if (rows[0]!.changed > 0) noteAppended(unit);
    return rows[0]!;
  }
  let processed = 0;
  const changes: ScopeChanges[] = [];
  for (const batch of batches) {
    const rows = await unit.tx.$queryRaw<{ processed: number; changes: ScopeChanges[] }[]>`
      WITH ${writtenScores(unit, means, batch)}
      SELECT ${selectedCount(unit, batch)} AS processed,
        (SELECT coalesce(jsonb_agg(jsonb_build_object('scopeId', scope_id, 'factIds', facts, 'oldValues', old_values,
                                                      'newValues', new_values)), '[]') FROM told) AS changes`;
    processed += rows[0]!.processed;
    changes.push(...rows[0]!.changes);
  }
  if (changes.length === 0) return { processed, changed: 0 };
  const rows = await unit.tx.$queryRaw<{ changed: number }[]>`
    WITH told AS MATERIALIZED (
      SELECT "scopeId" AS scope_id, "factIds" AS facts, "oldValues" AS old_values, "newValues" AS new_values,
        cardinality("factIds") AS changes, sum(cardinality("factIds")) OVER (ORDER BY "scopeId")::int8 AS upto
      FROM jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) AS r(
        "scopeId" int, "factIds" uuid[], "oldValues" float8[], "newValues" float8[])
    ), ${appended(unit, means, actor)}
    SELECT max(upto)::int AS changed FROM told`;
  noteAppended(unit);
  return { processed, changed: rows[0]!.changed };
}

/** The tables of a statement that stores scores: `written_0` … a group each, and `told` with the changes of each scope. */
function writtenScores(unit: Unit, means: ScoringMeans, groups: readonly RescoreGroup[]): Prisma.Sql {
  const tables = groups.map((group, index) => {
    return Prisma.sql`${Prisma.raw(`written_${index}`)} AS (${updateOf(unit, means, group)})`;
  });
  const written = groups.map((_group, index) => {
    return Prisma.sql`SELECT * FROM ${Prisma.raw(`written_${index}`)} WHERE abs(current - previous) > ${float(SAME)} AND NOT retired`;
  });
  return Prisma.sql`${unsavedVectors(groups)} ${Prisma.join(tables, ', ')}, told AS MATERIALIZED (
      -- the changes of each scope, and how many there are up to and with them
      SELECT w.scope_id, array_agg(w.fact_id) AS facts, array_agg(w.previous) AS old_values,
        array_agg(w.current) AS new_values, count(*) AS changes, sum(count(*)) OVER (ORDER BY w.scope_id)::int8 AS upto
      FROM (${Prisma.join(written, ' UNION ALL ')}) w GROUP BY w.scope_id
    )`;
}

/**
 * Scores the facts of a group where they stand, which saves finding each row twice; what was told of each before is kept
 * in the row, since RETURNING knows nothing else. One row a fact, with what is told of it from now on.
 */
function updateOf(unit: Unit, means: ScoringMeans, { profile, selection, named }: RescoreGroup): Prisma.Sql {
  const fingerprint = Prisma.sql`decode(${profile.fingerprint}::text, 'hex')`;
  const renewed = renewedSnapshot({
    encoded: { before: Prisma.sql`s.encoded`, after: Prisma.sql`q.encoded` },
    resistance: { before: Prisma.sql`s.decay_resistance`, after: Prisma.sql`p.decay_resistance` },
    current: { before: Prisma.sql`s.current`, after: scoredCurrent(means) },
  });
  return Prisma.sql`
    UPDATE fact_salience s SET
      (encoded, z, base, topic_boost, valence_factor, self_relevance_factor, decay_resistance,
       matched_topics, matched_similarities, current, told, previous) = (
        SELECT q.encoded, a.z, p.base, p.topic_boost, p.valence_factor, p.self_relevance_factor, p.decay_resistance,
          ${matches(profile)}, n.current, CASE WHEN n.current = s.current THEN s.told ELSE n.current END, s.told
        FROM (VALUES (0)) AS one ${scoringSteps(means, profile, named)}
        CROSS JOIN LATERAL (
          SELECT ${renewed} AS current OFFSET 0) n),
      fingerprint = ${fingerprint}, scored_revision = ${integer(profile.revision)}
    WHERE s.tenant_id = ${unit.tenantId}::uuid AND ${selected(selection)}
      AND (s.fingerprint IS DISTINCT FROM ${fingerprint} OR s.scored_revision < ${integer(profile.revision)})
    RETURNING s.fact_id, s.scope_id, s.previous, s.told AS current, s.retired`;
}

/** How many facts the groups have. */
function selectedCount(unit: Unit, groups: readonly RescoreGroup[]): Prisma.Sql {
  const counts = groups.map(({ selection }) => {
    return Prisma.sql`(SELECT count(*) FROM fact_salience s WHERE s.tenant_id = ${unit.tenantId}::uuid AND ${selected(selection)})`;
  });
  return Prisma.sql`(${Prisma.join(counts, ' + ')})::int`;
}

/** The tables of a statement that appends the events of `told`, a row for each of its scopes. */
function appended(unit: Unit, means: ScoringMeans, actor: Changer): Prisma.Sql {
  return Prisma.sql`stream AS (
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
    )`;
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

/**
 * Scores facts, each by the profile of its request, and stores nothing. One statement, more of them only where there are
 * too many profiles and topics for one.
 */
export async function readScores(
  unit: Unit,
  means: ScoringMeans,
  requests: readonly ScoreRequest[],
): Promise<FreshScore[]> {
  const scores: FreshScore[] = [];
  for (const batch of scoringBatches(requests)) {
    const parts = batch.map(({ profile, factIds, named }) => {
      return Prisma.sql`
        SELECT fact_id, encoded, current, z, base, topic_boost, valence_factor, self_relevance_factor, decay_resistance,
          matched_topics, matched_similarities
        FROM (${scoredFacts(means, profile, selected({ factIds }), named)}) AS r`;
    });
    const rows = await unit.tx.$queryRaw<FreshScore[]>`
      WITH ${unsavedVectors(batch)} a AS (${Prisma.join(parts, ' UNION ALL ')})
      SELECT fact_id AS "factId", encoded, current, z, base, topic_boost AS "topicBoost",
        valence_factor AS "valenceFactor", self_relevance_factor AS "selfRelevanceFactor",
        decay_resistance AS "decayResistance", matched_topics AS "matchedTopics",
        matched_similarities AS "matchedSimilarities"
      FROM a`;
    for (const row of rows) scores.push(row);
  }
  return scores;
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

/** The condition of a selection on `fact_salience s`. */
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
