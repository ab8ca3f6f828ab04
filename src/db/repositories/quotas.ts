import { Prisma } from '../generated/client.js';
import type { Unit } from './unit.js';

/** Of what a tenant may have so many. */
export const QUOTA_GROUPS = ['agents', 'users', 'facts', 'messages'] as const;
export type QuotaGroup = (typeof QUOTA_GROUPS)[number];

const TABLES: Record<QuotaGroup, string> = {
  agents: 'agent',
  users: 'app_user',
  facts: 'fact',
  messages: 'message',
};

/**
 * Makes others who count the same of this tenant wait until the transaction ends, then counts: what they have added is in
 * it. Two statements.
 */
export async function countUnderLock(unit: Unit, group: QuotaGroup): Promise<number> {
  await unit.tx.$executeRaw`
    SELECT pg_advisory_xact_lock(hashtextextended(${`quota ${group} ${unit.tenantId}`}::text, 0))`;
  return countOf(unit, group);
}

/** How many the tenant has. One statement. */
export async function countOf(unit: Unit, group: QuotaGroup): Promise<number> {
  const table = Prisma.raw(TABLES[group]);
  const [row] = await unit.tx.$queryRaw<{ count: number }[]>`
    SELECT count(*)::float8 AS count FROM ${table} r WHERE r.tenant_id = ${unit.tenantId}::uuid`;
  return row?.count ?? 0;
}
