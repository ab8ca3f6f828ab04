import type { CandidateRow } from '../db/index.js';
import { COACTIVATION_MIN_WEIGHT, COACTIVATION_TOP, decayTie } from '../salience/index.js';

const DAY_MS = 86_400_000;

/** Each fact's strongest tie to the first facts of a result, 0 to 1; a fact without one is not in it. */
export type CoActivation = ReadonlyMap<string, number>;

export const NO_TIES: CoActivation = new Map();

/**
 * How strongly each candidate is tied to the first ten facts of the ranking (SPEC §6.3, §8.2), as time has left it. A
 * fact is not tied to itself; only candidates are looked at, which are visible all.
 * @param ranked in rank order
 * @returns {@link NO_TIES} where no candidate is tied to any of them
 */
export function coActivationOf(ranked: readonly CandidateRow[], now: Date): CoActivation {
  const facts = ranked.filter(({ fact }) => fact !== null);
  const top = new Set(facts.slice(0, COACTIVATION_TOP).map(({ id }) => id));
  const strongest = new Map<string, number>();
  const raise = (id: string, other: string, weight: number) => {
    if (top.has(other)) strongest.set(id, Math.max(strongest.get(id) ?? 0, weight));
  };
  for (const { id, fact } of facts) {
    for (const tie of fact?.ties ?? []) {
      const weight = decayTie(tie.weight, (now.getTime() - tie.updatedAt.getTime()) / DAY_MS);
      // Too weak to last: it is only not removed yet.
      if (weight < COACTIVATION_MIN_WEIGHT) continue;
      raise(id, tie.factId, weight);
      raise(tie.factId, id, weight);
    }
  }
  return strongest.size === 0 ? NO_TIES : strongest;
}
