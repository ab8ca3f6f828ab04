/**
 * Everything that the sum of scores is set by (docs/decisions/recall-fusion.md has how it was found, and what each is
 * worth). They began as the values known from earlier experiments and were set with six conversations of LoCoMo in sight:
 * half or double of a weight costs 1.3 of R@10 at most there, and conversations not looked at gain as much.
 */

/**
 * BM25's constants for turns: a word said once in a turn says nearly all, and turns are of much the same length.
 * SPEC §8.1 has others, for documents, which the ranks of the seed keep.
 */
export const TURN_BM25 = Object.freeze({ k1: 0.6, b: 0.2 });

/** How much a turn counts for one `offset` after it (before it, where negative), and where it ends by asking. */
export interface WindowField {
  readonly offset: number;
  readonly weight: number;
  readonly afterQuestion: number;
}

/** The fields of a turn: itself, and what is said around it. An answer has the words of its question. */
export const TURN_WINDOW: readonly WindowField[] = Object.freeze([
  { offset: 0, weight: 1, afterQuestion: 1 },
  { offset: 1, weight: 0.2, afterQuestion: 0.9 },
  { offset: -1, weight: 0.2, afterQuestion: 0.2 },
  { offset: 2, weight: 0.2, afterQuestion: 0.2 },
  { offset: -2, weight: 0.1, afterQuestion: 0.1 },
  { offset: 3, weight: 0.05, afterQuestion: 0.05 },
  { offset: -3, weight: 0.05, afterQuestion: 0.05 },
]);

/** How far the window reaches, in turns. */
export const WINDOW_REACH = Math.max(...TURN_WINDOW.map(({ offset }) => Math.abs(offset)));

/** What a document scores for, and how much. */
export interface SumWeights {
  /** Words: the BM25F score by the logarithm of how many documents there are, so that a cosine weighs the same in all. */
  readonly lexical: number;
  /** The cosine with the query. */
  readonly cosine: number;
  /** Said by the one participant whom the query names; a fact, for naming them. Small: the query may be mistaken. */
  readonly speaker: number;
  /** Somebody whom the query names speaks within the window. */
  readonly nearby: number;
  /** Told at a time that the query names. */
  readonly time: number;
  /** Taken off a turn that ends by asking. */
  readonly question: number;
  /** Taken off a turn for each time that its length is e times shorter than {@link SHORT_TURN}. */
  readonly short: number;
}

export const SUM_WEIGHTS: SumWeights = Object.freeze({
  lexical: 3.5,
  cosine: 9,
  speaker: 1.6,
  nearby: 1.5,
  time: 4,
  question: 1.2,
  short: 0.3,
});

/** Characters below which a turn is hardly more than "Thanks!". */
export const SHORT_TURN = 100;
