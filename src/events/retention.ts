import { inTenant, pruneEvents, type TenantKeys } from '../db/index.js';
import type { Services } from '../services.js';

/** Days that events are kept where a tenant sets nothing (SPEC §11). */
export const DEFAULT_KEPT_DAYS = 30;

const DAY_MS = 86_400_000;
/** Most events dropped in one transaction: writers of the tenant wait for it. */
const CHUNK = 5_000;

/**
 * Drops a tenant's events that are older than `keptDays`, oldest first and in short transactions. A cursor from before
 * them expires; "earliest" begins behind them.
 * @returns how many were dropped
 */
export async function pruneEventLog(
  { db, now }: Pick<Services, 'db' | 'now'>,
  tenant: TenantKeys,
  keptDays: number = DEFAULT_KEPT_DAYS,
): Promise<number> {
  const before = new Date(now().getTime() - keptDays * DAY_MS);
  let total = 0;
  for (;;) {
    const dropped = await inTenant(db, tenant, (unit) => pruneEvents(unit, before, CHUNK));
    total += dropped;
    if (dropped < CHUNK) return total;
  }
}
