import { inTenant, takeFromBucket } from '../db/index.js';
import type { Services } from '../services.js';
import { type Actor, keyPointsPerMinute, pointsPerMinute, type TenantContext } from '../tenancy/index.js';
import { type BucketState, LeasedBucket } from './leased-bucket.js';

/** How a caller's rate stands; the scarcer one where its key has a rate of its own. */
export type RateState = BucketState;

/** What an operation has paid. */
export interface Reservation {
  readonly state: RateState;
  /** Takes back what it did not need. */
  refund(points: number): void;
}

/** Lets tenants spend the points of their rate and no more, over all processes on the database. */
export interface RateLimiter extends AsyncDisposable {
  /**
   * Pays for an operation before it runs; nothing is paid where `state.paid` is false. The platform pays nothing.
   * @param cost points, at most what a bucket of the least rate holds
   * @returns null for who has no rate
   */
  reserve(actor: Actor, cost: number): Promise<Reservation | null>;
}

/** The tenant's own bucket. */
const WHOLE_TENANT = '00000000-0000-0000-0000-000000000000';
/** How often it is looked which buckets are not used, and after how long they are given back, in ms. */
const SWEEP_MS = 1_000;
const IDLE_MS = 2_000;

type Deps = Pick<Services, 'config' | 'db' | 'log'>;

export function createRateLimiter(deps: Deps): RateLimiter {
  return new Limiter(deps);
}

class Limiter implements RateLimiter {
  readonly #buckets = new Map<string, LeasedBucket>();
  readonly #timer: NodeJS.Timeout;
  #sweeping: Promise<void> = Promise.resolve();

  constructor(private readonly deps: Deps) {
    this.#timer = setInterval(() => {
      this.#sweeping = this.#sweep(performance.now() - IDLE_MS);
    }, SWEEP_MS).unref();
  }

  async reserve(actor: Actor, cost: number): Promise<Reservation | null> {
    const { tenant, keyId } = actor;
    if (!tenant || actor.kind === 'PLATFORM_ADMIN') return null;
    const { config } = this.deps;
    const paid: LeasedBucket[] = [];
    let state: RateState | null = null;
    for (const [bucketId, perMinute] of [
      [WHOLE_TENANT, pointsPerMinute(tenant.settings, config.ratePoints)],
      [keyId, keyPointsPerMinute(tenant.settings, config.keyRatePoints)],
    ] as const) {
      if (bucketId === null || perMinute === 0) continue;
      const bucket = this.#bucket(tenant, bucketId, perMinute);
      const found = await bucket.pay(cost);
      if (!found.paid) {
        for (const one of paid) one.refund(cost);
        return { state: found, refund() {} };
      }
      paid.push(bucket);
      if (!state || found.remaining < state.remaining) state = found;
    }
    if (!state) return null;
    return {
      state,
      refund: (points) => {
        for (const one of paid) one.refund(points);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
    await this.#sweep(Number.POSITIVE_INFINITY);
  }

  #bucket(tenant: TenantContext, keyId: string, perMinute: number): LeasedBucket {
    const name = `${tenant.id} ${keyId}`;
    let bucket = this.#buckets.get(name);
    if (!bucket) {
      bucket = new LeasedBucket(
        (ask) => inTenant(this.deps.db, tenant, (unit) => takeFromBucket(unit, { keyId, ...ask })),
        perMinute,
      );
      this.#buckets.set(name, bucket);
    }
    // As of this request: the platform may have set another rate.
    bucket.capacity = perMinute;
    return bucket;
  }

  /** Gives back what was not used since then; a process that ends without keeps a second's worth from being spent. */
  async #sweep(unusedSince: number): Promise<void> {
    for (const [name, bucket] of [...this.#buckets]) {
      if (bucket.usedAt > unusedSince) continue;
      try {
        await bucket.giveBack();
        if (bucket.usedAt <= unusedSince && bucket.held === 0) this.#buckets.delete(name);
      } catch (error) {
        const code = (error as { code?: unknown } | null)?.code;
        this.deps.log.warn({ code: typeof code === 'string' ? code : undefined }, 'unused points were lost');
      }
    }
  }
}
