import { rescoreFacts, scoringOfFacts, type Unit } from '../db/index.js';
import { SYSTEM_ACTOR, type TenantContext } from '../tenancy/index.js';
import { groupByProfile, type RescoringDeps, scoringGroups } from './rescore-scopes.js';
import { scoringMeans } from './scoring-profile.js';

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
  const facts = await scoringOfFacts(unit, factIds);
  const scopes = new Map(facts.map((fact) => [fact.scopeId, fact]));
  const groups = await groupByProfile(unit, deps, [...scopes.values()]);
  const scored = await scoringGroups(unit, groups, ({ profile, scopeIds }) => {
    const own = facts.filter(({ scopeId }) => scopeIds.includes(scopeId)).map(({ id }) => id);
    return { factIds: own, staleBelow: profile.staleBelow };
  });
  const means = scoringMeans(deps, tenant, now);
  return (await rescoreFacts(unit, means, scored, SYSTEM_ACTOR)).changed;
}
