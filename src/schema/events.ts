import { complexityFromQuery } from '@pothos/plugin-complexity';
import { type GraphQLResolveInfo, Kind } from 'graphql';
import { SalientError } from '../errors.js';
import {
  DEFAULT_LOG_PAGE,
  type EventLogPage,
  type EventSelection,
  type FeedEntry,
  MAX_FACTS,
  MAX_LOG_PAGE,
  MAX_NAMES,
  readEventLog,
  selectEvents,
  selectImportance,
} from '../events/index.js';
import { builder, EVERYONE, MAX_COST } from './builder.js';
import { type GraphQLContext, tenantActorOf } from './context.js';
import { EventTypeEnum, FeedItem, ImportanceCauseEnum } from './feed-items.js';
import { idOf, optionalIdOf } from './global-id.js';

const EXCLUDE_ACTOR =
  'True: without what the caller caused itself, by its agent, its user or, for an administrator, its key. What Salient learned from its messages is told.';

const EventFilterInput = builder.inputType('EventFilter', {
  description: 'Which events. What is given must fit exactly; what is left out does not matter.',
  fields: (t) => ({
    types: t.field({
      type: [EventTypeEnum],
      description: `Events of one of these types; 1 to ${MAX_NAMES}.`,
    }),
    agentId: t.id({ description: "Events in this agent's memory, without the shared ones." }),
    userId: t.id({ description: "Events in this user's memory." }),
    excludeActor: t.boolean({ description: EXCLUDE_ACTOR }),
  }),
});

const ImportanceFilterInput = builder.inputType('ImportanceFilter', {
  description:
    'Which changes of importance. What is given must fit exactly; what is left out does not matter.',
  fields: (t) => ({
    agentId: t.id({ description: "Changes in this agent's memory, without the shared ones." }),
    userId: t.id({ description: "Changes in this user's memory." }),
    factIds: t.idList({ description: `Changes of one of these facts; 1 to ${MAX_FACTS}.` }),
    causes: t.field({ type: [ImportanceCauseEnum], description: `Changes for one of these reasons.` }),
    minDelta: t.float({
      description: 'Changes by at least this much, up or down, 0 to 10; a new fact counts from 0.',
    }),
    excludeActor: t.boolean({ description: EXCLUDE_ACTOR }),
  }),
});

const EventLogPageRef = builder.objectRef<EventLogPage>('EventLogPage').implement({
  description: 'A stretch of the event log, oldest first.',
  fields: (t) => ({
    items: t.field({
      type: [FeedItem],
      description: 'The events.',
      complexity: { field: 1, multiplier: 1 },
      resolve: ({ items }) => items.map((item): FeedEntry => ({ kind: 'event', ...item })),
    }),
    endCursor: t.exposeString('endCursor', { description: 'Pass it as `after` to read on.' }),
    hasMore: t.exposeBoolean('hasMore', {
      description:
        'Whether there is more to read. A page may hold few items and have more, where a filter is narrow.',
    }),
    feedCursor: t.exposeString('feedCursor', {
      description:
        'Subscribe with it as `after` to get, without gap or repeat, what this page does not have.',
    }),
  }),
});

const AFTER =
  'A cursor: deliver what comes behind it. `earliest`: from the oldest event that is kept (30 days by default). A cursor older than that is refused with CURSOR_EXPIRED.';

builder.queryField('eventLog', (t) =>
  t.field({
    type: EventLogPageRef,
    description: 'What happened, as far as the caller may see it: the log that the subscriptions follow.',
    authScopes: { roles: EVERYONE },
    args: {
      filter: t.arg({ type: EventFilterInput, description: 'Which events; all when left out.' }),
      after: t.arg.string({ description: `${AFTER} When left out: \`earliest\`.` }),
      first: t.arg.int({ description: `Items, 1 to ${MAX_LOG_PAGE}; ${DEFAULT_LOG_PAGE} when left out.` }),
    },
    complexity: ({ first }) => ({ field: 1, multiplier: first ?? DEFAULT_LOG_PAGE }),
    resolve: async (_root, { filter, after, first }, context) =>
      readEventLog(context.services, tenantActorOf(context), {
        selection: await eventsOf(context, filter),
        after,
        first,
      }),
  }),
);

builder.subscriptionType({
  description:
    'News of the memory as it happens, in order, each with a cursor to resume from. A stream ends with UNAUTHENTICATED when the key is revoked or expires, with UNAVAILABLE when the server closes, and with SUBSCRIPTION_LAGGED, which has the last `cursor` in its extensions, when more than 1 MiB waited unread for 30 seconds: subscribe again with the last cursor.',
});

builder.subscriptionField('importanceChanged', (t) =>
  t.field({
    type: FeedItem,
    description: 'Changes of importance, with checkpoints between them.',
    authScopes: { roles: EVERYONE },
    args: {
      filter: t.arg({ type: ImportanceFilterInput, description: 'Which changes; all when left out.' }),
      after: t.arg.string({ description: `${AFTER} When left out: what happens from now on.` }),
    },
    subscribe: async (_root, { filter, after }, context, info) => {
      assertCost(context, info);
      return follow(context, after, await importanceOf(context, filter));
    },
    resolve: (entry) => entry,
  }),
);

builder.subscriptionField('memoryEvents', (t) =>
  t.field({
    type: FeedItem,
    description: 'All events, changes of importance included, with checkpoints between them.',
    authScopes: { roles: EVERYONE },
    args: {
      filter: t.arg({ type: EventFilterInput, description: 'Which events; all when left out.' }),
      after: t.arg.string({ description: `${AFTER} When left out: what happens from now on.` }),
    },
    subscribe: async (_root, { filter, after }, context, info) => {
      assertCost(context, info);
      return follow(context, after, await eventsOf(context, filter));
    },
    resolve: (entry) => entry,
  }),
);

function follow(context: GraphQLContext, after: string | null | undefined, selection: EventSelection) {
  return context.services.feed.follow(tenantActorOf(context), { after: after ?? null, selection });
}

function eventsOf(context: GraphQLContext, filter: typeof EventFilterInput.$inferInput | null | undefined) {
  return selectEvents(context.services, tenantActorOf(context), {
    types: filter?.types,
    agentId: optionalIdOf('Agent', filter?.agentId, ['filter', 'agentId']),
    userId: optionalIdOf('User', filter?.userId, ['filter', 'userId']),
    excludeActor: filter?.excludeActor,
  });
}

function importanceOf(
  context: GraphQLContext,
  filter: typeof ImportanceFilterInput.$inferInput | null | undefined,
) {
  return selectImportance(context.services, tenantActorOf(context), {
    agentId: optionalIdOf('Agent', filter?.agentId, ['filter', 'agentId']),
    userId: optionalIdOf('User', filter?.userId, ['filter', 'userId']),
    factIds: filter?.factIds?.map((id, index) => idOf('Fact', id, ['filter', 'factIds', index])),
    causes: filter?.causes,
    minDelta: filter?.minDelta,
    excludeActor: filter?.excludeActor,
  });
}

/** The plugin looks at a subscription's cost at each event only: one that is too dear is refused when it begins. */
export function assertCost(context: GraphQLContext, info: GraphQLResolveInfo): void {
  const { complexity } = complexityFromQuery(
    { kind: Kind.DOCUMENT, definitions: [info.operation, ...Object.values(info.fragments)] },
    { schema: info.schema, variables: info.variableValues, ctx: context },
  );
  if (complexity <= MAX_COST) return;
  throw new SalientError(
    'LIMIT_EXCEEDED',
    `The subscription costs ${complexity} an event, more than ${MAX_COST}: ask for fewer rows or fields`,
  );
}
