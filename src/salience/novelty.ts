/*
 * The surprise formulas. Arguments are finite and in range: `encodeImportance` checks them first.
 */
import { clamp, DISTANCE_MAX, IMPORTANCE_MIN, IMPORTANCE_SPAN } from './scale.js';

/** Base importance while there is nothing to compare with: warm-up, or no neighbour (SPEC §4.1). */
export const DEFAULT_BASE = 1.0;

/** Calibrated similarity from which the nearest fact counts as the same matter seen before (SPEC §4.2). */
export const FAMILIAR_SIMILARITY = 0.75;

/** Lowest and highest temporal z, and the floor under the spatial z of a familiar statement (SPEC §4.2). */
export const TEMPORAL_Z_MIN = -1;
export const TEMPORAL_Z_MAX = 5;

/** Weights of the signals in the base importance of a fact that came with hints (SPEC §4.3). */
export const INGESTION_ICNU_WEIGHTS = Object.freeze({
  interest: 0.3,
  challenge: 0.1,
  novelty: 0.4,
  urgency: 0.2,
});

export const SIGMOID_SLOPE = 1.2;
export const SIGMOID_CENTRE = 1;
/** A gap of this many days is the greatest surprise that time alone can give. */
const FULL_GAP_DAYS = 180;

/**
 * Base importance of a surprise: 0.05 + 9.95 / (1 + e^(−1.2 (z − 1))) (SPEC §4.1).
 * @param z spatial or combined z-score, any finite number
 * @returns 0.05 to 10, rising with z
 */
export function noveltyImportance(z: number): number {
  return IMPORTANCE_MIN + IMPORTANCE_SPAN / (1 + Math.exp(-SIGMOID_SLOPE * (z - SIGMOID_CENTRE)));
}

/**
 * How surprising it is to meet a familiar statement again after a gap:
 * zT = clamp(−1 + 6·ln(1 + h/24)/ln 181, −1, 5) (SPEC §4.2): −1 at once, 5 after 180 days.
 * @param gapHours hours since it was last seen, by the messages' times. Negative, for a message dated before
 *   the last sighting, counts as 0: that is no recurrence after a gap.
 */
export function temporalZ(gapHours: number): number {
  const days = Math.max(0, gapHours) / 24;
  const rise = ((TEMPORAL_Z_MAX - TEMPORAL_Z_MIN) * Math.log1p(days)) / Math.log1p(FULL_GAP_DAYS);
  return clamp(TEMPORAL_Z_MIN + rise, TEMPORAL_Z_MIN, TEMPORAL_Z_MAX);
}

/**
 * Dual surprise of a familiar statement: α·max(z, −1) + β·zT (SPEC §4.2). The floor under z keeps an exact
 * repetition, far below the typical distance, from outweighing any gap.
 */
export function combinedZ(spatialZ: number, temporal: number, alpha: number, beta: number): number {
  return alpha * Math.max(spatialZ, TEMPORAL_Z_MIN) + beta * temporal;
}

/**
 * Novelty as a share, for the hinted base: N = min(d/2, 1), 1 without a neighbour (SPEC §4.3).
 * @param distance L2 distance to the nearest fact, 0 to 2, or null without one
 */
export function noveltyShare(distance: number | null): number {
  return distance === null ? 1 : clamp(distance / DISTANCE_MAX, 0, 1);
}

/** The four signals of the hinted base importance, each in [0, 1]. */
export interface IcnuSignals {
  readonly interest: number;
  readonly challenge: number;
  readonly novelty: number;
  readonly urgency: number;
}

/**
 * Base importance of a fact that came with an interest or challenge hint:
 * 0.05 + 9.95·(.30·I + .10·C + .40·N + .20·U), every signal clamped to [0, 1] (SPEC §4.3).
 * @returns 0.05 to 10
 */
export function hintedImportance(signals: IcnuSignals): number {
  const w = INGESTION_ICNU_WEIGHTS;
  const sum =
    w.interest * clamp(signals.interest, 0, 1) +
    w.challenge * clamp(signals.challenge, 0, 1) +
    w.novelty * clamp(signals.novelty, 0, 1) +
    w.urgency * clamp(signals.urgency, 0, 1);
  return IMPORTANCE_MIN + IMPORTANCE_SPAN * sum;
}
