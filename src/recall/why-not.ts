import { type FactRecord, placesInArms, type SearchArmName, type Unit } from '../db/index.js';
import { NotFoundError } from '../errors.js';
import { findFactById } from '../facts/index.js';
import type { TenantActor } from '../tenancy/index.js';
import { type Answer, type AnswerDeps, answering, type Placed } from './answer.js';
import { type RecallInput, type RecallRequest, recallRequest } from './input.js';
import type { RankingOverrides } from './ranking.js';
import type { RecallScores } from './result.js';
import { explain } from './why-not-explanation.js';

/** Why a fact is not among what a recall returns, or that it is. */
export const WHY_NOT_REASONS = [
  'RETURNED',
  'NOT_VISIBLE',
  'NOT_YET_KNOWN',
  'RETIRED',
  'NOT_YET_VALID',
  'ENDED',
  'SOURCE_EXCLUDED',
  'KIND_EXCLUDED',
  'NO_MATCH',
  'BELOW_K',
  'OVER_BUDGET',
] as const;
export type WhyNotReason = (typeof WHY_NOT_REASONS)[number];

/** A recall and the fact that is asked about. Whatever mode the caller has, nothing is learned and no receipt is kept. */
export interface WhyNotInput extends Omit<RecallInput, 'mode' | 'includeFlagged'> {
  /** A UUID, or an unambiguous prefix of at least 8 characters of its shortId. */
  readonly factId: string;
}

/** How the fact stands in one arm, however far below the first. */
export interface WhyNotStanding {
  readonly arm: SearchArmName;
  /** BM25 of its words; similarity, 0 to 1; importance. Null where the arm does not find it. */
  readonly score: number | null;
  /** Its place among all that the arm ranks, from 1. */
  readonly place: number | null;
  /** How many the arm brings: who is below is no candidate by it. */
  readonly limit: number;
}

/** A place in the one order of a recall, with the numbers that led there. */
export interface WhyNotPlace {
  /** From 1, among all candidates. */
  readonly place: number;
  readonly score: number;
  readonly scores: RecallScores;
  /** What brought it. */
  readonly arms: Placed['arms'];
}

/** The answer to "why not": the first reason that applies, with its numbers. */
export interface WhyNot {
  readonly reason: WhyNotReason;
  /** One sentence, without anything that memory holds. */
  readonly explanation: string;
  readonly fact: FactRecord;
  /** Its rank among what is returned; null where it is not. */
  readonly rank: number | null;
  /** Null where it is no candidate. */
  readonly placed: WhyNotPlace | null;
  /** The last of what is returned; null for an empty result. */
  readonly last: WhyNotPlace | null;
  /** How many candidates there are, and how many are returned at most, and are. */
  readonly candidates: number;
  readonly k: number;
  readonly returned: number;
  /** Length of the fact, and the budget of all, in code points. */
  readonly characters: number;
  readonly charBudget: number | null;
  /** Empty where the fact is left out before anything is ranked. */
  readonly standings: readonly WhyNotStanding[];
}

/**
 * Why a fact is not in the result of a recall, or at which rank it is: the recall is done as it would be, and the fact
 * looked for in it. Changes nothing.
 * @throws NotFoundError for a fact that the actor may not read, as for a missing one (path `factId`)
 * @throws what `recall` does
 */
export async function whyNot(
  deps: AnswerDeps,
  actor: TenantActor,
  { factId, ...input }: WhyNotInput,
  options: RankingOverrides = {},
): Promise<WhyNot> {
  const request = recallRequest(actor, { ...input, mode: 'OBSERVE' });
  return answering(deps, actor, request, options, async (unit, answer) => {
    const fact = await findFactById(unit, actor, factId, ['factId']);
    if (!fact) throw new NotFoundError('Fact', ['factId']);
    const similarity = (cosine: number) => deps.embedding.similarity(cosine);
    const early = excludedBefore(fact, request, answer);
    const standings = early ? [] : await standingsOf(unit, answer, fact, similarity);
    const found = answer.ranked.findIndex(({ candidate }) => candidate.id === fact.id);
    const { taken, skipped } = answer.packed;
    const rank = taken.findIndex(({ candidate }) => candidate.id === fact.id) + 1 || null;
    const passedOver = skipped.some(({ candidate }) => candidate.id === fact.id);
    const lastTaken = taken.at(-1);
    const why: Omit<WhyNot, 'explanation'> = {
      reason: early ?? reasonOf({ rank, passedOver, found, standings }),
      fact,
      rank,
      placed: placeOf(answer.ranked[found], found, similarity),
      last: lastTaken ? placeOf(lastTaken, answer.ranked.indexOf(lastTaken), similarity) : null,
      candidates: answer.ranked.length,
      k: request.k,
      returned: taken.length,
      characters: [...fact.text].length,
      charBudget: request.charBudget,
      standings,
    };
    return { ...why, explanation: explain(why, request, answer.now) };
  });
}

/** Why a fact is left out before anything is ranked; null where it is not. */
function excludedBefore(fact: FactRecord, request: RecallRequest, answer: Answer): WhyNotReason | null {
  if (!answer.filter.scopeIds.includes(fact.scopeId)) return 'NOT_VISIBLE';
  const atItsTime = notOfItsTime(fact, request, answer.now);
  if (atItsTime) return atItsTime;
  if (!request.facts) return 'SOURCE_EXCLUDED';
  return request.kinds === null || (request.kinds as readonly string[]).includes(fact.kind)
    ? null
    : 'KIND_EXCLUDED';
}

/** Which of the conditions of SPEC §1 a fact does not meet; the SQL twin is `timeCondition` in db/repositories. */
function notOfItsTime(
  { recordedAt, validFrom, validTo, retiredAt, retireReason, endedAt }: FactRecord,
  { validAt, knownAt }: RecallRequest,
  now: Date,
): WhyNotReason | null {
  if (!validAt && !knownAt) {
    if (retiredAt !== null) return 'RETIRED';
    return validTo !== null && validTo <= now ? 'ENDED' : null;
  }
  const v = validAt ?? now;
  const k = knownAt ?? now;
  if (recordedAt > k) return 'NOT_YET_KNOWN';
  const retired = retiredAt !== null && retiredAt <= k;
  if (retired && retireReason !== 'ENDED') return 'RETIRED';
  if (validFrom > v) return 'NOT_YET_VALID';
  const end = retired ? endedAt : validTo;
  return end !== null && end <= v ? 'ENDED' : null;
}

async function standingsOf(
  unit: Unit,
  { searched, filter, limit }: Answer,
  fact: FactRecord,
  similarity: (cosine: number) => number,
): Promise<WhyNotStanding[]> {
  const standings = await placesInArms(unit, searched, filter, fact.id);
  return standings.map(({ arm, score, place }) => ({
    arm,
    score: arm === 'VECTOR' && score !== null ? similarity(score) : score,
    place,
    limit,
  }));
}

function reasonOf({
  rank,
  passedOver,
  found,
  standings,
}: {
  readonly rank: number | null;
  readonly passedOver: boolean;
  readonly found: number;
  readonly standings: readonly WhyNotStanding[];
}): WhyNotReason {
  if (rank !== null) return 'RETURNED';
  if (passedOver) return 'OVER_BUDGET';
  if (found >= 0) return 'BELOW_K';
  const worded = standings.some(({ arm, score }) => arm !== 'VECTOR' && score !== null);
  return worded ? 'BELOW_K' : 'NO_MATCH';
}

function placeOf(
  placed: Placed | undefined,
  index: number,
  similarity: (cosine: number) => number,
): WhyNotPlace | null {
  if (!placed) return null;
  const { candidate, score, fused, icnu, arms } = placed;
  const { lexical, cosine } = candidate;
  const vector = cosine === null ? null : similarity(cosine);
  return { place: index + 1, score, scores: { lexical, vector, fused, icnu }, arms };
}
