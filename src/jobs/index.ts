export { createJobRunner, type ExtractionOutcome, type JobRunner } from './job-runner.js';
