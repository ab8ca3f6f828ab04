import type { CandidateRow, FactNumbers } from '../db/index.js';
import {
  currentImportance,
  DEFAULT_ICNU_WEIGHTS,
  type DecayVariant,
  decay,
  hoursUnseen,
  type IcnuWeights,
} from '../salience/index.js';
import { type CoActivation, coActivationOf, NO_TIES } from './co-activation.js';
import { fuse, fuseSums, kindWeight, LEXICAL_WEIGHT, VECTOR_WEIGHT } from './fusion.js';
import { freshness, ICNU_LAMBDA, type IcnuSignals, icnu, withIcnu } from './icnu.js';
import type { Relevance } from './relevance.js';
import { SUM_WEIGHTS, type SumWeights, WINDOW_REACH } from './sum-parameters.js';
import { TOPIC_EXPONENT, topicFactor } from './topic-factor.js';

/** How scores are made; the defaults are those of SPEC §8. */
export interface RankingOptions {
  /**
   * SUM adds up all that speaks for a document, its place in a conversation included, and ranks by that; RRF fuses the
   * ranks of the two arms alone, as the seed does (docs/decisions/recall-fusion.md).
   */
  readonly fusion: 'SUM' | 'RRF';
  /** Weights of the arms in the fusion, in a sum relative to the defaults; an arm with weight 0 does not run. */
  readonly lexicalWeight: number;
  readonly vectorWeight: number;
  readonly icnuWeights: IcnuWeights;
  readonly lambda: number;
  /** How much what a profile says of a fact's topics counts beside its importance; 0 for not at all. */
  readonly topicExponent: number;
  /** What of a sum counts how much. */
  readonly sum: SumWeights;
  /** How many turns before and after one belong to it in a sum; 0 for none. */
  readonly reach: number;
  /** Whether a sum knows the participants of conversations by their names. */
  readonly names: boolean;
  /** Whether a fact's kind decides between equals, or multiplies its score as the seed does. */
  readonly kinds: 'BREAK_TIES' | 'MULTIPLY';
  /** How fast the tenant's facts fade (SPEC §6.1). */
  readonly decay: DecayVariant;
}

/** What of it is not as the rules say; how fast facts fade is the tenant's alone. */
export type RankingOverrides = Partial<Omit<RankingOptions, 'decay'>>;

export const DEFAULT_RANKING: RankingOptions = Object.freeze({
  fusion: 'SUM',
  sum: SUM_WEIGHTS,
  reach: WINDOW_REACH,
  names: true,
  lexicalWeight: LEXICAL_WEIGHT,
  vectorWeight: VECTOR_WEIGHT,
  icnuWeights: DEFAULT_ICNU_WEIGHTS,
  lambda: ICNU_LAMBDA,
  topicExponent: TOPIC_EXPONENT,
  kinds: 'BREAK_TIES',
  decay: 'STANDARD',
});

/** A candidate with its score and its parts. */
export interface Ranked {
  readonly candidate: CandidateRow;
  readonly score: number;
  /** Weighted reciprocal ranks times the factor of its topics; 0 where there was no query. */
  readonly fused: number;
  readonly icnu: number;
  /** Current importance, 0.05 to 10; 0 for a message. */
  readonly importance: number;
}

/**
 * The candidates of a query in their one order (SPEC §8.1, §8.2): fused score × what profiles say of its topics ×
 * (1 + λ·ICNU), messages whose facts are all superseded after everything else. Among equals the heavier kind goes first, then importance, recency, id.
 * Co-activation is measured to the first facts of the order that there would be without it.
 * @param relevance what to rank by, by id; the ranks of the arms are fused without it. It is ranks that are raised by
 *   what matters, in any case: three of them are as far at the top of one query as of another.
 */
export function rankByRelevance(
  candidates: readonly CandidateRow[],
  now: Date,
  options: RankingOptions = DEFAULT_RANKING,
  relevance?: ReadonlyMap<string, Relevance>,
): Ranked[] {
  const { lexicalWeight, vectorWeight } = options;
  const fused = relevance
    ? fuseSums(relevance, lexicalWeight + vectorWeight)
    : fuse([
        { weight: lexicalWeight, scores: scoresOf(candidates, 'lexical') },
        { weight: vectorWeight, scores: scoresOf(candidates, 'cosine') },
      ]);
  const topics = topicFactors(candidates, options.topicExponent);
  return withSignals(candidates, now, options, ({ candidate, icnu }) => {
    const weight = options.kinds === 'MULTIPLY' ? kindWeight(candidate.fact?.kind ?? null) : 1;
    const relevance = (fused.get(candidate.id) ?? 0) * weight * (topics.get(candidate.id) ?? 1);
    return { fused: relevance, score: withIcnu(relevance, icnu, options.lambda) };
  });
}

/**
 * The candidates of a recall without a query (SPEC §8.5): facts by current importance (the score is a tenth of it),
 * messages by how new they are; among equals as above.
 */
export function rankWithoutQuery(
  candidates: readonly CandidateRow[],
  now: Date,
  options: RankingOptions = DEFAULT_RANKING,
): Ranked[] {
  return withSignals(candidates, now, options, ({ candidate, importance }) => ({
    fused: 0,
    score: candidate.fact ? importance / 10 : freshness(hoursBetween(candidate.recordedAt, now)),
  }));
}

/**
 * What fills a result, in the order in which it came (SPEC §8.3): nothing of it is relevant by itself, so its score is 0
 * and it ranks after everything that is.
 */
export function withoutRelevance(
  candidates: readonly CandidateRow[],
  now: Date,
  options: RankingOptions = DEFAULT_RANKING,
): Ranked[] {
  return candidates.map((candidate) => {
    const { fact, recordedAt } = candidate;
    const signals = fact && signalsOf(fact, recordedAt, 0, options.decay, now);
    return {
      candidate,
      score: 0,
      fused: 0,
      icnu: signals ? icnu(signals, options.icnuWeights) : 0,
      importance: signals?.importance ?? 0,
    };
  });
}

/** The one order of a recall: see {@link rankByRelevance}. Total, since ids differ. */
export function compareRanked(a: Ranked, b: Ranked): number {
  return (
    Number(a.candidate.superseded) - Number(b.candidate.superseded) ||
    b.score - a.score ||
    kindWeight(b.candidate.fact?.kind ?? null) - kindWeight(a.candidate.fact?.kind ?? null) ||
    b.importance - a.importance ||
    b.candidate.recordedAt.getTime() - a.candidate.recordedAt.getTime() ||
    (a.candidate.id < b.candidate.id ? 1 : -1)
  );
}

type Scorer = (ranked: Omit<Ranked, 'score' | 'fused'>) => Pick<Ranked, 'score' | 'fused'>;

function withSignals(
  candidates: readonly CandidateRow[],
  now: Date,
  options: RankingOptions,
  scorer: Scorer,
): Ranked[] {
  const alone = rankedWith(NO_TIES, candidates, now, options, scorer);
  const ties = coActivationOf(
    alone.map(({ candidate }) => candidate),
    now,
  );
  return ties === NO_TIES ? alone : rankedWith(ties, candidates, now, options, scorer);
}

function rankedWith(
  ties: CoActivation,
  candidates: readonly CandidateRow[],
  now: Date,
  options: RankingOptions,
  scorer: Scorer,
): Ranked[] {
  const facts = new Map<string, { icnu: number; importance: number }>();
  for (const { id, fact, recordedAt } of candidates) {
    if (!fact) continue;
    const signals = signalsOf(fact, recordedAt, ties.get(id) ?? 0, options.decay, now);
    facts.set(id, { icnu: icnu(signals, options.icnuWeights), importance: signals.importance });
  }
  const meanOfAll = mean([...facts.values()].map((fact) => fact.icnu)) ?? 0;
  return candidates
    .map((candidate) => {
      // A message takes the mean of its facts among the candidates; one without any is neither raised nor lowered
      // against the facts, and takes that of all.
      const own = candidate.factIds.flatMap((id) => facts.get(id)?.icnu ?? []);
      const { icnu, importance } = facts.get(candidate.id) ?? { icnu: mean(own) ?? meanOfAll, importance: 0 };
      const unscored = { candidate, icnu, importance };
      return { ...unscored, ...scorer(unscored) };
    })
    .sort(compareRanked);
}

/** What profiles make of candidates; a message takes the mean of its facts among them, and 1 without any. */
function topicFactors(candidates: readonly CandidateRow[], exponent: number): Map<string, number> {
  const factors = new Map<string, number>();
  for (const { id, fact } of candidates) if (fact) factors.set(id, topicFactor(fact.topicBoost, exponent));
  for (const { id, fact, factIds } of candidates) {
    const own = fact ? null : mean(factIds.flatMap((factId) => factors.get(factId) ?? []));
    if (own !== null) factors.set(id, own);
  }
  return factors;
}

function signalsOf(
  fact: FactNumbers,
  recordedAt: Date,
  coactivation: number,
  variant: DecayVariant,
  now: Date,
): IcnuSignals {
  const hours = hoursUnseen(now, {
    recordedAt,
    reinforcedAt: fact.reinforcedAt,
    lastSeenAt: fact.lastSeenAt,
  });
  return {
    importance: currentImportance({
      encoded: fact.encoded,
      reinforcement: fact.reinforcement,
      decay: decay(hours, fact.decayResistance, variant),
      pinned: fact.pinned,
      flashbulb: fact.flashbulb,
    }),
    coactivation,
    hoursUnseen: hours,
    urgency: fact.urgency,
    hoursSinceStated: hoursUnseen(now, { recordedAt, reinforcedAt: null, lastSeenAt: fact.lastSeenAt }),
  };
}

function scoresOf(candidates: readonly CandidateRow[], part: 'lexical' | 'cosine'): Map<string, number> {
  const scores = new Map<string, number>();
  for (const candidate of candidates) {
    const score = candidate[part];
    if (score !== null) scores.set(candidate.id, score);
  }
  return scores;
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function hoursBetween(from: Date, to: Date): number {
  return Math.max(0, to.getTime() - from.getTime()) / 3_600_000;
}
