import { complexityFromQuery } from '@pothos/plugin-complexity';
import { type GraphQLResolveInfo, Kind } from 'graphql';
import { SalientError } from '../errors.js';
import {
  DEFAULT_LOG_PAGE,
  type EVENT_TYPES,
  type EventLogPage,
  type EventRecord,
  type EventSelection,
  type EventType,
  type FeedEntry,
  type IMPORTANCE_CAUSES,
  MAX_FACTS,
  MAX_LOG_PAGE,
  MAX_NAMES,
  readEventLog,
  selectEvents,
  selectImportance,
} from '../events/index.js';
import type { ActorKind } from '../tenancy/index.js';
import { builder, EVERYONE, MAX_COST } from './builder.js';
import { type GraphQLContext, tenantActorOf } from './context.js';
import { Fact, loadFact } from './facts.js';
import { idOf, type NodeType, optionalIdOf, toGlobalId } from './global-id.js';

type Told = Extract<FeedEntry, { kind: 'event' }>;
type Checkpoint = Extract<FeedEntry, { kind: 'checkpoint' }>;

const EventTypeEnum = builder.enumType('EventType', {
  description: 'What happened in a memory.',
  values: {
    FACT_REMEMBERED: { description: 'A fact was added.' },
    FACT_REAFFIRMED: { description: 'A fact that was known already was stated again.' },
    FACT_SUPERSEDED: { description: 'A fact was retired and another took its place.' },
    FACT_RETIRED: { description: 'A fact was retired; its past stays readable.' },
    FACT_FORGOTTEN: { description: 'A fact was removed, with all that came from it.' },
    FACT_PINNED: { description: 'A fact was kept from fading.' },
    FACT_UNPINNED: { description: 'A fact may fade again.' },
    IMPORTANCE_CHANGED: { description: "A fact's importance changed. Told as an `ImportanceChange`." },
    FLASHBULB: { description: 'A fact was so surprising that it was pinned at once.' },
    POLICY_CHANGED: { description: "The tenant's override policy changed." },
    EXTRACTION_FINISHED: { description: "A conversation's new messages were looked through for facts." },
  } satisfies Record<(typeof EVENT_TYPES)[number], object>,
});

const ImportanceCauseEnum = builder.enumType('ImportanceCause', {
  description: "Why a fact's importance changed.",
  values: {
    INGEST: { description: 'The fact is new.' },
    REAFFIRM: { description: 'It was stated again.' },
    PIN: { description: 'It was pinned or unpinned.' },
  } satisfies Record<(typeof IMPORTANCE_CAUSES)[number], object>,
});

/** Which type an event's subject has. */
const SUBJECT_TYPES: Record<EventType, NodeType> = {
  FACT_REMEMBERED: 'Fact',
  FACT_REAFFIRMED: 'Fact',
  FACT_SUPERSEDED: 'Fact',
  FACT_RETIRED: 'Fact',
  FACT_FORGOTTEN: 'Fact',
  FACT_PINNED: 'Fact',
  FACT_UNPINNED: 'Fact',
  IMPORTANCE_CHANGED: 'Fact',
  FLASHBULB: 'Fact',
  POLICY_CHANGED: 'Tenant',
  EXTRACTION_FINISHED: 'Extraction',
};

const ACTOR_TYPES: Record<ActorKind, NodeType> = {
  PLATFORM_ADMIN: 'ApiKey',
  TENANT_ADMIN: 'ApiKey',
  TENANT_AUDITOR: 'ApiKey',
  AGENT: 'Agent',
  USER: 'User',
};

/** Every role may cause events, and Salient itself. */
const EventActorKind = builder.enumType('EventActorKind', {
  description: 'As what somebody caused an event.',
  values: {
    PLATFORM_ADMIN: { description: 'An administrator of the platform.' },
    TENANT_ADMIN: { description: 'An administrator of the tenant.' },
    TENANT_AUDITOR: { description: 'An auditor of the tenant.' },
    AGENT: { description: 'An agent.' },
    USER: { description: 'An end user.' },
    SYSTEM: { description: 'Salient itself: what it learned from messages.' },
  } satisfies Record<ActorKind | 'SYSTEM', object>,
});

const EventActor = builder.objectRef<EventRecord>('EventActor').implement({
  description: 'Who caused an event.',
  fields: (t) => ({
    kind: t.field({
      type: EventActorKind,
      description: 'As what.',
      resolve: (event) => event.actorKind as ActorKind | 'SYSTEM',
    }),
    id: t.id({
      nullable: true,
      description:
        'Global id of the agent or user, or of the key of an administrator; null for the bootstrap key of the platform and for Salient itself.',
      resolve: ({ actorKind, actorId }) =>
        actorId === null ? null : toGlobalId(ACTOR_TYPES[actorKind as ActorKind], actorId),
    }),
  }),
});

const FeedItem = builder.interfaceRef<FeedEntry>('FeedItem').implement({
  description:
    'What a feed delivers. Keep the cursor of the last one: passed as `after` it resumes any feed of the tenant there.',
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The place behind this item. Opaque; good for all feeds of the tenant and for `eventLog`.',
    }),
  }),
  resolveType: (entry) => {
    if (entry.kind === 'checkpoint') return 'FeedCheckpoint';
    return entry.event.type === 'IMPORTANCE_CHANGED' ? 'ImportanceChange' : 'MemoryEvent';
  },
});

builder.objectRef<Checkpoint>('FeedCheckpoint').implement({
  description:
    'Nothing that the filter selects happened up to here. Comes about every 15 seconds without other items, and first in a subscription that named no `after`: from then on nothing is missed.',
  interfaces: [FeedItem],
  fields: (t) => ({
    at: t.field({ type: 'DateTime', description: 'When it was made.', resolve: (entry) => entry.at }),
  }),
});

const Occurrence = builder.interfaceRef<Told>('Occurrence').implement({
  description: 'Something that happened. It holds ids and numbers; content is read when it is delivered.',
  interfaces: [FeedItem],
  fields: (t) => ({
    at: t.field({
      type: 'DateTime',
      description: 'When it happened.',
      resolve: ({ event }) => event.occurredAt,
    }),
    actor: t.field({ type: EventActor, description: 'Who caused it.', resolve: ({ event }) => event }),
    tenantId: t.id({
      description: 'Global id of the tenant.',
      resolve: (_entry, _args, context) => toGlobalId('Tenant', tenantActorOf(context).tenant.id),
    }),
    agentId: t.id({
      nullable: true,
      description: 'Global id of the agent whose memory it concerns; null: shared by all agents.',
      resolve: ({ event }) => (event.agentId === null ? null : toGlobalId('Agent', event.agentId)),
    }),
    userId: t.id({
      nullable: true,
      description: 'Global id of the user whose memory it concerns; null: no user in particular.',
      resolve: ({ event }) => (event.userId === null ? null : toGlobalId('User', event.userId)),
    }),
    fact: t.field({
      type: Fact,
      nullable: true,
      description:
        'The fact that it is about, as it is now; null where there is none, it was forgotten, or it is not for the reader.',
      resolve: ({ event }, _args, context) =>
        event.factId === null ? null : loadFact(context, event.factId),
    }),
  }),
  resolveType: ({ event }) => (event.type === 'IMPORTANCE_CHANGED' ? 'ImportanceChange' : 'MemoryEvent'),
});

builder.objectRef<Told>('ImportanceChange').implement({
  description: 'The importance of a fact changed, or was set for a new one.',
  interfaces: [FeedItem, Occurrence],
  fields: (t) => ({
    factId: t.id({
      description: 'Global id of the fact; it stays when the fact is gone.',
      resolve: ({ event }) => toGlobalId('Fact', event.factId ?? (event.subjectId as string)),
    }),
    cause: t.field({
      type: ImportanceCauseEnum,
      description: 'Why.',
      resolve: ({ event }) => event.cause as never,
    }),
    old: t.float({
      nullable: true,
      description: 'Importance before, 0.05 to 10; null for a new fact.',
      resolve: ({ event }) => event.oldValue,
    }),
    new: t.float({
      description: 'Importance from then on, 0.05 to 10.',
      resolve: ({ event }) => event.newValue as number,
    }),
  }),
});

builder.objectRef<Told>('MemoryEvent').implement({
  description: 'Any other event.',
  interfaces: [FeedItem, Occurrence],
  fields: (t) => ({
    type: t.field({
      type: EventTypeEnum,
      description: 'What happened.',
      resolve: ({ event }) => event.type as EventType,
    }),
    subjectId: t.id({
      nullable: true,
      description: 'Global id of what it is about: a fact, an extraction or the tenant, by `type`.',
      resolve: ({ event }) =>
        event.subjectId === null ? null : toGlobalId(SUBJECT_TYPES[event.type as EventType], event.subjectId),
    }),
  }),
});

const EventFilterInput = builder.inputType('EventFilter', {
  description: 'Which events. What is given must fit exactly; what is left out does not matter.',
  fields: (t) => ({
    types: t.field({
      type: [EventTypeEnum],
      description: `Events of one of these types; 1 to ${MAX_NAMES}.`,
    }),
    agentId: t.id({ description: "Events in this agent's memory, without the shared ones." }),
    userId: t.id({ description: "Events in this user's memory." }),
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
    'News of the memory as it happens, in order, each with a cursor to resume from. A stream ends with UNAUTHENTICATED when the key is revoked or expires, and with UNAVAILABLE when the server closes: subscribe again with the last cursor.',
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
  });
}

/** The plugin looks at a subscription's cost at each event only: one that is too dear is refused when it begins. */
function assertCost(context: GraphQLContext, info: GraphQLResolveInfo): void {
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
