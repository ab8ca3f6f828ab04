/** Scores of stored facts after what matters has changed (SPEC §7): jobs, lazily on reads, and dry runs. */
export { FACTS_AT_A_TIME, rescoreStep, type StepOutcome, skipFact } from './rescore-step.js';
