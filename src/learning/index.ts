/** How importance evolves: by being recalled, by being recalled together, and with time (SPEC §6). */
export type { Recalled, Recaller } from './batch.js';
export { consolidateStep, type StepOutcome } from './consolidate.js';
export { createLearner, type Learner, type LearnerOptions } from './learner.js';
export type { RescoreStale } from './write-batch.js';
