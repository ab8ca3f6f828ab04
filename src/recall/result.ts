import type { FoundDocument, SearchArmName } from '../db/index.js';
import type { RecallMode } from './input.js';

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
  /** fused × (1 + λ·ICNU). Without a query: a tenth of a fact's current importance, or a message's freshness. */
  readonly score: number;
  readonly scores: RecallScores;
  /** True for a message whose facts have all been superseded: it ranks after everything else. */
  readonly superseded: boolean;
};

/** An arm that ran. */
export interface RecallArm {
  readonly name: SearchArmName;
  /** Documents that it found. */
  readonly candidates: number;
  /** Whether an approximate index may have found too few; exact arms never do. */
  readonly underfilled: boolean;
}

/** How the result came about. */
export interface RecallReceipt {
  readonly arms: readonly RecallArm[];
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
