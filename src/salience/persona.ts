/*
 * The persona's formulas. Arguments are finite and in range: `encodeImportance` checks them first.
 */
import { clamp } from './scale.js';
import type { ProfileOrigin } from './topics.js';

/** One identity term of the persona, as one fact meets it (SPEC §4.4.4). */
export interface IdentityMatch {
  /** The term in its owner's spelling. */
  readonly term: string;
  readonly origin: ProfileOrigin;
  /** The term equals an entity of the fact or occurs in its text as whole words: see `namesIdentity`. */
  readonly named: boolean;
  /** Calibrated similarity of fact and term, 0 to 1; null when the fact or the term has no vector. */
  readonly similarity: number | null;
}

/** Effect of valence at full bias lies within these (SPEC §4.4.2). */
export const VALENCE_FACTOR_MIN = 0.2;
export const VALENCE_FACTOR_MAX = 1.8;

/** How much full arousal adds to the decay resistance at sensitivity 1 (SPEC §4.4.3). */
export const AROUSAL_RESISTANCE = 0.65;

/** A surprise of this many standard deviations is as stirring as anything gets (SPEC §4.4.3). */
export const FULL_AROUSAL_Z = 4;

/**
 * What the persona's bias makes of a fact's valence: clamp(1 + (bias/100)·v, 0.2, 1.8) (SPEC §4.4.2).
 * @param valenceBias −100 (attends to the bad) to 100 (attends to the good)
 * @param valence −1 to 1, or null when unknown: factor 1
 */
export function valenceFactor(valenceBias: number, valence: number | null): number {
  if (valence === null) return 1;
  return clamp(1 + (valenceBias / 100) * valence, VALENCE_FACTOR_MIN, VALENCE_FACTOR_MAX);
}

/**
 * How stirring a fact is: the greatest of the arousal given, the strength of its valence and its surprise,
 * max(given, |v|, clamp(z/4, 0, 1)) (SPEC §4.4.3).
 * @param z the breakdown's z (dual surprise included), or null when there is none
 * @returns 0 to 1
 */
export function arousalOf(given: number | null, valence: number | null, z: number | null): number {
  return Math.max(given ?? 0, Math.abs(valence ?? 0), clamp((z ?? 0) / FULL_AROUSAL_Z, 0, 1));
}

/**
 * Decay resistance R = max(1, 1 + 0.65·a·sensitivity) (SPEC §4.4.3): it slows decay and leaves importance alone.
 * @param arousal 0 to 1
 * @param sensitivity the persona's, 0.5 to 2
 * @returns 1 to 2.3
 */
export function decayResistance(arousal: number, sensitivity: number): number {
  return Math.max(1, 1 + AROUSAL_RESISTANCE * arousal * sensitivity);
}

/**
 * Self-relevance: the persona's boost when any identity term is named by the fact or has a similarity of at
 * least the threshold (not strict, unlike topics), else 1 (SPEC §4.4.4).
 * @param boost 1 to 2
 * @param similarityThreshold 0 to 1
 */
export function selfRelevanceFactor(
  identity: readonly IdentityMatch[],
  boost: number,
  similarityThreshold: number,
): number {
  const isRelevant = identity.some(
    ({ named, similarity }) => named || (similarity !== null && similarity >= similarityThreshold),
  );
  return isRelevant ? boost : 1;
}
