import { ownersExist, readInTenant, type ScopeOwner } from '../db/index.js';
import { ForbiddenError, NotFoundError } from '../errors.js';
import type { Services } from '../services.js';
import { resolveContext, type TenantActor } from '../tenancy/index.js';
import type { ScopeProfile } from './reader.js';

/**
 * What applies to an agent and a user together, to one of them, or to neither (SPEC §5.1). An agent asks for itself,
 * with any user or none; a user for itself alone, since an agent's profile is not a user's to see.
 * @throws NotFoundError for an unknown agent or user; ForbiddenError for one that is not the caller's to ask for
 */
export async function readEffectiveProfile(
  deps: Pick<Services, 'db' | 'profiles'>,
  actor: TenantActor,
  asked: { readonly agentId?: string | null; readonly userId?: string | null },
): Promise<ScopeProfile> {
  const owner = effectiveOwnerOf(actor, asked);
  return readInTenant(deps.db, actor.tenant, async (unit) => {
    const known = await ownersExist(unit, owner);
    if (!known.agent) throw new NotFoundError('Agent', ['agentId']);
    if (!known.user) throw new NotFoundError('User', ['userId']);
    const [profile] = await deps.profiles.effectiveOf(unit, [owner]);
    if (!profile) throw new Error('an owner without an effective profile');
    return profile;
  });
}

/**
 * Whom an actor may ask for what applies to, or to what: an agent for itself, with any user or none; a user for itself
 * alone, since an agent's profile is not a user's to see.
 * @throws ForbiddenError for an owner that is not the caller's to ask for
 */
export function effectiveOwnerOf(
  actor: TenantActor,
  asked: { readonly agentId?: string | null; readonly userId?: string | null },
): ScopeOwner {
  const owner = resolveContext(actor, asked);
  if (actor.kind === 'USER' && owner.agentId !== null)
    throw new ForbiddenError("A user sees its own effective profile, without an agent's", ['agentId']);
  return owner;
}
