import { countUnderLock, type QuotaGroup, type Unit } from '../db/index.js';
import { QuotaExceededError } from '../errors.js';
import type { TenantContext } from './actor.js';

/** What is left of a quota below this share is counted with every write; above it a count serves for a while. */
const NEAR = 0.9;
/** For how long, in ms. */
const SERVES_MS = 10_000;
/** Tenants that are remembered. */
const REMEMBERED = 10_000;

/** What was counted last, with what was added here since. Not what decides near the limit: that is counted then. */
const counts = new Map<string, { count: number; readonly at: number }>();

/**
 * Holds a tenant to its quota, after the rows were written and in the same transaction, which this fails. Exact in the
 * last tenth, whatever servers write at the same time; before that a count serves for ten seconds, so that a write far
 * from the limit costs no statement. Free where the tenant has no quota.
 * @param added rows that this transaction wrote
 * @throws QuotaExceededError
 */
export async function assertQuota(
  unit: Unit,
  { settings }: Pick<TenantContext, 'settings'>,
  group: QuotaGroup,
  added: number,
): Promise<void> {
  const limit = settings.limits?.[group];
  if (limit === undefined || added === 0) return;
  const name = `${unit.tenantId} ${group}`;
  const known = counts.get(name);
  if (known && performance.now() - known.at < SERVES_MS && known.count + added <= limit * NEAR) {
    known.count += added;
    return;
  }
  const count = await countUnderLock(unit, group);
  counts.delete(name);
  counts.set(name, { count, at: performance.now() });
  if (counts.size > REMEMBERED) counts.delete(counts.keys().next().value as string);
  if (count > limit) {
    counts.delete(name);
    throw new QuotaExceededError(group, limit, count - added, added);
  }
}
