import { hexOf } from '../content/index.js';
import { Prisma } from '../generated/client.js';
import { type Range, rangeCondition, type TimeAxes, timeCondition } from './conditions.js';
import { FACT_COLUMNS, type FactRecord, type FactRow, toFactRecord } from './fact-records.js';
import { ownedByOneOf, type ScopeOwner } from './scopes.js';
import type { Unit } from './unit.js';

/** Ids of the facts whose shortId begins with this prefix: two are enough to know that it is ambiguous, per owner. */
export async function factIdsByShortId(unit: Unit, prefix: string): Promise<string[]> {
  const rows = await unit.tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM fact
    WHERE tenant_id = ${unit.tenantId}::uuid AND short_id >= ${prefix}::text AND short_id < ${`${prefix}g`}::text
    LIMIT 100`;
  return rows.map((row) => row.id);
}

/** The same for several prefixes: ids of the facts whose shortId begins with any of them. One statement. */
export async function factIdsByShortIds(unit: Unit, prefixes: readonly string[]): Promise<string[]> {
  const rows = await unit.tx.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT f.id FROM unnest(${[...prefixes]}::text[]) AS p(prefix)
    CROSS JOIN LATERAL (
      SELECT id FROM fact
      WHERE tenant_id = ${unit.tenantId}::uuid AND short_id >= p.prefix AND short_id < p.prefix || 'g'
      LIMIT 100) f`;
  return rows.map((row) => row.id);
}

/**
 * The live facts of these kinds that belong to one of the agents or none, and to one of the users or none, oldest first.
 * One statement.
 */
export async function liveFactsOfAny(
  unit: Unit,
  { agentIds, userIds }: { readonly agentIds: readonly string[]; readonly userIds: readonly string[] },
  kinds: readonly string[],
  now: Date,
): Promise<FactRecord[]> {
  const rows = await unit.tx.$queryRaw<FactRow[]>`
    SELECT ${FACT_COLUMNS}
    FROM fact f
    JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
    WHERE f.tenant_id = ${unit.tenantId}::uuid AND f.kind = ANY(${[...kinds]}::text[])
      AND f.scope_id IN (
        SELECT sc.id FROM scope sc
        WHERE sc.tenant_id = ${unit.tenantId}::uuid
          AND (sc.agent_id IS NULL OR sc.agent_id = ANY(${[...agentIds]}::uuid[]))
          AND (sc.user_id IS NULL OR sc.user_id = ANY(${[...userIds]}::uuid[])))
      AND ${timeCondition({ now })}
    ORDER BY f.recorded_at, f.id`;
  return rows.map((row) => toFactRecord(unit, row));
}

/** The live facts of one kind that a caller with this context sees (SPEC §1 visibility), oldest first. */
export async function liveFactsOf(
  unit: Unit,
  context: ScopeOwner,
  kind: string,
  now: Date,
): Promise<FactRecord[]> {
  const agents = context.agentId === null ? [null] : [null, context.agentId];
  const users = context.userId === null ? [null] : [null, context.userId];
  const owners = agents.flatMap((agentId) => users.map((userId) => ({ agentId, userId })));
  const rows = await unit.tx.$queryRaw<FactRow[]>`
    SELECT ${FACT_COLUMNS}
    FROM fact f
    JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
    WHERE f.tenant_id = ${unit.tenantId}::uuid AND f.kind = ${kind}::text
      AND f.scope_id IN (SELECT s.id FROM scope s WHERE ${ownedByOneOf(unit, owners)})
      AND ${timeCondition({ now })}
    ORDER BY f.recorded_at, f.id`;
  return rows.map((row) => toFactRecord(unit, row));
}

/** A list of facts is filtered exactly: given fields must be equal, fields left out do not matter. */
export interface FactListFilter extends TimeAxes {
  readonly agentId: string | null;
  readonly userId: string | null;
  readonly kinds: readonly string[] | null;
  readonly status: 'LIVE' | 'RETIRED' | 'ALL';
  readonly pinned: boolean | null;
  /** Words that must all be in the text, each as the keyed hashes of the terms that it may have there; null: any text. */
  readonly words: readonly (readonly bigint[])[] | null;
  /** Key of an entity that must be mentioned. */
  readonly entityKey: Uint8Array | null;
  readonly recordedFrom: Date | null;
  readonly recordedTo: Date | null;
  /** BARE: only bare conclusions (SPEC §10). */
  readonly conclusion?: 'BARE';
  readonly range: Range;
}

/** What a list is ordered by; the id breaks ties. */
export type FactOrderField = 'IMPORTANCE' | 'RECORDED_AT' | 'VALID_FROM';

export interface FactPage {
  readonly limit: number;
  readonly after: readonly [value: number, id: string] | null;
  readonly before: readonly [value: number, id: string] | null;
  readonly backward: boolean;
  readonly orderBy: FactOrderField;
  readonly descending: boolean;
}

/** By the columns themselves, which indexes hold: times are kept in whole milliseconds, so a cursor's number is exact. */
const ORDER_COLUMN: Record<FactOrderField, Prisma.Sql> = {
  IMPORTANCE: Prisma.sql`s.current`,
  RECORDED_AT: Prisma.sql`f.recorded_at`,
  VALID_FROM: Prisma.sql`f.valid_from`,
};

/** Times that PostgreSQL can hold: a cursor's number may be anything. */
const LEAST_MS = -2e14;
const MOST_MS = 8.64e15;

/** A page of facts in a total order. One statement. */
export async function listFacts(unit: Unit, filter: FactListFilter, page: FactPage): Promise<FactRecord[]> {
  const column = ORDER_COLUMN[page.orderBy];
  const numberOf = ([value]: readonly [number, string]) =>
    page.orderBy === 'IMPORTANCE'
      ? Prisma.sql`${value}::float8`
      : Prisma.sql`to_timestamp(${Math.min(MOST_MS, Math.max(LEAST_MS, value))}::float8 / 1000)`;
  const forward = page.descending !== page.backward ? Prisma.sql`DESC` : Prisma.sql`ASC`;
  const beyond = (key: FactPage['after'], greater: boolean) => {
    if (!key) return Prisma.sql`true`;
    const operator = greater ? Prisma.sql`>` : Prisma.sql`<`;
    return Prisma.sql`(${column}, f.id) ${operator} (${numberOf(key)}, ${key[1]}::uuid)`;
  };
  const rows = await unit.tx.$queryRaw<FactRow[]>`
    SELECT ${FACT_COLUMNS}
    FROM fact f JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
    WHERE ${matching(unit, filter)} AND ${beyond(page.after, !page.descending)} AND ${beyond(page.before, page.descending)}
    ORDER BY ${column} ${forward}, f.id ${forward}
    LIMIT ${page.limit + 1}::int`;
  return rows.map((row) => toFactRecord(unit, row));
}

/** How many facts the filter lets through, whatever the page. */
export async function countFacts(unit: Unit, filter: FactListFilter): Promise<number> {
  const rows = await unit.tx.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count
    FROM fact f JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
    WHERE ${matching(unit, filter)}`;
  return rows[0]?.count ?? 0;
}

function matching(unit: Unit, filter: FactListFilter): Prisma.Sql {
  const conditions = [
    Prisma.sql`f.tenant_id = ${unit.tenantId}::uuid`,
    rangeCondition('f', filter.range),
    standing(filter),
  ];
  if (filter.agentId) conditions.push(Prisma.sql`f.agent_id = ${filter.agentId}::uuid`);
  if (filter.userId) conditions.push(Prisma.sql`f.user_id = ${filter.userId}::uuid`);
  if (filter.kinds) conditions.push(Prisma.sql`f.kind = ANY(${[...filter.kinds]}::text[])`);
  if (filter.pinned !== null) conditions.push(Prisma.sql`s.pinned = ${filter.pinned}::boolean`);
  if (filter.recordedFrom) conditions.push(Prisma.sql`f.recorded_at >= ${filter.recordedFrom}::timestamptz`);
  if (filter.recordedTo) conditions.push(Prisma.sql`f.recorded_at < ${filter.recordedTo}::timestamptz`);
  // Written out: the index of bare conclusions is for a constant.
  if (filter.conclusion) conditions.push(Prisma.sql`f.conclusion = 'BARE'`);
  if (filter.words) {
    const terms = filter.words.flatMap((word, place) => word.map((term) => ({ term, place })));
    conditions.push(Prisma.sql`f.id IN (
      SELECT p.document_id
      FROM unnest(${terms.map(({ term }) => term)}::int8[], ${terms.map(({ place }) => place)}::int[]) AS w(term, place)
      JOIN posting p ON p.tenant_id = ${unit.tenantId}::uuid AND p.term = w.term
      GROUP BY p.document_id HAVING count(DISTINCT w.place) = ${filter.words.length}::int)`);
  }
  if (filter.entityKey) {
    conditions.push(Prisma.sql`EXISTS (
      SELECT FROM fact_entity fe JOIN entity en ON en.tenant_id = fe.tenant_id AND en.id = fe.entity_id
      WHERE fe.tenant_id = f.tenant_id AND fe.fact_id = f.id AND en.name_key = decode(${hexOf(filter.entityKey).slice(2)}::text, 'hex'))`);
  }
  return Prisma.join(conditions, ' AND ');
}

/** With a time axis the axes decide; otherwise the status of today. */
function standing(filter: FactListFilter): Prisma.Sql {
  if (filter.validAt || filter.knownAt) return timeCondition(filter);
  if (filter.status === 'ALL') return Prisma.sql`true`;
  const live = timeCondition({ now: filter.now });
  return filter.status === 'LIVE' ? live : Prisma.sql`NOT ${live}`;
}

/** The facts that this one superseded, directly (SPEC §2.4), by the id of what replaced them. One statement. */
export async function factsSupersededBy(unit: Unit, ids: readonly string[]): Promise<FactRecord[]> {
  const rows = await unit.tx.$queryRaw<FactRow[]>`
    SELECT ${FACT_COLUMNS}
    FROM fact f JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
    WHERE f.tenant_id = ${unit.tenantId}::uuid AND f.superseded_by = ANY(${[...ids]}::uuid[])
    ORDER BY f.retired_at DESC, f.id`;
  return rows.map((row) => toFactRecord(unit, row));
}

/** A fact's chain: what it replaced, and what replaced it, however far, newest first; itself included. One statement. */
export async function factHistories(unit: Unit, ids: readonly string[]): Promise<Map<string, FactRecord[]>> {
  const rows = await unit.tx.$queryRaw<(FactRow & { root: string })[]>`
    WITH RECURSIVE later AS (
      SELECT f.id AS root, f.id, f.superseded_by FROM fact f
      WHERE f.tenant_id = ${unit.tenantId}::uuid AND f.id = ANY(${[...ids]}::uuid[])
      UNION
      SELECT l.root, f.id, f.superseded_by FROM later l
      JOIN fact f ON f.tenant_id = ${unit.tenantId}::uuid AND f.id = l.superseded_by
    ), chain AS (
      SELECT root, id FROM later
      UNION
      SELECT c.root, f.id FROM chain c JOIN fact f ON f.tenant_id = ${unit.tenantId}::uuid AND f.superseded_by = c.id
    )
    SELECT c.root, ${FACT_COLUMNS}
    FROM chain c
    JOIN fact f ON f.tenant_id = ${unit.tenantId}::uuid AND f.id = c.id
    JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
    ORDER BY c.root, f.recorded_at DESC, f.id DESC`;
  const histories = new Map<string, FactRecord[]>();
  for (const row of rows) {
    const history = histories.get(row.root) ?? [];
    history.push(toFactRecord(unit, row));
    histories.set(row.root, history);
  }
  return histories;
}

/** The newest live facts of these kinds that a caller with this context sees (SPEC §1 visibility), newest first. */
export async function newestVisibleFacts(
  unit: Unit,
  context: ScopeOwner,
  range: Range,
  limits: readonly { readonly kinds: readonly string[]; readonly limit: number }[],
  now: Date,
): Promise<FactRecord[][]> {
  const groups = await Promise.all(
    limits.map(
      ({ kinds, limit }) => unit.tx.$queryRaw<FactRow[]>`
      SELECT ${FACT_COLUMNS}
      FROM fact f JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
      WHERE f.tenant_id = ${unit.tenantId}::uuid AND f.kind = ANY(${[...kinds]}::text[])
        AND (f.agent_id IS NULL OR f.agent_id = ${context.agentId}::uuid)
        AND (f.user_id IS NULL OR f.user_id = ${context.userId}::uuid)
        AND ${rangeCondition('f', range)} AND ${timeCondition({ now })}
      ORDER BY f.recorded_at DESC, f.id DESC LIMIT ${limit}::int`,
    ),
  );
  return groups.map((rows) => rows.map((row) => toFactRecord(unit, row)));
}

/** Whether an agent and a user exist in the tenant; null counts as existing. One statement. */
export async function ownersExist(unit: Unit, owner: ScopeOwner): Promise<{ agent: boolean; user: boolean }> {
  const rows = await unit.tx.$queryRaw<{ agent: boolean; user: boolean }[]>`
    SELECT (${owner.agentId}::uuid IS NULL OR EXISTS (
              SELECT FROM agent WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${owner.agentId}::uuid)) AS agent,
           (${owner.userId}::uuid IS NULL OR EXISTS (
              SELECT FROM app_user WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${owner.userId}::uuid)) AS "user"`;
  return rows[0] ?? { agent: false, user: false };
}
