/** Scores of stored facts after what matters has changed (SPEC §7): jobs, lazily on reads, and dry runs. */

export { followRescore } from './follow.js';
export { freshScores, isStale, type ScoredFact, staleScores } from './fresh-scores.js';
export {
  DEFAULT_CHANGES,
  MAX_BLOCKED,
  MAX_CHANGES,
  previewOverridePolicy,
  previewSalienceProfile,
  type SalienceProfilePreview,
} from './preview-profile.js';
export { cancelRescore, type RescoreRequest, startRescore } from './request.js';
export type { RescoringDeps } from './rescore-scopes.js';
export { rescoreStale } from './rescore-stale.js';
export { FACTS_AT_A_TIME, rescoreStep, type StepOutcome, skipFact } from './rescore-step.js';
