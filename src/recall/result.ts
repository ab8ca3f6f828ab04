import type { FoundDocument, RecallOutcome, SearchArmName, SupplementArm } from '../db/index.js';
import type { RecallMode } from './input.js';

/**
 * What brings candidates: an arm of the search, what is said around what the words led to, or what fills a result that
 * those leave room in (SPEC §8.3).
 */
export type RecallArmName = SearchArmName | 'CONTEXT' | SupplementArm;

/** The parts of an item's score (SPEC §8). */
export interface RecallScores {
  /** BM25 score of its own words; null where the lexical arm did not find it, though words around it may have led here. */
  readonly lexical: number | null;
  /** Calibrated similarity to the query, 0 to 1; null where the vector arm did not find it. */
  readonly vector: number | null;
  /** Weighted reciprocal ranks, of the sum of scores or of both arms, times what profiles say of its topics; 0 where there was no query. */
  readonly fused: number;
  /** Importance, co-activation, novelty and urgency together, 0 to 1 with the default weights. */
  readonly icnu: number;
}

/** A fact or message that was recalled, as `source` says, with its record and how it came by its rank. */
export type RecallItem = FoundDocument & {
  /** From 1, without gaps. */
  readonly rank: number;
  /** fused × (1 + λ·ICNU). Without a query: a tenth of a fact's current importance, or a message's freshness. 0 for what only fills. */
  readonly score: number;
  readonly scores: RecallScores;
  /** What brought it: one arm or both, or the one supplement that did; RECENCY is both, an arm and a supplement. */
  readonly arms: readonly RecallArmName[];
  /** Whether it only fills what the direct hits left of k: it ranks after all of them, with a score of 0. */
  readonly supplement: boolean;
  /** True for a message whose facts have all been superseded: it ranks after everything else. */
  readonly superseded: boolean;
};

/** An arm that ran; what fills a result is among them where it brought something. */
export interface RecallArm {
  readonly name: RecallArmName;
  /** Documents that it found. */
  readonly candidates: number;
  /** Whether an approximate index may have found too few; exact arms never do. */
  readonly underfilled: boolean;
}

/** Why candidates are not in the result, and how many. */
export interface LeftOut {
  readonly reason: Exclude<RecallOutcome, 'RETURNED'>;
  readonly count: number;
}

/** How the result came about. */
export interface RecallReceipt {
  /** Under which it is kept, about a second later; null where it is not: for OBSERVE, and where the tenant keeps none. */
  readonly id: string | null;
  readonly arms: readonly RecallArm[];
  /** What was looked at and is not in the result, by the reason; without those of which there are none. */
  readonly leftOut: readonly LeftOut[];
  /** Items passed over because they did not fit into the character budget. */
  readonly skippedForBudget: number;
  /** Characters of all items, in code points. */
  readonly charactersUsed: number;
  readonly mode: RecallMode;
}

export interface RecallResult {
  /** In rank order. */
  readonly items: readonly RecallItem[];
  readonly receipt: RecallReceipt;
}
