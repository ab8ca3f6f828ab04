import { setConclusions, type Unit, unjudgedFacts } from '../db/index.js';
import { standingOf } from './bare-conclusion.js';

/**
 * Decides for those of these facts that were written before it was kept whether they are bare conclusions (SPEC §10).
 * Content is read here and not in SQL, which may not be able to. One statement where there is nothing to do, else two.
 * @returns how many were decided
 */
export async function judgeOlderFacts(unit: Unit, factIds: readonly string[]): Promise<number> {
  const facts = await unjudgedFacts(unit, factIds);
  if (facts.length === 0) return 0;
  await setConclusions(
    unit,
    facts.map((fact) => ({ id: fact.id, conclusion: standingOf(fact) })),
  );
  return facts.length;
}
