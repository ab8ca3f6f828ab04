/** Which arms serve a recall, and which of them found what. Pure. */
import type { CandidateRow, SearchArm, SearchContext } from '../db/index.js';
import { DECAY_VARIANTS } from '../salience/index.js';
import { BM25 } from './bm25.js';
import type { RecallRequest } from './input.js';
import type { QueryTerms } from './query.js';
import type { RankingOptions } from './ranking.js';
import type { RecallArm, RecallArmName } from './result.js';
import { TURN_BM25 } from './sum-parameters.js';
import type { Supplements } from './supplements.js';

/**
 * How many documents each arm brings: enough that what only one arm ranks low cannot fall out of the first k. For a sum
 * half as many do by default: it knows what both arms say of each, and takes what is said around them as well.
 */
export function candidatesPerArm(k: number, fusion: RankingOptions['fusion']): number {
  return Math.max(fusion === 'SUM' ? 100 : 200, 4 * k);
}

export function averageLengthOf({ documents, documentTerms }: SearchContext): number {
  return documentTerms / Math.max(documents, 1);
}

/** Which arms serve this request. */
export function armsOf(
  request: RecallRequest,
  terms: QueryTerms | null,
  vector: string | null,
  context: SearchContext,
  modelId: number,
  { decay, fusion, lexicalWeight }: RankingOptions,
): SearchArm[] {
  if (!terms)
    return request.facts ? [{ name: 'IMPORTANCE', decay: DECAY_VARIANTS[decay] }] : [{ name: 'RECENCY' }];
  const arms: SearchArm[] = [];
  if (lexicalWeight > 0)
    arms.push({
      name: 'LEXICAL',
      terms: terms.words,
      documents: context.documents,
      averageLength: averageLengthOf(context),
      bm25: fusion === 'SUM' ? TURN_BM25 : BM25,
    });
  if (vector !== null) arms.push({ name: 'VECTOR', modelId, vector });
  return arms;
}

/** What found a direct candidate: what is said around it where no arm did. */
export function foundBy(arms: readonly SearchArm[], { lexical, cosine }: CandidateRow): RecallArmName[] {
  const found = arms
    .map(({ name }) => name)
    .filter((name) => (name === 'LEXICAL' ? lexical !== null : name === 'VECTOR' ? cosine !== null : true));
  return found.length > 0 ? found : ['CONTEXT'];
}

/** The arms that ran with what each found; supplements where they brought something. */
export function armsThatRan(
  arms: readonly SearchArm[],
  candidates: readonly CandidateRow[],
  supplements: Supplements,
): RecallArm[] {
  const counts = new Map<RecallArmName, number>(arms.map(({ name }) => [name, 0]));
  const count = (name: RecallArmName) => counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const candidate of candidates)
    for (const name of foundBy(arms, candidate)) if (name !== 'CONTEXT') count(name);
  for (const name of supplements.arms.values()) count(name);
  return [...counts].map(([name, candidates]) => ({ name, candidates, underfilled: false }));
}
