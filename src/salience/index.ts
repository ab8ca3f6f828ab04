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
export { DEFAULT_BASE, FAMILIAR_SIMILARITY, INGESTION_ICNU_WEIGHTS } from './novelty.js';
export type { IdentityMatch } from './persona.js';
export { type EncodePersona, type EncodeProfile, NEUTRAL_PROFILE, PROFILE_RANGES } from './profile.js';
export { clampImportance, IMPORTANCE_MAX, IMPORTANCE_MIN } from './scale.js';
export {
  type BaselinePair,
  FLASHBULB_TIER,
  type ScoredCandidate,
  type SequenceCandidate,
  type SequenceResult,
  scoreSequence,
} from './sequence.js';
export {
  type MatchedTopic,
  type ProfileOrigin,
  TOPIC_MULTIPLIERS,
  type TopicLevel,
  type TopicList,
  type TopicSimilarity,
} from './topics.js';
