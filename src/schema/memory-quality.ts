import type { QualityFigures } from '../db/index.js';
import {
  type ConclusionFigures,
  type MemoryQuality as Quality,
  readMemoryQuality,
} from '../quality/index.js';
import { readRange } from '../tenancy/index.js';
import { builder, EVERYONE } from './builder.js';
import { tenantActorOf } from './context.js';
import { ExtractionStatus } from './extractions.js';
import { pageOfFacts, TOTAL_COUNT } from './fact-lists.js';
import { Fact } from './facts.js';
import { optionalIdOf } from './global-id.js';

const ConclusionCounts = builder.objectRef<ConclusionFigures>('ConclusionCounts').implement({
  description: 'Decisions and conventions among some facts, by their kind or predicate.',
  fields: (t) => ({
    guarded: t.exposeInt('guarded', { description: 'How many there are: they should say why.' }),
    bare: t.exposeInt('bare', { description: 'How many of them do not.' }),
    bareRatio: t.exposeFloat('bareRatio', {
      description: '`bare` ÷ `guarded`, 0 to 1; 0 where there are none.',
    }),
  }),
});

const ExtractionCount = builder.objectRef<QualityFigures['extraction'][number]>('ExtractionCount').implement({
  description: 'How many extractions came to one end.',
  fields: (t) => ({
    status: t.field({
      type: ExtractionStatus,
      description: 'What they came to.',
      resolve: ({ status }) => status as never,
    }),
    count: t.exposeInt('count', { description: 'How many.' }),
  }),
});

const RefusalCount = builder.objectRef<QualityFigures['refusals'][number]>('RefusalCount').implement({
  description: 'How many texts were not stored for one reason.',
  fields: (t) => ({
    category: t.exposeString('category', {
      description: 'The reason, such as `INSTRUCTION_OVERRIDE`, `BUDGET` or `FORGOTTEN`.',
    }),
    count: t.exposeInt('count', { description: 'How many.' }),
  }),
});

const MemoryQuality = builder.objectRef<Quality>('MemoryQuality').implement({
  description:
    'How good a memory is. A decision or convention that does not say why is a bare conclusion: once it is out of date nobody can tell whether its reason still holds. Many of them tell of an extractor that guesses.',
  fields: (t) => ({
    guarded: t.exposeInt('guarded', {
      description:
        'Live facts that are decisions or conventions, by their kind or predicate: they should say why.',
    }),
    bare: t.exposeInt('bare', {
      description:
        'How many of them do not: no "because", "so that", "to avoid" or the like is in their object, or, where they have none, in their text.',
    }),
    bareRatio: t.exposeFloat('bareRatio', {
      description: '`bare` ÷ `guarded`, 0 to 1; 0 where there are none.',
    }),
    last30Days: t.field({
      type: ConclusionCounts,
      description: 'The same over the live facts that were recorded in the last 30 days.',
      resolve: (quality) => quality.last30Days,
    }),
    bareFacts: t.connection(
      {
        type: Fact,
        description: 'The bare ones, newest first.',
        resolve: ({ owner }, args, context) =>
          pageOfFacts(
            context,
            args,
            {
              ...owner,
              kinds: null,
              status: 'LIVE',
              pinned: null,
              words: null,
              entityKey: null,
              recordedFrom: null,
              recordedTo: null,
              conclusion: 'BARE',
              now: context.services.now(),
              range: readRange(tenantActorOf(context)),
            },
            { orderBy: 'RECORDED_AT', descending: true },
          ),
      },
      { description: 'One page of facts.', fields: (c) => ({ totalCount: c.int(TOTAL_COUNT) }) },
    ),
    extraction: t.field({
      type: [ExtractionCount],
      description: 'Extractions by what they came to, the commonest first; what never occurred is left out.',
      resolve: ({ extraction }) => [...extraction],
    }),
    refusals: t.field({
      type: [RefusalCount],
      description:
        'What was not stored, by the reason, the commonest first. The texts themselves are not kept.',
      resolve: ({ refusals }) => [...refusals],
    }),
    reaffirmed: t.exposeInt('reaffirmed', { description: 'How often its live facts were stated again.' }),
    neverRecalled: t.exposeInt('neverRecalled', {
      description: 'Live facts that no recall that learns has given yet.',
    }),
    openQuarantines: t.exposeInt('openQuarantines', {
      description:
        'Stretches of messages that were put aside after five failures; `retryExtraction` tries them again.',
    }),
  }),
});

builder.queryField('memoryQuality', (t) =>
  t.field({
    type: MemoryQuality,
    description:
      'How good the memory is: of the tenant, or of what belongs to exactly the agent and the user that are named. An unknown agent or user is an error.',
    authScopes: { roles: EVERYONE },
    args: {
      agentId: t.arg.id({ description: 'Only what is of this agent; an agent is always its own.' }),
      userId: t.arg.id({ description: 'Only what is of this user; a user is always its own.' }),
    },
    resolve: (_root, args, context) =>
      readMemoryQuality(context.services, tenantActorOf(context), {
        agentId: optionalIdOf('Agent', args.agentId, ['agentId']),
        userId: optionalIdOf('User', args.userId, ['userId']),
      }),
  }),
);
