import type { ReceiptRecord } from '../db/index.js';
import { COACTIVATION_TOP } from '../salience/index.js';
import { SYSTEM_ACTOR, type TenantContext } from '../tenancy/index.js';

/** Who recalled, as events name it. */
export interface Recaller {
  readonly kind: string;
  readonly id: string | null;
}

/** The pairs of two facts, and how many recalls returned both. */
export interface Pair {
  readonly first: string;
  readonly second: string;
  readonly times: number;
}

/** What a LEARN recall leaves behind. */
export interface Recalled {
  /** The facts that it strengthens, in rank order. */
  readonly factIds: readonly string[];
  /** Those that it returned whose scores are out of date. */
  readonly stale: readonly string[];
  /** Its receipt; null where none is kept. */
  readonly receipt: ReceiptRecord | null;
}

/** How much a receipt weighs in a batch, in facts and pairs: about as much as its candidates. */
export const RECEIPT_SIZE = 100;

/** What the recalls of one tenant have taught since it was last written. */
export class Batch {
  readonly #facts = new Set<string>();
  readonly #stale = new Set<string>();
  readonly #pairs = new Map<string, Pair>();
  #receipts: readonly ReceiptRecord[] = [];
  #tenant: TenantContext;
  #actor: Recaller;
  #at: Date;
  /** How often writing it was tried. */
  attempts = 0;

  constructor(tenant: TenantContext, actor: Recaller, at: Date) {
    this.#tenant = tenant;
    this.#actor = actor;
    this.#at = at;
  }

  /** The tenant as the latest recall knew it. */
  get tenant(): TenantContext {
    return this.#tenant;
  }

  /** Who recalled; Salient itself where it was several. */
  get actor(): Recaller {
    return this.#actor;
  }

  /** The time of the latest recall. */
  get at(): Date {
    return this.#at;
  }

  get factIds(): readonly string[] {
    return [...this.#facts];
  }

  /** Facts whose scores were out of date when they were recalled. */
  get staleIds(): readonly string[] {
    return [...this.#stale];
  }

  get pairs(): readonly Pair[] {
    return [...this.#pairs.values()];
  }

  get receipts(): readonly ReceiptRecord[] {
    return this.#receipts;
  }

  /** How much it is to write: facts, pairs and receipts. */
  get size(): number {
    return this.#facts.size + this.#stale.size + this.#pairs.size + RECEIPT_SIZE * this.#receipts.length;
  }

  /** Its receipts are kept. */
  noted(): void {
    this.#receipts = [];
  }

  /** Its stale facts are rescored. */
  rescored(): void {
    this.#stale.clear();
  }

  /** What it taught is written, but for its stale facts. */
  learned(): void {
    this.#facts.clear();
    this.#pairs.clear();
  }

  /**
   * Adds a recall.
   * @param due facts that may be reinforced
   * @param together facts that are tied to each other
   * @param stale facts that are to be rescored
   * @param receipt to be kept, if any
   */
  add(
    tenant: TenantContext,
    actor: Recaller,
    due: readonly string[],
    together: readonly string[],
    stale: readonly string[],
    receipt: ReceiptRecord | null,
    at: Date,
  ): void {
    this.#tenant = tenant;
    if (this.#actor.kind !== actor.kind || this.#actor.id !== actor.id) this.#actor = SYSTEM_ACTOR;
    if (at > this.#at) this.#at = at;
    for (const id of due) this.#facts.add(id);
    for (const id of stale) this.#stale.add(id);
    if (receipt) this.#receipts = [...this.#receipts, receipt];
    for (const [first, second] of pairsOf(together)) {
      const key = first + second;
      this.#pairs.set(key, { first, second, times: (this.#pairs.get(key)?.times ?? 0) + 1 });
    }
  }
}

/** The facts of a recall that are tied to each other: the first ten (SPEC §6.3). */
export function tiedFacts(factIds: readonly string[]): readonly string[] {
  return factIds.slice(0, COACTIVATION_TOP);
}

function* pairsOf(ids: readonly string[]): Generator<readonly [string, string]> {
  const ordered = [...new Set(ids)].sort();
  for (const [place, first] of ordered.entries()) {
    for (const second of ordered.slice(place + 1)) yield [first, second];
  }
}
