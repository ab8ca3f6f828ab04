import type { OperationTypeNode } from 'graphql';
import {
  type FactRecord,
  type FreshScore,
  findTenant,
  type MatchedTopicRow,
  matchedTopicsByNumber,
  type SalienceRecord,
} from '../db/index.js';
import { decayOf, exactImportance, type PreviewedImportance } from '../facts/index.js';
import { maySeeProfileOf } from '../profiles/index.js';
import { staleScores } from '../rescoring/index.js';
import type { MatchedTopic as MatchedTopicValue } from '../salience/index.js';
import { decayVariantOf, mayRead, type TenantContext, toTenantContext } from '../tenancy/index.js';
import { builder } from './builder.js';
import { type GraphQLContext, readTenant, tenantActorOf } from './context.js';
import { ProfileOriginEnum, TopicLevelEnum, TopicListEnum } from './profile-enums.js';

type Matched = Pick<MatchedTopicValue, 'topic' | 'level' | 'list' | 'origin' | 'similarity'>;

/** Every step from the inputs to the importance, of a stored fact or of one that is only looked at. */
export interface Breakdown
  extends Pick<
    SalienceRecord,
    | 'distance'
    | 'z'
    | 'spatialZ'
    | 'temporalZ'
    | 'base'
    | 'topicBoost'
    | 'valenceFactor'
    | 'selfRelevanceFactor'
    | 'decayResistance'
    | 'flashbulb'
    | 'encoded'
    | 'reinforcement'
  > {
  readonly decay: number;
  readonly current: number;
  readonly matchedTopics: () => Promise<readonly Matched[]>;
}

const MatchedTopic = builder.objectRef<Matched>('MatchedTopic').implement({
  description: 'A topic that a fact is close enough to.',
  fields: (t) => ({
    topic: t.exposeString('topic', { description: 'The topic, in the spelling of its owner.' }),
    level: t.field({
      type: TopicLevelEnum,
      description: 'How much it matters.',
      resolve: ({ level }) => level,
    }),
    list: t.field({
      type: TopicListEnum,
      description: 'Whether it raises or lowers importance.',
      resolve: ({ list }) => list,
    }),
    origin: t.field({
      type: ProfileOriginEnum,
      description: 'Whose profile it comes from.',
      resolve: ({ origin }) => origin,
    }),
    similarity: t.exposeFloat('similarity', {
      description: 'How close, 0 to 1; above the threshold of the topic.',
    }),
  }),
});

export const ImportanceBreakdown = builder.objectRef<Breakdown>('ImportanceBreakdown').implement({
  description:
    'Why a fact is as important as it is. encoded = base × topicBoost × valenceFactor × selfRelevanceFactor, within 0.05 to 10; current = encoded × reinforcement × decay.',
  fields: (t) => ({
    distance: t.exposeFloat('distance', {
      nullable: true,
      description:
        'Distance to the nearest live fact of its agent and user when it came, 0 to 2; null without one.',
    }),
    z: t.exposeFloat('z', {
      nullable: true,
      description: 'How surprising it was, in standard deviations; null in warm-up.',
    }),
    spatialZ: t.exposeFloat('spatialZ', {
      nullable: true,
      description: 'The part of it that comes from the distance.',
    }),
    temporalZ: t.exposeFloat('temporalZ', {
      nullable: true,
      description:
        'The part that comes from the time since the same was last said; null for what is not known already.',
    }),
    base: t.exposeFloat('base', {
      description:
        'Importance from novelty or hints alone, 0.05 to 10; 1 in warm-up, before 20 facts are there to compare with.',
    }),
    topicBoost: t.exposeFloat('topicBoost', {
      description: 'Factor of the interests and disinterests that it matches, 0.01 to 2.',
    }),
    matchedTopics: t.field({
      type: [MatchedTopic],
      description:
        "The interests and disinterests that it matches, the tenant's, the agent's, then the user's; those of profiles that the caller may see.",
      resolve: async ({ matchedTopics }) => [...(await matchedTopics())],
    }),
    valenceFactor: t.exposeFloat('valenceFactor', {
      description: "Factor of the persona's optimism or pessimism, 0.2 to 1.8.",
    }),
    selfRelevanceFactor: t.exposeFloat('selfRelevanceFactor', {
      description: 'Factor for what concerns who the agent or user is, 1 to 2.',
    }),
    decayResistance: t.exposeFloat('decayResistance', {
      description: 'How much slower it fades for being stirring; 1 and above.',
    }),
    flashbulb: t.exposeBoolean('flashbulb', {
      description: 'Whether it was so surprising that it was pinned at once.',
    }),
    encoded: t.exposeFloat('encoded', { description: 'Importance as encoded, 0.05 to 10.' }),
    reinforcement: t.exposeFloat('reinforcement', { description: 'Factor of having been recalled, 1 to 2.' }),
    decay: t.exposeFloat('decay', { description: 'What time has left of it, 0.05 to 1; 1 while pinned.' }),
    current: t.exposeFloat('current', {
      description: 'Importance at this moment, 0.05 to 10; exact, where lists show a snapshot of it.',
    }),
  }),
});

/**
 * The breakdown of a stored fact; of one that is stale, with the numbers that it will get (SPEC §7).
 * @param operation what asks: in a subscription the tenant is as of the delivery (SPEC §11)
 */
export async function breakdownOf(
  context: GraphQLContext,
  stored: FactRecord,
  operation: `${OperationTypeNode}`,
): Promise<Breakdown> {
  const own = tenantActorOf(context).tenant;
  const tenant = operation === 'subscription' ? await tenantAtDelivery(context, own) : own;
  const isStale = stored.salience.scoredRevision < tenant.staleBelow;
  const fresh = isStale ? await freshScoreOf(context, tenant, stored.id) : null;
  const fact = fresh ? { ...stored, salience: { ...stored.salience, ...fresh } } : stored;
  const { salience } = fact;
  const now = context.services.now();
  const variant = decayVariantOf(tenant.settings);
  return {
    ...salience,
    decay: salience.pinned ? 1 : decayOf(fact, now, variant),
    current: exactImportance(fact, now, variant),
    matchedTopics: () => matchedTopicsOf(context, salience),
  };
}

/** The breakdown of a fact that is not stored. */
export function previewedBreakdown(
  context: GraphQLContext,
  { breakdown, reinforcement, current }: PreviewedImportance,
): Breakdown {
  const actor = tenantActorOf(context);
  return {
    ...breakdown,
    reinforcement,
    decay: 1,
    current,
    matchedTopics: async () => breakdown.matchedTopics.filter(({ origin }) => maySeeProfileOf(actor, origin)),
  };
}

/**
 * The tenant as it is now: who follows events is known by the tenant of the moment that it began, and the settings and
 * the revision that facts must be of may have changed since. One statement for all events that are resolved together.
 */
async function tenantAtDelivery(context: GraphQLContext, known: TenantContext): Promise<TenantContext> {
  const now = await context.batches.byId<TenantContext>(
    'tenant-at-delivery',
    async ([id = known.id]) => {
      const row = await readTenant(context, ({ tx }) => findTenant(tx, { id }));
      return new Map(row ? [[row.id, toTenantContext(row)]] : []);
    },
    known.id,
  );
  // One that was deleted meanwhile: its subscriptions are about to end.
  return now ?? known;
}

function freshScoreOf(
  context: GraphQLContext,
  tenant: TenantContext,
  id: string,
): Promise<FreshScore | null> {
  const { services } = context;
  return context.batches.byId<FreshScore>(
    'fresh-score',
    (ids) => readTenant(context, (unit) => staleScores(unit, services, tenant, ids, services.now())),
    id,
  );
}

async function matchedTopicsOf(
  context: GraphQLContext,
  { matchedTopics, matchedSimilarities }: Pick<SalienceRecord, 'matchedTopics' | 'matchedSimilarities'>,
): Promise<Matched[]> {
  const topics = await Promise.all(
    (matchedTopics ?? []).map((number) =>
      context.batches.byId<MatchedTopicRow>(
        'matched-topic',
        (numbers) => readTenant(context, (unit) => matchedTopicsByNumber(unit, numbers.map(Number))),
        String(number),
      ),
    ),
  );
  // A topic whose owner is gone is gone with it; an agent's profile is not a user's to see.
  return topics.flatMap((topic, place) =>
    topic && mayRead(tenantActorOf(context), topic)
      ? [{ ...topic, similarity: matchedSimilarities?.[place] ?? 0 } as Matched]
      : [],
  );
}
