/**
 * Salience: how much a fact matters, as pure functions without clock, database or randomness. Everything here
 * is a function of its arguments, so every number can be explained and recomputed.
 */
export {
  addSample,
  type Baseline,
  type BaselineOrigin,
  type ChosenBaseline,
  chooseBaseline,
  EMPTY_BASELINE,
  mergeBaselines,
  sigma,
  WARMUP_SAMPLES,
  zScore,
} from './baseline.js';
export {
  COACTIVATION_MAX_DEGREE,
  COACTIVATION_MIN_WEIGHT,
  COACTIVATION_TOP,
  decayTie,
  strengthenTie,
} from './coactivation.js';
export {
  type BlockedSetting,
  type BlockReason,
  type EffectiveIdentity,
  type EffectiveProfile,
  type EffectiveTopic,
  type IcnuWeights,
  type IdentityTerm,
  type MergePolicy,
  type OverriddenTopic,
  type PersonaSettings,
  type ProfileHierarchy,
  type ProfileSetting,
  type ProfileSettings,
  protectsTenantInterests,
  type Sourced,
  type TopicSetting,
  type ValueOrigin,
} from './effective.js';
export { type BaseSource, encodeImportance, type ImportanceBreakdownAtEncoding } from './encode.js';
export { SalienceInputError } from './errors.js';
export {
  type CurrentParts,
  currentImportance,
  DECAY_VARIANTS,
  type DecayVariant,
  decay,
  type FreshnessTimes,
  hoursUnseen,
  IMPORTANCE_EVENT_DELTA,
  isWorthTelling,
  mayReinforce,
  REINFORCEMENT_INTERVAL_MS,
  REINFORCEMENT_MAX,
  REINFORCEMENT_MIN,
  REINFORCEMENT_STEP,
  reinforce,
} from './evolution.js';
export { ALGORITHM_VERSION, type FingerprintParts, profileFingerprint } from './fingerprint.js';
export {
  type HintSource,
  type HintSources,
  type Hints,
  mergeHints,
  NO_HINTS,
  type OfferedHints,
  type ResolvedHints,
  resolveHints,
} from './hints.js';
export { type FactWords, namesIdentity } from './identity.js';
export {
  type BaselineUsed,
  type EncodeInputs,
  newFactInputs,
  type Observation,
  reaffirmedInputs,
} from './inputs.js';
export { type Meeting, meetProfile } from './meet.js';
export { DEFAULT_ICNU_WEIGHTS, mergeProfiles } from './merge.js';
export {
  DEFAULT_BASE,
  FAMILIAR_SIMILARITY,
  INGESTION_ICNU_WEIGHTS,
  SIGMOID_CENTRE,
  SIGMOID_SLOPE,
  TEMPORAL_Z_MIN,
} from './novelty.js';
export {
  AROUSAL_RESISTANCE,
  FULL_AROUSAL_Z,
  type IdentityMatch,
  VALENCE_FACTOR_MAX,
  VALENCE_FACTOR_MIN,
} from './persona.js';
export { type EncodePersona, type EncodeProfile, NEUTRAL_PROFILE, PROFILE_RANGES } from './profile.js';
export { clampImportance, IMPORTANCE_MAX, IMPORTANCE_MIN, IMPORTANCE_SPAN } from './scale.js';
export {
  type BaselinePair,
  FLASHBULB_TIER,
  type ScoredCandidate,
  type SequenceCandidate,
  type SequenceResult,
  scoreSequence,
} from './sequence.js';
export { topicKey } from './topic-key.js';
export {
  type MatchedTopic,
  type ProfileOrigin,
  TOPIC_BOOST_MIN,
  TOPIC_MULTIPLIERS,
  type TopicLevel,
  type TopicList,
  type TopicRef,
  type TopicSimilarity,
} from './topics.js';
