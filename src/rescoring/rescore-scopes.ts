import {
  endOfScope,
  type FactPlace,
  type RescoreGroup,
  type RescoreSelection,
  type RescoreStretch,
  rescoreFacts,
  type ScopeOwner,
  scoringWeight,
  type Unit,
} from '../db/index.js';
import type { ScopeProfile } from '../profiles/index.js';
import type { Services } from '../services.js';
import { SYSTEM_ACTOR, type TenantContext } from '../tenancy/index.js';
import { namedFacts } from './named-facts.js';
import { scoringMeans, scoringProfile, topicsOf, type UnsavedVectors } from './scoring-profile.js';

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

/** The groups in the form that the database scores, with the facts of each that name its profile's owner. */
export async function scoringGroups(
  unit: Unit,
  groups: readonly ScopesOfProfile[],
  selectionOf: (group: ScopesOfProfile) => RescoreSelection,
  unsaved?: UnsavedVectors,
): Promise<RescoreGroup[]> {
  const scored: RescoreGroup[] = [];
  for (const group of groups) {
    const selection = selectionOf(group);
    const named = await namedFacts(unit, group.profile.effective, selection);
    scored.push({ profile: scoringProfile(group.profile, unsaved), selection, named });
  }
  return scored;
}

/**
 * What the different profiles of one transaction may weigh together: a hundred with ten topics each, which take some
 * two seconds of planning, whatever the number of facts.
 */
const TRANSACTION_WEIGHT = 2_500;

/** How many of these scopes, from the first, have profiles that one transaction may score by: one at least. */
export function scopesWithin(profiles: readonly ScopeProfile[], limit: number = TRANSACTION_WEIGHT): number {
  const met = new Set<string>();
  let weight = 0;
  for (const [place, { fingerprint, effective }] of profiles.entries()) {
    if (met.has(fingerprint)) continue;
    met.add(fingerprint);
    weight += scoringWeight({ topics: topicsOf(effective), identity: effective.persona.identity });
    if (weight > limit && place > 0) return place;
  }
  return profiles.length;
}

/**
 * Rescores a stretch of facts, each by its own scope's profile as of now, in the caller's transaction and under the
 * locks of these scopes. It ends before its time where there are too many different profiles in it. One statement for a
 * dozen profiles, one more for each that has identity terms.
 * @returns where it ended; null: with the last fact
 */
export async function rescoreStretch(
  unit: Unit,
  deps: RescoringDeps,
  tenant: TenantContext,
  { scopes, through }: RescoreStretch,
  after: FactPlace | null,
  now: Date,
): Promise<{ processed: number; changed: number; through: FactPlace | null }> {
  const profiles = await deps.profiles.effectiveOf(unit, scopes);
  const count = scopesWithin(profiles);
  const end = count < scopes.length ? endOfScope((scopes[count - 1] as OwnedScope).scopeId) : through;
  const scopeIds = scopes.slice(0, count).map(({ scopeId }) => scopeId);
  const groups = groupScopes(profiles.slice(0, count), scopeIds);
  const selectionOf = (group: ScopesOfProfile) => ({ scopeIds: group.scopeIds, after, through: end });
  const scored = await scoringGroups(unit, groups, selectionOf);
  const done = await rescoreFacts(unit, scoringMeans(deps, tenant, now), scored, SYSTEM_ACTOR);
  return { ...done, through: end };
}
