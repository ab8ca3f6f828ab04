/** From the scores of the direct arms to one (SPEC §8.1): by weighted reciprocal ranks, or by the ranks of sums. Pure. */

/** RRF's constant: the higher, the less the first ranks stand out. */
export const RRF_K = 60;
/** Weights of the lexical and the vector arm. */
export const LEXICAL_WEIGHT = 3;
export const VECTOR_WEIGHT = 3;

/** Kinds that go first among equals (SPEC §8.1); all others 1, messages too. */
export const KIND_WEIGHTS: Readonly<Record<string, number>> = Object.freeze({
  USER_PROFILE: 1.3,
  PREFERENCE: 1.2,
  ENV: 1.1,
});

/** Scores this close, relative to their size, are one: the order of a sum must not decide. */
const SAME_SCORE = 1e-9;

/** One arm's scores by document, higher is better, and its weight in the fusion. */
export interface WeightedArm {
  readonly weight: number;
  readonly scores: ReadonlyMap<string, number>;
}

/**
 * The rank of each document in an arm, from 1. Documents with the same score share the better rank, so that nothing
 * but what {@link compareRanked} names decides between them.
 */
export function ranksOf(scores: ReadonlyMap<string, number>): Map<string, number> {
  const descending = [...scores].sort(([, a], [, b]) => b - a);
  const ranks = new Map<string, number>();
  let rank = 1;
  let previous = Number.POSITIVE_INFINITY;
  descending.forEach(([id, score], index) => {
    if (previous - score > SAME_SCORE * Math.max(Math.abs(previous), Math.abs(score))) rank = index + 1;
    ranks.set(id, rank);
    previous = score;
  });
  return ranks;
}

/** The sum of weight / (K + rank) over the arms that found the document. */
export function fuse(arms: readonly WeightedArm[]): Map<string, number> {
  const fused = new Map<string, number>();
  for (const { weight, scores } of arms) {
    for (const [id, rank] of ranksOf(scores)) {
      fused.set(id, (fused.get(id) ?? 0) + weight / (RRF_K + rank));
    }
  }
  return fused;
}

/**
 * What is left of the fused score of a document that has no word of the query, neither in it nor around it: about six
 * ranks at the top, so that nothing which merely sounds like the query is carried past what answers it by its
 * importance. It costs nothing: R@k stays as it is.
 */
const UNWORDED = 0.9;

/**
 * Sums of scores as fused scores, on the scale that {@link fuse} has for what both arms rank alike: weight / (K + rank).
 * A sum's size differs from query to query; three ranks are three ranks in all.
 */
export function fuseSums(
  relevance: ReadonlyMap<string, { readonly sum: number; readonly worded: boolean }>,
  weight: number,
): Map<string, number> {
  const ranks = ranksOf(new Map([...relevance].map(([id, { sum }]) => [id, sum])));
  return new Map(
    [...ranks].map(([id, rank]) => [
      id,
      ((relevance.get(id)?.worded ? 1 : UNWORDED) * weight) / (RRF_K + rank),
    ]),
  );
}

/** The weight of a fact's kind; null, a message, counts as any other kind. */
export function kindWeight(kind: string | null): number {
  return kind === null ? 1 : (KIND_WEIGHTS[kind] ?? 1);
}
