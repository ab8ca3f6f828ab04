import {
  type CandidateRow,
  contentOf,
  type SearchFilter,
  type SupplementArm,
  searchSupplements,
  type Unit,
} from '../db/index.js';
import { COACTIVATION_MIN_WEIGHT, decayTie } from '../salience/index.js';
import type { TenantContext } from '../tenancy/index.js';
import { FACT_KINDS, namePhrases } from '../text/index.js';

/** What fills a result, in order, and by which arm each came. */
export interface Supplements {
  readonly candidates: readonly CandidateRow[];
  readonly arms: ReadonlyMap<string, SupplementArm>;
}

export const NO_SUPPLEMENTS: Supplements = { candidates: [], arms: new Map() };

/** What is looked at beyond the room that there is: what is too long for the budget is passed over. */
const SPARE = 20;

/**
 * What fills the room that direct hits have left (SPEC §8.3): facts that a name in the query leads to, facts that were
 * recalled together with the hits, the newest. One statement.
 * @param ranked all direct candidates, whether they are returned or not: what did not fit does not come back
 * @param returned those that are returned
 */
export async function findSupplements(
  unit: Unit,
  tenant: TenantContext,
  query: string,
  filter: SearchFilter,
  ranked: readonly CandidateRow[],
  returned: readonly CandidateRow[],
  room: number,
): Promise<Supplements> {
  const content = contentOf(tenant.hashKey);
  const rows = await searchSupplements(unit, filter, {
    found: ranked.map(({ id }) => id),
    hits: returned.flatMap(({ id, fact }) => (fact ? [id] : [])),
    names: namePhrases(query).map((name) => content.hash('entity-name', name)),
    kinds: filter.kinds ?? FACT_KINDS,
    ties: { dailyRemainder: decayTie(1, 1), minWeight: COACTIVATION_MIN_WEIGHT },
    limit: room + SPARE,
  });
  return {
    candidates: rows.map(({ candidate }) => candidate),
    arms: new Map(rows.map(({ arm, candidate }) => [candidate.id, arm])),
  };
}
