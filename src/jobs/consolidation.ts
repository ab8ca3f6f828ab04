import { randomUUID } from 'node:crypto';
import {
  type ConsolidationRow,
  consolidationsByIds,
  enqueueConsolidation,
  enqueueDueConsolidation,
  findTenant,
  inTenant,
  openConsolidations,
  postponeConsolidation,
  releaseConsolidation,
  tenantsToConsolidate,
} from '../db/index.js';
import { newId } from '../ids.js';
import { consolidateStep } from '../learning/index.js';
import type { Services } from '../services.js';
import { audit, type TenantActor, type TenantContext, toTenantContext } from '../tenancy/index.js';
import { pause, within } from './waiting.js';

/** Consolidates the facts of tenants (SPEC §6.5), on request and by itself. */
export interface Consolidator extends AsyncDisposable {
  /** Begins to look, every few minutes, for tenants whose turn it is and for work that was left behind. */
  start(): void;
  /**
   * Consolidates the actor's tenant. Where that is under way already, it is that one.
   * @returns how it stands after 10 s at most; it goes on behind that
   */
  run(actor: TenantActor): Promise<ConsolidationRow>;
}

/** How long things take, in milliseconds. */
export interface ConsolidationTiming {
  /** How long a request waits for the result. */
  readonly wait: number;
  /** How often a consolidation that another process does is asked after. */
  readonly poll: number;
  /** How often work is looked for. */
  readonly sweep: number;
  /** How long ago a tenant's last one must be for the next: less than a day, so that snapshots are never older. */
  readonly age: number;
  /** How long one is put off that failed. */
  readonly postpone: number;
  /** How long closing waits for the piece under way. */
  readonly close: number;
}

const DEFAULT_TIMING: ConsolidationTiming = {
  wait: 10_000,
  poll: 250,
  sweep: 2 * 60_000,
  age: 20 * 60 * 60_000,
  postpone: 5 * 60_000,
  close: 5_000,
};
/** Tenants and left-behind jobs of one look. */
const SWEEP_LIMIT = 100;
/** A consolidation that fails as often in a row has failed for good; the next is a new one. */
const MAX_ATTEMPTS = 5;

type Deps = Pick<Services, 'db' | 'embedding' | 'embeddingModelId' | 'log' | 'now' | 'profiles'>;

export function createConsolidator(
  deps: Deps,
  timing: Partial<ConsolidationTiming> = {},
  factsAtATime?: number,
): Consolidator {
  return new TimedConsolidator(deps, { ...DEFAULT_TIMING, ...timing }, factsAtATime);
}

class TimedConsolidator implements Consolidator {
  /** Names this process where it holds a job. */
  readonly #owner = randomUUID();
  readonly #stop = new AbortController();
  /** The jobs that are worked at here. */
  readonly #running = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #sweeping: Promise<void> = Promise.resolve();

  constructor(
    private readonly deps: Deps,
    private readonly timing: ConsolidationTiming,
    private readonly factsAtATime: number | undefined,
  ) {}

  start(): void {
    // Processes that were started together do not look together.
    this.#next(Math.random() * this.timing.sweep);
  }

  async run(actor: TenantActor): Promise<ConsolidationRow> {
    const { tenant } = actor;
    const id = await this.#enqueue(actor);
    const deadline = Date.now() + this.timing.wait;
    await within(this.#work(tenant, id), this.timing.wait);
    for (;;) {
      const row = await this.#read(tenant, id);
      const open = row.status === 'QUEUED' || row.status === 'RUNNING';
      // One that failed for now is put off for longer than anybody waits.
      if (!open || row.error !== null || Date.now() >= deadline || this.#stop.signal.aborted) return row;
      await pause(this.timing.poll);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#stop.abort();
    await within(Promise.allSettled([...this.#running.values(), this.#sweeping]), this.timing.close);
  }

  #enqueue(actor: TenantActor): Promise<string> {
    return inTenant(this.deps.db, actor.tenant, async (unit) => {
      const now = this.deps.now();
      const id = await enqueueConsolidation(unit, newId(), now);
      await audit(unit, actor, 'runConsolidation', [id], now);
      return id;
    });
  }

  async #read(tenant: TenantContext, id: string): Promise<ConsolidationRow> {
    const [row] = await inTenant(this.deps.db, tenant, (unit) => consolidationsByIds(unit, [id]));
    if (!row) throw new Error('a consolidation that is gone');
    return row;
  }

  /** Works at a job until it is done, lost, put off, or this process closes; never fails. */
  #work(tenant: TenantContext, id: string): Promise<void> {
    const running = this.#running.get(id) ?? this.#doAll(tenant, id).finally(() => this.#running.delete(id));
    this.#running.set(id, running);
    return running;
  }

  async #doAll(tenant: TenantContext, id: string): Promise<void> {
    const { db } = this.deps;
    try {
      while (!this.#stop.signal.aborted) {
        const outcome = await consolidateStep(this.deps, tenant, id, this.#owner, this.factsAtATime);
        if (outcome !== 'MORE') return;
      }
      await inTenant(db, tenant, (unit) => releaseConsolidation(unit, id, this.#owner));
    } catch (error) {
      this.#tell(error, 'consolidating a tenant failed');
      await this.#postpone(tenant, id, (error as { code?: string }).code ?? 'INTERNAL').catch((failure) =>
        this.#tell(failure, 'postponing a consolidation failed'),
      );
    }
  }

  #postpone(tenant: TenantContext, id: string, error: string): Promise<void> {
    const at = this.deps.now();
    const retryAt = new Date(at.getTime() + this.timing.postpone);
    return inTenant(this.deps.db, tenant, (unit) =>
      postponeConsolidation(unit, id, this.#owner, { error, at, retryAt, maxAttempts: MAX_ATTEMPTS }),
    );
  }

  #next(delay: number): void {
    if (this.#stop.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#sweeping = this.#sweep()
        .catch((error) => this.#tell(error, 'looking for tenants to consolidate failed'))
        .finally(() => this.#next(this.timing.sweep));
    }, delay).unref();
  }

  /** One tenant after the other: nobody waits for it. */
  async #sweep(): Promise<void> {
    const { db, now } = this.deps;
    const left = await db.withPlatform((tx) => openConsolidations(tx, now(), SWEEP_LIMIT));
    for (const { tenantId, id } of left) {
      const tenant = await this.#tenant(tenantId);
      if (tenant) await this.#work(tenant, id);
    }
    const before = new Date(now().getTime() - this.timing.age);
    const due = await db.withPlatform((tx) => tenantsToConsolidate(tx, before, SWEEP_LIMIT));
    for (const { id } of due) {
      const tenant = await this.#tenant(id);
      if (!tenant) continue;
      const job = await inTenant(db, tenant, (unit) => enqueueDueConsolidation(unit, newId(), before, now()));
      if (job !== null) await this.#work(tenant, job);
    }
  }

  /** Null where it is gone, and from closing on. */
  async #tenant(id: string): Promise<TenantContext | null> {
    if (this.#stop.signal.aborted) return null;
    const row = await this.deps.db.withPlatform((tx) => findTenant(tx, { id }));
    return row && toTenantContext(row);
  }

  #tell(error: unknown, message: string): void {
    if (!this.#stop.signal.aborted) this.deps.log.error({ code: (error as { code?: string }).code }, message);
  }
}
