import type { CandidateRow, FreshScore, Unit, VisibleScope } from '../db/index.js';
import type { ScopeProfile } from '../profiles/index.js';
import { freshScores, isStale } from '../rescoring/index.js';
import type { Services } from '../services.js';
import type { TenantContext } from '../tenancy/index.js';
import type { RecallItem } from './result.js';

/** Candidates scored by what matters now, whatever they are stored with (SPEC §7). */
export interface CurrentScores {
  readonly candidates: readonly CandidateRow[];
  /** Facts whose stored score is out of date; a LEARN recall has them rescored. */
  readonly staleIds: ReadonlySet<string>;
  /** An item as it is shown: a stale fact with its new numbers, any other as it is stored. */
  shown(item: RecallItem): RecallItem;
}

/**
 * Scores the candidates anew whose scopes' profiles have changed since they were scored: recall ranks by the profiles
 * as they are, with every strategy of rescoring. Nothing is stored. One statement, where there are any.
 */
export async function currentScores(
  unit: Unit,
  deps: Pick<Services, 'embedding' | 'embeddingModelId'>,
  tenant: TenantContext,
  profiles: ReadonlyMap<VisibleScope['scopeId'], ScopeProfile>,
  candidates: readonly CandidateRow[],
  now: Date,
): Promise<CurrentScores> {
  const facts = candidates.flatMap(({ id, fact }) => (fact ? [{ id, ...fact }] : []));
  const fresh = await freshScores(unit, deps, tenant, (scopeId) => profiles.get(scopeId), facts, now);
  const staleIds = new Set(
    facts.flatMap((fact) => {
      const profile = profiles.get(fact.scopeId);
      return profile && fresh.has(fact.id) && isStale(fact, profile) ? [fact.id] : [];
    }),
  );
  return {
    candidates: candidates.map((candidate) => rescored(candidate, fresh.get(candidate.id))),
    staleIds,
    shown(item) {
      const score =
        item.source === 'FACT' && staleIds.has(item.fact.id) ? fresh.get(item.fact.id) : undefined;
      if (item.source !== 'FACT' || !score) return item;
      return { ...item, fact: { ...item.fact, salience: { ...item.fact.salience, ...score } } };
    },
  };
}

function rescored(candidate: CandidateRow, score: FreshScore | undefined): CandidateRow {
  if (!candidate.fact || !score) return candidate;
  const { encoded, topicBoost, decayResistance } = score;
  return { ...candidate, fact: { ...candidate.fact, encoded, topicBoost, decayResistance } };
}
