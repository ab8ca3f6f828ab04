/** Recall: what an agent should be told now (SPEC §8). */
export {
  DEFAULT_K,
  MAX_K,
  MAX_QUERY_CHARACTERS,
  RECALL_MODES,
  RECALL_SOURCES,
  type RecallInput,
  type RecallMode,
  type RecallSource,
} from './input.js';
export { DEFAULT_RANKING, type RankingOptions, type RankingOverrides } from './ranking.js';
export { type RecallDeps, recall } from './recall.js';
export { RECEIPT_CANDIDATES } from './receipt.js';
export {
  pruneRecallReceipts,
  readReceipts,
  receiptPage,
} from './receipts.js';
export type {
  LeftOut,
  RecallArm,
  RecallArmName,
  RecallItem,
  RecallReceipt,
  RecallResult,
  RecallScores,
} from './result.js';
export {
  WHY_NOT_REASONS,
  type WhyNot,
  type WhyNotInput,
  type WhyNotPlace,
  type WhyNotReason,
  type WhyNotStanding,
  whyNot,
} from './why-not.js';
