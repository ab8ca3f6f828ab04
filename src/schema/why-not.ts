import { NotFoundError } from '../errors.js';
import {
  DEFAULT_K,
  MAX_K,
  MAX_QUERY_CHARACTERS,
  type WhyNotPlace as Place,
  type WhyNotStanding as Standing,
  type WHY_NOT_REASONS,
  type WhyNot as Why,
  whyNot,
} from '../recall/index.js';
import { builder, EVERYONE } from './builder.js';
import { tenantActorOf } from './context.js';
import { FactKind } from './enums.js';
import { factIdOf } from './fact-lists.js';
import { Fact } from './facts.js';
import { optionalIdOf } from './global-id.js';
import { RecallArmName, RecallScores, RecallSource } from './recall.js';

const WhyNotReason = builder.enumType('WhyNotReason', {
  description: 'Why a recall does not return a fact. The first that applies, in this order.',
  values: {
    RETURNED: { description: 'It does return it.' },
    NOT_VISIBLE: { description: 'It belongs to an agent or a user that the context does not name.' },
    NOT_YET_KNOWN: { description: 'It was recorded after `knownAt`.' },
    RETIRED: {
      description:
        'It is retired: ended, where now is asked about; found wrong, a duplicate or faded, at any time.',
    },
    NOT_YET_VALID: { description: 'It holds since a time after the one that is asked about.' },
    ENDED: { description: 'It held until a time before the one that is asked about.' },
    SOURCE_EXCLUDED: { description: 'Only messages are asked for.' },
    KIND_EXCLUDED: { description: 'It is of a kind that is not asked for.' },
    NO_MATCH: {
      description: 'No word of the query is in it, and by meaning it is not among the first either.',
    },
    BELOW_K: { description: 'There are enough before it.' },
    OVER_BUDGET: { description: 'It did not fit into what was left of the character budget.' },
  } satisfies Record<(typeof WHY_NOT_REASONS)[number], object>,
});

const WhyNotPlace = builder.objectRef<Place>('WhyNotPlace').implement({
  description: 'A place in the order of a recall, with the numbers that led there.',
  fields: (t) => ({
    place: t.exposeInt('place', { description: 'From 1, among all candidates, returned or not.' }),
    score: t.exposeFloat('score', { description: 'Its score.' }),
    scores: t.field({
      type: RecallScores,
      description: 'What the score is made of.',
      resolve: (place) => place.scores,
    }),
    arms: t.field({
      type: [RecallArmName],
      description: 'What brought it, as for an item of a result.',
      resolve: (place) => [...place.arms],
    }),
  }),
});

const WhyNotStanding = builder.objectRef<Standing>('WhyNotStanding').implement({
  description: 'How the fact stands in one arm, however far below the first.',
  fields: (t) => ({
    arm: t.field({ type: RecallArmName, description: 'Which arm.', resolve: (standing) => standing.arm }),
    score: t.exposeFloat('score', {
      nullable: true,
      description:
        'LEXICAL: BM25 of its words; VECTOR: calibrated similarity, 0 to 1; IMPORTANCE: its importance. Null where the arm does not find it: it has none of the words, or no vector.',
    }),
    place: t.exposeInt('place', {
      nullable: true,
      description: 'Its place among all that the arm ranks, from 1.',
    }),
    limit: t.exposeInt('limit', { description: 'How many the arm brings at most as candidates.' }),
  }),
});

const WhyNot = builder.objectRef<Why>('WhyNot').implement({
  description: 'Why a recall does not return a fact, with the numbers.',
  fields: (t) => ({
    reason: t.field({
      type: WhyNotReason,
      description: 'The first reason that applies.',
      resolve: (why) => why.reason,
    }),
    explanation: t.exposeString('explanation', {
      description: 'The same in a sentence with figures and times, without anything that memory holds.',
    }),
    fact: t.field({ type: Fact, description: 'The fact, with its times.', resolve: (why) => why.fact }),
    rank: t.exposeInt('rank', {
      nullable: true,
      description: 'Its rank in the result, from 1; null where it is not in it.',
    }),
    candidate: t.field({
      type: WhyNotPlace,
      nullable: true,
      description: 'Its place among the candidates and its scores; null where it is none.',
      resolve: (why) => why.placed,
    }),
    last: t.field({
      type: WhyNotPlace,
      nullable: true,
      description: 'The last that is returned: what it would have had to beat. Null for an empty result.',
      resolve: (why) => why.last,
    }),
    standings: t.field({
      type: [WhyNotStanding],
      description: 'How it stands in each arm; empty where it was left out before anything is ranked.',
      resolve: (why) => [...why.standings],
    }),
    candidateCount: t.exposeInt('candidates', { description: 'How many candidates there are.' }),
    returned: t.exposeInt('returned', { description: 'How many are returned.' }),
    k: t.exposeInt('k', { description: 'Most items that are returned.' }),
    characters: t.exposeInt('characters', { description: 'Length of the fact, in Unicode code points.' }),
    charBudget: t.exposeInt('charBudget', {
      nullable: true,
      description: 'Most characters of all items together; null for no limit.',
    }),
  }),
});

const WhyNotInput = builder.inputType('WhyNotInput', {
  description: 'A fact, and the recall in which it is looked for.',
  fields: (t) => ({
    factId: t.id({
      required: true,
      description: 'The fact: by global id, UUID, or at least 8 characters of its shortId.',
    }),
    query: t.string({
      required: true,
      description: `What would be asked: at most ${MAX_QUERY_CHARACTERS} characters; blank for the most important facts.`,
    }),
    agentId: t.id({ description: 'The agent of the context; an agent is always its own.' }),
    userId: t.id({ description: 'The user of the context; a user is always its own.' }),
    k: t.int({ description: `Most items: 1 to ${MAX_K}; ${DEFAULT_K} when left out.` }),
    charBudget: t.int({
      description: "Most characters of all items' texts together, at least 1. When left out, the tenant's.",
    }),
    kinds: t.field({ type: [FactKind], description: 'Facts of these kinds.' }),
    sources: t.field({ type: [RecallSource], description: 'Both when left out.' }),
    validAt: t.field({
      type: 'DateTime',
      description: 'Facts that held in the world at this time; live ones when left out.',
    }),
    knownAt: t.field({ type: 'DateTime', description: 'What was known at this time; now when left out.' }),
  }),
});

builder.queryField('whyNot', (t) =>
  t.field({
    type: WhyNot,
    description:
      'Why a recall does not return a fact, or at which rank it does. The recall is done as it would be, and nothing is learned from it, whoever asks. A fact that the caller may not see is NOT_FOUND.',
    authScopes: { roles: EVERYONE },
    complexity: { field: 20, multiplier: 1 },
    args: { input: t.arg({ type: WhyNotInput, required: true, description: 'What is asked.' }) },
    resolve: (_root, { input }, context) => {
      const factId = factIdOf(input.factId);
      if (factId === null) throw new NotFoundError('Fact', ['factId']);
      return whyNot(context.services, tenantActorOf(context), {
        ...input,
        factId,
        agentId: optionalIdOf('Agent', input.agentId, ['agentId']),
        userId: optionalIdOf('User', input.userId, ['userId']),
      });
    },
  }),
);
