import { newId } from '../../ids.js';
import type { Unit } from './unit.js';

/** Who did what to which rows; never content. */
export interface AuditRow {
  readonly actorKind: string;
  readonly actorId: string | null;
  readonly keyId: string | null;
  readonly operation: string;
  readonly targetIds: readonly string[];
  readonly requestId: string | null;
}

/** Adds an entry to the tenant's log, in the transaction of what it tells of. */
export async function insertAudit(unit: Unit, entry: AuditRow, at: Date): Promise<void> {
  await unit.tx.auditEntry.create({
    data: { tenantId: unit.tenantId, id: newId(), occurredAt: at, ...entry, targetIds: [...entry.targetIds] },
    select: { id: true },
  });
}
