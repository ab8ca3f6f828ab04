import type { Transaction } from '../index.js';

/** Who is asked about: a key, or, where there is none, a tenant. */
export interface StandingQuestion {
  readonly keyIds: readonly string[];
  readonly tenantIds: readonly string[];
}

/**
 * Which of these keys are in force (not revoked, not expired, of a tenant that exists), and which of these tenants
 * exist; for the platform's role. One statement for any number of them.
 */
export async function standingOf(tx: Transaction, asked: StandingQuestion, now: Date): Promise<Set<string>> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT k.id FROM api_key k JOIN tenant t ON t.id = k.tenant_id
    WHERE k.id = ANY(${[...asked.keyIds]}::uuid[]) AND k.revoked_at IS NULL
      AND (k.expires_at IS NULL OR k.expires_at > ${now}::timestamptz) AND t.deleted_at IS NULL
    UNION ALL
    SELECT t.id FROM tenant t WHERE t.id = ANY(${[...asked.tenantIds]}::uuid[]) AND t.deleted_at IS NULL`;
  return new Set(rows.map((row) => row.id));
}

/** Does nothing but find out that the database answers. */
export async function ping(tx: Transaction): Promise<void> {
  await tx.$queryRaw`SELECT 1`;
}
