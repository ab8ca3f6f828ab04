import { contentOf } from '../db/index.js';
import { EmbeddingError, toVectorLiteral, WINDOW_LENGTH } from '../embedding/index.js';
import type { Services } from '../services.js';
import type { TenantActor } from '../tenancy/index.js';
import { analyzeQuery } from '../text/index.js';

/** Most terms that are searched for: the first distinct ones. */
export const MAX_QUERY_TERMS = 64;

/** How much of a long query its vector is made from, in UTF-16 code units: the encoder's first four windows. */
const EMBEDDED_QUERY_LENGTH = 4 * WINDOW_LENGTH;

/** A query as the arms take it. */
export interface AnalyzedQuery {
  /** Keyed hashes of its terms, at most {@link MAX_QUERY_TERMS}; empty where the text has no words. */
  readonly terms: readonly bigint[];
  /** Its vector in pgvector's text form; null where the encoder cannot read it, or did not answer. */
  readonly vector: string | null;
}

/** Terms and vector of a query. An encoder that fails leaves the lexical arm to serve alone, which the receipt tells. */
export async function analyzeForSearch(
  deps: Pick<Services, 'embedding'>,
  actor: TenantActor,
  query: string,
): Promise<AnalyzedQuery> {
  const content = contentOf(actor.tenant.hashKey);
  const terms = analyzeQuery(query)
    .slice(0, MAX_QUERY_TERMS)
    .map((term) => content.term(term));
  try {
    const vector = await deps.embedding.embedQuery(query.slice(0, EMBEDDED_QUERY_LENGTH));
    return { terms, vector: vector && toVectorLiteral(vector) };
  } catch (error) {
    if (!(error instanceof EmbeddingError)) throw error;
    return { terms, vector: null };
  }
}
