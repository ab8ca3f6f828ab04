import type { Config } from './config/index.js';
import type { Database } from './db/index.js';
import type { EmbeddingProvider } from './embedding/index.js';
import type { EventFeed } from './events/index.js';
import type { Extractor } from './extraction/index.js';
import type { Consolidator, JobRunner, RescoreRunner } from './jobs/index.js';
import type { Learner } from './learning/index.js';
import type { Logger } from './log.js';
import type { ProfileReader } from './profiles/index.js';
import type { RankingOverrides } from './recall/index.js';
import type { Telemetry } from './telemetry/index.js';

/** What the features are given, made once in app.ts. None of it holds state that a second server would contradict. */
export interface Services {
  readonly config: Config;
  readonly db: Database;
  readonly embedding: EmbeddingProvider;
  /** Row of embedding_model for `embedding.model`. */
  readonly embeddingModelId: number;
  readonly extractor: Extractor;
  readonly feed: EventFeed;
  readonly consolidator: Consolidator;
  readonly jobs: JobRunner;
  readonly learner: Learner;
  readonly log: Logger;
  readonly profiles: ProfileReader;
  /** How recall ranks where it is not by the rules' defaults: to compare rankings. */
  readonly ranking?: RankingOverrides;
  readonly rescorer: RescoreRunner;
  readonly telemetry: Telemetry;
  /** The clock of world and knowledge time. */
  now(): Date;
}
