import { agentsByIds, type EventRecord, type EventSelection, inTenant, usersByIds } from '../db/index.js';
import { BadInputError, ForbiddenError, NotFoundError, UnauthenticatedError } from '../errors.js';
import type { Services } from '../services.js';
import type { Actor, TenantActor } from '../tenancy/index.js';
import type { EventType, ImportanceCause } from './event-types.js';

/** What a client asks for of all events; what is left out does not restrict, all given must hold. */
export interface EventFilter {
  /** 1 to {@link MAX_NAMES} types. */
  readonly types?: readonly EventType[] | null;
  /** Exactly this agent's. */
  readonly agentId?: string | null;
  /** Exactly this user's. */
  readonly userId?: string | null;
  /** Without what the caller itself caused: events whose actor has its kind and id. */
  readonly excludeActor?: boolean | null;
}

/** What a client asks for of the changes of importance. */
export interface ImportanceFilter {
  readonly agentId?: string | null;
  readonly userId?: string | null;
  /** 1 to {@link MAX_FACTS} facts. */
  readonly factIds?: readonly string[] | null;
  /** 1 to {@link MAX_NAMES} causes. */
  readonly causes?: readonly ImportanceCause[] | null;
  /** Smallest |new − old| told, 0–10; a new fact counts from 0. */
  readonly minDelta?: number | null;
  /** Without what the caller itself caused: events whose actor has its kind and id. */
  readonly excludeActor?: boolean | null;
}

/** Most types or causes that one filter may name. */
export const MAX_NAMES = 50;
/** Most facts that one filter may name. */
export const MAX_FACTS = 500;

/**
 * The events that an actor may see (SPEC §11): administrators and auditors all of the tenant, an agent its own and
 * those of no agent, a user its own.
 */
export function eventRange(actor: Actor): EventSelection['range'] {
  if (actor.kind !== 'AGENT' && actor.kind !== 'USER') return {};
  const own = actor.kind === 'AGENT' ? { agentId: actor.agentId } : { userId: actor.userId };
  // Nobody may be taken for one who sees everything.
  if (Object.values(own).includes(null)) throw new UnauthenticatedError();
  return own as EventSelection['range'];
}

/**
 * The events that the filter asks for and the actor may see.
 * @throws BadInputError for an empty or over-long list
 * @throws ForbiddenError when an agent or a user names another one
 * @throws NotFoundError for an agent or user that this tenant does not have
 */
export async function selectEvents(
  deps: Pick<Services, 'db'>,
  actor: TenantActor,
  filter: EventFilter = {},
): Promise<EventSelection> {
  const owner = await ownerOf(deps, actor, filter);
  return {
    ...owner,
    types: listOf(filter.types, 'types', MAX_NAMES),
    exceptActor: filter.excludeActor ? { kind: actor.kind, id: actor.id } : undefined,
    range: eventRange(actor),
  };
}

/** The same for changes of importance alone. */
export async function selectImportance(
  deps: Pick<Services, 'db'>,
  actor: TenantActor,
  filter: ImportanceFilter = {},
): Promise<EventSelection> {
  const minDelta = filter.minDelta ?? undefined;
  if (minDelta !== undefined && !(minDelta >= 0 && minDelta <= 10)) {
    throw new BadInputError(`minDelta must be from 0 to 10, not ${minDelta}`, ['filter', 'minDelta']);
  }
  const owner = await ownerOf(deps, actor, filter);
  return {
    ...owner,
    types: ['IMPORTANCE_CHANGED'],
    factIds: listOf(filter.factIds, 'factIds', MAX_FACTS),
    causes: listOf(filter.causes, 'causes', MAX_NAMES),
    minDelta,
    exceptActor: filter.excludeActor ? { kind: actor.kind, id: actor.id } : undefined,
    range: eventRange(actor),
  };
}

/** Whether an event is selected. The SQL twin is in db/repositories/event-log.ts; a test holds them together. */
export function selects(selection: EventSelection, event: EventRecord): boolean {
  const { types, agentId, userId, factIds, causes, minDelta, exceptActor, range } = selection;
  if (range.agentId && event.agentId !== null && event.agentId !== range.agentId) return false;
  if (range.userId && event.userId !== range.userId) return false;
  if (types && !types.includes(event.type)) return false;
  if (agentId && event.agentId !== agentId) return false;
  if (userId && event.userId !== userId) return false;
  if (factIds && (event.factId === null || !factIds.includes(event.factId))) return false;
  if (causes && (event.cause === null || !causes.includes(event.cause))) return false;
  if (exceptActor && event.actorKind === exceptActor.kind && event.actorId === exceptActor.id) return false;
  if (minDelta === undefined) return true;
  return event.newValue !== null && Math.abs(event.newValue - (event.oldValue ?? 0)) >= minDelta;
}

function listOf<T>(
  list: readonly T[] | null | undefined,
  name: string,
  most: number,
): readonly T[] | undefined {
  if (list == null) return undefined;
  if (list.length === 0) {
    throw new BadInputError(`${name} must name at least one, or be left out`, ['filter', name]);
  }
  if (list.length > most) {
    throw new BadInputError(`${name} may name at most ${most}, not ${list.length}`, ['filter', name]);
  }
  return [...new Set(list)];
}

async function ownerOf(
  { db }: Pick<Services, 'db'>,
  actor: TenantActor,
  filter: Pick<EventFilter, 'agentId' | 'userId'>,
): Promise<{ agentId?: string; userId?: string }> {
  const agentId = filter.agentId ?? undefined;
  const userId = filter.userId ?? undefined;
  if (agentId === undefined && userId === undefined) return {};
  // Before any look-up: whether another one exists is not told to whom it does not concern.
  if (actor.kind === 'AGENT' && agentId && agentId !== actor.agentId) {
    throw new ForbiddenError('An agent reads its own events and the shared ones', ['filter', 'agentId']);
  }
  if (actor.kind === 'USER' && userId && userId !== actor.userId) {
    throw new ForbiddenError('A user reads its own events', ['filter', 'userId']);
  }
  await inTenant(db, actor.tenant, async (unit) => {
    if (agentId && (await agentsByIds(unit, [agentId])).length === 0) {
      throw new NotFoundError('Agent', ['filter', 'agentId']);
    }
    if (userId && (await usersByIds(unit, [userId])).length === 0) {
      throw new NotFoundError('User', ['filter', 'userId']);
    }
  });
  return { agentId, userId };
}
