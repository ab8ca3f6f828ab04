import { Prisma } from '../generated/client.js';
import { timeCondition } from './conditions.js';
import { ownedByOneOf, type ScopeOwner } from './scopes.js';
import {
  type ArmQuery,
  armExpressions,
  messageCondition,
  type SearchArm,
  type SearchFilter,
} from './search-arms.js';
import { type Surroundings, surroundingExpressions, type TermsRow, type TurnRow } from './search-turns.js';
import type { Unit } from './unit.js';

export type { SearchArm, SearchArmName, SearchFilter } from './search-arms.js';
export type { Surroundings, TermsRow, TurnRow } from './search-turns.js';

/** A scope and whose it is. */
export interface VisibleScope extends ScopeOwner {
  readonly scopeId: number;
}

/** What a search needs to know before it begins. */
export interface SearchContext {
  /** False when the agent, or the user, was named and is not one of this tenant. */
  readonly agentKnown: boolean;
  readonly userKnown: boolean;
  /** The scopes that are visible (SPEC §1), at most four. */
  readonly scopes: readonly VisibleScope[];
  /** Documents of the whole tenant, and the sum of their lengths in terms. */
  readonly documents: number;
  readonly documentTerms: number;
  /** Places of the marks that a message in one of the scopes has, from 0. */
  readonly marksFound: readonly number[];
}

/**
 * The scopes visible with this context: those whose agent is none or the given one, and whose user is none or the
 * given one (SPEC §1). One statement.
 * @param agentShared whether what the agent shares among all its users, the scope (agent, none), is among them
 * @param marks keyed hashes, of which those are told that are in the scopes at all
 */
export async function searchContext(
  unit: Unit,
  context: { readonly agentId: string | null; readonly userId: string | null; readonly agentShared: boolean },
  marks: readonly bigint[] = [],
): Promise<SearchContext> {
  const { agentId, userId } = context;
  const owned = ownedByOneOf(unit, visibleOwners(context));
  const rows = await unit.tx.$queryRaw<SearchContext[]>`
    SELECT
      (${agentId}::uuid IS NULL OR EXISTS (
        SELECT 1 FROM agent a WHERE a.tenant_id = ${unit.tenantId}::uuid AND a.id = ${agentId}::uuid)) AS "agentKnown",
      (${userId}::uuid IS NULL OR EXISTS (
        SELECT 1 FROM app_user u WHERE u.tenant_id = ${unit.tenantId}::uuid AND u.id = ${userId}::uuid)) AS "userKnown",
      (SELECT coalesce(jsonb_agg(jsonb_build_object('scopeId', s.id, 'agentId', s.agent_id, 'userId', s.user_id) ORDER BY s.id), '[]')
       FROM scope s WHERE ${owned}) AS scopes,
      (SELECT coalesce(jsonb_agg(t.place - 1), '[]')
       FROM unnest(${[...marks]}::int8[]) WITH ORDINALITY AS t(mark, place)
       WHERE EXISTS (
         SELECT 1 FROM scope s
         JOIN posting p ON p.tenant_id = ${unit.tenantId}::uuid AND p.term = t.mark AND p.scope_id = s.id AND p.live
         WHERE ${owned})) AS "marksFound",
      coalesce(t.documents, 0)::float8 AS documents, coalesce(t.document_terms, 0)::float8 AS "documentTerms"
    FROM (SELECT) AS one LEFT JOIN tenant_stream t ON t.tenant_id = ${unit.tenantId}::uuid`;
  return rows[0]!;
}

/** Whose scopes are visible: of nobody, of the agent, of the user, of both. */
function visibleOwners({
  agentId,
  userId,
  agentShared,
}: ScopeOwner & { readonly agentShared: boolean }): ScopeOwner[] {
  const owners: ScopeOwner[] = [{ agentId: null, userId: null }];
  if (agentId !== null && agentShared) owners.push({ agentId, userId: null });
  if (userId !== null) owners.push({ agentId: null, userId });
  if (agentId !== null && userId !== null) owners.push({ agentId, userId });
  return owners;
}

/** A fact or message that an arm found, with what ranking needs of it. */
export interface CandidateRow {
  readonly source: 'FACT' | 'MESSAGE';
  readonly id: string;
  /** BM25 score; null where that arm did not find it. */
  readonly lexical: number | null;
  /** Cosine with the query, the best of a message's windows. */
  readonly cosine: number | null;
  /** Length of the text in code points. */
  readonly characters: number;
  readonly recordedAt: Date;
  /** When it was said, for a message; since when it holds, for a fact. */
  readonly toldAt: Date;
  /** Of a fact. */
  readonly fact: FactNumbers | null;
  /** Of a message: the facts that it is a source of, and whether all of them have been superseded (SPEC §8). */
  readonly factIds: readonly string[];
  readonly superseded: boolean;
}

/** What a fact's importance now and its urgency are computed from (SPEC §6, §8.2). */
export interface FactNumbers {
  readonly kind: string;
  readonly encoded: number;
  /** What of it the profile's topics have made, as a factor: 1 where none matched (SPEC §5.2). */
  readonly topicBoost: number;
  readonly pinned: boolean;
  readonly flashbulb: boolean;
  readonly reinforcement: number;
  readonly decayResistance: number;
  readonly reinforcedAt: Date | null;
  readonly lastSeenAt: Date;
  readonly urgency: number | null;
  readonly scopeId: number;
  /** What it was scored with: see `SalienceValues`. */
  readonly fingerprint: string | null;
  readonly scoredRevision: number;
  /** Its ties to candidates of greater ids, each of which the other end does not repeat. */
  readonly ties: readonly Tie[];
}

/** A co-activation between two facts, as stored (SPEC §6.3). */
export interface Tie {
  readonly factId: string;
  /** 0 to 1, as of `updatedAt`. */
  readonly weight: number;
  readonly updatedAt: Date;
}

export interface FlatRow
  extends Omit<FactNumbers, 'kind' | 'ties'>,
    Omit<CandidateRow, 'source' | 'id' | 'fact' | 'factIds'> {
  readonly source: 'FACT' | 'MESSAGE' | 'SCORE' | 'TURN' | 'HELD' | 'TERM' | 'LEFT_OUT';
  readonly id: string | null;
  /** What is told of a turn, of the terms that a document has, or of what terms are worth. */
  readonly held: unknown;
  readonly kind: string | null;
  readonly factIds: readonly string[] | null;
  /** The other fact, the weight, and the seconds of the epoch since when. */
  readonly ties: readonly (readonly [string, number, number])[] | null;
}

/**
 * The first `limit` documents of each arm, as one set in no order. Every arm is complete: exact, and filtered before
 * it is cut. One statement.
 */
export async function searchCandidates(
  unit: Unit,
  arms: readonly SearchArm[],
  filter: SearchFilter,
  limit: number,
): Promise<CandidateRow[]> {
  return (await search(unit, arms, filter, limit, null)).candidates;
}

/** Candidates with the conversations around them. */
export interface SearchInContext {
  readonly candidates: CandidateRow[];
  /** The messages among the candidates, and those within reach of them. */
  readonly turns: readonly TurnRow[];
  /** What turns and facts have of the terms that were looked for, by id; of those that have any. */
  readonly terms: ReadonlyMap<string, TermsRow>;
  /** What each term of the lexical arm is worth in its BM25, in the arm's order. */
  readonly termWeights: readonly number[];
  /** What stood at the head of an arm's ranking and was not asked for, in no order. */
  readonly leftOut: readonly LeftOutRow[];
}

/** A visible document that an arm ranked high and that the filter left out: a fact of another kind, or a flagged message. */
export interface LeftOutRow {
  readonly id: string;
  readonly reason: 'KIND_EXCLUDED' | 'FLAGGED';
}

/**
 * What {@link searchCandidates} finds, and the turns around those that the lexical arm found, each with what all arms
 * say of it, whatever their limit. One statement.
 * @param surroundings null for what the arms find alone
 */
export async function searchInContext(
  unit: Unit,
  arms: readonly SearchArm[],
  filter: SearchFilter,
  limit: number,
  surroundings: Surroundings | null,
): Promise<SearchInContext> {
  return search(unit, arms, filter, limit, surroundings);
}

async function search(
  unit: Unit,
  arms: readonly SearchArm[],
  filter: SearchFilter,
  limit: number,
  surroundings: Surroundings | null,
): Promise<SearchInContext> {
  const terms = new Map<string, TermsRow>();
  if (arms.length === 0 || filter.scopeIds.length === 0)
    return { candidates: [], turns: [], terms, termWeights: [], leftOut: [] };
  const query = { tenantId: unit.tenantId, filter, limit };
  const expressions = arms.map((arm) => armExpressions(arm, query));
  const found = arms.map(
    ({ name }) =>
      Prisma.sql`SELECT ${name}::text AS arm, kind, id, score FROM ${Prisma.raw(name.toLowerCase())}`,
  );
  const hits = Prisma.sql`(${Prisma.join(found, ' UNION ALL ')}) AS a GROUP BY a.kind, a.id`;
  const rows = await unit.tx.$queryRaw<FlatRow[]>`
    WITH ${Prisma.join(expressions, ', ')},
    ${
      surroundings
        ? Prisma.sql`
    hit AS MATERIALIZED (SELECT a.kind, a.id, bool_or(a.arm = 'LEXICAL') AS worded FROM ${hits}),
    ${surroundingExpressions(armsOf(arms), surroundings, query)}`
        : Prisma.sql`
    candidate AS MATERIALIZED (
      SELECT a.kind, a.id, max(a.score) FILTER (WHERE a.arm = 'LEXICAL') AS lexical,
        max(a.score) FILTER (WHERE a.arm = 'VECTOR') AS cosine FROM ${hits})`
    },
    tied AS MATERIALIZED (
      -- By the index of each candidate, whatever the planner thinks of their number.
      SELECT c.id, jsonb_agg(jsonb_build_array(t.second_id, t.weight, extract(epoch FROM t.updated_at))) AS ties
      FROM candidate c CROSS JOIN LATERAL (
        SELECT t.second_id, t.weight, t.updated_at FROM co_activation t
        WHERE t.tenant_id = ${unit.tenantId}::uuid AND t.first_id = c.id OFFSET 0) AS t
      WHERE c.kind = 'FACT' AND t.second_id IN (SELECT id FROM candidate)
      GROUP BY c.id)
    SELECT c.kind AS source, c.id, ${SCORES(surroundings)}, ${FACT_NUMBERS},
      NULL::uuid[] AS "factIds", false AS superseded, d.ties, NULL::jsonb AS held
    FROM candidate c
    JOIN fact f ON f.tenant_id = ${unit.tenantId}::uuid AND f.id = c.id
    JOIN fact_salience s ON s.tenant_id = ${unit.tenantId}::uuid AND s.fact_id = c.id
    LEFT JOIN tied d ON d.id = c.id
    WHERE c.kind = 'FACT'
    UNION ALL
    SELECT c.kind, c.id, ${SCORES(surroundings)}, NULL, g.characters, g.recorded_at, coalesce(g.sent_at, g.recorded_at),
      NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, o.ids, coalesce(o.superseded, false), NULL, NULL
    FROM candidate c
    JOIN message g ON g.tenant_id = ${unit.tenantId}::uuid AND g.id = c.id
    CROSS JOIN LATERAL (${factsOf(unit, filter)}) AS o
    WHERE c.kind = 'MESSAGE'
    ${surroundings ? Prisma.sql`UNION ALL ${contextRows(arms)}` : Prisma.empty}
    ${leftOutRows(arms, query)}`;
  const documents: CandidateRow[] = [];
  const scores = new Map<string, ScoreCell>();
  const turns: TurnRow[] = [];
  const weights = new Map<number, number>();
  const leftOut: LeftOutRow[] = [];
  for (const row of rows) {
    if (row.source === 'FACT' || row.source === 'MESSAGE') documents.push(toCandidate(row, row.source));
    else if (row.source === 'SCORE') scores.set(row.id as string, row.held as ScoreCell);
    else if (row.source === 'TURN') turns.push(toTurn(row.id as string, row.held as TurnCell));
    else if (row.source === 'LEFT_OUT')
      leftOut.push({ id: row.id as string, reason: row.held as LeftOutRow['reason'] });
    else if (row.source === 'HELD') terms.set(row.id as string, toTerms(row.held as HeldCell));
    else for (const [place, weight] of row.held as WeightsCell) weights.set(place, weight);
  }
  const lexical = arms.find((arm) => arm.name === 'LEXICAL');
  const termWeights = lexical ? lexical.terms.map((_, place) => weights.get(place) ?? 0) : [];
  const candidates = documents.map((one) => {
    const [lexical, cosine] = scores.get(one.id) ?? [one.lexical, one.cosine];
    return { ...one, lexical, cosine };
  });
  return { candidates, turns, terms, termWeights, leftOut };
}

/** The arms that say how well something fits a query. */
function armsOf(arms: readonly SearchArm[]): ('lexical' | 'vector')[] {
  return arms.flatMap(({ name }) => (name === 'LEXICAL' ? ['lexical'] : name === 'VECTOR' ? ['vector'] : []));
}

/** What ranking needs of a fact `f` and its salience `s`. */
export const FACT_NUMBERS = Prisma.sql`f.kind, f.characters, f.recorded_at AS "recordedAt", f.valid_from AS "toldAt",
  s.encoded, s.topic_boost AS "topicBoost", s.pinned, s.flashbulb, s.reinforcement, s.decay_resistance AS "decayResistance",
  s.reinforced_at AS "reinforcedAt", s.last_seen_at AS "lastSeenAt", s.urgency,
  s.scope_id AS "scopeId", encode(s.fingerprint, 'hex') AS fingerprint, s.scored_revision AS "scoredRevision"`;

/** In context the scores come in rows of their own: joined here, the planner may add them up anew for each candidate. */
const SCORES = (surroundings: Surroundings | null) =>
  Prisma.raw(surroundings ? 'NULL::float8 AS lexical, NULL::float8 AS cosine' : 'c.lexical, c.cosine');

/** What rows that are no candidates have in `held`. */
type ScoreCell = readonly [lexical: number | null, cosine: number | null];
type TurnCell = readonly [sessionId: string, seq: number];
type HeldCell = readonly [terms: readonly (readonly [place: number, frequency: number])[], length: number];
type WeightsCell = readonly (readonly [place: number, weight: number])[];

/** The columns between a row's id and `held` where it is no candidate. */
const none = Prisma.raw(`${'NULL, '.repeat(19)}false, NULL`);

/**
 * What the filter leaves out of the heads of the arms' rankings, where it leaves out anything: each looked up by its
 * key. What is redacted, retired, or of another time is not told.
 */
function leftOutRows(arms: readonly SearchArm[], { tenantId, filter }: ArmQuery): Prisma.Sql {
  const heads = Prisma.join(
    arms.map(({ name }) => Prisma.sql`SELECT id FROM ${Prisma.raw(`${name.toLowerCase()}_head`)}`),
    ' UNION ',
  );
  const scopes = Prisma.sql`ANY(${[...filter.scopeIds]}::int[])`;
  const { kinds } = filter;
  const rows: Prisma.Sql[] = [];
  if (filter.facts && kinds !== null)
    rows.push(Prisma.sql`
      SELECT 'LEFT_OUT', h.id, ${none}, '"KIND_EXCLUDED"'::jsonb FROM (${heads}) AS h CROSS JOIN LATERAL (
        SELECT FROM fact f WHERE f.tenant_id = ${tenantId}::uuid AND f.id = h.id AND f.scope_id = ${scopes}
          AND NOT f.kind = ANY(${[...kinds]}::text[]) AND ${timeCondition(filter.time)} OFFSET 0) AS f`);
  if (filter.messages && !filter.includeFlagged)
    rows.push(Prisma.sql`
      SELECT 'LEFT_OUT', h.id, ${none}, '"FLAGGED"'::jsonb FROM (${heads}) AS h CROSS JOIN LATERAL (
        SELECT FROM message g WHERE g.tenant_id = ${tenantId}::uuid AND g.id = h.id AND g.scope_id = ${scopes}
          AND g.flags <> '{}' AND ${messageCondition({ ...filter, includeFlagged: true })} OFFSET 0) AS g`);
  return rows.length === 0 ? Prisma.empty : Prisma.sql`UNION ALL ${Prisma.join(rows, ' UNION ALL ')}`;
}

/** Rows of other sorts than candidates, told apart by `source`, with what they say in `held`. */
function contextRows(arms: readonly SearchArm[]): Prisma.Sql {
  const lexical = arms.find((arm) => arm.name === 'LEXICAL');
  const turns = Prisma.sql`
    SELECT 'SCORE', r.id, ${none}, jsonb_build_array(r.lexical, r.cosine) FROM scored r
    UNION ALL SELECT 'TURN', a.id, ${none}, jsonb_build_array(a.session_id, a.seq) FROM around a
    UNION ALL SELECT 'HELD', h.id, ${none}, jsonb_build_array(h.terms, h.length) FROM held h`;
  if (!lexical) return turns;
  return Prisma.sql`${turns}
    UNION ALL SELECT 'TERM', NULL::uuid, ${none},
      coalesce(jsonb_agg(jsonb_build_array(array_position(${[...lexical.terms]}::int8[], t.term) - 1, t.weight)), '[]')
    FROM lexical_term t`;
}

/**
 * The facts that message `c` is a source of, as known then, and whether all of them were superseded or found wrong by
 * then. A duplicate or a faded fact still says what is so.
 */
function factsOf(unit: Unit, { time }: SearchFilter): Prisma.Sql {
  const knownAt = time.knownAt ?? time.now;
  const validAt = time.validAt ?? time.now;
  return Prisma.sql`
    SELECT array_agg(f.id) AS ids,
      bool_and(coalesce(f.retired_at <= ${knownAt}::timestamptz AND (
        f.retire_reason = 'WRONG'
        OR (f.retire_reason = 'ENDED' AND coalesce(f.ended_at, f.retired_at) <= ${validAt}::timestamptz)), false)) AS superseded
    FROM fact_source o JOIN fact f ON f.tenant_id = o.tenant_id AND f.id = o.fact_id
    WHERE o.tenant_id = ${unit.tenantId}::uuid AND o.message_id = c.id AND f.recorded_at <= ${knownAt}::timestamptz`;
}

/** A row as a candidate. */
export function toCandidate(row: FlatRow, source: CandidateRow['source']): CandidateRow {
  const { id, lexical, cosine, characters, recordedAt, toldAt, superseded, kind, ties, ...rest } = row;
  const { source: _source, held: _held, factIds, ...numbers } = rest;
  return {
    source,
    id: id as string,
    lexical,
    cosine,
    characters,
    recordedAt,
    toldAt,
    superseded,
    factIds: factIds ?? [],
    fact: kind === null ? null : { ...numbers, kind, ties: (ties ?? []).map(toTie) },
  };
}

function toTurn(id: string, [sessionId, seq]: TurnCell): TurnRow {
  return { id, sessionId, seq };
}

function toTerms([terms, length]: HeldCell): TermsRow {
  return { frequencies: new Map(terms), length };
}

function toTie([factId, weight, seconds]: readonly [string, number, number]): Tie {
  return { factId, weight, updatedAt: new Date(seconds * 1_000) };
}
