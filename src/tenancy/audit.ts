import { type Changer, insertAudit, type Unit } from '../db/index.js';
import { currentRequestId } from '../request-id.js';
import type { Actor } from './actor.js';

/** Tells the tenant's log what an actor did, in the transaction that did it. One statement. */
export async function audit(
  unit: Unit,
  actor: Actor,
  operation: string,
  targetIds: readonly string[],
  at: Date,
): Promise<void> {
  await insertAudit(
    unit,
    {
      actorKind: actor.kind,
      actorId: actor.id,
      keyId: actor.keyId,
      operation,
      targetIds,
      requestId: currentRequestId() ?? null,
    },
    at,
  );
}

/** The actor as versions and events name it. */
export function changerOf(actor: Actor): Changer {
  return { kind: actor.kind, id: actor.id };
}
