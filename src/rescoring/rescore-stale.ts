import { rescoreFacts, scoringOfFacts, type Unit } from '../db/index.js';
import { SYSTEM_ACTOR, type TenantContext } from '../tenancy/index.js';
import { namedFacts } from './named-facts.js';
import { groupByProfile, type RescoringDeps } from './rescore-scopes.js';
import { scoringMeans, scoringProfile } from './scoring-profile.js';

/**
 * Rescores those of the facts that are stale (SPEC §7, LAZY), in the caller's transaction and under the locks of their
 * scopes: of many readers at once the first writes, and the others find nothing to do. Each change is told as an event.
 * @returns how many importances changed
 */
export async function rescoreStale(
  unit: Unit,
  deps: RescoringDeps,
  tenant: TenantContext,
  factIds: readonly string[],
  now: Date,
): Promise<number> {
  if (factIds.length === 0) return 0;
  const means = scoringMeans(deps, tenant, now);
  const facts = await scoringOfFacts(unit, factIds);
  const scopes = new Map(facts.map((fact) => [fact.scopeId, fact]));
  let changed = 0;
  for (const { profile, scopeIds } of await groupByProfile(unit, deps, [...scopes.values()])) {
    const own = facts.filter(({ scopeId }) => scopeIds.includes(scopeId)).map(({ id }) => id);
    const selection = { factIds: own, staleBelow: profile.staleBelow };
    const named = await namedFacts(unit, profile.effective, selection);
    const result = await rescoreFacts(unit, means, scoringProfile(profile), selection, named, SYSTEM_ACTOR);
    changed += result.changed;
  }
  return changed;
}
