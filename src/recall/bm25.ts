/** BM25's two constants (SPEC §8.1): how soon a repeated term saturates, and how much long documents count for less. */
export const BM25 = Object.freeze({ k1: 1.2, b: 0.75 });
