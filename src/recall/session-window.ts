/** What is said around a turn helps to find it (SPEC §8.1): BM25F over a window of its session. Pure. */
import { TURN_BM25, TURN_WINDOW, WINDOW_REACH } from './sum-parameters.js';

/** A turn of a conversation, as the words of a query see it. */
export interface WindowTurn {
  readonly id: string;
  readonly sessionId: string;
  /** Its place in the session. */
  readonly seq: number;
  /** How many words it has that count. */
  readonly length: number;
  /** How often it has each term of the query, in the query's order. */
  readonly frequencies: readonly number[];
  /** Whether it ends by asking: what is asked for is in the next turn then, in other words. */
  readonly asks: boolean;
}

/**
 * The score of each turn that has a term of the query in its window. The turns around one are fields of it: a term's
 * frequencies in them are weighted and added up before they saturate, so a word that is said in every turn counts
 * hardly more than one said once.
 * @param turns in any order; those of a window that are missing count as silent
 * @param termWeights what each term is worth (its inverse document frequency, times k1 + 1), in the query's order
 * @param averageLength mean length of the tenant's documents
 * @param reach how far the window reaches at most
 */
export function windowScores(
  turns: readonly WindowTurn[],
  termWeights: readonly number[],
  averageLength: number,
  reach: number = WINDOW_REACH,
): Map<string, number> {
  const { k1, b } = TURN_BM25;
  const fields = TURN_WINDOW.filter(({ offset }) => Math.abs(offset) <= reach);
  const places = new Map(turns.map((turn) => [placeOf(turn.sessionId, turn.seq), turn]));
  const heard = new Map<string, number[]>();
  for (const turn of turns) {
    const norm = 1 - b + (b * turn.length) / Math.max(averageLength, 1);
    for (const [term, frequency] of turn.frequencies.entries()) {
      if (frequency === 0) continue;
      for (const { offset, weight, afterQuestion } of fields) {
        const hearer = places.get(placeOf(turn.sessionId, turn.seq + offset));
        if (!hearer) continue;
        let sums = heard.get(hearer.id);
        if (!sums) {
          sums = termWeights.map(() => 0);
          heard.set(hearer.id, sums);
        }
        sums[term] = (sums[term] ?? 0) + ((turn.asks ? afterQuestion : weight) * frequency) / norm;
      }
    }
  }
  return new Map(
    [...heard].map(([id, sums]) => [
      id,
      sums.reduce((score, sum, term) => score + ((termWeights[term] ?? 0) * sum) / (k1 + sum), 0),
    ]),
  );
}

function placeOf(sessionId: string, seq: number): string {
  return `${sessionId} ${seq}`;
}
