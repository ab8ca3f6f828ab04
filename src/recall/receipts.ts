import {
  type IdPage,
  inTenant,
  listReceipts,
  pruneReceipts,
  type ReceiptFilter,
  type ReceiptRecord,
  receiptsByIds,
  type TenantKeys,
  type Unit,
} from '../db/index.js';
import type { Services } from '../services.js';
import type { TenantActor } from '../tenancy/index.js';

const DAY_MS = 86_400_000;
/** Most receipts dropped in one transaction. */
const CHUNK = 1_000;

/** Administrators and auditors read every receipt of their tenant, an agent or a user those of what it asked itself. */
function ownOnly(actor: TenantActor): boolean {
  return actor.kind === 'AGENT' || actor.kind === 'USER';
}

/** The receipts with these ids that an actor may read. One statement. */
export async function readReceipts(
  unit: Unit,
  actor: TenantActor,
  ids: readonly string[],
): Promise<ReceiptRecord[]> {
  const receipts = await receiptsByIds(unit, ids);
  return receipts.filter(
    ({ actorKind, actorId }) => !ownOnly(actor) || (actorKind === actor.kind && actorId === actor.id),
  );
}

/** A page of the receipts that an actor may read, newest first. One statement. */
export async function receiptPage(
  unit: Unit,
  actor: TenantActor,
  filter: Omit<ReceiptFilter, 'actorId'>,
  page: IdPage,
): Promise<ReceiptRecord[]> {
  return listReceipts(unit, { ...filter, actorId: ownOnly(actor) ? actor.id : null }, page);
}

/**
 * Drops a tenant's receipts that are older than `keptDays`, oldest first and in short transactions.
 * @returns how many were dropped
 */
export async function pruneRecallReceipts(
  { db, now }: Pick<Services, 'db' | 'now'>,
  tenant: TenantKeys,
  keptDays: number,
): Promise<number> {
  const before = new Date(now().getTime() - keptDays * DAY_MS);
  let total = 0;
  for (;;) {
    const dropped = await inTenant(db, tenant, (unit) => pruneReceipts(unit, before, CHUNK));
    total += dropped;
    if (dropped < CHUNK) return total;
  }
}
