/** Scores of stored facts after what matters has changed (SPEC §7): jobs, lazily on reads, and dry runs. */
export { freshScores, isStale, type ScoredFact } from './fresh-scores.js';
export { rescoreStale } from './rescore-stale.js';
export { FACTS_AT_A_TIME, rescoreStep, type StepOutcome, skipFact } from './rescore-step.js';
