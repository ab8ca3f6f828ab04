import { SalienceInputError } from './errors.js';
import { requireDistance, requireFinite } from './scale.js';

/**
 * Running statistics of the distances that new facts of one scope had to their nearest neighbour, for one
 * embedding model (SPEC §4.1). Distances of different models are not comparable: never merge across models.
 */
export interface Baseline {
  /** Number of samples, a whole number ≥ 0. */
  readonly n: number;
  /** Mean distance, 0 to 2; 0 when there is no sample. */
  readonly mean: number;
  /** Sum of squared deviations from the mean (Welford's M2), ≥ 0. */
  readonly m2: number;
}

/** A baseline without samples: what a new scope starts with. */
export const EMPTY_BASELINE: Baseline = Object.freeze({ n: 0, mean: 0, m2: 0 });

/** Samples needed before distances are scored; below it a fact is in warm-up (SPEC §4.1). */
export const WARMUP_SAMPLES = 20;

/** Below this standard deviation every distance counts as typical: z is 0 (SPEC §4.1). */
export const SIGMA_MIN = 1e-9;

/** Whose distances a fact was compared with: its scope's own, or all of the tenant's while the scope is young. */
export type BaselineOrigin = 'SCOPE' | 'TENANT';

/** The baseline that a fact is scored against, and whose it is. */
export interface ChosenBaseline {
  readonly baseline: Baseline;
  readonly origin: BaselineOrigin;
}

/**
 * The baseline with one more distance in it, by Welford's algorithm (SPEC §4.1). The argument is left as it
 * was. A fact is scored *before* its own sample is added; a fact without a neighbour has no sample.
 * @param distance L2 distance of unit vectors, 0 to 2
 * @throws SalienceInputError when the distance is not finite or out of range, or the baseline is malformed
 */
export function addSample(baseline: Baseline, distance: number): Baseline {
  requireBaseline('baseline', baseline);
  const d = requireDistance('distance', distance);
  const n = baseline.n + 1;
  const delta = d - baseline.mean;
  const mean = baseline.mean + delta / n;
  return { n, mean, m2: baseline.m2 + delta * (d - mean) };
}

/** Population standard deviation √(M2/n); 0 without samples (SPEC §4.1). */
export function sigma(baseline: Baseline): number {
  if (baseline.n === 0) return 0;
  return Math.sqrt(Math.max(0, baseline.m2) / baseline.n);
}

/**
 * One baseline that equals the baseline of all samples together, by Chan's parallel formula. The tenant's
 * baseline is this over all its scopes, for one model (SPEC §4.1).
 * @returns EMPTY_BASELINE for an empty list
 * @throws SalienceInputError when a baseline is malformed
 */
export function mergeBaselines(list: readonly Baseline[]): Baseline {
  let merged = EMPTY_BASELINE;
  for (const [index, next] of list.entries()) {
    requireBaseline(`baselines[${index}]`, next);
    if (next.n === 0) continue;
    if (merged.n === 0) {
      merged = { n: next.n, mean: next.mean, m2: next.m2 };
      continue;
    }
    const n = merged.n + next.n;
    const delta = next.mean - merged.mean;
    merged = {
      n,
      mean: merged.mean + (delta * next.n) / n,
      m2: merged.m2 + next.m2 + (delta * delta * merged.n * next.n) / n,
    };
  }
  return merged;
}

/**
 * How many standard deviations a distance lies above the typical one: z = (d − μ)/σ, 0 when σ < 1e-9
 * (SPEC §4.1). All three arguments must be finite.
 */
export function standardScore(distance: number, mean: number, deviation: number): number {
  return deviation < SIGMA_MIN ? 0 : (distance - mean) / deviation;
}

/**
 * z of a distance against a baseline (SPEC §4.1), whatever its n: whether there are enough samples is decided
 * by `chooseBaseline`.
 * @throws SalienceInputError when the distance is not finite or out of range, or the baseline is malformed
 */
export function zScore(distance: number, baseline: Baseline): number {
  requireBaseline('baseline', baseline);
  return standardScore(requireDistance('distance', distance), baseline.mean, sigma(baseline));
}

/**
 * The baseline to score against: the scope's from 20 samples on, else the tenant's when that has 20, else null,
 * which is warm-up (SPEC §4.1).
 */
export function chooseBaseline(scope: Baseline, tenant: Baseline): ChosenBaseline | null {
  if (scope.n >= WARMUP_SAMPLES) return { baseline: scope, origin: 'SCOPE' };
  if (tenant.n >= WARMUP_SAMPLES) return { baseline: tenant, origin: 'TENANT' };
  return null;
}

function requireBaseline(field: string, baseline: Baseline): void {
  if (!Number.isSafeInteger(baseline.n) || baseline.n < 0) {
    throw new SalienceInputError(
      `${field}.n`,
      `must be a whole number of samples, got ${String(baseline.n)}`,
    );
  }
  requireFinite(`${field}.mean`, baseline.mean);
  if (requireFinite(`${field}.m2`, baseline.m2) < 0) {
    throw new SalienceInputError(`${field}.m2`, `must not be negative, got ${baseline.m2}`);
  }
}
