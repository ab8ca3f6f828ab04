import {
  type CandidateRow,
  loadDocuments,
  readInTenant,
  type SearchArm,
  type SearchContext,
  searchCandidates,
  searchContext,
  searchInContext,
  type Unit,
} from '../db/index.js';
import { NotFoundError } from '../errors.js';
import type { ScopeProfile } from '../profiles/index.js';
import { DECAY_VARIANTS } from '../salience/index.js';
import type { Services } from '../services.js';
import { changerOf, decayVariantOf, type TenantActor } from '../tenancy/index.js';
import { BM25 } from './bm25.js';
import { currentScores } from './current-scores.js';
import { LEXICAL_WEIGHT, VECTOR_WEIGHT } from './fusion.js';
import { sharesOf } from './icnu.js';
import { type RecallInput, type RecallRequest, recallRequest } from './input.js';
import { pack } from './packing.js';
import {
  embedForSearch,
  participantsOf,
  type QueryTerms,
  queryTerms,
  type ReadQuery,
  readQuery,
} from './query.js';
import {
  DEFAULT_RANKING,
  type RankingOptions,
  type RankingOverrides,
  rankByRelevance,
  rankWithoutQuery,
} from './ranking.js';
import { relevanceOf } from './relevance.js';
import type { RecallItem, RecallResult } from './result.js';
import { type SumWeights, TURN_BM25 } from './sum-parameters.js';

/** What a recall is given. */
export type RecallDeps = Pick<
  Services,
  'db' | 'embedding' | 'embeddingModelId' | 'learner' | 'now' | 'profiles' | 'ranking'
>;

/**
 * The facts and messages that are visible in the context and fit the query best (SPEC §8), in rank order, with how
 * each came by its rank. Four statements, however many rows there are, and one more where profiles have changed since
 * facts were scored. They are in one short transaction; where the query may name somebody who speaks in a conversation,
 * the first is in one of its own, for that decides what is embedded, and no transaction is open meanwhile.
 *
 * Nothing is written here. What a LEARN recall strengthens is noted for the learner, which writes off the request's
 * path; OBSERVE leaves no trace whatever, nor does a look at another time (SPEC §6.2).
 *
 * @throws BadInputError naming the field that is out of range
 * @throws NotFoundError for an agent or user that this tenant does not have (paths `agentId`, `userId`)
 * @throws ForbiddenError when an agent or a user asks for another one's memory
 */
export async function recall(
  deps: RecallDeps,
  actor: TenantActor,
  input: RecallInput,
  options: RankingOverrides = {},
): Promise<RecallResult> {
  const request = recallRequest(actor, input);
  const now = deps.now();
  const { fusion, names, lexicalWeight, vectorWeight } = { ...DEFAULT_RANKING, ...deps.ranking, ...options };
  const query =
    request.query === null ? null : readQuery(actor.tenant, request.query, now, fusion === 'SUM' && names);
  // Who speaks is known to the database alone, and no transaction is open while the encoder works: where the query may
  // say something of somebody, the context is read in one of its own.
  const early =
    query && vectorWeight > 0 && query.names.length > 0 && query.terms.length > 1
      ? await readInTenant(deps.db, actor.tenant, (unit) => contextOf(unit, request, query))
      : null;
  const vector =
    query && vectorWeight > 0
      ? await embedForSearch(deps, query, early ? participantsOf(query, early) : [])
      : null;
  const result = await readInTenant(deps.db, actor.tenant, async (unit) => {
    const context = early ?? (await contextOf(unit, request, query));
    const { profile, ofScopes } = await profilesFor(unit, deps, request, context);
    const ranking: RankingOptions = {
      ...DEFAULT_RANKING,
      icnuWeights: sharesOf(profile.effective.icnuWeights.value),
      ...deps.ranking,
      ...options,
      decay: decayVariantOf(actor.tenant.settings),
    };
    const terms = query && queryTerms(actor.tenant, query, participantsOf(query, context), lexicalWeight > 0);
    const arms = armsOf(request, terms, vector, context, deps.embeddingModelId, ranking);
    const filter = {
      scopeIds: context.scopes.map(({ scopeId }) => scopeId),
      facts: request.facts,
      messages: request.messages,
      kinds: request.kinds,
      time: { validAt: request.validAt, knownAt: request.knownAt, now },
      includeFlagged: request.includeFlagged,
    };
    const limit = candidatesPerArm(request.k, fusion);
    const inContext =
      terms && fusion === 'SUM'
        ? await searchInContext(unit, arms, filter, limit, { reach: ranking.reach, terms: terms.all })
        : null;
    const found = inContext?.candidates ?? (await searchCandidates(unit, arms, filter, limit));
    const scores = await currentScores(unit, deps, actor.tenant, ofScopes, found, now);
    const { candidates } = scores;
    const relevance =
      query && terms && inContext
        ? relevanceOf(inContext, {
            lookedFor: terms.lookedFor,
            times: query.times,
            documents: context.documents,
            averageLength: averageLengthOf(context),
            weights: weightsOf(ranking),
            reach: ranking.reach,
          })
        : undefined;
    const ranked = query
      ? rankByRelevance(candidates, now, ranking, relevance)
      : rankWithoutQuery(candidates, now, ranking);
    const packed = pack(ranked, ({ candidate }) => candidate.characters, request.k, request.charBudget);
    const documents = await loadDocuments(
      unit,
      packed.taken.map(({ candidate }) => candidate.id),
    );

    const items = packed.taken.map(({ candidate, score, fused, icnu }, index): RecallItem => {
      const vector = candidate.cosine === null ? null : deps.embedding.similarity(candidate.cosine);
      return scores.shown({
        rank: index + 1,
        score,
        scores: { lexical: candidate.lexical, vector, fused, icnu },
        superseded: candidate.superseded,
        // There whatever is forgotten meanwhile: the transaction sees one state.
        ...documents.get(candidate.id)!,
      });
    });
    return {
      staleIds: scores.staleIds,
      items,
      receipt: {
        arms: arms.map(({ name }) => ({ name, candidates: countOf(name, candidates), underfilled: false })),
        skippedForBudget: packed.skippedForBudget,
        charactersUsed: packed.charactersUsed,
        mode: request.mode,
      },
    };
  });
  if (request.mode === 'LEARN' && !request.validAt && !request.knownAt) {
    const recalled = result.items.flatMap((item) => (item.source === 'FACT' ? [item.fact.id] : []));
    const stale = recalled.filter((id) => result.staleIds.has(id));
    deps.learner.note(actor.tenant, changerOf(actor), recalled, stale);
  }
  return { items: result.items, receipt: result.receipt };
}

/** What applies to the context, and to each scope that is visible in it. One statement. */
async function profilesFor(
  unit: Unit,
  { profiles }: Pick<Services, 'profiles'>,
  { agentId, userId }: RecallRequest,
  { scopes }: SearchContext,
): Promise<{ profile: ScopeProfile; ofScopes: ReadonlyMap<number, ScopeProfile> }> {
  const [profile, ...read] = await profiles.effectiveOf(unit, [{ agentId, userId }, ...scopes]);
  if (!profile) throw new Error('a context without an effective profile');
  return {
    profile,
    ofScopes: new Map(scopes.map(({ scopeId }, place) => [scopeId, read[place] as ScopeProfile])),
  };
}

/** What is visible in the context. One statement. @throws NotFoundError for an agent or user that is not known */
async function contextOf(
  unit: Unit,
  request: RecallRequest,
  query: ReadQuery | null,
): Promise<SearchContext> {
  const context = await searchContext(unit, request, query?.marks);
  if (!context.agentKnown) throw new NotFoundError('Agent', ['agentId']);
  if (!context.userKnown) throw new NotFoundError('User', ['userId']);
  return context;
}

/**
 * How many documents each arm brings: enough that what only one arm ranks low cannot fall out of the first k. For a sum
 * half as many do by default: it knows what both arms say of each, and takes what is said around them as well.
 */
function candidatesPerArm(k: number, fusion: RankingOptions['fusion']): number {
  return Math.max(fusion === 'SUM' ? 100 : 200, 4 * k);
}

function averageLengthOf({ documents, documentTerms }: SearchContext): number {
  return documentTerms / Math.max(documents, 1);
}

/** The weights of a sum, those of the arms in proportion to their defaults. */
function weightsOf({ sum, lexicalWeight, vectorWeight }: RankingOptions): SumWeights {
  return {
    ...sum,
    lexical: (sum.lexical * lexicalWeight) / LEXICAL_WEIGHT,
    cosine: (sum.cosine * vectorWeight) / VECTOR_WEIGHT,
  };
}

/** Which arms serve this request. */
function armsOf(
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

function countOf(arm: SearchArm['name'], candidates: readonly CandidateRow[]): number {
  if (arm === 'LEXICAL') return candidates.filter(({ lexical }) => lexical !== null).length;
  if (arm === 'VECTOR') return candidates.filter(({ cosine }) => cosine !== null).length;
  return candidates.length;
}
