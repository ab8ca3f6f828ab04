import { Prisma } from '../generated/client.js';
import { type ArmQuery, messageCondition } from './search-arms.js';

/** What of a conversation a search reads around the messages that it finds. */
export interface Surroundings {
  /** How many turns before and after; the lexical arm's messages bring those as candidates. */
  readonly reach: number;
  /** Keyed hashes that are looked for in each turn, and in each fact that was found. */
  readonly terms: readonly bigint[];
}

/** A message that was found or is near one, with what it has of the terms that were looked for. */
export interface TurnRow {
  readonly id: string;
  readonly sessionId: string;
  readonly seq: number;
}

/** What a document has of the terms that were looked for, by their places among them. */
export interface TermsRow {
  readonly frequencies: ReadonlyMap<number, number>;
  /** How many words it has that count; 0 where it has none of the terms. */
  readonly length: number;
}

/**
 * Expressions after those of the arms and `hit` (kind, id, worded: whether the lexical arm found it).
 *
 * `around` has the messages of `hit` and those within reach of them in their sessions, if the filter lets them pass;
 * `near` are those within reach of one that the lexical arm found. `candidate` (kind, id) is all that may be returned,
 * and `scored` has what the arms say of it, whatever their limit: a sum of scores needs both. `held` has the terms.
 *
 * Each row is looked up by an index, whatever the planner thinks of their number, or compared with a hashed set: what
 * it costs grows with what was found, not with what there is. Only `scored` reads again what the arms have ranked.
 */
export function surroundingExpressions(
  arms: readonly ('lexical' | 'vector')[],
  { reach, terms }: Surroundings,
  { tenantId, filter }: ArmQuery,
): Prisma.Sql {
  const scopes = Prisma.sql`ANY(${[...filter.scopeIds]}::int[])`;
  const ranked = arms.map(
    (arm) => Prisma.sql`
      SELECT r.id, ${Prisma.raw(arm === 'lexical' ? 'r.score' : 'NULL::float8')} AS lexical,
        ${Prisma.raw(arm === 'vector' ? 'r.score' : 'NULL::float8')} AS cosine
      FROM ${Prisma.raw(`${arm}_ranked`)} r WHERE (r.id IN (SELECT id FROM candidate)) IS TRUE`,
  );
  return Prisma.sql`
    around AS MATERIALIZED (
      SELECT n.id, n.session_id, n.seq, n.scope_id, bool_or(h.worded) AS near
      FROM hit h
      CROSS JOIN LATERAL (
        SELECT m.session_id, m.seq FROM message m
        WHERE m.tenant_id = ${tenantId}::uuid AND m.id = h.id OFFSET 0) AS m
      CROSS JOIN LATERAL (
        SELECT g.id, g.session_id, g.seq, g.scope_id FROM message g
        WHERE g.tenant_id = ${tenantId}::uuid AND g.session_id = m.session_id
          AND g.seq BETWEEN m.seq - ${reach}::int AND m.seq + ${reach}::int
          AND g.scope_id = ${scopes} AND ${messageCondition(filter)} OFFSET 0) AS n
      WHERE h.kind = 'MESSAGE'
      GROUP BY n.id, n.session_id, n.seq, n.scope_id),
    candidate AS MATERIALIZED (
      SELECT kind, id FROM hit UNION SELECT 'MESSAGE'::text, id FROM around WHERE near),
    scored AS MATERIALIZED (
      SELECT id, max(lexical) AS lexical, max(cosine) AS cosine
      FROM (${Prisma.join(ranked, ' UNION ALL ')}) AS r GROUP BY id),
    held AS MATERIALIZED (
      SELECT d.id, jsonb_agg(jsonb_build_array(p.place, p.frequency)) AS terms, max(p.length) AS length
      FROM (
        SELECT id, scope_id FROM around
        UNION ALL
        SELECT h.id, f.scope_id FROM hit h CROSS JOIN LATERAL (
          SELECT f.scope_id FROM fact f WHERE f.tenant_id = ${tenantId}::uuid AND f.id = h.id OFFSET 0) AS f
        WHERE h.kind = 'FACT') AS d
      CROSS JOIN LATERAL (
        SELECT array_position(${[...terms]}::int8[], p.term) - 1 AS place, p.frequency, p.length FROM posting p
        WHERE p.tenant_id = ${tenantId}::uuid AND p.term = ANY(${[...terms]}::int8[])
          AND p.scope_id = d.scope_id AND p.document_id = d.id OFFSET 0) AS p
      GROUP BY d.id)`;
}
