import {
  endExtraction,
  factIdsOfRuns,
  findTenant,
  inTenant,
  type OpenExtraction,
  openExtractions,
  postponeExtraction,
  runsByIds,
  sessionsByIds,
} from '../db/index.js';
import { mineSession, type RunRefusal } from '../extraction/index.js';
import type { Services } from '../services.js';
import { type TenantContext, toTenantContext } from '../tenancy/index.js';
import { Turns } from './turns.js';
import { pause, within } from './waiting.js';

/** What a run came to by the time its caller is answered. */
export interface ExtractionOutcome {
  readonly status: string;
  readonly factIds: readonly string[];
  readonly refused: readonly RunRefusal[];
}

/** Does the work that no caller waits for. */
export interface JobRunner extends AsyncDisposable {
  /** Begins to look for work that a process which ended has left behind. */
  start(): void;
  /**
   * Mines a session for the run that an append asked for.
   * @param wait whether to wait for the outcome, 10 s at most; without it, or after that, the status is PENDING
   */
  extract(tenant: TenantContext, sessionId: string, runId: string, wait: boolean): Promise<ExtractionOutcome>;
}

/** How long things take, in milliseconds. */
export interface JobTiming {
  /** How long an append waits for its extraction (SPEC §2). */
  readonly wait: number;
  /** How often a session that another process holds is asked for again. */
  readonly retry: number;
  /** How often left-behind work is looked for, and how old it must be: who took it on may be at it still. */
  readonly sweep: number;
  readonly sweepAge: number;
  /** How long work is put off that could not be taken up. */
  readonly postpone: number;
  /** How long closing waits for the work under way, which is then left to another process. */
  readonly close: number;
}

const DEFAULT_TIMING: JobTiming = {
  wait: 10_000,
  retry: 250,
  sweep: 15_000,
  sweepAge: 15_000,
  postpone: 60_000,
  close: 5_000,
};
const SWEEP_LIMIT = 20;
/** Sessions that one process mines at the same time, and those of one tenant among them. */
const SESSIONS_AT_ONCE = 16;
const OF_ONE_TENANT = 8;

const PENDING: ExtractionOutcome = { status: 'PENDING', factIds: [], refused: [] };

type Deps = Omit<Services, 'jobs'>;
type Outcomes = ReadonlyMap<string, ExtractionOutcome>;

export function createJobRunner(deps: Deps, timing: Partial<JobTiming> = {}): JobRunner {
  return new Runner(deps, { ...DEFAULT_TIMING, ...timing });
}

class Runner implements JobRunner {
  /** The tail of each session's work in this process: appends to one session are mined one after the other. */
  readonly #tails = new Map<string, Promise<unknown>>();
  /** Taken for a round at a time: a tenant with many sessions must not keep the others waiting for all of them. */
  readonly #turns = new Turns(SESSIONS_AT_ONCE, OF_ONE_TENANT);
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #looking = false;

  constructor(
    private readonly deps: Deps,
    private readonly timing: JobTiming,
  ) {}

  start(): void {
    void this.#sweep();
    this.#timer = setInterval(() => void this.#sweep(), this.timing.sweep);
    this.#timer.unref();
  }

  async extract(
    tenant: TenantContext,
    sessionId: string,
    runId: string,
    wait: boolean,
  ): Promise<ExtractionOutcome> {
    // A backlog behind it is not this caller's to wait for.
    let done: (outcomes: Outcomes) => void = () => {};
    const own = new Promise<Outcomes>((resolve) => {
      done = resolve;
    });
    const work = this.#enqueue(tenant, sessionId, (outcomes) => {
      if ((outcomes.get(runId)?.status ?? 'PENDING') !== 'PENDING') done(outcomes);
    });
    if (!wait) return PENDING;
    try {
      const outcomes = await within(Promise.race([own, work]), this.timing.wait);
      if (!outcomes) return PENDING;
      // Another append's run may have mined these messages along with its own.
      return outcomes.get(runId) ?? (await this.#outcomeOf(tenant, runId));
    } catch (error) {
      // The messages are kept and the job is open: it is taken up again, here or elsewhere.
      this.#tell(error, 'mining a session failed');
      return PENDING;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#stop.abort();
    await within(Promise.allSettled(this.#tails.values()), this.timing.close);
  }

  /** @param onRound is told what the runs have come to after each round */
  #enqueue(
    tenant: TenantContext,
    sessionId: string,
    onRound: (outcomes: Outcomes) => void = () => {},
  ): Promise<Outcomes | null> {
    const before = this.#tails.get(sessionId) ?? Promise.resolve();
    const work = before.then(() => this.#mine(tenant, sessionId, onRound));
    const tail = work
      .catch(() => null)
      .finally(() => {
        if (this.#tails.get(sessionId) === tail) this.#tails.delete(sessionId);
      });
    this.#tails.set(sessionId, tail);
    return work;
  }

  /**
   * Mines until nothing is left; a session that another process holds is asked for again, for it may leave our messages
   * to us. Null when the work was ended before that.
   */
  async #mine(
    tenant: TenantContext,
    sessionId: string,
    onRound: (outcomes: Outcomes) => void,
  ): Promise<Outcomes | null> {
    const outcomes = new Map<string, ExtractionOutcome>();
    while (!this.#stop.signal.aborted) {
      const result = await this.#turns.take(
        async () =>
          this.#stop.signal.aborted ? null : mineSession(this.deps, tenant, sessionId, this.#stop.signal),
        tenant.id,
      );
      if (this.#stop.signal.aborted && !result) return null;
      for (const [id, outcome] of result?.outcomes ?? []) outcomes.set(id, merged(outcomes.get(id), outcome));
      onRound(outcomes);
      if (result && !result.more) return this.#told(outcomes);
      if (!result && !(await this.#exists(tenant, sessionId))) return this.#told(outcomes);
      if (!result) await pause(this.timing.retry);
    }
    return null;
  }

  #told(outcomes: Outcomes): Outcomes {
    for (const { status } of outcomes.values())
      if (status !== 'PENDING') this.deps.telemetry.metrics.extraction(status);
    return outcomes;
  }

  /** Whether a session that could not be claimed is there, so that another holds it; the work on one that is gone ends. */
  #exists(tenant: TenantContext, sessionId: string): Promise<boolean> {
    return inTenant(this.deps.db, tenant, async (unit) => {
      const [session] = await sessionsByIds(unit, [sessionId]);
      if (!session) await endExtraction(unit, sessionId, this.deps.now());
      return session !== undefined;
    });
  }

  #outcomeOf(tenant: TenantContext, runId: string): Promise<ExtractionOutcome> {
    return inTenant(this.deps.db, tenant, async (unit) => {
      const [run] = await runsByIds(unit, [runId]);
      if (!run) return PENDING;
      const factIds = await factIdsOfRuns(unit, [runId]);
      return { status: run.status, factIds: factIds.get(runId) ?? [], refused: [] };
    });
  }

  async #sweep(): Promise<void> {
    // A database that is slow to answer is not asked again meanwhile.
    if (this.#looking) return;
    const { db, now } = this.deps;
    try {
      const before = new Date(now().getTime() - this.timing.sweepAge);
      this.#looking = true;
      const open = await db
        .withPlatform((tx) => openExtractions(tx, before, SWEEP_LIMIT))
        .finally(() => {
          this.#looking = false;
        });
      // Together, so that a session which takes long holds up no other; they have their turns.
      await Promise.all(open.map((job) => this.#takeUp(job)));
    } catch (error) {
      this.#tell(error, 'looking for left-behind work failed');
    }
  }

  /** One job that fails keeps no other waiting: it is due again later. */
  async #takeUp({ tenantId, sessionId }: OpenExtraction): Promise<void> {
    const { db, now } = this.deps;
    if (this.#tails.has(sessionId) || this.#stop.signal.aborted) return;
    try {
      const tenant = await db.withPlatform((tx) => findTenant(tx, { id: tenantId }));
      if (tenant) await this.#enqueue(toTenantContext(tenant), sessionId);
    } catch (error) {
      this.#tell(error, 'taking up left-behind work failed');
      const later = new Date(now().getTime() + this.timing.postpone);
      await db
        .withTenant(tenantId, (tx) => postponeExtraction(tx, tenantId, sessionId, later))
        .catch((failure) => this.#tell(failure, 'postponing left-behind work failed'));
    }
  }

  #tell(error: unknown, message: string): void {
    if (!this.#stop.signal.aborted) this.deps.log.error({ code: (error as { code?: string }).code }, message);
  }
}

/** What several rounds made of a run. */
function merged(earlier: ExtractionOutcome | undefined, later: ExtractionOutcome): ExtractionOutcome {
  if (!earlier) return later;
  return {
    status: later.status,
    factIds: [...new Set([...earlier.factIds, ...later.factIds])],
    refused: [...earlier.refused, ...later.refused],
  };
}
