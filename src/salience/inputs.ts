import {
  type BaselineOrigin,
  type ChosenBaseline,
  sigma,
  standardScore,
  WARMUP_SAMPLES,
} from './baseline.js';
import { SalienceInputError } from './errors.js';
import {
  clampHints,
  type HintSources,
  type Hints,
  mergeHints,
  NO_HINTS,
  type ResolvedHints,
} from './hints.js';
import { requireDistance, requireFinite, requireSimilarity } from './scale.js';

/** Where a statement lies among the live facts of its scope, at the moment it arrives (SPEC §4.1, §4.2). */
export interface Observation {
  /** L2 distance to the nearest live fact, 0 to 2; null without one, or when the statement has no vector. */
  readonly distance: number | null;
  /** Calibrated similarity to that fact, 0 to 1; null exactly when there is no neighbour. */
  readonly nearestSimilarity: number | null;
  /**
   * Hours from when that fact was last seen to this statement, by the messages' times; negative for a
   * back-dated message, which counts as 0. Null when it is not known: then there is no temporal surprise.
   */
  readonly gapHours: number | null;
}

/** The baseline a fact was scored with, frozen as it was then: the novelty of the time of ingestion stays (SPEC §7). */
export interface BaselineUsed {
  /** Samples it had, ≥ 20. */
  readonly n: number;
  /** Mean distance, 0 to 2. */
  readonly mean: number;
  /** Population standard deviation of the distances, ≥ 0. */
  readonly sigma: number;
  readonly origin: BaselineOrigin;
}

/**
 * Everything besides the profile that a fact's importance depends on. It is stored on the fact, so that its
 * breakdown explains the number and rescoring is a pure function of these inputs and a profile (SPEC §4, §7).
 * Plain JSON; every number in it is finite.
 */
export interface EncodeInputs extends Observation {
  /** Null in warm-up. */
  readonly baseline: BaselineUsed | null;
  readonly hints: Hints;
  readonly hintSources: HintSources;
  /** True once the fact was stated again and these inputs are those of the last restatement (SPEC §2.4). */
  readonly reaffirmed: boolean;
  /**
   * Whether the fact is a flashbulb: null before ingestion has decided, then settled for good, because
   * rescoring neither pins nor unpins (SPEC §4.4.6).
   */
  readonly flashbulb: boolean | null;
}

/** A chosen baseline in the form that is stored on a fact; null, warm-up, stays null. */
export function baselineUsed(chosen: ChosenBaseline | null): BaselineUsed | null {
  if (chosen === null) return null;
  const { baseline, origin } = chosen;
  return { n: baseline.n, mean: baseline.mean, sigma: sigma(baseline), origin };
}

/**
 * Inputs of a new fact, flashbulb still to be decided.
 * @param chosen from `chooseBaseline`, before the fact's own sample is added
 */
export function newFactInputs(
  observation: Observation,
  chosen: ChosenBaseline | null,
  given: ResolvedHints = NO_HINTS,
): EncodeInputs {
  const { distance, nearestSimilarity, gapHours } = observation;
  return {
    distance,
    nearestSimilarity,
    gapHours,
    baseline: baselineUsed(chosen),
    hints: given.hints,
    hintSources: given.hintSources,
    reaffirmed: false,
    flashbulb: null,
  };
}

/**
 * Inputs of a fact that is stated again (SPEC §2.4, §4.2). The restatement is scored as what it is, a known
 * statement after a gap: its own distance to the fact, its gap, the baseline of now. It is familiar by
 * definition, also where the texts were found equal without vectors (no distance and no similarity then count
 * as 0 and 1). Hints are merged by `mergeHints`. What ingestion decided about the flashbulb stays.
 *
 * These inputs replace the stored ones, so any number of rescores after it gives the same result.
 */
export function reaffirmedInputs(
  stored: EncodeInputs,
  restated: Observation,
  chosen: ChosenBaseline | null,
  given: ResolvedHints = NO_HINTS,
): EncodeInputs {
  return {
    distance: restated.distance ?? 0,
    nearestSimilarity: restated.nearestSimilarity ?? 1,
    gapHours: restated.gapHours,
    baseline: baselineUsed(chosen),
    ...mergeHints(stored, given),
    reaffirmed: true,
    flashbulb: stored.flashbulb ?? false,
  };
}

/**
 * The same inputs, checked: distance and similarity brought into range where rounding had carried them out,
 * hints clamped (SPEC §4.3).
 * @throws SalienceInputError naming the field (such as `inputs.distance`) when a number is not finite or out
 *   of range
 */
export function checkInputs(inputs: EncodeInputs): EncodeInputs {
  const { distance, nearestSimilarity, gapHours, baseline } = inputs;
  if (baseline !== null) checkBaselineUsed(baseline);
  return {
    ...inputs,
    distance: distance === null ? null : requireDistance('inputs.distance', distance),
    nearestSimilarity:
      nearestSimilarity === null ? null : requireSimilarity('inputs.nearestSimilarity', nearestSimilarity),
    gapHours: gapHours === null ? null : requireFinite('inputs.gapHours', gapHours),
    hints: clampHints('inputs.hints', inputs.hints),
  };
}

/** Spatial z of checked inputs; null in warm-up and without a neighbour (SPEC §4.1). */
export function spatialZ(inputs: EncodeInputs): number | null {
  if (inputs.baseline === null || inputs.distance === null) return null;
  return standardScore(inputs.distance, inputs.baseline.mean, inputs.baseline.sigma);
}

function checkBaselineUsed(baseline: BaselineUsed): void {
  const path = 'inputs.baseline';
  if (!Number.isSafeInteger(baseline.n) || baseline.n < WARMUP_SAMPLES) {
    throw new SalienceInputError(
      `${path}.n`,
      `must be a whole number of at least ${WARMUP_SAMPLES} samples, got ${String(baseline.n)}`,
    );
  }
  requireDistance(`${path}.mean`, baseline.mean);
  if (requireFinite(`${path}.sigma`, baseline.sigma) < 0) {
    throw new SalienceInputError(`${path}.sigma`, `must not be negative, got ${baseline.sigma}`);
  }
}
