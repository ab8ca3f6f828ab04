/** The receipt of a recall, for whoever wants to know later what was told and what was not (SPEC §8). Pure. */
import type { ReceiptCandidate, ReceiptRecord } from '../db/index.js';
import { changerOf, type TenantActor } from '../tenancy/index.js';
import type { Answer, Placed } from './answer.js';
import type { RecallRequest } from './input.js';
import type { LeftOut, RecallResult } from './result.js';

/** How many candidates a receipt keeps, beside those that were returned. */
export const RECEIPT_CANDIDATES = 100;
/** Most of them that were left out before they were ranked. */
const RECEIPT_EXCLUDED = 20;

/** How many candidates are not in the result, by the reason. */
export function leftOutOf({
  ranked,
  packed,
  leftOut,
}: Pick<Answer, 'ranked' | 'packed' | 'leftOut'>): LeftOut[] {
  const counted = (reason: 'KIND_EXCLUDED' | 'FLAGGED') =>
    leftOut.filter((one) => one.reason === reason).length;
  const all: LeftOut[] = [
    { reason: 'OVER_BUDGET', count: packed.skipped.length },
    { reason: 'BELOW_K', count: ranked.length - packed.taken.length - packed.skipped.length },
    { reason: 'KIND_EXCLUDED', count: counted('KIND_EXCLUDED') },
    { reason: 'FLAGGED', count: counted('FLAGGED') },
  ];
  return all.filter(({ count }) => count > 0);
}

/**
 * The receipt of an answer as it is kept: what was asked, and of each candidate its place, its scores and what became
 * of it. All that were returned are in it, the next best until there are a hundred, and twenty of those at most that the
 * request left out. Null where the result says that none is kept.
 * @param similarity of a cosine, 0 to 1
 */
export function receiptRecord(
  actor: TenantActor,
  request: RecallRequest,
  answer: Answer,
  { receipt }: RecallResult,
  similarity: (cosine: number) => number,
): ReceiptRecord | null {
  if (receipt.id === null) return null;
  const { kind, id } = changerOf(actor);
  return {
    id: receipt.id,
    agentId: request.agentId,
    userId: request.userId,
    actorKind: kind,
    actorId: id,
    query: request.query?.toWellFormed() ?? null,
    k: request.k,
    charBudget: request.charBudget,
    kinds: request.kinds ?? [],
    sources: [...(request.facts ? ['FACT'] : []), ...(request.messages ? ['MESSAGE'] : [])],
    validAt: request.validAt,
    knownAt: request.knownAt,
    includeFlagged: request.includeFlagged,
    arms: receipt.arms,
    leftOut: receipt.leftOut,
    charactersUsed: receipt.charactersUsed,
    candidates: candidatesOf(answer, similarity),
    candidateCount: answer.ranked.length + answer.leftOut.length,
    recalledAt: answer.now,
  };
}

function candidatesOf(
  { ranked, packed, leftOut }: Answer,
  similarity: (cosine: number) => number,
): ReceiptCandidate[] {
  const taken = new Set(packed.taken);
  const skipped = new Set(packed.skipped);
  const others = RECEIPT_CANDIDATES - Math.min(leftOut.length, RECEIPT_EXCLUDED) - taken.size;
  let room = Math.max(0, others);
  const kept: ReceiptCandidate[] = [];
  for (const [index, one] of ranked.entries()) {
    if (!taken.has(one) && room-- <= 0) continue;
    const outcome = taken.has(one) ? 'RETURNED' : skipped.has(one) ? 'OVER_BUDGET' : 'BELOW_K';
    kept.push({ ...scoresOf(one, similarity), outcome, place: index + 1 });
  }
  const unranked = { place: null, arms: [], score: 0, lexical: null, vector: null, fused: 0, icnu: 0 };
  return [
    ...kept,
    ...leftOut.slice(0, RECEIPT_EXCLUDED).map(({ id, reason }) => ({ id, outcome: reason, ...unranked })),
  ];
}

function scoresOf({ candidate, arms, score, fused, icnu }: Placed, similarity: (cosine: number) => number) {
  const { id, lexical, cosine } = candidate;
  return { id, arms, score, lexical, vector: cosine === null ? null : similarity(cosine), fused, icnu };
}
