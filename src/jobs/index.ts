export { startEventRetention } from './event-retention.js';
export { createJobRunner, type ExtractionOutcome, type JobRunner } from './job-runner.js';
