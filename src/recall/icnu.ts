/** ICNU at recall (SPEC §8.2): what matters is moved up among what is relevant. Pure. */
import { DEFAULT_ICNU_WEIGHTS, type IcnuWeights } from '../salience/index.js';

/** Weights as shares of their sum, which is 1 then: what a profile sets counts in proportion (SPEC §5). */
export function sharesOf(weights: IcnuWeights): IcnuWeights {
  const { importance, coactivation, novelty, urgency } = weights;
  const sum = importance + coactivation + novelty + urgency;
  if (!(sum > 0)) return DEFAULT_ICNU_WEIGHTS;
  return {
    importance: importance / sum,
    coactivation: coactivation / sum,
    novelty: novelty / sum,
    urgency: urgency / sum,
  };
}

/** λ: how far ICNU can raise a score; with weights that sum to 1, by half at most. */
export const ICNU_LAMBDA = 0.5;

const IMPORTANCE_MAX = 10;
const FRESHNESS_EXPONENT = 0.15;
const URGENCY_HALF_LIFE_HOURS = 7 * 24;

/** What is known of a fact at the time of the recall. */
export interface IcnuSignals {
  /** Current importance, 0.05 to 10. */
  readonly importance: number;
  /** Strongest co-activation edge to the first results, 0 to 1. */
  readonly coactivation: number;
  /** Hours since it was recorded, reinforced or seen, whichever is latest (SPEC §6.1); ≥ 0. */
  readonly hoursUnseen: number;
  /** Urgency as given at ingestion, 0 to 1; null counts as 0. */
  readonly urgency: number | null;
  /** Hours since somebody said it last: recall renews freshness, but makes nothing urgent again; ≥ 0. */
  readonly hoursSinceStated: number;
}

/** How new a fact still is: (1 + h)^−0.15, in (0, 1]. */
export function freshness(hoursUnseen: number): number {
  return (1 + Math.max(0, hoursUnseen)) ** -FRESHNESS_EXPONENT;
}

/** Urgency halves every seven days: urgency·0.5^(days/7), in [0, 1]. */
export function urgencyNow(urgency: number | null, hoursSinceStated: number): number {
  return (urgency ?? 0) * 0.5 ** (Math.max(0, hoursSinceStated) / URGENCY_HALF_LIFE_HOURS);
}

/** The weighted sum of the four signals, each in [0, 1]. */
export function icnu(signals: IcnuSignals, weights: IcnuWeights = DEFAULT_ICNU_WEIGHTS): number {
  return (
    weights.importance * (signals.importance / IMPORTANCE_MAX) +
    weights.coactivation * signals.coactivation +
    weights.novelty * freshness(signals.hoursUnseen) +
    weights.urgency * urgencyNow(signals.urgency, signals.hoursSinceStated)
  );
}

/** A fused score after ICNU: score × (1 + λ·ICNU). What is not relevant, with score 0, stays so. */
export function withIcnu(score: number, icnu: number, lambda: number = ICNU_LAMBDA): number {
  return score * (1 + lambda * icnu);
}
