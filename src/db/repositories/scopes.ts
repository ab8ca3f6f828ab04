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
  const locked = await lockExisting(unit, owners);
  if (locked.length === owners.length) return locked;
  await makeScopes(unit, owners, at);
  return lockExisting(unit, owners);
}

async function lockExisting(unit: Unit, owners: readonly ScopeOwner[]): Promise<ScopeRow[]> {
  return unit.tx.$queryRaw<ScopeRow[]>`
    SELECT s.id, s.agent_id AS "agentId", s.user_id AS "userId"
    FROM scope s
    JOIN scope_state st ON st.tenant_id = s.tenant_id AND st.scope_id = s.id
    WHERE s.tenant_id = ${unit.tenantId}::uuid AND EXISTS (
      SELECT FROM unnest(${owners.map((o) => o.agentId)}::uuid[], ${owners.map((o) => o.userId)}::uuid[]) AS w(agent_id, user_id)
      WHERE w.agent_id IS NOT DISTINCT FROM s.agent_id AND w.user_id IS NOT DISTINCT FROM s.user_id)
    ORDER BY s.id
    FOR UPDATE OF st`;
}

async function makeScopes(unit: Unit, owners: readonly ScopeOwner[], at: Date): Promise<void> {
  await unit.tx.$executeRaw`
    WITH made AS (
      INSERT INTO scope (tenant_id, agent_id, user_id, created_at)
      SELECT ${unit.tenantId}::uuid, w.agent_id, w.user_id, ${at}::timestamptz
      FROM unnest(${owners.map((o) => o.agentId)}::uuid[], ${owners.map((o) => o.userId)}::uuid[]) AS w(agent_id, user_id)
      WHERE (w.agent_id IS NULL OR EXISTS (
              SELECT FROM agent a WHERE a.tenant_id = ${unit.tenantId}::uuid AND a.id = w.agent_id))
        AND (w.user_id IS NULL OR EXISTS (
              SELECT FROM app_user u WHERE u.tenant_id = ${unit.tenantId}::uuid AND u.id = w.user_id))
      ON CONFLICT DO NOTHING
      RETURNING id)
    INSERT INTO scope_state (tenant_id, scope_id)
    SELECT ${unit.tenantId}::uuid, id FROM made`;
}

/** What scoring and budgets need to know of a scope, read under its lock. */
export interface ScopeFigures {
  readonly scopeId: number;
  /** Characters of its live USER_PROFILE facts. */
  readonly userProfileCharacters: number;
  readonly baseline: { readonly n: number; readonly mean: number; readonly m2: number };
}

/** The figures of these scopes, and the tenant's baseline over all its scopes (SPEC §4.1), in one statement. */
export async function readScopeFigures(
  unit: Unit,
  scopeIds: readonly number[],
  modelId: number,
  now: Date,
): Promise<{ scopes: ScopeFigures[]; tenantBaseline: ScopeFigures['baseline'] }> {
  const rows = await unit.tx.$queryRaw<
    { scopeId: number | null; characters: number; n: number | null; mean: number | null; m2: number | null }[]
  >`
    WITH own AS (
      SELECT scope_id, n, mean, m2 FROM novelty_baseline
      WHERE tenant_id = ${unit.tenantId}::uuid AND model_id = ${modelId}::int
    ), whole AS (
      -- Chan's formula for merging running variances
      SELECT sum(n)::int AS n, sum(n * mean) / nullif(sum(n), 0) AS mean, sum(m2) AS within, sum(n * mean * mean) AS squares FROM own
    )
    SELECT w.id AS "scopeId", coalesce(p.characters, 0)::int AS characters, o.n, o.mean, o.m2
    FROM unnest(${[...scopeIds]}::int[]) AS w(id)
    LEFT JOIN own o ON o.scope_id = w.id
    LEFT JOIN LATERAL (
      SELECT sum(f.characters) AS characters FROM fact f
      WHERE f.tenant_id = ${unit.tenantId}::uuid AND f.scope_id = w.id AND f.kind = 'USER_PROFILE'
        AND f.retired_at IS NULL AND (f.valid_to IS NULL OR f.valid_to > ${now}::timestamptz)) p ON true
    UNION ALL
    SELECT NULL, 0, n, mean, greatest(0, within + squares - n * mean * mean) FROM whole`;
  const baselineOf = (row: (typeof rows)[number] | undefined) => ({
    n: row?.n ?? 0,
    mean: row?.mean ?? 0,
    m2: row?.m2 ?? 0,
  });
  return {
    scopes: rows.flatMap((row) =>
      row.scopeId === null
        ? []
        : [{ scopeId: row.scopeId, userProfileCharacters: row.characters, baseline: baselineOf(row) }],
    ),
    tenantBaseline: baselineOf(rows.find((row) => row.scopeId === null)),
  };
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
  const rows = changes.map((change) => ({ ...change, ...change.baseline }));
  await unit.tx.$executeRaw`
    WITH change AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS r("scopeId" int, n int, mean double precision, m2 double precision, documents int8, terms int8)
    ), baseline AS (
      INSERT INTO novelty_baseline (tenant_id, scope_id, model_id, n, mean, m2)
      SELECT ${unit.tenantId}::uuid, "scopeId", ${modelId}::int, n, mean, m2 FROM change WHERE n IS NOT NULL
      ON CONFLICT (tenant_id, scope_id, model_id) DO UPDATE SET n = excluded.n, mean = excluded.mean, m2 = excluded.m2)
    UPDATE scope_state st SET documents = st.documents + c.documents, document_terms = st.document_terms + c.terms
    FROM change c WHERE st.tenant_id = ${unit.tenantId}::uuid AND st.scope_id = c."scopeId"`;
}
