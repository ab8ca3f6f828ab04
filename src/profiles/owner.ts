import type { ProfileOwner } from '../db/index.js';
import { BadInputError, ForbiddenError, type InputPath, NotFoundError } from '../errors.js';
import type { ProfileHierarchy, ProfileOrigin, ProfileSettings } from '../salience/index.js';
import type { Actor, TenantActor } from '../tenancy/index.js';

/** Whose profile is meant: exactly one of them. */
export type ProfileOwnerInput =
  | { readonly tenant: boolean }
  | { readonly agentId: string }
  | { readonly userId: string };

/**
 * The owner that an actor means, if it may change that profile: administrators every one, an agent and a user their
 * own. Auditors are let through, for dry runs; whoever writes keeps them out.
 * @throws ForbiddenError the same for every other owner, whether it exists or not; BadInputError for `tenant: false`
 */
export function ownerOf(actor: TenantActor, input: ProfileOwnerInput): ProfileOwner {
  const owner: ProfileOwner = {
    agentId: 'agentId' in input ? input.agentId : null,
    userId: 'userId' in input ? input.userId : null,
  };
  const isTenant = owner.agentId === null && owner.userId === null;
  if (isTenant && !('tenant' in input && input.tenant))
    throw new BadInputError('owner.tenant must be true where it is given', ['owner', 'tenant']);
  const ownsIt =
    (actor.kind === 'AGENT' && owner.agentId === actor.agentId && owner.agentId !== null) ||
    (actor.kind === 'USER' && owner.userId === actor.userId && owner.userId !== null);
  if ((actor.kind === 'AGENT' || actor.kind === 'USER') && !ownsIt)
    throw new ForbiddenError('An agent or a user changes its own salience profile only', ['owner']);
  return owner;
}

/** Whether an actor may see what profiles of this level say in its memory: an agent's profile is not a user's to see. */
export function maySeeProfileOf(actor: Actor, origin: ProfileOrigin): boolean {
  return !(actor.kind === 'USER' && origin === 'AGENT');
}

/** The level of the hierarchy that an owner is at. */
export function originOf(owner: ProfileOwner): ProfileOrigin {
  return owner.agentId !== null ? 'AGENT' : owner.userId !== null ? 'USER' : 'TENANT';
}

/** The hierarchy in which an owner's profile has these settings: the tenant's above it, and nobody else. */
export function hierarchyOf(
  owner: ProfileOwner,
  tenant: ProfileSettings,
  own: ProfileSettings,
): ProfileHierarchy {
  const origin = originOf(owner);
  return {
    tenant: origin === 'TENANT' ? own : tenant,
    agent: origin === 'AGENT' ? own : null,
    user: origin === 'USER' ? own : null,
  };
}

/** What is answered for an owner that the tenant does not have. */
export function noSuchOwner(owner: ProfileOwner, parent: InputPath = ['owner']): NotFoundError {
  return owner.agentId !== null
    ? new NotFoundError('Agent', [...parent, 'agentId'])
    : new NotFoundError('User', [...parent, 'userId']);
}
