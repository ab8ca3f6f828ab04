import type { Config } from './config/index.js';
import { type Database, openDatabase, registerEmbeddingModel } from './db/index.js';
import { createEmbeddingProvider, type EmbeddingProvider, embeddingConfigOf } from './embedding/index.js';
import { createEventFeed } from './events/index.js';
import { createExtractor, type Extractor } from './extraction/index.js';
import {
  createConsolidator,
  createJobRunner,
  createRescoreRunner,
  type RescoreTiming,
  startEventRetention,
} from './jobs/index.js';
import { createLearner } from './learning/index.js';
import { createRateLimiter } from './limits/index.js';
import { createLogger, type Logger } from './log.js';
import { adoptScoring, calibrationOf, createProfileReader } from './profiles/index.js';
import type { RankingOverrides } from './recall/index.js';
import { rescoreStale } from './rescoring/index.js';
import { ALGORITHM_VERSION } from './salience/index.js';
import { costOfOperation, createContext, feedSharing, schema } from './schema/index.js';
import { createServer, type Listener, type Server } from './server/index.js';
import type { Services } from './services.js';
import { createTelemetry, watchServices } from './telemetry/index.js';
import { authenticate } from './tenancy/index.js';

/** A running Salient. Disposing it ends what is under way and closes everything. */
export interface App extends AsyncDisposable {
  readonly services: Services;
  /** Answers a request in process, as if it had come over HTTP. */
  fetch(request: Request): Promise<Response>;
  /** Starts to accept connections where the configuration says. */
  listen(): Promise<{ url: string; port: number }>;
  /** Serves what arrives at a port that is open already; its opener closes it, after this. */
  serveOn(listener: Listener): void;
}

/** Parts that a caller brings itself; it also closes them. */
export interface AppParts {
  readonly database?: Database;
  readonly embedding?: EmbeddingProvider;
  readonly extractor?: Extractor;
  readonly log?: Logger;
  readonly now?: () => Date;
  /** Version of the formulas that facts are scored by; that of the code when left out. */
  readonly algorithm?: number;
  /** How recall ranks, where that is not by the defaults: to compare rankings on the same data. */
  readonly ranking?: RankingOverrides;
  /** How long rescoring waits, and how many facts it does at a time; its defaults when left out. */
  readonly rescoring?: Partial<RescoreTiming>;
  /** Whether it looks for work that other processes left behind; true when left out. */
  readonly takesUpWork?: boolean;
}

/**
 * The one place where Salient is put together. What it opens, it closes in the opposite order, on failure too; a part
 * that fails to close keeps none of the others open.
 */
export async function createApp(config: Config, parts: AppParts = {}): Promise<App> {
  const opened: (() => PromiseLike<void>)[] = [];
  const close = async () => {
    const failures: unknown[] = [];
    for (const dispose of opened.splice(0).reverse())
      await dispose().then(undefined, (error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
  const keep = <T extends AsyncDisposable>(part: T): T => {
    opened.push(() => part[Symbol.asyncDispose]());
    return part;
  };
  try {
    const log = parts.log ?? createLogger(config.logLevel);
    const now = parts.now ?? (() => new Date());
    const telemetry = keep(await createTelemetry({ ...config, tenants: config.metricsTenants === 'on' }));
    const db =
      parts.database ??
      keep(await openDatabase({ ...config, log: (level, message, fields) => log[level](fields, message) }));
    const embedding = parts.embedding ?? keep(await createEmbeddingProvider(embeddingConfigOf(config)));
    const embeddingModelId = await db.withPlatform((tx) =>
      registerEmbeddingModel(tx, embedding.model, embedding.dimensions),
    );
    const extractor = parts.extractor ?? createExtractor(config);
    const feed = keep(createEventFeed({ db, log, now }, { hints: config.eventHints === 'on' }));
    const { algorithm = ALGORITHM_VERSION } = parts;
    const profiles = createProfileReader({ embedding, algorithm });
    const own = { algorithm, calibration: calibrationOf(embedding) };
    const outdated = await adoptScoring({ db }, embeddingModelId, own);
    if (outdated > 0) log.info({ tenants: outdated }, 'scores of older formulas are out of date now');
    const scoring = { embedding, embeddingModelId, profiles };
    const consolidator = keep(createConsolidator({ ...scoring, db, log, now }));
    const learner = keep(
      createLearner(
        { db, log, now },
        { rescoreStale: (unit, tenant, ids, at) => rescoreStale(unit, scoring, tenant, ids, at) },
      ),
    );
    const rescorer = keep(createRescoreRunner({ ...scoring, db, log, now }, parts.rescoring));
    const base = {
      config,
      consolidator,
      db,
      embedding,
      embeddingModelId,
      extractor,
      feed,
      learner,
      log,
      now,
      profiles,
      ...(parts.ranking ? { ranking: parts.ranking } : {}),
      rescorer,
      telemetry,
    };
    const jobs = keep(createJobRunner(base));
    keep(startEventRetention(base));
    const services: Services = { ...base, jobs };
    const limiter = keep(createRateLimiter(services));
    const stopWatching = watchServices(services);
    opened.push(async () => stopWatching());
    const server: Server = createServer({
      schema,
      services,
      authenticate,
      createContext,
      sharing: feedSharing,
      rate: { limiter, costOf: costOfOperation },
    });
    opened.push(() => server.dispose());
    if (parts.takesUpWork ?? true) {
      jobs.start();
      consolidator.start();
      rescorer.start();
    }
    return {
      services,
      fetch: (request) => server.fetch(request),
      listen: () => server.listen(config.port, config.host),
      serveOn: (listener) => server.serveOn(listener),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
