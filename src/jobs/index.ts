export { type ConsolidationTiming, type Consolidator, createConsolidator } from './consolidation.js';
export { startEventRetention } from './event-retention.js';
export { createJobRunner, type ExtractionOutcome, type JobRunner } from './job-runner.js';
export { createRescoreRunner, type RescoreRunner, type RescoreTiming } from './rescore-runner.js';
