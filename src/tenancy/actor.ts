import { ForbiddenError } from '../errors.js';
import type { TenantSettings } from './tenant-settings.js';

/** Who acts. A platform administrator has no tenant of its own and names one per request. */
export const ACTOR_KINDS = ['PLATFORM_ADMIN', 'TENANT_ADMIN', 'TENANT_AUDITOR', 'AGENT', 'USER'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

/** How far a tenant lets its agents and users change what it says (SPEC §5.1). */
export const OVERRIDE_POLICIES = ['TENANT_ONLY', 'ADDITIVE_TOPICS', 'FULL_OVERRIDE'] as const;
export type OverridePolicy = (typeof OVERRIDE_POLICIES)[number];

/** The tenant that a request works in, as it was when the request was authenticated. */
export interface TenantContext {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly overridePolicy: OverridePolicy;
  readonly settings: TenantSettings;
  readonly version: number;
  /** Facts scored from this revision on are up to date, whatever their scope (SPEC §7). */
  readonly staleBelow: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Key of the tenant's keyed hashes, 32 bytes. Immutable. */
  readonly hashKey: Uint8Array;
}

export interface Actor {
  readonly kind: ActorKind;
  /** The agent's or user's id; for administrators and auditors the id of their key; null for the platform's bootstrap key. */
  readonly id: string | null;
  readonly keyId: string | null;
  readonly tenant: TenantContext | null;
  readonly agentId: string | null;
  readonly userId: string | null;
}

/** An actor that works in a tenant. */
export interface TenantActor extends Actor {
  readonly tenant: TenantContext;
}

/**
 * The actor with its tenant.
 * @throws ForbiddenError when a platform administrator named none
 */
export function requireTenant(actor: Actor): TenantActor {
  if (!actor.tenant) {
    throw new ForbiddenError(
      'A platform administrator names the tenant by the header X-Salient-Tenant: <slug>',
    );
  }
  return actor as TenantActor;
}

/**
 * Which facts, sessions and messages of its tenant an actor may read. `undefined` means no restriction.
 * - administrators and auditors: all of the tenant;
 * - an agent: its own and those without an agent, of every user;
 * - a user: its own, through whatever agent, and those shared by the whole tenant (neither agent nor user).
 */
export interface ReadRange {
  readonly agentId?: string;
  readonly userId?: string;
}

export function readRange(actor: Actor): ReadRange {
  if (actor.kind === 'AGENT') return { agentId: actor.agentId ?? undefined };
  if (actor.kind === 'USER') return { userId: actor.userId ?? undefined };
  return {};
}

/** Whether a row of this owner is within the actor's range. The SQL twin is `rangeCondition` in db/repositories. */
export function mayRead(actor: Actor, row: { agentId: string | null; userId: string | null }): boolean {
  const range = readRange(actor);
  if (range.agentId) return row.agentId === null || row.agentId === range.agentId;
  if (range.userId) return row.userId === range.userId || (row.userId === null && row.agentId === null);
  return true;
}

/**
 * The (agent, user) that a write or recall is for, with the actor's own id filled in.
 * @throws ForbiddenError when an agent or a user names another one
 */
export function resolveContext(
  actor: Actor,
  asked: { agentId?: string | null; userId?: string | null },
): { agentId: string | null; userId: string | null } {
  const agentId = asked.agentId ?? null;
  const userId = asked.userId ?? null;
  if (actor.kind === 'AGENT') {
    if (agentId && agentId !== actor.agentId)
      throw new ForbiddenError('An agent acts for itself only', ['agentId']);
    return { agentId: actor.agentId, userId };
  }
  if (actor.kind === 'USER') {
    if (userId && userId !== actor.userId)
      throw new ForbiddenError('A user acts for itself only', ['userId']);
    return { agentId, userId: actor.userId };
  }
  return { agentId, userId };
}

/** Who acts when nobody does: Salient itself, learning from messages. */
export const SYSTEM_ACTOR = { kind: 'SYSTEM', id: null } as const;
