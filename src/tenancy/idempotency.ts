import {
  type Database,
  findReply,
  IDEMPOTENCY_CONSTRAINT,
  type IdempotencyKey,
  insertReply,
  inTenant,
  type TenantKeys,
  type Unit,
  violates,
} from '../db/index.js';
import { BadInputError, ConflictError } from '../errors.js';
import type { Actor } from './actor.js';

/** Longest idempotency key, in characters. */
const KEY_LIMIT = 200;

/**
 * The key of a request that may be sent again. @throws BadInputError for a blank or over-long key
 * @returns null when none was given
 */
export function idempotencyKeyOf(
  actor: Actor,
  operation: string,
  key: string | null | undefined,
  request: unknown,
): IdempotencyKey | null {
  if (key == null) return null;
  if (key.trim() === '' || key.length > KEY_LIMIT) {
    throw new BadInputError(`idempotencyKey must have 1 to ${KEY_LIMIT} characters`, ['idempotencyKey']);
  }
  return { actor: `${actor.kind}:${actor.id ?? ''}`, operation, key, request: JSON.stringify(request) };
}

/**
 * What the first request with this key was answered, looked up before anything else is done for a repeated one: what
 * has become of its input since, and of what checks it, does not matter then.
 * @returns null at the first use, and without a key
 */
export async function repeatedReply<Reply extends Record<string, unknown>>(
  deps: { readonly db: Database },
  tenant: TenantKeys,
  key: IdempotencyKey | null,
): Promise<Reply | null> {
  return key && inTenant(deps.db, tenant, (unit) => earlierReply<Reply>(unit, key));
}

async function earlierReply<Reply>(unit: Unit, key: IdempotencyKey): Promise<Reply | null> {
  const earlier = await findReply(unit, key);
  if (earlier === 'MISMATCH') {
    throw new ConflictError('idempotencyKey was used for another request', ['idempotencyKey']);
  }
  return earlier as Reply | null;
}

/**
 * Answers a repeated request as the first time, without doing it again. Whoever calls it has asked `repeatedReply`
 * before; only when the transaction is run again does it look once more.
 * @param again from `retryOnSameKey`
 * @param work does it; its ids are kept with the key, in the same transaction, before `finish` appends the events
 * @throws ConflictError when the key was used for another request
 */
export async function once<Reply extends Record<string, unknown>>(
  unit: Unit,
  key: IdempotencyKey | null,
  at: Date,
  again: boolean,
  work: () => Promise<{ reply: Reply; finish: () => Promise<void> }>,
): Promise<Reply> {
  const earlier = key && again ? await earlierReply<Reply>(unit, key) : null;
  if (earlier) return earlier;
  const { reply, finish } = await work();
  if (key) await insertReply(unit, key, reply, at);
  await finish();
  return reply;
}

/** Runs a transaction again when the same key was used at the same time elsewhere: it then finds the other's reply. */
export async function retryOnSameKey<T>(run: (again: boolean) => Promise<T>): Promise<T> {
  try {
    return await run(false);
  } catch (error) {
    if (!violates(error, IDEMPOTENCY_CONSTRAINT)) throw error;
    return run(true);
  }
}
