import { type FactPlace, rescoreFacts, type ScopeOwner, type Unit } from '../db/index.js';
import type { ScopeProfile } from '../profiles/index.js';
import type { Services } from '../services.js';
import { SYSTEM_ACTOR, type TenantContext } from '../tenancy/index.js';
import { namedFacts } from './named-facts.js';
import { scoringMeans, scoringProfile } from './scoring-profile.js';

/** A scope and whose it is. */
export interface OwnedScope extends ScopeOwner {
  readonly scopeId: number;
}

/** Scopes that score alike, with their profile. */
export interface ScopesOfProfile {
  readonly profile: ScopeProfile;
  readonly scopeIds: readonly number[];
}

/** What rescoring needs. */
export type RescoringDeps = Pick<Services, 'embedding' | 'embeddingModelId' | 'profiles'>;

/** Scopes by what applies to each, in the same order: those whose profiles score alike are one group. */
export function groupScopes(
  profiles: readonly ScopeProfile[],
  scopeIds: readonly number[],
): ScopesOfProfile[] {
  const groups = new Map<string, { profile: ScopeProfile; scopeIds: number[] }>();
  profiles.forEach((profile, place) => {
    const group = groups.get(profile.fingerprint) ?? { profile, scopeIds: [] };
    // Whichever is greatest holds for all: it only decides what is looked at.
    if (profile.staleBelow > group.profile.staleBelow) group.profile = profile;
    group.scopeIds.push(scopeIds[place] as number);
    groups.set(profile.fingerprint, group);
  });
  return [...groups.values()];
}

/** Groups scopes by what applies to them as of this transaction. One statement. */
export async function groupByProfile(
  unit: Unit,
  { profiles }: Pick<Services, 'profiles'>,
  scopes: readonly OwnedScope[],
): Promise<ScopesOfProfile[]> {
  return groupScopes(
    await profiles.effectiveOf(unit, scopes),
    scopes.map(({ scopeId }) => scopeId),
  );
}

/**
 * Rescores a stretch of facts, each by its own scope's profile as of now, in the caller's transaction and under the
 * locks of these scopes. One statement for each different profile, two where it has identity terms.
 */
export async function rescoreStretch(
  unit: Unit,
  deps: RescoringDeps,
  tenant: TenantContext,
  scopes: readonly OwnedScope[],
  stretch: { readonly after: FactPlace | null; readonly through: FactPlace | null },
  now: Date,
): Promise<{ processed: number; changed: number }> {
  const means = scoringMeans(deps, tenant, now);
  const total = { processed: 0, changed: 0 };
  for (const { profile, scopeIds } of await groupByProfile(unit, deps, scopes)) {
    const selection = { scopeIds, ...stretch };
    const named = await namedFacts(unit, profile.effective, selection);
    const result = await rescoreFacts(unit, means, scoringProfile(profile), selection, named, SYSTEM_ACTOR);
    total.processed += result.processed;
    total.changed += result.changed;
  }
  return total;
}
