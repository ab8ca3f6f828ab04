import { type FactRecord, newestVisibleFacts, ownersExist, readInTenant } from '../db/index.js';
import { NotFoundError } from '../errors.js';
import type { Services } from '../services.js';
import { readRange, resolveContext, type TenantActor, userProfileBudget } from '../tenancy/index.js';

/** What an agent puts into its prompt before a conversation; null where there is nothing, or the tenant switched it off. */
export interface MemoryContext {
  readonly userProfile: string | null;
  readonly projectContext: string | null;
}

/** Newest PROJECT and ENV facts in the project context (SPEC §8). */
const PROJECT_FACTS = 10;
/** More USER_PROFILE facts than fit into any budget of one are not worth reading. */
const PROFILE_FACTS = 2_000;

/**
 * STORE's `user_profile` and `project_context` (SPEC §8): live USER_PROFILE facts newest first, a line each, cut at the
 * tenant's budget; the newest 10 PROJECT and ENV facts.
 * @throws NotFoundError for an unknown agent or user
 */
export async function readMemoryContext(
  deps: Pick<Services, 'db' | 'now'>,
  actor: TenantActor,
  asked: { agentId?: string | null; userId?: string | null },
): Promise<MemoryContext> {
  const context = resolveContext(actor, asked);
  const { settings } = actor.tenant;
  return readInTenant(deps.db, actor.tenant, async (unit) => {
    const known = await ownersExist(unit, context);
    if (!known.agent) throw new NotFoundError('Agent', ['agentId']);
    if (!known.user) throw new NotFoundError('User', ['userId']);
    const [profile = [], project = []] = await newestVisibleFacts(
      unit,
      context,
      readRange(actor),
      [
        { kinds: ['USER_PROFILE'], limit: PROFILE_FACTS },
        { kinds: ['PROJECT', 'ENV'], limit: PROJECT_FACTS },
      ],
      deps.now(),
    );
    return {
      userProfile:
        settings.memoryContext?.userProfile === false ? null : lines(profile, userProfileBudget(settings)),
      projectContext: settings.memoryContext?.projectContext === false ? null : lines(project, null),
    };
  });
}

/** One line a fact; cut to a number of characters where one is given. */
function lines(facts: readonly FactRecord[], limit: number | null): string | null {
  if (facts.length === 0) return null;
  const text = facts.map((fact) => fact.text).join('\n');
  return limit === null ? text : [...text].slice(0, limit).join('');
}
