import { Prisma } from '../generated/client.js';
import type { Unit } from './unit.js';

/** Whom facts belong to; null is "none", a value of its own (SPEC §1). */
export interface ScopeOwner {
  readonly agentId: string | null;
  readonly userId: string | null;
}

export interface ScopeRow extends ScopeOwner {
  readonly id: number;
}

/**
 * Takes the write locks of these scopes, in one order for all writers, and makes the ones that do not exist yet.
 * An owner whose agent or user does not exist in the tenant is left out of the answer.
 */
export async function lockScopes(unit: Unit, owners: readonly ScopeOwner[], at: Date): Promise<ScopeRow[]> {
  const locked = await lockExisting(unit, owners, owners.length);
  if (locked.length === owners.length) return locked;
  // No lock is held while others are waited for that make the same ones: they may wait for such a lock.
  const made = await makeScopes(unit, owners, at);
  // What is made here is this transaction's alone until it ends.
  if (made.length === owners.length) return made;
  return lockExisting(unit, owners, 0);
}

/** Takes the write locks of these scopes, in the same order as `lockScopes`. One statement. */
export async function lockScopesById(unit: Unit, scopeIds: readonly number[]): Promise<void> {
  await unit.tx.$executeRaw`
    SELECT FROM scope_state WHERE tenant_id = ${unit.tenantId}::uuid AND scope_id = ANY(${[...scopeIds]}::int[])
    ORDER BY scope_id FOR UPDATE`;
}

/**
 * The rows of `scope` s of exactly these owners. "Is none" and "is this one" are told apart here: PostgreSQL serves
 * neither `IS NOT DISTINCT FROM` nor a choice between the two by an index.
 */
export function ownedByOneOf(unit: Unit, owners: readonly ScopeOwner[]): Prisma.Sql {
  const is = (column: 'agent_id' | 'user_id', id: string | null) =>
    id === null
      ? Prisma.sql`s.${Prisma.raw(column)} IS NULL`
      : Prisma.sql`s.${Prisma.raw(column)} = ${id}::uuid`;
  const conditions = owners.map(
    ({ agentId, userId }) =>
      Prisma.sql`(s.tenant_id = ${unit.tenantId}::uuid AND ${is('agent_id', agentId)} AND ${is('user_id', userId)})`,
  );
  return conditions.length === 0 ? Prisma.sql`false` : Prisma.sql`(${Prisma.join(conditions, ' OR ')})`;
}

/** @param least how many of the scopes must exist; where fewer do, none is locked */
async function lockExisting(unit: Unit, owners: readonly ScopeOwner[], least: number): Promise<ScopeRow[]> {
  return unit.tx.$queryRaw<ScopeRow[]>`
    SELECT s.id, s.agent_id AS "agentId", s.user_id AS "userId"
    FROM scope s
    JOIN scope_state st ON st.tenant_id = s.tenant_id AND st.scope_id = s.id
    WHERE ${ownedByOneOf(unit, owners)}
      AND (SELECT count(*) FROM scope s WHERE ${ownedByOneOf(unit, owners)}) >= ${least}::int
    ORDER BY s.id
    FOR UPDATE OF st`;
}

/**
 * The scope of an owner, made where it does not exist yet, without its lock: for who writes no facts in it.
 * @returns null where the agent or user does not exist in the tenant
 */
export async function findOrMakeScope(unit: Unit, owner: ScopeOwner, at: Date): Promise<ScopeRow | null> {
  const found = await findScope(unit, owner);
  if (found) return found;
  const [made] = await makeScopes(unit, [owner], at);
  return made ?? findScope(unit, owner);
}

/** The scope of an owner; null where nothing was ever written to it. */
export async function findScope(unit: Unit, owner: ScopeOwner): Promise<ScopeRow | null> {
  const rows = await unit.tx.$queryRaw<ScopeRow[]>`
    SELECT s.id, s.agent_id AS "agentId", s.user_id AS "userId" FROM scope s WHERE ${ownedByOneOf(unit, [owner])}`;
  return rows[0] ?? null;
}

/**
 * In one order for all writers, like the locks: two that make the same scopes wait for each other but once.
 *
 * What matters to the tenant cannot change from here to the end of the transaction. A rescoring waits for the lock of a
 * scope that it sees, and then finds what was written there; a new one it cannot see, so the first facts of it must not
 * be scored by profiles that are changed, and rescored for, before they are committed (SPEC §7).
 */
async function makeScopes(unit: Unit, given: readonly ScopeOwner[], at: Date): Promise<ScopeRow[]> {
  const key = (owner: ScopeOwner) => `${owner.agentId}/${owner.userId}`;
  const owners = [...given].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  return unit.tx.$queryRaw<ScopeRow[]>`
    WITH made AS (
      INSERT INTO scope (tenant_id, agent_id, user_id, created_at)
      SELECT ${unit.tenantId}::uuid, w.agent_id, w.user_id, ${at}::timestamptz
      FROM unnest(${owners.map((o) => o.agentId)}::uuid[], ${owners.map((o) => o.userId)}::uuid[]) AS w(agent_id, user_id)
      CROSS JOIN (SELECT id FROM tenant WHERE id = ${unit.tenantId}::uuid FOR SHARE) t
      WHERE (w.agent_id IS NULL OR EXISTS (
              SELECT FROM agent a WHERE a.tenant_id = ${unit.tenantId}::uuid AND a.id = w.agent_id))
        AND (w.user_id IS NULL OR EXISTS (
              SELECT FROM app_user u WHERE u.tenant_id = ${unit.tenantId}::uuid AND u.id = w.user_id))
      ON CONFLICT DO NOTHING
      RETURNING id, agent_id, user_id
    ), state AS (
      INSERT INTO scope_state (tenant_id, scope_id)
      SELECT ${unit.tenantId}::uuid, id FROM made)
    SELECT id, agent_id AS "agentId", user_id AS "userId" FROM made`;
}

/** What scoring and budgets need to know of a scope, read under its lock. */
export interface ScopeFigures {
  readonly scopeId: number;
  /** Characters of its live USER_PROFILE facts. */
  readonly userProfileCharacters: number;
  readonly baseline: { readonly n: number; readonly mean: number; readonly m2: number };
}

/** How a scope changed by a write. */
export interface ScopeChange {
  readonly scopeId: number;
  /** The new baseline; absent when nothing was added to it. */
  readonly baseline?: ScopeFigures['baseline'];
  /** Searchable documents added, and their terms. */
  readonly documents: number;
  readonly terms: number;
}

/** Stores what a write changed of its scopes. One statement. */
export async function writeScopeChanges(
  unit: Unit,
  changes: readonly ScopeChange[],
  modelId: number,
): Promise<void> {
  await unit.tx.$executeRaw`WITH ${scopeChangeExpressions(unit, changes, modelId)} SELECT 1`;
}

/** The common table expressions that store changes of scopes, as part of a bigger statement. */
export function scopeChangeExpressions(
  unit: Unit,
  changes: readonly ScopeChange[],
  modelId: number,
): Prisma.Sql {
  const rows = changes.map((change) => ({ ...change, ...change.baseline }));
  return Prisma.sql`
    change AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS r("scopeId" int, n int, mean double precision, m2 double precision, documents int8, terms int8)
    ), changed_baseline AS (
      INSERT INTO novelty_baseline (tenant_id, scope_id, model_id, n, mean, m2)
      SELECT ${unit.tenantId}::uuid, "scopeId", ${modelId}::int, n, mean, m2 FROM change WHERE n IS NOT NULL
      ON CONFLICT (tenant_id, scope_id, model_id) DO UPDATE SET n = excluded.n, mean = excluded.mean, m2 = excluded.m2
    ), changed_scope AS (
      UPDATE scope_state st SET documents = st.documents + c.documents, document_terms = st.document_terms + c.terms
      FROM change c WHERE st.tenant_id = ${unit.tenantId}::uuid AND st.scope_id = c."scopeId"
    )`;
}
