/** What share of a question's evidence a recall finds. Pure. */

/** Cut-offs of R@k. */
export const CUTOFFS = [5, 10, 25, 50] as const;

/** Mean shares in percent, in the order of {@link CUTOFFS}. */
export interface RecallAt {
  readonly questions: number;
  readonly at: readonly number[];
}

/** A question's category, and its evidence found within the first 5, 10, 25 and 50 ids, each 0 to 1. */
export interface Answered {
  readonly category: number;
  readonly shares: readonly number[];
}

/**
 * The share of the evidence within the first k ids, for each cut-off.
 * @param evidence external ids; null is returned where there is none, for nothing can be found then
 * @param found external ids of the sources of each item, in rank order; repeats are dropped
 */
export function sharesFound(
  evidence: readonly string[],
  found: readonly (readonly string[])[],
): number[] | null {
  const wanted = new Set(evidence);
  if (wanted.size === 0) return null;
  const ids = [...new Set(found.flat())];
  return CUTOFFS.map((k) => ids.slice(0, k).filter((id) => wanted.has(id)).length / wanted.size);
}

/** Means over all questions, each counting the same. */
export function meanRecall(answered: readonly Answered[]): RecallAt {
  return {
    questions: answered.length,
    at: CUTOFFS.map((_, place) =>
      answered.length === 0
        ? 0
        : (100 * answered.reduce((sum, { shares }) => sum + (shares[place] ?? 0), 0)) / answered.length,
    ),
  };
}

/** Means by category, in ascending order of their numbers. */
export function recallByCategory(answered: readonly Answered[]): Map<number, RecallAt> {
  const categories = [...new Set(answered.map(({ category }) => category))].sort((a, b) => a - b);
  return new Map(
    categories.map((category) => [category, meanRecall(answered.filter((one) => one.category === category))]),
  );
}
