import { checkInputs, type EncodeInputs, spatialZ } from './inputs.js';
import {
  combinedZ,
  DEFAULT_BASE,
  FAMILIAR_SIMILARITY,
  hintedImportance,
  noveltyImportance,
  noveltyShare,
  temporalZ,
} from './novelty.js';
import { arousalOf, decayResistance, selfRelevanceFactor, valenceFactor } from './persona.js';
import { checkProfile, type EncodeProfile } from './profile.js';
import { clampImportance } from './scale.js';
import { type MatchedTopic, topicBoost } from './topics.js';

/**
 * What the base importance was made from (SPEC §4.1–§4.3):
 * HINTS: interest or challenge was given; NOVELTY: the z-score; WARMUP: fewer than 20 samples;
 * NO_NEIGHBOUR: enough samples, but nothing to measure a distance to.
 */
export type BaseSource = 'HINTS' | 'NOVELTY' | 'WARMUP' | 'NO_NEIGHBOUR';

/** Every step from a fact's inputs to its encoded importance; multiplying them in order gives `encoded`. */
export interface ImportanceBreakdownAtEncoding {
  /** L2 distance to the nearest live fact, 0 to 2; null without one. */
  readonly distance: number | null;
  /** The z that was scored: the dual surprise of a familiar statement, else the spatial z; null without one. */
  readonly z: number | null;
  /** How far above the typical distance, in standard deviations; null in warm-up and without a neighbour. */
  readonly spatialZ: number | null;
  /** Surprise of the gap, −1 to 5; null unless the statement is familiar and was scored against a baseline. */
  readonly temporalZ: number | null;
  /** Base importance, 0.05 to 10. */
  readonly base: number;
  readonly baseSource: BaseSource;
  /** True when there was no baseline to score against, whatever the base was made from. */
  readonly warmup: boolean;
  /** Factor of the topics, 0.01 to 2 (SPEC §5.2). */
  readonly topicBoost: number;
  readonly matchedTopics: readonly MatchedTopic[];
  /** Factor of the valence, 0.2 to 1.8 (SPEC §4.4.2). */
  readonly valenceFactor: number;
  /** Factor of the identity, 1 to 2 (SPEC §4.4.4). */
  readonly selfRelevanceFactor: number;
  /** 0 to 1 (SPEC §4.4.3). */
  readonly arousal: number;
  /** R, 1 to 2.3: slows decay, leaves importance alone (SPEC §4.4.3). */
  readonly decayResistance: number;
  /** Settled at ingestion; before that, what ingestion would decide (SPEC §4.4.6). */
  readonly flashbulb: boolean;
  /** Encoded importance, 0.05 to 10; a flashbulb's too is computed, though it shows 10 while pinned. */
  readonly encoded: number;
}

/**
 * Importance of a fact at ingestion, at a reaffirmation and at every rescore: the whole order of SPEC §4.4 as
 * one pure function. It reads no clock and remembers nothing, so scoring twice cannot compound.
 *
 * base (§4.1–§4.3) × topic boost (§5.2) × valence factor × self-relevance factor, clamped to [0.05, 10];
 * arousal gives the decay resistance on the side. Flashbulb: a spatial z at or above the threshold, after
 * warm-up and on a new fact only; once settled in the inputs it is passed through.
 *
 * In warm-up, and without a neighbour, the base is 1.0: without a distance there is no surprise to measure,
 * and taking "no neighbour" for the greatest distance would make the first fact of every new user of a
 * settled tenant a flashbulb.
 *
 * @throws SalienceInputError naming the field when a number is not finite or out of its range; hints out of
 *   range are clamped
 */
export function encodeImportance(
  inputs: EncodeInputs,
  profile: EncodeProfile,
): ImportanceBreakdownAtEncoding {
  const checked = checkInputs(inputs);
  const effective = checkProfile(profile);
  const { hints } = checked;
  const { persona } = effective;

  const surprise = surpriseOf(checked, effective);
  const { base, baseSource } = baseOf(checked, surprise.z);
  const topics = topicBoost(effective.topics, effective.protectTenantInterests);
  const valence = valenceFactor(persona.valenceBias, hints.valence);
  const selfRelevance = selfRelevanceFactor(
    persona.identity,
    persona.selfRelevanceBoost,
    effective.similarityThreshold,
  );
  const arousal = arousalOf(hints.arousal, hints.valence, surprise.z);

  return {
    distance: checked.distance,
    z: surprise.z,
    spatialZ: surprise.spatialZ,
    temporalZ: surprise.temporalZ,
    base,
    baseSource,
    warmup: checked.baseline === null,
    topicBoost: topics.boost,
    matchedTopics: topics.matched,
    valenceFactor: valence,
    selfRelevanceFactor: selfRelevance,
    arousal,
    decayResistance: decayResistance(arousal, persona.arousalSensitivity),
    flashbulb: checked.flashbulb ?? isFlashbulb(checked, surprise.spatialZ, effective.flashbulbThreshold),
    encoded: clampImportance(base * topics.boost * valence * selfRelevance),
  };
}

interface Surprise {
  readonly z: number | null;
  readonly spatialZ: number | null;
  readonly temporalZ: number | null;
}

function surpriseOf(inputs: EncodeInputs, profile: EncodeProfile): Surprise {
  const spatial = spatialZ(inputs);
  if (spatial === null) return { z: null, spatialZ: null, temporalZ: null };
  const isFamiliar = inputs.reaffirmed || (inputs.nearestSimilarity ?? 0) >= FAMILIAR_SIMILARITY;
  if (!isFamiliar || inputs.gapHours === null) return { z: spatial, spatialZ: spatial, temporalZ: null };
  const temporal = temporalZ(inputs.gapHours);
  const z = combinedZ(spatial, temporal, profile.alpha, profile.beta);
  return { z, spatialZ: spatial, temporalZ: temporal };
}

function baseOf(inputs: EncodeInputs, z: number | null): { base: number; baseSource: BaseSource } {
  const { interest, challenge, urgency } = inputs.hints;
  if (interest !== null || challenge !== null) {
    const signals = {
      interest: interest ?? 0,
      challenge: challenge ?? 0,
      novelty: noveltyShare(inputs.distance),
      urgency: urgency ?? 0,
    };
    return { base: hintedImportance(signals), baseSource: 'HINTS' };
  }
  if (z !== null) return { base: noveltyImportance(z), baseSource: 'NOVELTY' };
  return { base: DEFAULT_BASE, baseSource: inputs.baseline === null ? 'WARMUP' : 'NO_NEIGHBOUR' };
}

function isFlashbulb(inputs: EncodeInputs, spatial: number | null, threshold: number): boolean {
  return !inputs.reaffirmed && spatial !== null && spatial >= threshold;
}
