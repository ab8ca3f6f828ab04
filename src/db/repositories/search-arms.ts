import { Prisma } from '../generated/client.js';
import { type TimeAxes, timeCondition } from './conditions.js';
import { type Decay, importanceAt } from './importance.js';

/** Which documents a search may find. */
export interface SearchFilter {
  /** Scopes visible to the caller, at most four; the rows' own scope decides. */
  readonly scopeIds: readonly number[];
  readonly facts: boolean;
  readonly messages: boolean;
  /** Kinds of facts; null for all. */
  readonly kinds: readonly string[] | null;
  readonly time: TimeAxes;
  /** Whether messages that the threat scan flagged are found. */
  readonly includeFlagged: boolean;
}

/**
 * One way to rank documents. LEXICAL and VECTOR measure how well a document fits a query; IMPORTANCE (facts alone, by
 * what it is now) and RECENCY (messages alone) serve where there is none.
 */
export type SearchArm =
  | {
      readonly name: 'LEXICAL';
      /** Distinct terms of the query, as keyed hashes. */
      readonly terms: readonly bigint[];
      /** Documents of the tenant, and their mean length in terms: BM25's N and avgdl. */
      readonly documents: number;
      readonly averageLength: number;
      /** BM25's constants. */
      readonly bm25: { readonly k1: number; readonly b: number };
    }
  | {
      readonly name: 'VECTOR';
      readonly modelId: number;
      /** The query's unit vector in pgvector's text form. */
      readonly vector: string;
    }
  | { readonly name: 'IMPORTANCE'; readonly decay: Decay }
  | { readonly name: 'RECENCY' };

export type SearchArmName = SearchArm['name'];

/** What the arms of one statement have in common. */
export interface ArmQuery {
  readonly tenantId: string;
  readonly filter: SearchFilter;
  /** Most documents of one arm. */
  readonly limit: number;
}

/** Ranks all documents of the scopes; `id` and `score` (higher is better), not filtered by what the rows say. */
type Ranking = (query: ArmQuery) => { readonly before?: Prisma.Sql; readonly body: Prisma.Sql };

/**
 * The common table expressions of an arm; the last, named after the arm, has `kind`, `id` and `score` of the first
 * `limit` documents that pass the filter.
 *
 * The arm is complete however few documents pass: the filter is applied to the head of the ranking first, which is
 * nearly always enough and spares a join with every document, and to all of it where the head did not yield enough.
 */
export function armExpressions(arm: SearchArm, query: ArmQuery): Prisma.Sql {
  const name = arm.name.toLowerCase();
  const cte = (part?: string) => Prisma.raw(part === undefined ? name : `${name}_${part}`);
  const { before, body } = rankingOf(arm)(query);
  const limit = query.limit;
  const enough = Prisma.sql`(
    (SELECT count(*) FROM ${cte('passed')}) >= ${limit}::int8 OR (SELECT count(*) FROM ${cte('head')}) < ${limit * 2}::int8)`;
  return Prisma.sql`${before ? Prisma.sql`${before},` : Prisma.empty}
    ${cte('ranked')} AS MATERIALIZED (${body}),
    ${cte('head')} AS MATERIALIZED (
      SELECT id, score FROM ${cte('ranked')} ORDER BY score DESC, id DESC LIMIT ${limit * 2}::int8),
    ${cte('passed')} AS MATERIALIZED (
      ${passing(cte('head'), query)} ORDER BY score DESC, id DESC LIMIT ${limit}::int8),
    ${cte()} AS MATERIALIZED (
      SELECT kind, id, score FROM ${cte('passed')} WHERE ${enough}
      UNION ALL
      (SELECT kind, id, score FROM (${passing(cte('ranked'), query)}) AS p
       WHERE NOT ${enough} ORDER BY score DESC, id DESC LIMIT ${limit}::int8))`;
}

function rankingOf(arm: SearchArm): Ranking {
  switch (arm.name) {
    case 'LEXICAL':
      return (query) => lexicalRanking(arm, query);
    case 'VECTOR':
      return (query) => ({ body: exactVectorRanking(arm, query) });
    case 'IMPORTANCE':
      return ({ tenantId, filter }) => ({
        body: Prisma.sql`
          SELECT s.fact_id AS id, ${importanceAt(filter.time.now, arm.decay)} AS score
          FROM fact_salience s JOIN fact f ON f.tenant_id = s.tenant_id AND f.id = s.fact_id
          WHERE s.tenant_id = ${tenantId}::uuid AND s.scope_id = ANY(${[...filter.scopeIds]}::int[])
            AND f.tenant_id = ${tenantId}::uuid AND f.scope_id = ANY(${[...filter.scopeIds]}::int[])`,
      });
    case 'RECENCY':
      return (query) => ({ body: newestMessages(query) });
  }
}

/**
 * BM25 over the postings (SPEC §8.1): document frequencies over the whole tenant, scores over the scopes. The
 * statistics are those of what is live now, also for a read of the past. The constants are floats: a decimal literal
 * would make every product a numeric.
 */
function lexicalRanking(
  arm: Extract<SearchArm, { name: 'LEXICAL' }>,
  { tenantId, filter }: ArmQuery,
): { before: Prisma.Sql; body: Prisma.Sql } {
  const { k1, b } = arm.bm25;
  const lengthWeight = (k1 * b) / Math.max(arm.averageLength, 1);
  return {
    before: Prisma.sql`
      lexical_term AS MATERIALIZED (
        SELECT t.term, ${k1 + 1}::float8
          * ln(1::float8 + (greatest(${arm.documents}::float8 - d.df, 0::float8) + 0.5::float8) / (d.df + 0.5::float8)) AS weight
        FROM unnest(${[...arm.terms]}::int8[]) AS t(term)
        CROSS JOIN LATERAL (
          SELECT count(*)::float8 AS df FROM posting p
          WHERE p.tenant_id = ${tenantId}::uuid AND p.term = t.term AND p.live) AS d)`,
    body: Prisma.sql`
      SELECT p.document_id AS id,
        sum(t.weight * p.frequency
          / (p.frequency + ${k1 * (1 - b)}::float8 + ${lengthWeight}::float8 * p.length)) AS score
      FROM lexical_term t JOIN posting p ON p.tenant_id = ${tenantId}::uuid AND p.term = t.term
      WHERE p.scope_id = ANY(${[...filter.scopeIds]}::int[])${onlyLive('p', filter)}
        ${filter.facts && filter.messages ? Prisma.empty : Prisma.sql`AND p.document_kind = ${filter.facts ? 'FACT' : 'MESSAGE'}::text`}
      GROUP BY p.document_id`,
  };
}

/** Cosine with every vector of the scopes; a message has that of its best window. */
function exactVectorRanking(
  arm: Extract<SearchArm, { name: 'VECTOR' }>,
  { tenantId, filter }: ArmQuery,
): Prisma.Sql {
  const similarity = Prisma.sql`1::float8 - (e.embedding <=> ${arm.vector}::halfvec)`;
  const visible = Prisma.sql`
    e.tenant_id = ${tenantId}::uuid AND e.model_id = ${arm.modelId}::int AND e.scope_id = ANY(${[...filter.scopeIds]}::int[])`;
  const facts = Prisma.sql`
    SELECT e.fact_id AS id, ${similarity} AS score FROM fact_embedding e
    WHERE ${visible}${onlyLive('e', filter)}`;
  const messages = Prisma.sql`
    SELECT e.message_id AS id, max(${similarity}) AS score FROM message_embedding e
    WHERE ${visible} GROUP BY e.message_id`;
  if (!filter.messages) return facts;
  return filter.facts ? Prisma.sql`${facts} UNION ALL ${messages}` : messages;
}

/** The newest messages of each scope that pass the filter: an index holds them in that order, so no others are read. */
function newestMessages({ tenantId, filter, limit }: ArmQuery): Prisma.Sql {
  return Prisma.sql`
    SELECT g.id, extract(epoch FROM g.recorded_at)::float8 AS score
    FROM unnest(${[...filter.scopeIds]}::int[]) AS v(scope_id) CROSS JOIN LATERAL (
      SELECT g.id, g.recorded_at FROM message g
      WHERE g.tenant_id = ${tenantId}::uuid AND g.scope_id = v.scope_id AND ${messageCondition(filter)}
      ORDER BY g.recorded_at DESC, g.id DESC LIMIT ${limit}::int8) AS g`;
}

/** Retired facts are looked at only where the read has time axes. */
function onlyLive(alias: 'p' | 'e', { time }: SearchFilter): Prisma.Sql {
  return time.validAt || time.knownAt ? Prisma.empty : Prisma.sql` AND ${Prisma.raw(alias)}.live`;
}

/** The documents of `source` that pass the filter, by their own rows. */
export function passing(source: Prisma.Sql, { tenantId, filter }: ArmQuery): Prisma.Sql {
  const { kinds, time } = filter;
  const scopes = Prisma.sql`ANY(${[...filter.scopeIds]}::int[])`;
  const facts = Prisma.sql`
    SELECT 'FACT'::text AS kind, r.id, r.score
    FROM ${source} r JOIN fact f ON f.tenant_id = ${tenantId}::uuid AND f.id = r.id
    WHERE f.scope_id = ${scopes} AND ${timeCondition(time)}
      ${kinds === null ? Prisma.empty : Prisma.sql`AND f.kind = ANY(${[...kinds]}::text[])`}`;
  const messages = Prisma.sql`
    SELECT 'MESSAGE'::text AS kind, r.id, r.score
    FROM ${source} r JOIN message g ON g.tenant_id = ${tenantId}::uuid AND g.id = r.id
    WHERE g.scope_id = ${scopes} AND ${messageCondition(filter)}`;
  if (!filter.messages) return facts;
  return filter.facts ? Prisma.sql`${facts} UNION ALL ${messages}` : messages;
}

/** Messages `g` that may be found. */
export function messageCondition({ includeFlagged, time }: SearchFilter): Prisma.Sql {
  const conditions = [Prisma.sql`g.redacted_at IS NULL`];
  if (!includeFlagged) conditions.push(Prisma.sql`g.flags = '{}'`);
  if (time.knownAt) conditions.push(Prisma.sql`g.recorded_at <= ${time.knownAt}::timestamptz`);
  return Prisma.join(conditions, ' AND ');
}
