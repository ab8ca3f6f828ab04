import {
  type CandidateRow,
  type LeftOutRow,
  readInTenant,
  type SearchArm,
  type SearchContext,
  type SearchFilter,
  searchContext,
  searchInContext,
  type Unit,
} from '../db/index.js';
import { NotFoundError } from '../errors.js';
import type { ScopeProfile } from '../profiles/index.js';
import type { Services } from '../services.js';
import { decayVariantOf, type TenantActor } from '../tenancy/index.js';
import { armsOf, averageLengthOf, candidatesPerArm, foundBy } from './arms.js';
import { type CurrentScores, currentScores } from './current-scores.js';
import { LEXICAL_WEIGHT, VECTOR_WEIGHT } from './fusion.js';
import { sharesOf } from './icnu.js';
import type { RecallRequest } from './input.js';
import { type Packed, pack } from './packing.js';
import { embedForSearch, participantsOf, queryTerms, type ReadQuery, readQuery } from './query.js';
import {
  DEFAULT_RANKING,
  type Ranked,
  type RankingOptions,
  type RankingOverrides,
  rankByRelevance,
  rankWithoutQuery,
  withoutRelevance,
} from './ranking.js';
import { relevanceOf } from './relevance.js';
import type { RecallArmName } from './result.js';
import type { SumWeights } from './sum-parameters.js';
import { findSupplements, NO_SUPPLEMENTS, type Supplements } from './supplements.js';

/** What answering is given. */
export type AnswerDeps = Pick<
  Services,
  'db' | 'embedding' | 'embeddingModelId' | 'now' | 'profiles' | 'ranking'
>;

/** A candidate in its place, with what brought it. */
export interface Placed extends Ranked {
  readonly arms: readonly RecallArmName[];
  /** Whether it only fills what direct hits left of k. */
  readonly supplement: boolean;
}

/** Everything that is known of a recall before what it returns is read. */
export interface Answer {
  readonly context: SearchContext;
  readonly filter: SearchFilter;
  /** The arms that searched, and how many documents each brought at most. */
  readonly searched: readonly SearchArm[];
  readonly limit: number;
  /** What they found. */
  readonly found: readonly CandidateRow[];
  readonly leftOut: readonly LeftOutRow[];
  readonly supplements: Supplements;
  /** All candidates in the one order of the recall, supplements last. */
  readonly ranked: readonly Placed[];
  readonly packed: Packed<Placed>;
  /** Of the direct candidates, and of the supplements. */
  readonly scores: CurrentScores;
  readonly now: Date;
}

/**
 * Searches, ranks and packs (SPEC §8.1 to §8.4), in one short transaction, and hands what came of it to `use` in the
 * same. Two statements, one more where profiles have changed since facts were scored, and one more where direct hits
 * leave room in k. Where the query may name somebody who speaks in a conversation the first is in a transaction of its
 * own, for that decides what is embedded, and no transaction is open meanwhile.
 * @throws NotFoundError for an agent or user that this tenant does not have (paths `agentId`, `userId`)
 */
export async function answering<T>(
  deps: AnswerDeps,
  actor: TenantActor,
  request: RecallRequest,
  options: RankingOverrides,
  use: (unit: Unit, answer: Answer) => Promise<T>,
): Promise<T> {
  const now = deps.now();
  const { fusion, names, vectorWeight } = { ...DEFAULT_RANKING, ...deps.ranking, ...options };
  const query =
    request.query === null ? null : readQuery(actor.tenant, request.query, now, fusion === 'SUM' && names);
  // Who speaks is known to the database alone, and no transaction is open while the encoder works: where the query may
  // say something of somebody, the context is read in one of its own.
  const early =
    query && vectorWeight > 0 && query.names.length > 0 && query.words.length > 1
      ? await readInTenant(deps.db, actor.tenant, (unit) => contextOf(unit, request, query))
      : null;
  const vector =
    query && vectorWeight > 0
      ? await embedForSearch(deps, query, early ? participantsOf(query, early) : [])
      : null;
  return readInTenant(deps.db, actor.tenant, async (unit) => {
    const context = early ?? (await contextOf(unit, request, query));
    return use(unit, await answerIn(unit, deps, actor, request, options, { now, query, context, vector }));
  });
}

/** What is known before the search begins. */
interface Asked {
  readonly now: Date;
  readonly query: ReadQuery | null;
  readonly context: SearchContext;
  readonly vector: string | null;
}

async function answerIn(
  unit: Unit,
  deps: AnswerDeps,
  { tenant }: TenantActor,
  request: RecallRequest,
  options: RankingOverrides,
  { now, query, context, vector }: Asked,
): Promise<Answer> {
  const { profile, ofScopes } = await profilesFor(unit, deps, request, context);
  const ranking: RankingOptions = {
    ...DEFAULT_RANKING,
    icnuWeights: sharesOf(profile.effective.icnuWeights.value),
    ...deps.ranking,
    ...options,
    decay: decayVariantOf(tenant.settings),
  };
  const terms = query && queryTerms(tenant, query, participantsOf(query, context), ranking.lexicalWeight > 0);
  const searched = armsOf(request, terms, vector, context, deps.embeddingModelId, ranking);
  const filter: SearchFilter = {
    scopeIds: context.scopes.map(({ scopeId }) => scopeId),
    facts: request.facts,
    messages: request.messages,
    kinds: request.kinds,
    time: { validAt: request.validAt, knownAt: request.knownAt, now },
    includeFlagged: request.includeFlagged,
  };
  const limit = candidatesPerArm(request.k, ranking.fusion);
  const inContext = terms && ranking.fusion === 'SUM' ? { reach: ranking.reach, terms: terms.all } : null;
  const search = await searchInContext(unit, searched, filter, limit, inContext);
  const scores = await currentScores(unit, deps, tenant, ofScopes, search.candidates, now);
  const relevance =
    query && terms && inContext
      ? relevanceOf(
          { ...search, candidates: [...scores.candidates] },
          {
            lookedFor: terms.lookedFor,
            times: query.times,
            documents: context.documents,
            averageLength: averageLengthOf(context),
            weights: weightsOf(ranking),
            reach: ranking.reach,
          },
        )
      : undefined;
  const direct = (
    query
      ? rankByRelevance(scores.candidates, now, ranking, relevance)
      : rankWithoutQuery(scores.candidates, now, ranking)
  ).map((one): Placed => ({ ...one, arms: foundBy(searched, one.candidate), supplement: false }));
  const packedOf = (all: readonly Placed[]) =>
    pack(all, ({ candidate }) => candidate.characters, request.k, request.charBudget);
  const answer: Answer = {
    ...{ context, filter, searched, limit, scores, now, leftOut: search.leftOut },
    found: search.candidates,
    supplements: NO_SUPPLEMENTS,
    ranked: direct,
    packed: packedOf(direct),
  };
  const room = request.k - answer.packed.taken.length;
  // Without a query everything is a direct hit.
  if (!query || room === 0) return answer;
  const supplements = await findSupplements(
    unit,
    tenant,
    query.text,
    filter,
    direct.map(({ candidate }) => candidate),
    answer.packed.taken.map(({ candidate }) => candidate),
    room,
  );
  if (supplements.candidates.length === 0) return answer;
  const filling = await currentScores(unit, deps, tenant, ofScopes, supplements.candidates, now);
  // Behind all direct hits, so the packing takes of those what it took without them.
  const ranked = [
    ...direct,
    ...withoutRelevance(filling.candidates, now, ranking).map((one): Placed => {
      const arm = supplements.arms.get(one.candidate.id);
      return { ...one, arms: arm ? [arm] : [], supplement: true };
    }),
  ];
  return { ...answer, supplements, ranked, packed: packedOf(ranked), scores: both(scores, filling) };
}

function both(direct: CurrentScores, filling: CurrentScores): CurrentScores {
  return {
    candidates: [...direct.candidates, ...filling.candidates],
    staleIds: new Set([...direct.staleIds, ...filling.staleIds]),
    shown: (item) => filling.shown(direct.shown(item)),
  };
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

/** The weights of a sum, those of the arms in proportion to their defaults. */
function weightsOf({ sum, lexicalWeight, vectorWeight }: RankingOptions): SumWeights {
  return {
    ...sum,
    lexical: (sum.lexical * lexicalWeight) / LEXICAL_WEIGHT,
    cosine: (sum.cosine * vectorWeight) / VECTOR_WEIGHT,
  };
}
