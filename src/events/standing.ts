import DataLoader from 'dataloader';
import { type Database, standingOf } from '../db/index.js';
import type { TenantActor } from '../tenancy/index.js';

interface Subject {
  readonly keyId: string | null;
  readonly tenantId: string;
}

interface Answer {
  readonly askedAt: number;
  readonly holds: Promise<boolean>;
}

/**
 * Whether actors still are who they were when their request was authenticated: their key is in force and their tenant
 * exists. An answer counts for `maxAgeMs`, and what is asked together goes into one statement, so any number of busy
 * subscriptions costs little more than a statement per `maxAgeMs`.
 */
export class Standing {
  readonly #answers = new Map<string, Answer>();
  readonly #loader: DataLoader<Subject, boolean>;
  #sweptAt = 0;

  constructor(
    db: Database,
    now: () => Date,
    private readonly maxAgeMs: number,
  ) {
    this.#loader = new DataLoader(
      async (subjects) => {
        const keyIds = subjects.flatMap(({ keyId }) => (keyId === null ? [] : [keyId]));
        const tenantIds = subjects.flatMap(({ keyId, tenantId }) => (keyId === null ? [tenantId] : []));
        const standing = await db.withPlatform((tx) => standingOf(tx, { keyIds, tenantIds }, now()));
        return subjects.map(({ keyId, tenantId }) => standing.has(keyId ?? tenantId));
      },
      { cache: false, batchScheduleFn: (dispatch) => setImmediate(dispatch) },
    );
  }

  /** False once the key was revoked or has expired, or the tenant is gone; known at most `maxAgeMs` later. */
  holds(actor: TenantActor): Promise<boolean> {
    const subject = { keyId: actor.keyId, tenantId: actor.tenant.id };
    const id = subject.keyId ?? subject.tenantId;
    const askedAt = performance.now();
    const known = this.#answers.get(id);
    if (known && askedAt - known.askedAt < this.maxAgeMs) return known.holds;
    this.#sweep(askedAt);
    const holds = this.#loader.load(subject);
    this.#answers.set(id, { askedAt, holds });
    holds.catch(() => {
      if (this.#answers.get(id)?.holds === holds) this.#answers.delete(id);
    });
    return holds;
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < this.maxAgeMs) return;
    this.#sweptAt = now;
    for (const [id, { askedAt }] of this.#answers)
      if (now - askedAt >= this.maxAgeMs) this.#answers.delete(id);
  }
}
