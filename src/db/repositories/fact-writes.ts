import { hexOf } from '../content/index.js';
import type { SalienceValues } from './fact-records.js';
import { type ScopeChange, scopeChangeExpressions } from './scopes.js';
import type { Unit } from './unit.js';

/** A fact to insert, content in the clear. */
export interface NewFact {
  readonly id: string;
  readonly shortId: string;
  readonly scopeId: number;
  readonly agentId: string | null;
  readonly userId: string | null;
  readonly kind: string;
  readonly tier: string;
  readonly text: string;
  readonly textHash: Uint8Array;
  readonly characters: number;
  readonly terms: readonly { readonly term: bigint; readonly count: number }[];
  /** Length of the document in terms, with repetitions. */
  readonly length: number;
  readonly subject: string | null;
  readonly predicate: string | null;
  readonly object: string | null;
  readonly metadata: unknown;
  readonly confidence: number;
  readonly extractor: string | null;
  readonly sessionId: string | null;
  readonly runId: string | null;
  readonly validFrom: Date;
  readonly validTo: Date | null;
  readonly recordedAt: Date;
  readonly embedding: Float32Array | null;
  /** Whether it is a decision or convention that says why: NONE, REASONED or BARE (SPEC §10). */
  readonly conclusion: string;
  readonly salience: SalienceValues;
  /** How often the same write states it again. */
  readonly reaffirmations: number;
}

export interface FactSource {
  readonly factId: string;
  readonly messageId: string;
}

/** What one write stores of facts. */
export interface FactWrite {
  readonly added: readonly NewFact[];
  /** `reaffirmations`: how often the write states it, which is counted. */
  readonly reaffirmed: readonly {
    readonly factId: string;
    readonly salience: SalienceValues;
    readonly reaffirmations: number;
  }[];
  readonly sources: readonly FactSource[];
  /** What the scopes gain; none where the caller stores that itself. */
  readonly changes?: readonly ScopeChange[];
  readonly modelId: number;
  readonly at: Date;
}

const sqlHex = (bytes: Uint8Array | null) => (bytes === null ? null : hexOf(bytes));

/**
 * Inserts facts with their numbers, vectors, postings and sources, renews the reaffirmed ones, and stores what their
 * scopes gain. One statement.
 */
export async function writeFactRows(unit: Unit, write: FactWrite): Promise<void> {
  const { content } = unit;
  const facts = write.added.map((fact) => ({
    ...fact,
    ...fact.salience,
    salience: undefined,
    terms: fact.length,
    text: hexOf(content.seal(fact.text)),
    textHash: hexOf(fact.textHash),
    subject: sqlHex(content.sealOptional(fact.subject)),
    predicate: sqlHex(content.sealOptional(fact.predicate)),
    object: sqlHex(content.sealOptional(fact.object)),
    metadata: sqlHex(content.sealOptional(fact.metadata == null ? null : JSON.stringify(fact.metadata))),
    embedding: fact.embedding && Array.from(fact.embedding),
  }));
  const postings = write.added.flatMap((fact) =>
    fact.terms.map(({ term, count }) => ({
      term: String(term),
      id: fact.id,
      scopeId: fact.scopeId,
      frequency: Math.min(count, 32_767),
      length: fact.length,
    })),
  );
  const renewed = write.reaffirmed.map(({ factId, reaffirmations, salience }) => ({
    factId,
    reaffirmations,
    ...salience,
  }));
  await unit.tx.$queryRaw`
    WITH ${scopeChangeExpressions(unit, write.changes ?? [], write.modelId)}, input AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(facts)}::jsonb) AS r(
        id uuid, "shortId" text, "scopeId" int, "agentId" uuid, "userId" uuid, kind text, tier text, text bytea,
        "textHash" bytea, characters int, terms int, subject bytea, predicate bytea, object bytea, metadata bytea,
        confidence float8, extractor text, "sessionId" uuid, "runId" uuid, "validFrom" timestamptz, "validTo" timestamptz,
        "recordedAt" timestamptz, embedding halfvec, encoded float8, current float8, pinned boolean, flashbulb boolean,
        "lastSeenAt" timestamptz, distance float8, "nearestSimilarity" float8, "gapHours" float8, "baselineN" int,
        "baselineMean" float8, "baselineSigma" float8, "baselineOrigin" text, interest float8, challenge float8,
        urgency float8, "urgencySource" text, valence float8, "valenceSource" text, arousal float8, "arousalSource" text,
        z float8, "spatialZ" float8, "temporalZ" float8, base float8, "topicBoost" float8, "valenceFactor" float8,
        "selfRelevanceFactor" float8, "decayResistance" float8, fingerprint text, "scoredRevision" int,
        "matchedTopics" int[], "matchedSimilarities" real[], conclusion text, reaffirmations int)
    ), added AS (
      INSERT INTO fact (tenant_id, id, short_id, scope_id, agent_id, user_id, kind, tier, text, text_hash, characters, terms,
                        subject, predicate, object, metadata, confidence, extractor, session_id, run_id, valid_from,
                        valid_to, recorded_at, conclusion)
      SELECT ${unit.tenantId}::uuid, id, "shortId", "scopeId", "agentId", "userId", kind, tier, text, "textHash", characters,
             terms, subject, predicate, object, metadata, confidence, extractor, "sessionId", "runId", "validFrom",
             "validTo", "recordedAt", conclusion
      FROM input
    ), scored AS (
      INSERT INTO fact_salience (tenant_id, fact_id, scope_id, encoded, current, told, pinned, flashbulb, last_seen_at,
                                 recorded_at, model_id, distance, nearest_similarity, gap_hours, baseline_n, baseline_mean,
                                 baseline_sigma, baseline_origin, interest, challenge, urgency, urgency_source, valence,
                                 valence_source, arousal, arousal_source, z, spatial_z, temporal_z, base, topic_boost,
                                 valence_factor, self_relevance_factor, decay_resistance, fingerprint, scored_revision,
                                 matched_topics, matched_similarities, reaffirmations)
      SELECT ${unit.tenantId}::uuid, id, "scopeId", encoded, current, current, pinned, flashbulb, "lastSeenAt",
             "recordedAt", ${write.modelId}::int, distance, "nearestSimilarity", "gapHours", "baselineN", "baselineMean",
             "baselineSigma", "baselineOrigin", interest, challenge, urgency, "urgencySource", valence,
             "valenceSource", arousal, "arousalSource", z, "spatialZ", "temporalZ", base, "topicBoost",
             "valenceFactor", "selfRelevanceFactor", "decayResistance", decode(fingerprint, 'hex'), "scoredRevision",
             "matchedTopics", "matchedSimilarities", reaffirmations
      FROM input
    ), embedded AS (
      INSERT INTO fact_embedding (tenant_id, model_id, fact_id, scope_id, embedding, signature)
      SELECT ${unit.tenantId}::uuid, ${write.modelId}::int, id, "scopeId", embedding, binary_quantize(embedding)
      FROM input WHERE embedding IS NOT NULL
    ), posted AS (
      INSERT INTO posting (tenant_id, term, document_id, document_kind, scope_id, frequency, length)
      SELECT ${unit.tenantId}::uuid, p.term, p.id, 'FACT', p."scopeId", p.frequency, p.length
      FROM jsonb_to_recordset(${JSON.stringify(postings)}::jsonb)
        AS p(term int8, id uuid, "scopeId" int, frequency smallint, length int)
    ), renewed AS (
      UPDATE fact_salience s
      SET encoded = r.encoded, current = r.current, told = r.current, pinned = r.pinned, last_seen_at = greatest(s.last_seen_at, r."lastSeenAt"),
          model_id = ${write.modelId}::int, distance = r.distance, nearest_similarity = r."nearestSimilarity",
          gap_hours = r."gapHours", baseline_n = r."baselineN", baseline_mean = r."baselineMean",
          baseline_sigma = r."baselineSigma", baseline_origin = r."baselineOrigin", reaffirmed = true,
          reaffirmations = s.reaffirmations + r.reaffirmations,
          interest = r.interest, challenge = r.challenge, urgency = r.urgency, urgency_source = r."urgencySource",
          valence = r.valence, valence_source = r."valenceSource", arousal = r.arousal, arousal_source = r."arousalSource",
          z = r.z, spatial_z = r."spatialZ", temporal_z = r."temporalZ", base = r.base, topic_boost = r."topicBoost",
          valence_factor = r."valenceFactor", self_relevance_factor = r."selfRelevanceFactor",
          decay_resistance = r."decayResistance", fingerprint = decode(r.fingerprint, 'hex'),
          scored_revision = r."scoredRevision", matched_topics = r."matchedTopics",
          matched_similarities = r."matchedSimilarities"
      FROM jsonb_to_recordset(${JSON.stringify(renewed)}::jsonb) AS r(
        "factId" uuid, encoded float8, current float8, pinned boolean, "lastSeenAt" timestamptz, distance float8,
        "nearestSimilarity" float8, "gapHours" float8, "baselineN" int, "baselineMean" float8, "baselineSigma" float8,
        "baselineOrigin" text, interest float8, challenge float8, urgency float8, "urgencySource" text, valence float8,
        "valenceSource" text, arousal float8, "arousalSource" text, z float8, "spatialZ" float8, "temporalZ" float8,
        base float8, "topicBoost" float8, "valenceFactor" float8, "selfRelevanceFactor" float8, "decayResistance" float8,
        fingerprint text, "scoredRevision" int, "matchedTopics" int[], "matchedSimilarities" real[], reaffirmations int)
      WHERE s.tenant_id = ${unit.tenantId}::uuid AND s.fact_id = r."factId"
    ), sourced AS (
      INSERT INTO fact_source (tenant_id, fact_id, message_id, added_at)
      SELECT ${unit.tenantId}::uuid, r."factId", r."messageId", ${write.at}::timestamptz
      FROM jsonb_to_recordset(${JSON.stringify(write.sources)}::jsonb) AS r("factId" uuid, "messageId" uuid)
      ON CONFLICT DO NOTHING
    )
    SELECT 1`;
}
