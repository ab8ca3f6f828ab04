import { createHash } from 'node:crypto';
import type { Knot } from '../calibration.js';

/** The labelled pairs of pairs.json; each list is a kind of pair, each pair two texts. */
export interface LabelledPairs {
  /** One statement in two spellings. */
  readonly same: readonly TextPair[];
  /** A short topic and a statement that is about it. */
  readonly relatedTopics: readonly TextPair[];
  /** Two different statements about the same thing. */
  readonly relatedStatements: readonly TextPair[];
  readonly unrelatedTopics: readonly TextPair[];
  readonly unrelatedStatements: readonly TextPair[];
}

export type TextPair = readonly [string, string];

/** The cosines of labelled pairs, by kind. */
export type LabelledCosines = { readonly [Kind in keyof LabelledPairs]: readonly number[] };

/** What a calibration does to labelled pairs: shares in [0, 1]. */
export interface CalibrationReport {
  /** Unrelated pairs with a similarity of 0.5 or more (SPEC §3: at most 0.02). */
  readonly unrelatedReaching: number;
  /** Related pairs with a similarity of 0.5 or more (SPEC §3: 0.6 wanted), together and by kind. */
  readonly relatedReaching: number;
  readonly relatedTopicsReaching: number;
  readonly relatedStatementsReaching: number;
  /** Pairs with a similarity of 0.75 or more, "familiar" (SPEC §4.2). */
  readonly sameFamiliar: number;
  readonly relatedStatementsFamiliar: number;
  readonly unrelatedFamiliar: number;
}

/** Aimed at when fitting, below the 2% allowed: on other pairs the share will be somewhat more or less. */
const UNRELATED_REACHING = 0.0125;

/** Share of the same statements in two spellings that need not be familiar. */
const SAME_UNFAMILIAR = 0.05;

/**
 * Fits a calibration's knots (SPEC §3):
 *
 * - 0.5 where all but 1.25% of the unrelated pairs are below;
 * - 0.7 for the median of the related pairs that reach 0.5, of topics or statements, whichever is lower. A
 *   typical match of a topic must be well above 0.5, or levels below CRITICAL would have no effect: HIGH (1.5)
 *   raises importance only from 0.67 on (SPEC §5.2);
 * - 0.75 where all but 5% of the same statements in two spellings are above.
 *
 * @throws RangeError when the cosines do not separate the labels, so that no monotone map can do this.
 */
export function fitKnots(cosines: LabelledCosines): Knot[] {
  const unrelated = sorted([...cosines.unrelatedTopics, ...cosines.unrelatedStatements]);
  const related = quantile(unrelated, 1 - UNRELATED_REACHING);
  const typical = Math.min(
    medianFrom(cosines.relatedTopics, related),
    medianFrom(cosines.relatedStatements, related),
  );
  const familiar = quantile(sorted(cosines.same), SAME_UNFAMILIAR);
  const knots: Knot[] = [
    [0, 0],
    [round(related), 0.5],
    [round(typical), 0.7],
    [round(familiar), 0.75],
    [1, 1],
  ];
  if (!(0 < related && related < typical && typical < familiar && familiar < 1)) {
    throw new RangeError(`These cosines cannot be calibrated: ${JSON.stringify(knots)}`);
  }
  return knots;
}

/** What a similarity function makes of labelled pairs. */
export function reportCalibration(
  cosines: LabelledCosines,
  similarity: (cosine: number) => number,
): CalibrationReport {
  const reaching = (least: number, ...lists: (readonly number[])[]) => {
    const all = lists.flat();
    return all.filter((value) => similarity(value) >= least).length / all.length;
  };
  return {
    unrelatedReaching: reaching(0.5, cosines.unrelatedTopics, cosines.unrelatedStatements),
    relatedReaching: reaching(0.5, cosines.relatedTopics, cosines.relatedStatements),
    relatedTopicsReaching: reaching(0.5, cosines.relatedTopics),
    relatedStatementsReaching: reaching(0.5, cosines.relatedStatements),
    sameFamiliar: reaching(0.75, cosines.same),
    relatedStatementsFamiliar: reaching(0.75, cosines.relatedStatements),
    unrelatedFamiliar: reaching(0.75, cosines.unrelatedTopics, cosines.unrelatedStatements),
  };
}

/**
 * One half of labelled pairs' values: 0 to fit on, 1 to report on. Which half a pair is in depends on its texts
 * only, so that adding pairs moves none of the others and their order has no influence.
 */
export function half(pairs: LabelledPairs, values: LabelledCosines, which: 0 | 1): LabelledCosines {
  const take = (kind: keyof LabelledPairs) =>
    values[kind].filter((_, i) => halfOf(pairs[kind][i]!) === which);
  return {
    same: take('same'),
    relatedTopics: take('relatedTopics'),
    relatedStatements: take('relatedStatements'),
    unrelatedTopics: take('unrelatedTopics'),
    unrelatedStatements: take('unrelatedStatements'),
  };
}

function halfOf(pair: TextPair): number {
  return createHash('sha256').update(pair.join('\n')).digest()[0]! & 1;
}

function medianFrom(values: readonly number[], least: number): number {
  return quantile(sorted(values.filter((value) => value >= least)), 0.5);
}

/** Linear between order statistics; NaN for an empty list, which no comparison accepts. */
function quantile(ascending: readonly number[], share: number): number {
  const place = share * (ascending.length - 1);
  const below = ascending[Math.floor(place)] ?? Number.NaN;
  const above = ascending[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}

function sorted(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
