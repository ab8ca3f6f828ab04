import { hexOf } from '../content/index.js';
import { Prisma } from '../generated/client.js';
import type { TieRules } from './co-activation.js';
import { timeCondition } from './conditions.js';
import { type CandidateRow, FACT_NUMBERS, type FlatRow, searchCandidates, toCandidate } from './search.js';
import type { SearchFilter } from './search-arms.js';
import type { Unit } from './unit.js';

/** What fills a result that direct hits leave room in (SPEC §8.3), in the order in which it fills. */
export const SUPPLEMENT_ARMS = ['GRAPH', 'CO_ACTIVATION', 'RECENCY'] as const;
export type SupplementArm = (typeof SUPPLEMENT_ARMS)[number];

/** A document that no word and no vector led to, and what did. */
export interface SupplementRow {
  readonly arm: SupplementArm;
  readonly candidate: CandidateRow;
}

/** What supplements are looked for by. */
export interface SupplementQuery {
  /** Documents that were found already: none of them comes again. */
  readonly found: readonly string[];
  /** Facts among what is returned, whose ties are followed. */
  readonly hits: readonly string[];
  /** Keyed hashes of the names in the query. */
  readonly names: readonly Uint8Array[];
  /** Kinds of facts that are looked at: the newest of each are found by an index. */
  readonly kinds: readonly string[];
  /** How ties fade, and how weak one may be. */
  readonly ties: Pick<TieRules, 'dailyRemainder' | 'minWeight'>;
  /** Most documents altogether. */
  readonly limit: number;
}

/**
 * What the filter lets pass beyond what was found, in the order in which it fills a result: facts that mention a name
 * of the query, or one that an edge ties to it, by the weight of the edge; facts that were recalled together with the
 * hits, by the strength of the tie; the newest facts. Each comes by the first that brings it. Where facts are not asked
 * for, the newest messages. One statement.
 */
export async function searchSupplements(
  unit: Unit,
  filter: SearchFilter,
  query: SupplementQuery,
): Promise<SupplementRow[]> {
  if (filter.scopeIds.length === 0) return [];
  if (!filter.facts) return newestMessages(unit, filter, query);
  const tenant = Prisma.sql`${unit.tenantId}::uuid`;
  const scopes = Prisma.sql`ANY(${[...filter.scopeIds]}::int[])`;
  const { time } = filter;
  const atAnotherTime = Boolean(time.validAt || time.knownAt);
  const kinds = Prisma.sql`${[...query.kinds]}::text[]`;
  const passing = Prisma.sql`f.tenant_id = ${tenant} AND f.scope_id = ${scopes} AND f.kind = ANY(${kinds})
    AND ${timeCondition(time)} AND NOT f.id = ANY(${[...query.found]}::uuid[])`;
  const keys = query.names.map((name) => hexOf(name).slice(2));
  const rows = await unit.tx.$queryRaw<(FlatRow & { arm: SupplementArm })[]>`
    WITH name_key AS MATERIALIZED (
      SELECT decode(k.digits, 'hex') AS key FROM unnest(${keys}::text[]) AS k(digits)
    ), named AS MATERIALIZED (
      SELECT e.id FROM entity e
      WHERE e.tenant_id = ${tenant} AND e.scope_id = ${scopes} AND e.name_key = ANY(ARRAY(SELECT key FROM name_key))
      UNION
      SELECT e.id FROM entity_alias a JOIN entity e ON e.tenant_id = ${tenant} AND e.id = a.entity_id
      WHERE a.tenant_id = ${tenant} AND a.alias_key = ANY(ARRAY(SELECT key FROM name_key)) AND e.scope_id = ${scopes}
    ), beside AS MATERIALIZED (
      -- one edge away; an edge holds while a fact that may be read here supports it
      SELECT o.name_key, max(x.weight) AS weight
      FROM (
        SELECT d.id AS edge_id, d.target_id AS id, d.weight FROM edge d
        WHERE d.tenant_id = ${tenant} AND d.source_id = ANY(ARRAY(SELECT id FROM named)) ${currentEdge(atAnotherTime)}
        UNION ALL
        SELECT d.id, d.source_id, d.weight FROM edge d
        WHERE d.tenant_id = ${tenant} AND d.target_id = ANY(ARRAY(SELECT id FROM named)) ${currentEdge(atAnotherTime)}
      ) AS x
      JOIN entity o ON o.tenant_id = ${tenant} AND o.id = x.id AND o.scope_id = ${scopes}
      WHERE EXISTS (
        SELECT FROM edge_source u JOIN fact f ON f.tenant_id = ${tenant} AND f.id = u.fact_id
        WHERE u.tenant_id = ${tenant} AND u.edge_id = x.edge_id AND f.scope_id = ${scopes} AND ${timeCondition(time)})
      GROUP BY o.name_key
    ), reached AS MATERIALIZED (
      SELECT id, NULL::float8 AS weight FROM named
      UNION ALL
      -- a name is the same name in every scope that is visible
      SELECT e.id, b.weight FROM beside b
      JOIN entity e ON e.tenant_id = ${tenant} AND e.scope_id = ${scopes} AND e.name_key = b.name_key
      WHERE e.id NOT IN (SELECT id FROM named)
    ), graph AS MATERIALIZED (
      SELECT f.id, row_number() OVER (
        ORDER BY g.weight DESC NULLS FIRST, f.recorded_at DESC, f.id DESC) AS place
      FROM (
        -- none for what mentions a name of the query itself: it comes first
        SELECT m.fact_id AS id, CASE WHEN bool_or(r.weight IS NULL) THEN NULL ELSE max(r.weight) END AS weight
        FROM reached r JOIN fact_entity m ON m.tenant_id = ${tenant} AND m.entity_id = r.id
        GROUP BY m.fact_id) AS g
      JOIN fact f ON f.id = g.id WHERE ${passing}
      ORDER BY place LIMIT ${query.limit}::int
    ), neighbour AS MATERIALIZED (
      SELECT f.id, row_number() OVER (ORDER BY n.weight DESC, f.recorded_at DESC, f.id DESC) AS place
      FROM (
        SELECT t.id, max(t.weight) AS weight
        FROM unnest(${[...query.hits]}::uuid[]) AS h(id)
        CROSS JOIN LATERAL (
          ${tiesOf(tenant, 'second_id', 'first_id', time.now, query.ties)}
          UNION ALL
          ${tiesOf(tenant, 'first_id', 'second_id', time.now, query.ties)}) AS t
        GROUP BY t.id HAVING max(t.weight) >= ${query.ties.minWeight}::float8) AS n
      JOIN fact f ON f.id = n.id WHERE ${passing}
      ORDER BY place LIMIT ${query.limit}::int
    ), newest AS MATERIALIZED (
      SELECT n.id, row_number() OVER (ORDER BY n.recorded_at DESC, n.id DESC) AS place
      FROM unnest(${[...filter.scopeIds]}::int[]) AS v(scope_id) CROSS JOIN unnest(${kinds}) AS w(kind) CROSS JOIN LATERAL (
        SELECT f.id, f.recorded_at FROM fact f
        WHERE f.scope_id = v.scope_id AND f.kind = w.kind AND ${passing}
        ORDER BY f.recorded_at DESC, f.id DESC LIMIT ${query.limit}::int) AS n
      ORDER BY place LIMIT ${query.limit}::int
    ), first_by AS MATERIALIZED (
      SELECT DISTINCT ON (a.id) a.id, a.turn, a.place FROM (
        SELECT id, 0 AS turn, place FROM graph
        UNION ALL SELECT id, 1, place FROM neighbour
        UNION ALL SELECT id, 2, place FROM newest) AS a
      ORDER BY a.id, a.turn)
    SELECT (${[...SUPPLEMENT_ARMS]}::text[])[b.turn + 1] AS arm, 'FACT' AS source, f.id, NULL::float8 AS lexical,
      NULL::float8 AS cosine, ${FACT_NUMBERS}, NULL::uuid[] AS "factIds", false AS superseded, NULL::jsonb AS ties,
      NULL::jsonb AS held
    FROM first_by b
    JOIN fact f ON f.tenant_id = ${tenant} AND f.id = b.id
    JOIN fact_salience s ON s.tenant_id = ${tenant} AND s.fact_id = b.id
    ORDER BY b.turn, b.place LIMIT ${query.limit}::int`;
  return rows.map(({ arm, ...row }) => ({ arm, candidate: toCandidate(row, 'FACT') }));
}

/** Edges that facts support now have an index by their ends; others are read for another time alone. */
function currentEdge(atAnotherTime: boolean): Prisma.Sql {
  return atAnotherTime ? Prisma.empty : Prisma.sql`AND d.retired_at IS NULL`;
}

/** The ties of hit `h` to the facts at their other end, as time has left them (SPEC §6.3). By index, hit by hit. */
function tiesOf(
  tenant: Prisma.Sql,
  other: 'first_id' | 'second_id',
  own: 'first_id' | 'second_id',
  now: Date,
  { dailyRemainder }: SupplementQuery['ties'],
): Prisma.Sql {
  return Prisma.sql`(
    SELECT t.${Prisma.raw(other)} AS id, t.weight * power(${dailyRemainder}::float8,
      greatest(extract(epoch FROM ${now}::timestamptz - t.updated_at), 0)::float8 / 86400) AS weight
    FROM co_activation t WHERE t.tenant_id = ${tenant} AND t.${Prisma.raw(own)} = h.id OFFSET 0)`;
}

async function newestMessages(
  unit: Unit,
  filter: SearchFilter,
  { found, limit }: SupplementQuery,
): Promise<SupplementRow[]> {
  const known = new Set(found);
  const newest = await searchCandidates(unit, [{ name: 'RECENCY' }], filter, limit + known.size);
  return newest
    .filter(({ id }) => !known.has(id))
    .sort((a, b) => b.recordedAt.getTime() - a.recordedAt.getTime() || (a.id < b.id ? 1 : -1))
    .slice(0, limit)
    .map((candidate) => ({ arm: 'RECENCY', candidate }));
}
