import { hexOf } from '../content/index.js';
import type { SalienceRecord } from './fact-records.js';
import type { Unit } from './unit.js';

/** A new statement as it is compared with what its scope holds. */
export interface LookupDraft {
  readonly scopeId: number;
  readonly kind: string;
  readonly textHash: Uint8Array;
  readonly embedding: Float32Array | null;
  /** A fact that this statement replaces: it does not count as live. */
  readonly replaces: string | null;
}

/** What a scope holds of it already; the numbers of the fact it repeats are at hand for rescoring. */
export interface LookupResult {
  readonly duplicate: (SalienceRecord & { readonly id: string; readonly recordedAt: Date }) | null;
  /** The nearest live fact: L2 distance of unit vectors, 0–2, and when it was last seen. */
  readonly nearest: { readonly distance: number; readonly lastSeenAt: Date } | null;
  readonly forgotten: boolean;
}

/** Nearest facts that are looked at for one that is not past its asserted end; retired ones are never among them. */
const NEAREST_CANDIDATES = 16;

type Row = { [K in keyof SalienceRecord]: SalienceRecord[K] | null } & {
  duplicateId: string | null;
  recordedAt: Date | null;
  nearestDistance: number | null;
  nearestSeenAt: Date | null;
  forgotten: boolean;
};

/** Looks up statements in the order given, under their scopes' locks (SPEC §2.4 dedup, §4.1 novelty). One statement. */
export async function lookUpFacts(
  unit: Unit,
  drafts: readonly LookupDraft[],
  modelId: number,
  now: Date,
): Promise<LookupResult[]> {
  if (drafts.length === 0) return [];
  const input = drafts.map((draft, place) => ({
    place,
    scopeId: draft.scopeId,
    kind: draft.kind,
    textHash: hexOf(draft.textHash),
    embedding: draft.embedding && Array.from(draft.embedding),
    replaces: draft.replaces,
  }));
  const rows = await unit.tx.$queryRaw<Row[]>`
    WITH draft AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(input)}::jsonb)
        AS r(place int, "scopeId" int, kind text, "textHash" bytea, embedding halfvec, replaces uuid)
    )
    SELECT dup.id AS "duplicateId", dup.recorded_at AS "recordedAt", near.distance AS "nearestDistance",
           near.last_seen_at AS "nearestSeenAt", (t.tenant_id IS NOT NULL) AS forgotten,
           s.encoded, s.current, s.pinned, s.flashbulb, s.reinforcement, s.recall_count AS "recallCount",
           s.reinforced_at AS "reinforcedAt", s.last_seen_at AS "lastSeenAt", s.distance,
           s.nearest_similarity AS "nearestSimilarity", s.gap_hours AS "gapHours", s.baseline_n AS "baselineN",
           s.baseline_mean AS "baselineMean", s.baseline_sigma AS "baselineSigma", s.baseline_origin AS "baselineOrigin",
           s.reaffirmed, s.interest, s.challenge, s.urgency, s.urgency_source AS "urgencySource", s.valence,
           s.valence_source AS "valenceSource", s.arousal, s.arousal_source AS "arousalSource"
    FROM draft d
    LEFT JOIN LATERAL (
      SELECT f.id, f.recorded_at FROM fact f
      WHERE f.tenant_id = ${unit.tenantId}::uuid AND f.scope_id = d."scopeId" AND f.kind = d.kind
        AND f.text_hash = d."textHash" AND f.retired_at IS NULL AND (f.valid_to IS NULL OR f.valid_to > ${now}::timestamptz)
        AND f.id IS DISTINCT FROM d.replaces
      ORDER BY f.recorded_at, f.id LIMIT 1) dup ON true
    LEFT JOIN fact_salience s ON s.tenant_id = ${unit.tenantId}::uuid AND s.fact_id = dup.id
    LEFT JOIN LATERAL (
      SELECT top.distance, ns.last_seen_at
      FROM (
        SELECT e.fact_id, e.embedding <-> d.embedding AS distance FROM fact_embedding e
        WHERE e.tenant_id = ${unit.tenantId}::uuid AND e.model_id = ${modelId}::int AND e.scope_id = d."scopeId" AND e.live
          AND e.fact_id IS DISTINCT FROM d.replaces
        ORDER BY 2, 1 LIMIT ${NEAREST_CANDIDATES}::int) top
      JOIN fact nf ON nf.tenant_id = ${unit.tenantId}::uuid AND nf.id = top.fact_id
      JOIN fact_salience ns ON ns.tenant_id = nf.tenant_id AND ns.fact_id = nf.id
      WHERE nf.valid_to IS NULL OR nf.valid_to > ${now}::timestamptz
      ORDER BY top.distance, top.fact_id LIMIT 1) near ON d.embedding IS NOT NULL
    LEFT JOIN tombstone t ON t.tenant_id = ${unit.tenantId}::uuid AND t.scope_id = d."scopeId" AND t.text_hash = d."textHash"
    ORDER BY d.place`;
  return rows.map((row) => ({
    duplicate:
      row.duplicateId === null ? null : ({ ...row, id: row.duplicateId } as LookupResult['duplicate']),
    nearest:
      row.nearestDistance === null || row.nearestSeenAt === null
        ? null
        : { distance: row.nearestDistance, lastSeenAt: row.nearestSeenAt },
    forgotten: row.forgotten,
  }));
}
