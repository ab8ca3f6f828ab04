import { Prisma } from '../generated/client.js';
import type { Database, Transaction } from '../index.js';
import type { Unit } from './unit.js';

/** Where a tenant's event stream stands. Events in `(floor, head]` exist, without gaps (SPEC §11). */
export interface StreamState {
  /** Changes when the stream's history is replaced, such as after a restore. */
  readonly epoch: number;
  /** The newest event's number; 0 for a stream without events. */
  readonly head: bigint;
  /** The newest event that is no longer kept. */
  readonly floor: bigint;
}

/** An event as stored; see src/events/event-types.ts for the meaning of each field. */
export interface EventRecord {
  readonly seq: bigint;
  readonly type: string;
  readonly agentId: string | null;
  readonly userId: string | null;
  readonly subjectId: string | null;
  readonly factId: string | null;
  readonly cause: string | null;
  readonly oldValue: number | null;
  readonly newValue: number | null;
  readonly actorKind: string;
  readonly actorId: string | null;
  readonly occurredAt: Date;
}

/** What a commit of this process added to a tenant's stream. */
export interface AppendedEvents {
  readonly tenantId: string;
  /** Undefined: they were written where they were computed, and are to be read from the log. */
  readonly known?: {
    readonly epoch: number;
    /** At least one; their numbers follow each other, up to the stream's head as of the commit. */
    readonly events: readonly EventRecord[];
  };
}

/** Which events a reader wants and may see. What is left out does not restrict; all given must hold. */
export interface EventSelection {
  readonly types?: readonly string[];
  /** Exactly this agent's. */
  readonly agentId?: string;
  /** Exactly this user's. */
  readonly userId?: string;
  readonly factIds?: readonly string[];
  readonly causes?: readonly string[];
  /** Smallest distance between old and new importance; a new fact counts from 0. */
  readonly minDelta?: number;
  /** Not what this one caused. */
  readonly exceptActor?: { readonly kind: string; readonly id: string | null };
  /** What the reader may see at all: an agent its own and those of no agent, a user its own. */
  readonly range: { readonly agentId?: string; readonly userId?: string };
}

/** A stretch of the stream that was looked through. */
export interface EventPage {
  readonly stream: StreamState;
  /** The number after which the reading began. */
  readonly after: bigint;
  readonly events: readonly EventRecord[];
  /** Every selected event up to and including this number is in `events`. */
  readonly through: bigint;
}

/** The SQL twin of `selects` in src/events/selection.ts. */
function selectionCondition(selection: EventSelection): Prisma.Sql {
  const { types, agentId, userId, factIds, causes, minDelta, exceptActor, range } = selection;
  const conditions = [Prisma.sql`true`];
  if (types) conditions.push(Prisma.sql`e.type = ANY(${[...types]}::text[])`);
  if (agentId) conditions.push(Prisma.sql`e.agent_id = ${agentId}::uuid`);
  if (userId) conditions.push(Prisma.sql`e.user_id = ${userId}::uuid`);
  if (factIds) conditions.push(Prisma.sql`e.fact_id = ANY(${[...factIds]}::uuid[])`);
  if (causes) conditions.push(Prisma.sql`e.cause = ANY(${[...causes]}::text[])`);
  if (minDelta !== undefined) {
    conditions.push(Prisma.sql`abs(e.new_value - coalesce(e.old_value, 0)) >= ${minDelta}::float8`);
  }
  if (exceptActor) {
    const { kind, id } = exceptActor;
    conditions.push(Prisma.sql`(e.actor_kind <> ${kind}::text OR e.actor_id IS DISTINCT FROM ${id}::uuid)`);
  }
  if (range.agentId) conditions.push(Prisma.sql`(e.agent_id IS NULL OR e.agent_id = ${range.agentId}::uuid)`);
  if (range.userId) conditions.push(Prisma.sql`e.user_id = ${range.userId}::uuid`);
  return Prisma.join(conditions, ' AND ');
}

/**
 * Reads on from a place in the stream, in order. One statement, hence one snapshot of stream and events.
 * @param after a sequence number, or `floor`: the oldest kept
 * @param limit most events returned
 * @param span most events looked at, so that a filter that few pass cannot make one statement long
 * @returns null when the tenant has no stream: it does not exist
 */
export async function readEvents(
  unit: Unit,
  {
    after,
    limit,
    span,
    selection,
  }: { after: bigint | 'floor'; limit: number; span: number; selection: EventSelection },
): Promise<EventPage | null> {
  const begin = after === 'floor' ? Prisma.sql`floor` : Prisma.sql`${after}::int8`;
  const rows = await unit.tx.$queryRaw<
    (StreamState & { after: bigint } & (EventRecord | { readonly seq: null }))[]
  >`
    WITH stream AS (
      SELECT epoch, head, floor, ${begin} AS after FROM tenant_stream WHERE tenant_id = ${unit.tenantId}::uuid
    )
    SELECT s.epoch, s.head, s.floor, s.after, e.seq, e.type, e.agent_id AS "agentId", e.user_id AS "userId",
           e.subject_id AS "subjectId", e.fact_id AS "factId", e.cause, e.old_value AS "oldValue",
           e.new_value AS "newValue", e.actor_kind AS "actorKind", e.actor_id AS "actorId",
           e.occurred_at AS "occurredAt"
    FROM stream s
    LEFT JOIN LATERAL (
      SELECT * FROM (
        SELECT seq, type, agent_id, user_id, subject_id, fact_id, cause, old_value, new_value, actor_kind, actor_id, occurred_at
        FROM event
        WHERE tenant_id = ${unit.tenantId}::uuid AND seq > s.after AND seq <= s.after + ${span}::int8
        UNION ALL
        SELECT b.first_seq + x.place - 1, b.type, b.agent_id, b.user_id, x.fact_id, x.fact_id, b.cause, x.old_value,
               x.new_value, b.actor_kind, b.actor_id, b.occurred_at
        FROM event_batch b
        CROSS JOIN LATERAL unnest(b.fact_ids, b.old_values, b.new_values)
          WITH ORDINALITY AS x(fact_id, old_value, new_value, place)
        WHERE b.tenant_id = ${unit.tenantId}::uuid AND b.last_seq > s.after AND b.last_seq <= (
          -- the batch that the span ends in is the last to look at
          SELECT coalesce(min(l.last_seq), s.head) FROM event_batch l
          WHERE l.tenant_id = ${unit.tenantId}::uuid AND l.last_seq >= s.after + ${span}::int8)
          AND b.first_seq + x.place - 1 > s.after AND b.first_seq + x.place - 1 <= s.after + ${span}::int8
      ) e
      WHERE ${selectionCondition(selection)}
      ORDER BY e.seq
      LIMIT ${limit}::int8
    ) e ON true
    ORDER BY e.seq`;
  const stream = rows[0];
  if (!stream) return null;
  const events = rows.filter((row): row is typeof row & EventRecord => row.seq !== null);
  const reached = stream.after + BigInt(span);
  return {
    stream: { epoch: stream.epoch, head: stream.head, floor: stream.floor },
    after: stream.after,
    events,
    through: events.length === limit ? events[limit - 1]!.seq : reached < stream.head ? reached : stream.head,
  };
}

/** Where the tenant's stream stands; null when there is no such tenant. */
export async function streamState(unit: Unit): Promise<StreamState | null> {
  const rows = await unit.tx.$queryRaw<StreamState[]>`
    SELECT epoch, head, floor FROM tenant_stream WHERE tenant_id = ${unit.tenantId}::uuid`;
  return rows[0] ?? null;
}

/** Where the streams of several tenants stand, by tenant id; for the platform's role. One statement. */
export async function streamHeads(
  tx: Transaction,
  tenantIds: readonly string[],
): Promise<Map<string, { readonly epoch: number; readonly head: bigint }>> {
  const rows = await tx.$queryRaw<{ tenantId: string; epoch: number; head: bigint }[]>`
    SELECT tenant_id AS "tenantId", epoch, head FROM tenant_stream
    WHERE tenant_id = ANY(${[...tenantIds]}::uuid[])`;
  return new Map(rows.map((row) => [row.tenantId, row]));
}

/**
 * Makes every tenant's stream another history, so that cursors from before are refused. A short transaction each.
 * @returns of how many tenants
 */
export async function beginNewHistories(db: Database): Promise<number> {
  const tenants = await db.withPlatform((tx) =>
    tx.tenant.findMany({ select: { id: true }, orderBy: { id: 'asc' } }),
  );
  for (const { id } of tenants) {
    await db.withTenant(
      id,
      (tx) => tx.$executeRaw`UPDATE tenant_stream SET epoch = epoch + 1 WHERE tenant_id = ${id}::uuid`,
    );
  }
  return tenants.length;
}

/**
 * Drops the oldest events up to the first that is as new as `before`, and raises the floor: cursors below it expire.
 * @param limit most events dropped by one call, which bounds the time that writers wait for the stream's row
 * @returns how many were dropped; fewer than `limit`: nothing older is left
 */
export async function pruneEvents(unit: Unit, before: Date, limit: number): Promise<number> {
  const rows = await unit.tx.$queryRaw<{ dropped: number }[]>`
    WITH stream AS (
      SELECT floor FROM tenant_stream WHERE tenant_id = ${unit.tenantId}::uuid FOR UPDATE
    ), bound AS (
      -- Never the stream's head: it may be of a commit that this statement's snapshot of events does not have yet.
      SELECT s.floor, coalesce(
        min(e.first_seq) FILTER (WHERE e.occurred_at >= ${before}::timestamptz) - 1, max(e.seq)) AS seq
      FROM stream s CROSS JOIN LATERAL (
        SELECT seq AS first_seq, seq, occurred_at FROM event
        WHERE tenant_id = ${unit.tenantId}::uuid AND seq > s.floor AND seq <= s.floor + ${limit}::int8
        UNION ALL
        SELECT b.first_seq, b.last_seq, b.occurred_at FROM event_batch b
        WHERE b.tenant_id = ${unit.tenantId}::uuid AND b.last_seq > s.floor AND b.first_seq <= s.floor + ${limit}::int8) e
      GROUP BY s.floor
    ), raised AS (
      UPDATE tenant_stream t SET floor = b.seq FROM bound b
      WHERE t.tenant_id = ${unit.tenantId}::uuid AND b.seq > b.floor
    ), dropped AS (
      DELETE FROM event e USING bound b
      WHERE e.tenant_id = ${unit.tenantId}::uuid AND e.seq > b.floor AND e.seq <= b.seq
    ), dropped_batches AS (
      DELETE FROM event_batch e USING bound b
      WHERE e.tenant_id = ${unit.tenantId}::uuid AND e.last_seq > b.floor AND e.last_seq <= b.seq
    )
    SELECT greatest(max(b.seq) - max(b.floor), 0)::int AS dropped FROM bound b`;
  return rows[0]?.dropped ?? 0;
}
