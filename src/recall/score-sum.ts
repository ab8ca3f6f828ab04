/** Relevance as a sum of scores (docs/decisions/recall-fusion.md): all that is known of a document counts at once. Pure. */
import { SHORT_TURN, SUM_WEIGHTS, type SumWeights } from './sum-parameters.js';

/** What is known of a document and a query. */
export interface Evidence {
  /** BM25F over the turn's window, or BM25 of a fact; 0 where no word of the query is in it. */
  readonly lexical: number;
  /** Cosine with the query; null where there is no vector. */
  readonly cosine: number | null;
  /** Whether the one participant whom the query names says it, or a fact names them. */
  readonly ofNamed: boolean;
  /** Whether a participant whom the query names speaks nearby. */
  readonly nearNamed: boolean;
  /** How well its time fits what the query names, 0 to 1. */
  readonly time: number;
  /** Of a turn; null for a fact, which is made to stand alone. */
  readonly turn: { readonly asks: boolean; readonly characters: number } | null;
}

/** The sum; its size means nothing, only the order that it gives. @param documents of the tenant, ≥ 0 */
export function scoreSum(evidence: Evidence, documents: number, weights: SumWeights = SUM_WEIGHTS): number {
  const { lexical, cosine, ofNamed, nearNamed, time, turn } = evidence;
  return (
    (weights.lexical * lexical) / Math.log(2 + documents) +
    weights.cosine * (cosine ?? 0) +
    weights.speaker * Number(ofNamed) +
    weights.nearby * Number(nearNamed) +
    weights.time * time -
    (turn ? weights.question * Number(turn.asks) + weights.short * shortness(turn.characters) : 0)
  );
}

/** 0 from {@link SHORT_TURN} characters on. */
function shortness(characters: number): number {
  return Math.max(0, Math.log(SHORT_TURN / Math.max(characters, 1)));
}
