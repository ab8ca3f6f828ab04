import type { Unit } from './unit.js';

/** A repetition's key, by actor and operation; the same key with another request is a mistake of the caller. */
export interface IdempotencyKey {
  readonly actor: string;
  readonly operation: string;
  readonly key: string;
  /** The request in one canonical text. */
  readonly request: string;
}

/** The constraint that two first uses of one key at the same time violate. */
export const IDEMPOTENCY_CONSTRAINT = 'idempotency_pkey';

/**
 * What the first use of the key answered.
 * @returns the ids of the reply; 'MISMATCH' when the key was used for another request; null at the first use
 */
export async function findReply(
  unit: Unit,
  key: IdempotencyKey,
): Promise<Record<string, unknown> | 'MISMATCH' | null> {
  const row = await unit.tx.idempotency.findUnique({
    where: { tenantId_actor_operation_keyHash: identity(unit, key) },
    select: { requestHash: true, reply: true },
  });
  if (!row) return null;
  if (Buffer.compare(row.requestHash, unit.content.hash('request', key.request)) !== 0) return 'MISMATCH';
  return row.reply as Record<string, unknown>;
}

/** Keeps a reply's ids (no content), in the transaction of what it answers. */
export async function insertReply(
  unit: Unit,
  key: IdempotencyKey,
  reply: Record<string, unknown>,
  at: Date,
): Promise<void> {
  await unit.tx.idempotency.create({
    data: {
      ...identity(unit, key),
      requestHash: unit.content.hash('request', key.request),
      reply: JSON.parse(JSON.stringify(reply)),
      createdAt: at,
    },
    select: { createdAt: true },
  });
}

function identity(unit: Unit, key: IdempotencyKey) {
  return {
    tenantId: unit.tenantId,
    actor: key.actor,
    operation: key.operation,
    keyHash: unit.content.hash('idempotency', key.key),
  };
}
