import { factIdsOfRuns, findTenant, inTenant, openExtractions, runsByIds } from '../db/index.js';
import { type MiningResult, mineSession, type RunRefusal } from '../extraction/index.js';
import type { Services } from '../services.js';
import { type TenantContext, toTenantContext } from '../tenancy/index.js';

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

/** How long an append waits for its extraction (SPEC §2). */
const WAIT_MS = 10_000;
/** How often a session that another process holds is asked for again. */
const RETRY_MS = 250;
/** How often left-behind work is looked for, and how old it must be: the process that took it on may be at it still. */
const SWEEP_MS = 15_000;
const SWEEP_AGE_MS = 15_000;
const SWEEP_LIMIT = 20;

const PENDING: ExtractionOutcome = { status: 'PENDING', factIds: [], refused: [] };

type Deps = Omit<Services, 'jobs'>;

export function createJobRunner(deps: Deps): JobRunner {
  return new Runner(deps);
}

class Runner implements JobRunner {
  /** The tail of each session's work in this process: appends to one session are mined one after the other. */
  readonly #tails = new Map<string, Promise<unknown>>();
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly deps: Deps) {}

  start(): void {
    void this.#sweep();
    this.#timer = setInterval(() => void this.#sweep(), SWEEP_MS);
    this.#timer.unref();
  }

  async extract(
    tenant: TenantContext,
    sessionId: string,
    runId: string,
    wait: boolean,
  ): Promise<ExtractionOutcome> {
    const work = this.#enqueue(tenant, sessionId);
    if (!wait) return PENDING;
    const { promise: late, cancel } = timeout(WAIT_MS);
    try {
      const result = await Promise.race([work, late]);
      if (!result) return PENDING;
      // Another append's run may have mined these messages along with its own.
      return result.outcomes.get(runId) ?? (await this.#outcomeOf(tenant, runId));
    } finally {
      cancel();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#stop.abort();
    await Promise.allSettled(this.#tails.values());
  }

  #enqueue(tenant: TenantContext, sessionId: string): Promise<MiningResult | null> {
    const before = this.#tails.get(sessionId) ?? Promise.resolve();
    const work = before.then(() => this.#mine(tenant, sessionId));
    const tail = work
      .catch(() => null)
      .finally(() => {
        if (this.#tails.get(sessionId) === tail) this.#tails.delete(sessionId);
      });
    this.#tails.set(sessionId, tail);
    return work;
  }

  /** Mines until the session is ours; another process that holds it mines our messages too, or leaves them to us. */
  async #mine(tenant: TenantContext, sessionId: string): Promise<MiningResult | null> {
    while (!this.#stop.signal.aborted) {
      const result = await mineSession(this.deps, tenant, sessionId, this.#stop.signal);
      if (result && !result.more) return result;
      if (!result) await pause(RETRY_MS);
    }
    return null;
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
    const { db, log, now } = this.deps;
    try {
      const before = new Date(now().getTime() - SWEEP_AGE_MS);
      const open = await db.withPlatform((tx) => openExtractions(tx, before, SWEEP_LIMIT));
      for (const { tenantId, sessionId } of open) {
        if (this.#stop.signal.aborted) return;
        if (this.#tails.has(sessionId)) continue;
        const tenant = await db.withPlatform((tx) => findTenant(tx, { id: tenantId }));
        if (tenant) await this.#enqueue(toTenantContext(tenant), sessionId);
      }
    } catch (error) {
      if (!this.#stop.signal.aborted)
        log.error({ code: (error as { code?: string }).code }, 'looking for left-behind work failed');
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function timeout(ms: number): { promise: Promise<null>; cancel: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const promise = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  return { promise, cancel: () => clearTimeout(timer) };
}
