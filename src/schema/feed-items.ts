import type { EVENT_TYPES, EventRecord, EventType, FeedEntry, IMPORTANCE_CAUSES } from '../events/index.js';
import type { Actor, ActorKind } from '../tenancy/index.js';
import { builder } from './builder.js';
import { tenantActorOf } from './context.js';
import { Fact, loadFact } from './facts.js';
import { type NodeType, toGlobalId } from './global-id.js';

type Told = Extract<FeedEntry, { kind: 'event' }>;
type Checkpoint = Extract<FeedEntry, { kind: 'checkpoint' }>;

export const EventTypeEnum = builder.enumType('EventType', {
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
    PROFILE_CHANGED: { description: 'What matters to the tenant, an agent or a user changed.' },
    POLICY_CHANGED: { description: "The tenant's override policy changed." },
    RESCORE_PROGRESS: { description: 'A rescoring has done more of its facts.' },
    RESCORE_FINISHED: { description: 'A rescoring has ended, one way or another.' },
    CONSOLIDATION_FINISHED: { description: "The tenant's facts were consolidated." },
    EXTRACTION_FINISHED: { description: "A conversation's new messages were looked through for facts." },
    EXTRACTION_QUARANTINED: {
      description:
        'Messages could not be looked through in five attempts, and were put aside; see `retryExtraction`.',
    },
  } satisfies Record<(typeof EVENT_TYPES)[number], object>,
});

export const ImportanceCauseEnum = builder.enumType('ImportanceCause', {
  description: "Why a fact's importance changed.",
  values: {
    INGEST: { description: 'The fact is new.' },
    REAFFIRM: { description: 'It was stated again.' },
    RESCORE: { description: 'What matters to its tenant, agent or user changed.' },
    RECALL: { description: 'It was recalled; told when it moved by 0.25 or more since last told.' },
    DECAY: { description: 'Time passed; told when it moved by 0.25 or more since last told.' },
    PIN: { description: 'It was pinned or unpinned.' },
    MANUAL: { description: 'It was reinforced on request, by `reinforceFact`.' },
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
  PROFILE_CHANGED: 'SalienceProfile',
  POLICY_CHANGED: 'Tenant',
  RESCORE_PROGRESS: 'RescoreJob',
  RESCORE_FINISHED: 'RescoreJob',
  CONSOLIDATION_FINISHED: 'ConsolidationReport',
  EXTRACTION_FINISHED: 'Extraction',
  EXTRACTION_QUARANTINED: 'Extraction',
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

/** Agents are not told of one another, nor are users: here as in the lists of both. */
function isHidden(reader: Actor, actorKind: string, actorId: string): boolean {
  if (reader.kind !== 'AGENT' && reader.kind !== 'USER') return false;
  return actorKind === reader.kind && actorId !== reader.id;
}

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
        'Global id of the agent or user, or of the key of an administrator; null for the bootstrap key of the platform, for Salient itself, and where an agent reads of another agent or a user of another user.',
      resolve: ({ actorKind, actorId }, _args, context) =>
        actorId === null || isHidden(tenantActorOf(context), actorKind, actorId)
          ? null
          : toGlobalId(ACTOR_TYPES[actorKind as ActorKind], actorId),
    }),
  }),
});

export const FeedItem = builder.interfaceRef<FeedEntry>('FeedItem').implement({
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
    type: t.field({
      type: EventTypeEnum,
      description: 'What happened.',
      resolve: ({ event }) => event.type as EventType,
    }),
    subjectId: t.id({
      nullable: true,
      description:
        'Global id of what it is about, by `type`: a fact, an extraction, a profile, a rescoring job, a consolidation or the tenant.',
      resolve: ({ event }) =>
        event.subjectId === null ? null : toGlobalId(SUBJECT_TYPES[event.type as EventType], event.subjectId),
    }),
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
});
