import { requireFinite, requireRange } from './scale.js';

/** How many of a recall's first results become tied to each other (SPEC §6.3). */
export const COACTIVATION_TOP = 10;
/** Most co-activation edges that one fact keeps (SPEC §6.3). */
export const COACTIVATION_MAX_DEGREE = 24;
/** An edge weaker than this is removed (SPEC §6.3). */
export const COACTIVATION_MIN_WEIGHT = 0.05;

const STEP = 0.1;
const DAILY_REMAINDER = 0.9;

/**
 * Weight of the tie between two facts after they were recalled together once more: w ← w + 0.1·(1 − w)
 * (SPEC §6.3).
 * @param weight 0 (not tied yet) to 1
 * @throws SalienceInputError when it is not finite or out of range
 */
export function strengthenTie(weight: number): number {
  const w = requireRange('weight', weight, 0, 1);
  return w + STEP * (1 - w);
}

/**
 * What is left of a tie after some days: w·0.9^days (SPEC §6.3). Below COACTIVATION_MIN_WEIGHT it is removed.
 * @param days since the tie was last strengthened or decayed, fractions included; negative counts as 0
 * @throws SalienceInputError when an argument is not finite or the weight out of range
 */
export function decayTie(weight: number, days: number): number {
  return requireRange('weight', weight, 0, 1) * DAILY_REMAINDER ** Math.max(0, requireFinite('days', days));
}
