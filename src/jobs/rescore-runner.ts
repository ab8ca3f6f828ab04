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
import { StretchSize } from './stretch-size.js';
import { Turns } from './turns.js';
import { pause, within } from './waiting.js';

/**
 * Works at the rescorings of tenants (SPEC §7): one of each tenant at a time, whatever processes there are, and in one
 * process of two tenants at the same time, by turns where there are more.
 */
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
/** Tenants whose facts this process rescores at the same time: the database is there for requests too. */
const TENANTS_AT_ONCE = 2;

type Deps = Pick<Services, 'db' | 'embedding' | 'embeddingModelId' | 'log' | 'now' | 'profiles'>;

export function createRescoreRunner(deps: Deps, timing: Partial<RescoreTiming> = {}): RescoreRunner {
  return new Runner(deps, { ...DEFAULT_TIMING, ...timing });
}

class Runner implements RescoreRunner {
  /** Names this process where it holds a job. */
  readonly #owner = randomUUID();
  /** Tenants that are worked for here, and whether more was asked for meanwhile. */
  readonly #working = new Map<string, { done: Promise<void>; again: boolean }>();
  /** Taken for a stretch at a time, so that a tenant with many facts does not keep the others waiting for its end. */
  readonly #turns = new Turns(TENANTS_AT_ONCE);
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
    const rest = [this.#sweeping, ...[...this.#working.values()].map(({ done }) => done)];
    await within(Promise.allSettled(rest), this.timing.close);
  }

  async #work(tenant: TenantContext, entry: { again: boolean }): Promise<void> {
    try {
      do {
        entry.again = false;
        for (;;) {
          const jobId = await this.#turns.take(async () => (this.#closed ? null : this.#begin(tenant)));
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
    const size = new StretchSize(this.timing.factsAtATime);
    let attempts = 0;
    while (!this.#closed) {
      try {
        const outcome = await this.#turns.take(async () =>
          this.#closed ? null : this.#step(tenant, jobId, size, attempts),
        );
        if (outcome === null) break;
        if (outcome !== 'MORE') return outcome === 'DONE';
        attempts = 0;
      } catch (error) {
        attempts++;
        this.#tell(tenant, error, 'rescoring failed at a stretch');
        if (attempts >= MAX_ATTEMPTS) return this.#abandon(tenant, jobId, error);
        // One bad fact must not stop the others: the stretch is cut down to it, and it alone is passed over.
        size.failed();
        await pause(size.current === 1 ? this.timing.retry : 0);
      }
    }
    await inTenant(this.deps.db, tenant, (unit) => releaseRescore(unit, jobId, this.#owner));
    return false;
  }

  async #step(
    tenant: TenantContext,
    jobId: string,
    size: StretchSize,
    attempts: number,
  ): Promise<StepOutcome> {
    const step = async (limit: number) => {
      const outcome = await rescoreStep(this.deps, tenant, jobId, this.#owner, limit);
      size.succeeded();
      return outcome;
    };
    if (size.current > 1 || attempts < 2) return step(size.current);
    try {
      return await step(1);
    } catch (error) {
      this.#tell(tenant, error, 'a fact could not be rescored');
      const outcome = await skipFact(this.deps, tenant, jobId, this.#owner);
      size.skipped();
      return outcome;
    }
  }

  /** Gives a job up. @returns false when it is not this process's to end: it is left to whoever has it */
  async #abandon(tenant: TenantContext, jobId: string, cause: unknown): Promise<boolean> {
    const { db, now } = this.deps;
    const code = (cause as { code?: unknown }).code;
    return inTenant(db, tenant, async (unit) => {
      const isEnded = await abandonRescore(
        unit,
        jobId,
        this.#owner,
        typeof code === 'string' ? code : 'INTERNAL',
        now(),
      );
      const event = { type: 'RESCORE_FINISHED', agentId: null, userId: null, subjectId: jobId } as const;
      if (isEnded) appendEvents(unit, [event], SYSTEM_ACTOR, now());
      return isEnded;
    });
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
