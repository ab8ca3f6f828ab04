import { type FreshScore, readScores, scoringOfFacts, type Unit } from '../db/index.js';
import type { ScopeProfile } from '../profiles/index.js';
import type { Services } from '../services.js';
import type { TenantContext } from '../tenancy/index.js';
import { namedFacts } from './named-facts.js';
import type { RescoringDeps } from './rescore-scopes.js';
import { scoringMeans, scoringProfile } from './scoring-profile.js';

/** A stored fact, as far as it tells what it was scored with. */
export interface ScoredFact {
  readonly id: string;
  readonly scopeId: number;
  readonly fingerprint: string | null;
  readonly scoredRevision: number;
}

/** Whether a fact is to be scored anew when it is read (SPEC §7): its profile is another now, and said to count. */
export function isStale(fact: Omit<ScoredFact, 'id'>, profile: ScopeProfile): boolean {
  return fact.fingerprint !== profile.fingerprint && fact.scoredRevision < profile.staleBelow;
}

/**
 * What facts would score by their scopes' profiles as these are now; those that were scored alike already are not in
 * the answer. Nothing is stored. One statement, where a fact has to be scored at all; one more for each profile with
 * identity terms.
 */
export async function freshScores(
  unit: Unit,
  deps: Pick<Services, 'embedding' | 'embeddingModelId'>,
  tenant: TenantContext,
  profileOf: (scopeId: number) => ScopeProfile | undefined,
  facts: readonly ScoredFact[],
  now: Date,
): Promise<ReadonlyMap<string, FreshScore>> {
  const groups = new Map<string, { profile: ScopeProfile; factIds: string[] }>();
  for (const { id, scopeId, fingerprint } of facts) {
    const profile = profileOf(scopeId);
    if (!profile || profile.fingerprint === fingerprint) continue;
    const group = groups.get(profile.fingerprint) ?? { profile, factIds: [] };
    group.factIds.push(id);
    groups.set(profile.fingerprint, group);
  }
  const requests = [];
  for (const { profile, factIds } of groups.values()) {
    const named = await namedFacts(unit, profile.effective, { factIds });
    requests.push({ profile: scoringProfile(profile), factIds, named });
  }
  const scores = await readScores(unit, scoringMeans(deps, tenant, now), requests);
  return new Map(scores.map((score) => [score.factId, score]));
}

/** What those of the facts would score that are stale; the others are not in the answer. Two statements, or three. */
export async function staleScores(
  unit: Unit,
  deps: RescoringDeps,
  tenant: TenantContext,
  factIds: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, FreshScore>> {
  const facts = await scoringOfFacts(unit, factIds);
  const scopes = [...new Map(facts.map((fact) => [fact.scopeId, fact])).values()];
  const read = await deps.profiles.effectiveOf(unit, scopes);
  const profiles = new Map(scopes.map(({ scopeId }, place) => [scopeId, read[place] as ScopeProfile]));
  const stale = facts.filter((fact) => isStale(fact, profiles.get(fact.scopeId) as ScopeProfile));
  return freshScores(unit, deps, tenant, (scopeId) => profiles.get(scopeId), stale, now);
}
