import { readInTenant, type Unit } from '../db/index.js';
import { SalientError, UnauthenticatedError } from '../errors.js';
import type { Services } from '../services.js';
import { type Actor, requireTenant, type TenantActor } from '../tenancy/index.js';
import { Batches } from './batches.js';

/** What every resolver is given: one per operation, and one per delivered event of a subscription. */
export interface GraphQLContext {
  readonly services: Services;
  /** Null where no credentials came with the request; root fields then answer UNAUTHENTICATED. */
  readonly actor: Actor | null;
  readonly requestId: string;
  readonly batches: Batches;
}

export function createContext(services: Services, actor: Actor | null, requestId: string): GraphQLContext {
  return { services, actor, requestId, batches: new Batches() };
}

/** @throws UnauthenticatedError without credentials */
export function actorOf(context: GraphQLContext): Actor {
  if (!context.actor) throw new UnauthenticatedError();
  return context.actor;
}

/**
 * The actor in its tenant.
 * @throws ForbiddenError when a platform administrator named no tenant
 */
export function tenantActorOf(context: GraphQLContext): TenantActor {
  return requireTenant(actorOf(context));
}

/**
 * Reads in the caller's tenant. Reads asked for in the same tick share one short transaction, hence one snapshot, which
 * spares a list of relations its transaction control. An input that one of them refuses is its own failure alone.
 */
export function readTenant<T>(context: GraphQLContext, read: (unit: Unit) => Promise<T>): Promise<T> {
  const { tenant } = tenantActorOf(context);
  return context.batches.together(
    'read',
    (reads) =>
      readInTenant(context.services.db, tenant, async (unit) => {
        const results: unknown[] = [];
        for (const one of reads) results.push(await resultOf(one, unit));
        return results;
      }),
    read,
  );
}

/** What a read refuses is handed on to who asked for it; a statement that failed ends the transaction for all. */
async function resultOf(read: (unit: Unit) => Promise<unknown>, unit: Unit): Promise<unknown> {
  try {
    return await read(unit);
  } catch (error) {
    if (error instanceof SalientError) return error;
    throw error;
  }
}
