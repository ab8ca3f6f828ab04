import { Prisma } from '../generated/client.js';
import type { Unit } from './unit.js';

/** A fact with its numbers, content opened. Times are UTC. */
export interface FactRecord {
  readonly id: string;
  readonly shortId: string;
  readonly scopeId: number;
  readonly agentId: string | null;
  readonly userId: string | null;
  readonly kind: string;
  readonly tier: string;
  readonly text: string;
  readonly subject: string | null;
  readonly predicate: string | null;
  readonly object: string | null;
  readonly metadata: unknown;
  readonly confidence: number;
  readonly extractor: string | null;
  readonly sessionId: string | null;
  readonly validFrom: Date;
  readonly validTo: Date | null;
  readonly endedAt: Date | null;
  readonly recordedAt: Date;
  readonly retiredAt: Date | null;
  readonly retireReason: string | null;
  readonly supersededBy: string | null;
  readonly salience: SalienceRecord;
}

/** Stored inputs and stages of an importance; column for column `fact_salience`. */
export interface SalienceValues {
  readonly encoded: number;
  readonly current: number;
  readonly pinned: boolean;
  readonly flashbulb: boolean;
  readonly lastSeenAt: Date;
  readonly distance: number | null;
  readonly nearestSimilarity: number | null;
  readonly gapHours: number | null;
  readonly baselineN: number | null;
  readonly baselineMean: number | null;
  readonly baselineSigma: number | null;
  readonly baselineOrigin: string | null;
  readonly reaffirmed: boolean;
  readonly interest: number | null;
  readonly challenge: number | null;
  readonly urgency: number | null;
  readonly urgencySource: string | null;
  readonly valence: number | null;
  readonly valenceSource: string | null;
  readonly arousal: number | null;
  readonly arousalSource: string | null;
  readonly z: number | null;
  readonly spatialZ: number | null;
  readonly temporalZ: number | null;
  readonly base: number;
  readonly topicBoost: number;
  readonly valenceFactor: number;
  readonly selfRelevanceFactor: number;
  readonly decayResistance: number;
  /** Of the profile it was scored with, 32 hexadecimal digits, and the tenant's revision then (SPEC §5.1, §7). */
  readonly fingerprint: string | null;
  readonly scoredRevision: number;
  /** The topics that matched, by their number, and how similar they were, in the same order; null: none did. */
  readonly matchedTopics: readonly number[] | null;
  readonly matchedSimilarities: readonly number[] | null;
}

/** The hot numbers of a fact: see SPEC §4 and §6. */
export interface SalienceRecord extends SalienceValues {
  /** The importance that subscribers were last told (SPEC §6.4): the old value of the next event. */
  readonly told: number;
  readonly reinforcement: number;
  readonly recallCount: number;
  readonly reinforcedAt: Date | null;
}

/** The columns that {@link SalienceRecord} names, for `SELECT ${SALIENCE_COLUMNS} FROM fact_salience s`. */
export const SALIENCE_COLUMNS = Prisma.sql`
  s.encoded, s.current, s.told, s.pinned, s.flashbulb, s.reinforcement, s.recall_count AS "recallCount",
  s.reinforced_at AS "reinforcedAt", s.last_seen_at AS "lastSeenAt", s.distance,
  s.nearest_similarity AS "nearestSimilarity", s.gap_hours AS "gapHours", s.baseline_n AS "baselineN",
  s.baseline_mean AS "baselineMean", s.baseline_sigma AS "baselineSigma", s.baseline_origin AS "baselineOrigin",
  s.reaffirmed, s.urgency_source AS "urgencySource",
  s.interest, s.challenge, s.urgency, s.valence, s.valence_source AS "valenceSource", s.arousal,
  s.arousal_source AS "arousalSource", s.z, s.spatial_z AS "spatialZ", s.temporal_z AS "temporalZ", s.base,
  s.topic_boost AS "topicBoost", s.valence_factor AS "valenceFactor",
  s.self_relevance_factor AS "selfRelevanceFactor", s.decay_resistance AS "decayResistance",
  encode(s.fingerprint, 'hex') AS fingerprint, s.scored_revision AS "scoredRevision",
  s.matched_topics AS "matchedTopics", s.matched_similarities AS "matchedSimilarities"`;

/** The columns that {@link FactRow} names; for `SELECT ${FACT_COLUMNS} FROM fact f JOIN fact_salience s …`. */
export const FACT_COLUMNS = Prisma.sql`
  f.id, f.short_id AS "shortId", f.scope_id AS "scopeId", f.agent_id AS "agentId", f.user_id AS "userId", f.kind, f.tier,
  f.text, f.subject, f.predicate, f.object, f.metadata, f.confidence, f.extractor, f.session_id AS "sessionId",
  f.valid_from AS "validFrom", f.valid_to AS "validTo", f.ended_at AS "endedAt", f.recorded_at AS "recordedAt",
  f.retired_at AS "retiredAt", f.retire_reason AS "retireReason", f.superseded_by AS "supersededBy",
  ${SALIENCE_COLUMNS}`;

type Content = 'text' | 'subject' | 'predicate' | 'object' | 'metadata';

/** A row as selected by {@link FACT_COLUMNS}: content still in its envelope. */
export type FactRow = Omit<FactRecord, Content | 'salience'> &
  SalienceRecord & { text: Uint8Array } & Record<Exclude<Content, 'text'>, Uint8Array | null>;

/** Opens a row's content and groups its numbers. */
export function toFactRecord(unit: Unit, row: FactRow): FactRecord {
  const metadata = unit.content.openOptional(row.metadata);
  return {
    ...row,
    text: unit.content.open(row.text),
    subject: unit.content.openOptional(row.subject),
    predicate: unit.content.openOptional(row.predicate),
    object: unit.content.openOptional(row.object),
    metadata: metadata === null ? null : JSON.parse(metadata),
    salience: row,
  };
}

/** Facts by id, in no order; ids that do not exist in this tenant are left out. One statement. */
export async function factsByIds(unit: Unit, ids: readonly string[]): Promise<FactRecord[]> {
  if (ids.length === 0) return [];
  const rows = await unit.tx.$queryRaw<FactRow[]>`
    SELECT ${FACT_COLUMNS}
    FROM fact f JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
    WHERE f.tenant_id = ${unit.tenantId}::uuid AND f.id = ANY(${[...ids]}::uuid[])`;
  return rows.map((row) => toFactRecord(unit, row));
}
