import { Prisma } from '../generated/client.js';
import { type Range, rangeCondition } from './conditions.js';
import type { IdPage } from './members.js';
import { ownedByOneOf, type ScopeOwner } from './scopes.js';
import type { Unit } from './unit.js';

/** A conversation in a scope, with its extraction cursor (SPEC §2.2). */
export interface SessionRow extends ScopeOwner {
  readonly id: string;
  readonly scopeId: number;
  readonly externalId: string | null;
  /** Sequence of its newest message; 0 when it has none. */
  readonly lastSeq: number;
  /** Sequence of the newest message that was mined. */
  readonly minedSeq: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export async function sessionsByIds(unit: Unit, ids: readonly string[]): Promise<SessionRow[]> {
  return unit.tx.$queryRaw<SessionRow[]>`
    SELECT ${SESSION_COLUMNS} FROM session s
    WHERE s.tenant_id = ${unit.tenantId}::uuid AND s.id = ANY(${[...ids]}::uuid[])`;
}

/** The session of this externalId of exactly this agent and user; null where there is none. One statement. */
export async function sessionByExternalId(
  unit: Unit,
  owner: ScopeOwner,
  externalId: string,
): Promise<SessionRow | null> {
  const rows = await unit.tx.$queryRaw<SessionRow[]>`
    SELECT ${SESSION_COLUMNS} FROM session s
    WHERE s.tenant_id = ${unit.tenantId}::uuid AND s.external_id = ${externalId}::text
      AND s.scope_id = (SELECT s.id FROM scope s WHERE ${ownedByOneOf(unit, [owner])})`;
  return rows[0] ?? null;
}

/** Sessions in the order of their ids, which is that of their creation, within a reader's range. */
export async function listSessions(unit: Unit, page: IdPage, range: Range): Promise<SessionRow[]> {
  const { after, before, backward, limit } = page;
  return unit.tx.$queryRaw<SessionRow[]>`
    SELECT ${SESSION_COLUMNS} FROM session s
    WHERE s.tenant_id = ${unit.tenantId}::uuid AND ${rangeCondition('s', range)}
      ${after === null ? Prisma.empty : Prisma.sql`AND s.id > ${after}::uuid`}
      ${before === null ? Prisma.empty : Prisma.sql`AND s.id < ${before}::uuid`}
    ORDER BY s.id ${backward ? Prisma.sql`DESC` : Prisma.sql`ASC`} LIMIT ${limit + 1}::int`;
}

/** The session with this id, its row locked against other appends and runs. */
export async function lockSession(unit: Unit, id: string, range: Range): Promise<SessionRow | null> {
  const rows = await unit.tx.$queryRaw<SessionRow[]>`
    SELECT ${SESSION_COLUMNS} FROM session s
    WHERE s.tenant_id = ${unit.tenantId}::uuid AND s.id = ${id}::uuid AND ${rangeCondition('s', range)}
    FOR NO KEY UPDATE`;
  return rows[0] ?? null;
}

/** A new session, or the one of this externalId in its scope; locked either way. */
export async function openSession(
  unit: Unit,
  session: ScopeOwner & { readonly id: string; readonly scopeId: number; readonly externalId: string | null },
  at: Date,
): Promise<SessionRow> {
  const rows = await unit.tx.$queryRaw<SessionRow[]>`
    INSERT INTO session AS s (tenant_id, id, scope_id, agent_id, user_id, external_id, created_at, updated_at)
    VALUES (${unit.tenantId}::uuid, ${session.id}::uuid, ${session.scopeId}::int, ${session.agentId}::uuid,
            ${session.userId}::uuid, ${session.externalId}::text, ${at}::timestamptz, ${at}::timestamptz)
    ON CONFLICT (tenant_id, scope_id, external_id) DO UPDATE SET external_id = s.external_id
    RETURNING ${SESSION_COLUMNS}`;
  return rows[0] as SessionRow;
}

const SESSION_COLUMNS = Prisma.sql`s.id, s.scope_id AS "scopeId", s.agent_id AS "agentId", s.user_id AS "userId",
  s.external_id AS "externalId", s.last_seq AS "lastSeq", s.mined_seq AS "minedSeq", s.created_at AS "createdAt",
  s.updated_at AS "updatedAt"`;
