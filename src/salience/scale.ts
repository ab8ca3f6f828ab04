import { SalienceInputError } from './errors.js';

/** Lowest importance there is: nothing is ever worth exactly nothing (SPEC §4). */
export const IMPORTANCE_MIN = 0.05;
/** Highest importance; also what a pinned flashbulb fact shows (SPEC §4, §4.4.6). */
export const IMPORTANCE_MAX = 10;
/** Width of the importance scale: 9.95. */
export const IMPORTANCE_SPAN = IMPORTANCE_MAX - IMPORTANCE_MIN;

/** Greatest L2 distance of two unit vectors (SPEC §4.1). */
export const DISTANCE_MAX = 2;

/**
 * How far a distance or a similarity may leave its range by rounding alone: vectors are kept in half
 * precision, so two equal ones can measure a hair outside. More than that is a fault, not rounding.
 */
export const ROUNDING_SLACK = 1e-3;

/** `value` moved into [min, max]. The arguments must be finite. */
export function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}

/**
 * `value` moved into the importance scale [0.05, 10] (SPEC §4).
 * @throws SalienceInputError when it is not finite
 */
export function clampImportance(value: number): number {
  return clamp(requireFinite('importance', value), IMPORTANCE_MIN, IMPORTANCE_MAX);
}

/**
 * `value` itself when it is a finite number.
 * @throws SalienceInputError naming `field` for NaN, an infinity or anything that is not a number
 */
export function requireFinite(field: string, value: number): number {
  if (!Number.isFinite(value))
    throw new SalienceInputError(field, `must be a finite number, got ${String(value)}`);
  return value;
}

/**
 * `value` itself when it is a finite number in [min, max].
 * @throws SalienceInputError naming `field`
 */
export function requireRange(field: string, value: number, min: number, max: number): number {
  requireFinite(field, value);
  if (value < min || value > max) {
    throw new SalienceInputError(field, `must lie in ${min}..${max}, got ${value}`);
  }
  return value;
}

/**
 * An L2 distance of unit vectors, 0 to 2; rounding outside is moved to the edge. Anything further out came
 * from vectors that are not unit-length and is refused, which is why no single distance can poison a baseline.
 * @throws SalienceInputError naming `field`
 */
export function requireDistance(field: string, value: number): number {
  return clamp(requireRange(field, value, -ROUNDING_SLACK, DISTANCE_MAX + ROUNDING_SLACK), 0, DISTANCE_MAX);
}

/**
 * A calibrated similarity, 0 to 1 (SPEC §3); rounding outside is moved to the edge.
 * @throws SalienceInputError naming `field`
 */
export function requireSimilarity(field: string, value: number): number {
  return clamp(requireRange(field, value, -ROUNDING_SLACK, 1 + ROUNDING_SLACK), 0, 1);
}
