import { randomUUID } from 'node:crypto';
import {
  abandonRescore,
  appendEvents,
  beginRescore,
  findTenant,
  inTenant,
  RUNNING_RESCORE_CONSTRAINT,
  releaseRescore,
  tenantsToRescore,
  violates,
} from '../db/index.js';
import { FACTS_AT_A_TIME, rescoreStep, type StepOutcome, skipFact } from '../rescoring/index.js';
import type { Services } from '../services.js';
import { SYSTEM_ACTOR, type TenantContext, toTenantContext } from '../tenancy/index.js';

/** Works at the rescorings of tenants (SPEC §7): one of each tenant at a time, whatever processes there are. */
export interface RescoreRunner extends AsyncDisposable {
  /** Begins to look for rescorings that nobody works at. */
  start(): void;
  /** Goes to work for a tenant, if it has any; called after a job was asked for. */
  wake(tenant: TenantContext): void;
}

/** How long things take, in milliseconds, and how many facts are done at a time. */
export interface RescoreTiming {
  /** How often work is looked for that another process left behind. */
  readonly sweep: number;
  /** Between two attempts after a failure. */
  readonly retry: number;
  /** How long closing waits for the stretch under way. */
  readonly close: number;
  readonly factsAtATime: number;
}

const DEFAULT_TIMING: RescoreTiming = {
  sweep: 10_000,
  retry: 1_000,
  close: 5_000,
  factsAtATime: FACTS_AT_A_TIME,
};
const SWEEP_LIMIT = 100;
/** A database that fails as often in a row has failed; the facts that are left keep their scores until they are read. */
const MAX_ATTEMPTS = 8;
/** By how much a stretch is cut that fails, until it is one fact. */
const CUT = 16;

type Deps = Pick<Services, 'db' | 'embedding' | 'embeddingModelId' | 'feed' | 'log' | 'now' | 'profiles'>;

export function createRescoreRunner(deps: Deps, timing: Partial<RescoreTiming> = {}): RescoreRunner {
  return new Runner(deps, { ...DEFAULT_TIMING, ...timing });
}

class Runner implements RescoreRunner {
  /** Names this process where it holds a job. */
  readonly #owner = randomUUID();
  /** Tenants that are worked for here, and whether more was asked for meanwhile. */
  readonly #working = new Map<string, { done: Promise<void>; again: boolean }>();
  #closed = false;
  #timer: NodeJS.Timeout | null = null;
  #sweeping: Promise<void> | null = null;

  constructor(
    private readonly deps: Deps,
    private readonly timing: RescoreTiming,
  ) {}

  start(): void {
    const look = () => {
      this.#sweeping ??= this.#sweep().finally(() => {
        this.#sweeping = null;
      });
    };
    look();
    this.#timer = setInterval(look, this.timing.sweep);
    this.#timer.unref();
  }

  wake(tenant: TenantContext): void {
    if (this.#closed) return;
    const working = this.#working.get(tenant.id);
    if (working) {
      working.again = true;
      return;
    }
    const entry = { done: Promise.resolve(), again: false };
    this.#working.set(tenant.id, entry);
    entry.done = this.#work(tenant, entry);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearInterval(this.#timer);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, this.timing.close);
    });
    const rest = [this.#sweeping, ...[...this.#working.values()].map(({ done }) => done)];
    await Promise.race([Promise.allSettled(rest), late]);
    clearTimeout(timer);
  }

  async #work(tenant: TenantContext, entry: { again: boolean }): Promise<void> {
    try {
      do {
        entry.again = false;
        for (;;) {
          const jobId = this.#closed ? null : await this.#begin(tenant);
          if (jobId === null || !(await this.#do(tenant, jobId))) break;
        }
      } while (entry.again && !this.#closed);
    } catch (error) {
      // The job is open: it is taken up again, here or elsewhere.
      this.#tell(tenant, error, 'rescoring could not go on');
    } finally {
      this.#working.delete(tenant.id);
    }
  }

  async #begin(tenant: TenantContext): Promise<string | null> {
    const { db, now } = this.deps;
    try {
      return await inTenant(db, tenant, (unit) => beginRescore(unit, now()));
    } catch (error) {
      if (violates(error, RUNNING_RESCORE_CONSTRAINT)) return null;
      throw error;
    }
  }

  /** Does a job to its end. @returns false when another process has it, or this one closes */
  async #do(tenant: TenantContext, jobId: string): Promise<boolean> {
    let limit = this.timing.factsAtATime;
    let attempts = 0;
    while (!this.#closed) {
      try {
        const outcome = await this.#step(tenant, jobId, limit, attempts);
        if (outcome !== 'MORE') return outcome === 'DONE';
        attempts = 0;
        limit = Math.min(this.timing.factsAtATime, limit * CUT);
      } catch (error) {
        attempts++;
        this.#tell(tenant, error, 'rescoring failed at a stretch');
        if (attempts >= MAX_ATTEMPTS) {
          await this.#abandon(tenant, jobId, error);
          return true;
        }
        // One bad fact must not stop the others: the stretch is cut down to it, and it alone is passed over.
        limit = Math.max(1, Math.floor(limit / CUT));
        await new Promise((resolve) => setTimeout(resolve, limit === 1 ? this.timing.retry : 0));
      }
    }
    await inTenant(this.deps.db, tenant, (unit) => releaseRescore(unit, jobId, this.#owner));
    return false;
  }

  async #step(tenant: TenantContext, jobId: string, limit: number, attempts: number): Promise<StepOutcome> {
    if (limit > 1 || attempts < 2) return rescoreStep(this.deps, tenant, jobId, this.#owner, limit);
    try {
      return await rescoreStep(this.deps, tenant, jobId, this.#owner, 1);
    } catch (error) {
      this.#tell(tenant, error, 'a fact could not be rescored');
      return skipFact(this.deps, tenant, jobId, this.#owner);
    }
  }

  async #abandon(tenant: TenantContext, jobId: string, cause: unknown): Promise<void> {
    const { db, feed, now } = this.deps;
    const code = (cause as { code?: unknown }).code;
    await inTenant(db, tenant, async (unit) => {
      const ended = await abandonRescore(
        unit,
        jobId,
        this.#owner,
        typeof code === 'string' ? code : 'INTERNAL',
        now(),
      );
      const event = { type: 'RESCORE_FINISHED', agentId: null, userId: null, subjectId: jobId } as const;
      if (ended) await appendEvents(unit, [event], SYSTEM_ACTOR, now());
    });
    feed.wake(tenant.id);
  }

  async #sweep(): Promise<void> {
    const { db, log, now } = this.deps;
    try {
      const ids = await db.withPlatform((tx) => tenantsToRescore(tx, now(), SWEEP_LIMIT));
      for (const id of ids) {
        if (this.#closed) return;
        const tenant = await db.withPlatform((tx) => findTenant(tx, { id }));
        if (tenant) this.wake(toTenantContext(tenant));
      }
    } catch (error) {
      if (!this.#closed)
        log.error({ code: (error as { code?: string }).code }, 'looking for rescorings failed');
    }
  }

  #tell(tenant: TenantContext, error: unknown, message: string): void {
    const { code } = error as { code?: string };
    if (!this.#closed) this.deps.log.error({ tenantId: tenant.id, code }, message);
  }
}
