import { REINFORCEMENT_INTERVAL_MS } from '../salience/index.js';
import type { Services } from '../services.js';
import type { TenantContext } from '../tenancy/index.js';
import { Batch, type Recalled, type Recaller, tiedFacts } from './batch.js';
import { Recently } from './recently.js';
import { keepReceipts, type RescoreStale, rescoreBatch, writeBatch } from './write-batch.js';

/**
 * Learns from LEARN recalls (SPEC §6.2, §6.3) and keeps their receipts (SPEC §8), off the path of the requests. What
 * they left behind waits in memory for about a second and is then written, in batches of one tenant and bounded size; a
 * process that is killed loses what it had not written yet: an importance a little lower, a receipt, and never a memory.
 */
export interface Learner extends AsyncDisposable {
  /** Notes what a LEARN recall leaves behind. It never fails and waits for nothing. */
  note(tenant: TenantContext, actor: Recaller, recalled: Recalled): void;
  /** Writes what was noted so far, and waits until that is done; it never fails. */
  flush(): Promise<void>;
}

export interface LearnerOptions {
  /** How long notes wait to be written together, in milliseconds. */
  readonly flushMs?: number;
  /** Facts, pairs and, at a hundred each, receipts of one tenant that are written without waiting any longer: a batch is full with so many. */
  readonly flushSize?: number;
  /** The same of all tenants beyond which recalls are no longer learned from, until some are written. */
  readonly limit?: number;
  readonly rescoreStale?: RescoreStale;
}

const DEFAULTS = { flushMs: 1_000, flushSize: 2_000, limit: 200_000 };
/** Facts whose reinforcement this process remembers. */
const REMEMBERED = 100_000;
/** A batch that failed is tried once more. */
const MAX_ATTEMPTS = 2;

type Deps = Pick<Services, 'db' | 'log' | 'now'>;

export function createLearner(deps: Deps, options: LearnerOptions = {}): Learner {
  return new BufferedLearner(deps, { ...DEFAULTS, ...options });
}

class BufferedLearner implements Learner {
  /** What is noted, by tenant. */
  #batches = new Map<string, Batch>();
  /** Full batches, which wait for their turn: what comes after them goes into others. */
  #full: Batch[] = [];
  /** What could not be written, for the next time. */
  #failed: Batch[] = [];
  #size = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | null = null;
  /** The tail of the writing: one transaction at a time. */
  #writing: Promise<void> = Promise.resolve();
  #closed = false;
  readonly #reinforced = new Recently(REINFORCEMENT_INTERVAL_MS, REMEMBERED);

  constructor(
    private readonly deps: Deps,
    private readonly options: typeof DEFAULTS & Pick<LearnerOptions, 'rescoreStale'>,
  ) {}

  note(tenant: TenantContext, actor: Recaller, { factIds, stale, receipt }: Recalled): void {
    const at = this.deps.now();
    // The database decides; where this process knows its answer, it is spared the question.
    const due = factIds.filter((id) => !this.#reinforced.has(id, at));
    const together = tiedFacts(factIds);
    if (due.length === 0 && together.length < 2 && stale.length === 0 && !receipt) return;
    if (this.#closed || this.#size >= this.options.limit) {
      this.#dropped++;
      return;
    }
    const batch = this.#batches.get(tenant.id) ?? new Batch(tenant, actor, at);
    this.#batches.set(tenant.id, batch);
    const before = batch.size;
    batch.add(tenant, actor, due, together, stale, receipt, at);
    this.#size += batch.size - before;
    if (batch.size < this.options.flushSize) {
      this.#wait();
      return;
    }
    this.#full.push(batch);
    this.#batches.delete(tenant.id);
    void this.flush();
  }

  flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.flush();
    if (this.#failed.length > 0) await this.flush();
    if (this.#timer) clearTimeout(this.#timer);
  }

  #wait(): void {
    this.#timer ??= setTimeout(() => void this.flush(), this.options.flushMs).unref();
  }

  async #write(): Promise<void> {
    const batches = [...this.#failed, ...this.#full, ...this.#batches.values()];
    this.#failed = [];
    this.#full = [];
    this.#batches = new Map();
    for (const batch of batches) {
      const { size } = batch;
      await this.#writeOne(batch);
      this.#size -= size - (this.#failed.includes(batch) ? batch.size : 0);
    }
    if (this.#dropped > 0) {
      this.deps.log.warn({ recalls: this.#dropped }, 'recalls were not learned from: too many at once');
      this.#dropped = 0;
    }
    if (this.#failed.length > 0 && !this.#closed) this.#wait();
  }

  /** Each part is written for itself, and tried again for itself. Rescored first: reinforcement adds to that. */
  async #writeOne(batch: Batch): Promise<void> {
    batch.attempts++;
    const rescored = await this.#attempt(batch, async () => {
      await rescoreBatch(this.deps, batch, this.options.rescoreStale);
      batch.rescored();
    });
    const learned = await this.#attempt(batch, async () => {
      this.#reinforced.add(await writeBatch(this.deps, batch), batch.at);
      batch.learned();
    });
    const noted = await this.#attempt(batch, async () => {
      await keepReceipts(this.deps, batch);
      batch.noted();
    });
    if (!(rescored && learned && noted) && batch.attempts < MAX_ATTEMPTS) this.#failed.push(batch);
  }

  async #attempt(batch: Batch, write: () => Promise<void>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      const { code } = error as { code?: string };
      const retried = batch.attempts < MAX_ATTEMPTS;
      this.deps.log.error({ tenantId: batch.tenant.id, code, retried }, 'learning from recalls failed');
      return false;
    }
  }
}
