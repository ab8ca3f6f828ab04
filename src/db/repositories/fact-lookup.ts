import { hexOf } from '../content/index.js';
import { timeCondition } from './conditions.js';
import { type FactRecord, SALIENCE_COLUMNS, type SalienceRecord } from './fact-records.js';
import type { ScopeFigures } from './scopes.js';
import type { Unit } from './unit.js';

/** A new statement as it is compared with what its scope holds. */
export interface LookupDraft {
  readonly scopeId: number;
  readonly kind: string;
  readonly textHash: Uint8Array;
  /** Null where the encoder cannot read the text: then its terms find what is like it. */
  readonly embedding: Float32Array | null;
  readonly terms: readonly bigint[];
  /** A fact that this statement replaces: it does not count as live. */
  readonly replaces: string | null;
}

/** A live fact that may say the same; its numbers are at hand for rescoring. */
export type LookupCandidate = SalienceRecord &
  Pick<FactRecord, 'id' | 'text' | 'recordedAt' | 'validFrom'> & {
    /** Whether the texts are equal after normalisation; otherwise they are merely alike. */
    readonly exact: boolean;
    /** Names of the entities that it is stored with. */
    readonly entities: readonly string[];
    /** Cosine of its vector with each topic that was asked for; empty where it has none. */
    readonly cosines: Cosines;
  };

/** Cosines with topics, by the topic's id. */
export type Cosines = Readonly<Record<string, number>>;

/** What a scope holds of a statement already. */
export interface LookupResult {
  /** Live facts of its scope and kind that may say the same: an equal one first, then the most alike. */
  readonly candidates: readonly LookupCandidate[];
  /** The nearest live fact: L2 distance of unit vectors, 0–2, and when it was last seen. */
  readonly nearest: { readonly distance: number; readonly lastSeenAt: Date } | null;
  readonly forgotten: boolean;
  /** Cosine of the statement with each topic that was asked for its scope; empty where it has no vector. */
  readonly cosines: Cosines;
}

/** What a write needs to know before it decides anything. */
export interface Lookup {
  /** In the order of the drafts. */
  readonly results: readonly LookupResult[];
  readonly scopes: readonly ScopeFigures[];
  /** The tenant's baseline over all its scopes (SPEC §4.1). */
  readonly tenantBaseline: ScopeFigures['baseline'];
}

/** Most like facts that are looked at: live ones, past their asserted end not among them. */
const ALIKE = 16;

interface Baseline {
  readonly n: number | null;
  readonly mean: number | null;
  readonly m2: number | null;
}

type Row = { [K in keyof SalienceRecord]: SalienceRecord[K] | null } & {
  readonly place: number;
  readonly id: string | null;
  readonly exact: boolean;
  readonly text: Uint8Array | null;
  readonly recordedAt: Date | null;
  readonly validFrom: Date | null;
  readonly nearestDistance: number | null;
  readonly nearestSeenAt: Date | null;
  readonly forgotten: boolean;
  readonly cosines: Cosines | null;
  readonly candidateCosines: Cosines | null;
  readonly entities: Uint8Array[] | null;
  readonly scopes: (Baseline & { scopeId: number; characters: number })[];
  readonly tenantBaseline: Baseline;
};

/**
 * Looks up statements under their scopes' locks: what they repeat (SPEC §2.4), how near their neighbours are (§4.1),
 * and the figures of their scopes: baselines, and the characters of their live USER_PROFILE facts (§2.5).
 * One statement for any number of drafts.
 *
 * @param topics ids of the topics and identity terms of each scope: how close the statements are to them is measured
 *   here, on the vectors as they are stored, so that a rescoring finds the same
 */
export async function lookUpFacts(
  unit: Unit,
  drafts: readonly LookupDraft[],
  modelId: number,
  now: Date,
  topics: ReadonlyMap<number, readonly string[]> = new Map(),
): Promise<Lookup> {
  const wanted = [...topics].flatMap(([scopeId, ids]) => ids.map((id) => ({ scopeId, id })));
  const input = drafts.map((draft, place) => ({
    place,
    scopeId: draft.scopeId,
    kind: draft.kind,
    textHash: hexOf(draft.textHash),
    embedding: draft.embedding && Array.from(draft.embedding),
    terms: draft.embedding ? [] : draft.terms.map(String),
    replaces: draft.replaces,
  }));
  const rows = await unit.tx.$queryRaw<Row[]>`
    WITH draft AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(input)}::jsonb)
        AS r(place int, "scopeId" int, kind text, "textHash" bytea, embedding halfvec, terms int8[], replaces uuid)
    ), past AS MATERIALIZED (
      -- before the nearest are cut: those past their asserted end would stand in the way of live ones
      SELECT f.id FROM fact f
      WHERE f.tenant_id = ${unit.tenantId}::uuid AND f.scope_id IN (SELECT "scopeId" FROM draft)
        AND f.retired_at IS NULL AND f.valid_to <= ${now}::timestamptz
    ), near AS MATERIALIZED (
      SELECT d.place, e.fact_id, e.distance
      FROM draft d CROSS JOIN LATERAL (
        SELECT e.fact_id, e.embedding <-> d.embedding AS distance FROM fact_embedding e
        WHERE e.tenant_id = ${unit.tenantId}::uuid AND e.model_id = ${modelId}::int AND e.scope_id = d."scopeId" AND e.live
          AND e.fact_id IS DISTINCT FROM d.replaces AND e.fact_id NOT IN (SELECT id FROM past)
        ORDER BY 2, 1 LIMIT ${ALIKE}::int) e
      WHERE d.embedding IS NOT NULL
    ), sharing AS MATERIALIZED (
      SELECT d.place, p.document_id AS fact_id, -p.shared::float8 AS distance
      FROM draft d CROSS JOIN LATERAL (
        SELECT p.document_id, count(*) AS shared FROM posting p
        WHERE p.tenant_id = ${unit.tenantId}::uuid AND p.term = ANY(d.terms) AND p.scope_id = d."scopeId"
          AND p.document_kind = 'FACT' AND p.live AND p.document_id IS DISTINCT FROM d.replaces
          AND p.document_id NOT IN (SELECT id FROM past)
        GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${ALIKE}::int) p
      WHERE d.embedding IS NULL
    ), held AS (
      SELECT a.place, a.fact_id, a.distance, a.measured, f.kind, s.last_seen_at
      FROM (SELECT *, true AS measured FROM near UNION ALL SELECT *, false FROM sharing) a
      JOIN fact f ON f.tenant_id = ${unit.tenantId}::uuid AND f.id = a.fact_id
      JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
      WHERE ${timeCondition({ now })}
    ), nearest AS (
      SELECT DISTINCT ON (place) place, distance, last_seen_at FROM held WHERE measured ORDER BY place, distance, fact_id
    ), candidate AS (
      SELECT d.place, f.id, true AS exact, -1000::float8 AS rank
      FROM draft d JOIN fact f ON f.tenant_id = ${unit.tenantId}::uuid AND f.scope_id = d."scopeId" AND f.kind = d.kind
        AND f.text_hash = d."textHash" AND ${timeCondition({ now })} AND f.id IS DISTINCT FROM d.replaces
      UNION ALL
      SELECT d.place, h.fact_id, false, h.distance FROM draft d JOIN held h ON h.place = d.place AND h.kind = d.kind
    ), own AS MATERIALIZED (
      SELECT w.id AS scope_id, b.n, b.mean, b.m2
      FROM (SELECT DISTINCT "scopeId" AS id FROM draft) w
      LEFT JOIN novelty_baseline b ON b.tenant_id = ${unit.tenantId}::uuid AND b.scope_id = w.id AND b.model_id = ${modelId}::int
    ), whole AS (
      -- what rounding alone leaves of equal samples is no deviation
      SELECT t.n, t.sum / nullif(t.n, 0) AS mean,
        CASE WHEN v.m2 > 1e-12 * t.squares THEN v.m2 ELSE 0 END AS m2
      FROM tenant_baseline t CROSS JOIN LATERAL (SELECT t.squares - t.sum * t.sum / nullif(t.n, 0) AS m2) v
      WHERE t.tenant_id = ${unit.tenantId}::uuid AND t.model_id = ${modelId}::int
    ), figures AS (
      SELECT jsonb_agg(jsonb_build_object('scopeId', o.scope_id, 'characters', coalesce(p.characters, 0), 'n', o.n,
                                          'mean', o.mean, 'm2', o.m2)) AS scopes
      FROM own o
      LEFT JOIN LATERAL (
        SELECT sum(f.characters) AS characters FROM fact f
        WHERE f.tenant_id = ${unit.tenantId}::uuid AND f.scope_id = o.scope_id AND f.kind = 'USER_PROFILE'
          AND ${timeCondition({ now })}) p ON true
    )
    , topic AS MATERIALIZED (
      SELECT w."scopeId", w.id, e.embedding
      FROM jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) AS w("scopeId" int, id uuid)
      JOIN profile_topic_embedding e
        ON e.tenant_id = ${unit.tenantId}::uuid AND e.model_id = ${modelId}::int AND e.topic_id = w.id
    )
    SELECT d.place, c.id, c.exact, f.text, f.recorded_at AS "recordedAt", f.valid_from AS "validFrom", n.distance AS "nearestDistance",
           n.last_seen_at AS "nearestSeenAt", (t.tenant_id IS NOT NULL) AS forgotten,
           ${SALIENCE_COLUMNS},
           (SELECT jsonb_object_agg(t.id, -(t.embedding <#> d.embedding)) FROM topic t
            WHERE t."scopeId" = d."scopeId" AND d.embedding IS NOT NULL) AS cosines,
           (SELECT jsonb_object_agg(t.id, -(t.embedding <#> e.embedding)) FROM topic t
            JOIN fact_embedding e ON e.tenant_id = ${unit.tenantId}::uuid AND e.model_id = ${modelId}::int AND e.fact_id = c.id
            WHERE t."scopeId" = d."scopeId") AS "candidateCosines",
           (SELECT array_agg(en.name) FROM fact_entity fe
            JOIN entity en ON en.tenant_id = ${unit.tenantId}::uuid AND en.id = fe.entity_id
            WHERE fe.tenant_id = ${unit.tenantId}::uuid AND fe.fact_id = c.id) AS entities,
           figures.scopes, jsonb_build_object('n', w.n, 'mean', w.mean, 'm2', w.m2) AS "tenantBaseline"
    FROM draft d
    CROSS JOIN figures
    LEFT JOIN whole w ON true
    LEFT JOIN nearest n ON n.place = d.place
    LEFT JOIN candidate c ON c.place = d.place
    LEFT JOIN fact f ON f.tenant_id = ${unit.tenantId}::uuid AND f.id = c.id
    LEFT JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
    LEFT JOIN tombstone t ON t.tenant_id = ${unit.tenantId}::uuid AND t.scope_id = d."scopeId" AND t.text_hash = d."textHash"
    ORDER BY d.place, c.rank, f.recorded_at, c.id`;
  return {
    results: drafts.map((_draft, place) => resultOf(unit, rows, place)),
    scopes: (rows[0]?.scopes ?? []).map(({ scopeId, characters, ...baseline }) => ({
      scopeId,
      userProfileCharacters: characters,
      baseline: baselineOf(baseline),
    })),
    tenantBaseline: baselineOf(rows[0]?.tenantBaseline),
  };
}

function resultOf(unit: Unit, rows: readonly Row[], place: number): LookupResult {
  const own = rows.filter((row) => row.place === place);
  const [first] = own;
  if (!first) throw new Error('a draft without its row');
  return {
    candidates: own.flatMap((row) =>
      row.id === null || row.text === null
        ? []
        : [
            {
              ...row,
              id: row.id,
              text: unit.content.open(row.text),
              entities: (row.entities ?? []).map((name) => unit.content.open(name)),
              cosines: row.candidateCosines ?? {},
            } as LookupCandidate,
          ],
    ),
    nearest:
      first.nearestDistance === null || first.nearestSeenAt === null
        ? null
        : { distance: first.nearestDistance, lastSeenAt: first.nearestSeenAt },
    forgotten: first.forgotten,
    cosines: first.cosines ?? {},
  };
}

function baselineOf(row: Baseline | undefined): ScopeFigures['baseline'] {
  return { n: row?.n ?? 0, mean: row?.mean ?? 0, m2: row?.m2 ?? 0 };
}
