import type { FactRecord, MessageRecord, RECALL_OUTCOMES } from '../db/index.js';
import {
  type RecallArm as Arm,
  DEFAULT_K,
  type RecallItem as Item,
  type LeftOut as Left,
  MAX_K,
  MAX_QUERY_CHARACTERS,
  type RECALL_MODES,
  type RECALL_SOURCES,
  type RecallReceipt as Receipt,
  type RecallResult as Result,
  recall,
  type RecallScores as Scores,
} from '../recall/index.js';
import { builder, EVERYONE } from './builder.js';
import { tenantActorOf } from './context.js';
import { FactKind } from './enums.js';
import { Fact } from './facts.js';
import { optionalIdOf, toGlobalId } from './global-id.js';
import { Message } from './sessions.js';

export const RecallMode = builder.enumType('RecallMode', {
  description: 'What a recall does to what it returns.',
  values: {
    LEARN: {
      description:
        'The facts that it returns gain importance, each once in five minutes at most, and those among the first ten are tied to each other; about a second later, and not where `validAt` or `knownAt` is given. Default for agents and users.',
    },
    OBSERVE: { description: 'Nothing whatever. Default for administrators and auditors.' },
  } satisfies Record<(typeof RECALL_MODES)[number], object>,
});

export const RecallSource = builder.enumType('RecallSource', {
  description: 'What can be recalled.',
  values: {
    FACT: { description: 'Statements that were established.' },
    MESSAGE: { description: 'What was said, word for word: no extraction can replace it.' },
  } satisfies Record<(typeof RECALL_SOURCES)[number], object>,
});

export const RecallArmName = builder.enumType('RecallArmName', {
  description: 'A way in which candidates are found.',
  values: {
    LEXICAL: { description: 'By the words of the query (BM25).' },
    VECTOR: { description: 'By its meaning, as the embedding model sees it.' },
    IMPORTANCE: { description: 'Without a query: the most important facts.' },
    RECENCY: {
      description:
        'The newest: without a query, where messages alone are asked for; with one, what fills the result at last, facts where they are asked for.',
    },
    CONTEXT: { description: 'By what is said around it: near a turn that the words led to.' },
    GRAPH: {
      description:
        'Fills the result: facts that mention a name of the query, or one that an edge ties to it, the best supported first.',
    },
    CO_ACTIVATION: { description: 'Fills the result: facts that were recalled together with the hits.' },
  } satisfies Record<Arm['name'], object>,
});

const RecallInput = builder.inputType('RecallInput', {
  description: 'What is wanted, and for whom.',
  fields: (t) => ({
    query: t.string({
      description: `Any text of at most ${MAX_QUERY_CHARACTERS} characters. Left out, blank or without a letter or digit: the most important facts.`,
    }),
    agentId: t.id({
      description:
        'The agent that will use it: what it shares with no other is included; without one, only what belongs to no agent. An agent is always its own.',
    }),
    userId: t.id({
      description:
        'The user that it is about or for; without one, only what belongs to no user. A user is always its own.',
    }),
    k: t.int({ description: `Most items: 1 to ${MAX_K}; ${DEFAULT_K} when left out.` }),
    charBudget: t.int({
      description:
        "Most characters of all items' texts together, at least 1. When left out, the tenant's; without one, no limit.",
    }),
    kinds: t.field({
      type: [FactKind],
      description:
        'Facts of these kinds. Messages have no kind: they are left out then, unless `sources` names them.',
    }),
    sources: t.field({
      type: [RecallSource],
      description: 'Both when left out. Without a query messages come only where MESSAGE alone is asked for.',
    }),
    mode: t.field({ type: RecallMode, description: 'Whether it may strengthen what it returns.' }),
    validAt: t.field({
      type: 'DateTime',
      description:
        'Facts that held in the world at this time, retired ones included; live ones when left out.',
    }),
    knownAt: t.field({ type: 'DateTime', description: 'What was known at this time; now when left out.' }),
    includeFlagged: t.boolean({
      description:
        'Whether messages come too that were flagged as possible attempts to instruct the agent; not by default.',
    }),
  }),
});

export const RecallScores = builder.objectRef<Scores>('RecallScores').implement({
  description: 'The parts of a score.',
  fields: (t) => ({
    lexical: t.exposeFloat('lexical', {
      nullable: true,
      description: 'BM25 of its own words; null where no word of the query was found in it.',
    }),
    vector: t.exposeFloat('vector', {
      nullable: true,
      description:
        'Calibrated similarity to the query, 0 to 1, 0.5 meaning related; null where that arm did not bring it.',
    }),
    fused: t.exposeFloat('fused', {
      description:
        'How relevant it is to the query: 6 / (60 + its place by relevance alone), 0.9 of that where no word of the query leads to it, times the 24th root of its topic boost; 0 without a query.',
    }),
    icnu: t.exposeFloat('icnu', {
      description:
        'Importance, co-activation, novelty and urgency together; it raises the fused score by half of itself.',
    }),
  }),
});

export const RecallNode = builder.unionType('RecallNode', {
  description: 'A fact or a message.',
  types: [Fact, Message],
  resolveType: (node) => ('shortId' in (node as FactRecord | MessageRecord) ? Fact : Message),
});

const RecallItem = builder.objectRef<Item>('RecallItem').implement({
  description: 'Something recalled, and how it came by its place.',
  fields: (t) => ({
    rank: t.exposeInt('rank', { description: 'Its place, from 1.' }),
    score: t.exposeFloat('score', {
      description:
        "fused × (1 + icnu / 2). Without a query a tenth of a fact's importance at this moment, or how fresh a message is. 0 for what only fills.",
    }),
    scores: t.field({
      type: RecallScores,
      description: 'What the score is made of.',
      resolve: (item) => item.scores,
    }),
    arms: t.field({
      type: [RecallArmName],
      description:
        'What brought it: LEXICAL, VECTOR or both; what is said around it; or, of what only fills, the first that led to it.',
      resolve: (item) => [...item.arms],
    }),
    supplement: t.exposeBoolean('supplement', {
      description:
        'Whether it only fills what the direct hits left of `k`: it comes after all of them, with a score of 0, and a LEARN recall does not strengthen it.',
    }),
    superseded: t.exposeBoolean('superseded', {
      description: 'True for a message whose facts have all been replaced: it comes after everything else.',
    }),
    node: t.field({
      type: RecallNode,
      description: 'The fact or message itself.',
      resolve: (item) => (item.source === 'FACT' ? item.fact : item.message),
    }),
  }),
});

export const RecallArm = builder.objectRef<Arm>('RecallArm').implement({
  description: 'One of the ways that were tried.',
  fields: (t) => ({
    name: t.field({ type: RecallArmName, description: 'Which.', resolve: (arm) => arm.name }),
    candidates: t.exposeInt('candidates', { description: 'How many facts and messages it found.' }),
    underfilled: t.exposeBoolean('underfilled', {
      description: 'Whether an approximate index may have found fewer than there are.',
    }),
  }),
});

export const RecallOutcome = builder.enumType('RecallOutcome', {
  description: 'What became of a candidate.',
  values: {
    RETURNED: { description: 'It is in the result.' },
    OVER_BUDGET: { description: 'It did not fit into what was left of the character budget.' },
    BELOW_K: { description: 'There were enough before it.' },
    KIND_EXCLUDED: { description: 'A fact of a kind that was not asked for.' },
    FLAGGED: { description: 'A message flagged as a possible attempt to instruct the agent.' },
  } satisfies Record<(typeof RECALL_OUTCOMES)[number], object>,
});

export const RecallLeftOut = builder.objectRef<Left>('RecallLeftOut').implement({
  description: 'How much was left out for one reason.',
  fields: (t) => ({
    reason: t.field({ type: RecallOutcome, description: 'Why.', resolve: (left) => left.reason }),
    count: t.exposeInt('count', { description: 'How many facts and messages.' }),
  }),
});

const RecallReceipt = builder.objectRef<Receipt>('RecallReceipt').implement({
  description: 'How a result came about.',
  fields: (t) => ({
    id: t.id({
      nullable: true,
      description:
        'Under which `recallReceipt` finds it, with every candidate, about a second later; null for OBSERVE, and where the tenant keeps no receipts.',
      resolve: (receipt) => (receipt.id === null ? null : toGlobalId('KeptRecallReceipt', receipt.id)),
    }),
    leftOut: t.field({
      type: [RecallLeftOut],
      description:
        'What was looked at and is not in the result, by the reason. KIND_EXCLUDED and FLAGGED count what the arms ranked high.',
      resolve: (receipt) => [...receipt.leftOut],
    }),
    arms: t.field({
      type: [RecallArm],
      description:
        'The arms that ran, and what filled the result. VECTOR is missing where the model cannot read the query, or did not answer.',
      resolve: (receipt) => [...receipt.arms],
    }),
    skippedForBudget: t.exposeInt('skippedForBudget', {
      description: 'Items passed over because they did not fit into the character budget.',
    }),
    charactersUsed: t.exposeInt('charactersUsed', {
      description: "Characters of all items' texts, in Unicode code points.",
    }),
    mode: t.field({
      type: RecallMode,
      description: 'The mode that applied.',
      resolve: (receipt) => receipt.mode,
    }),
  }),
});

const RecallResult = builder.objectRef<Result>('RecallResult').implement({
  description: 'What is worth knowing now.',
  fields: (t) => ({
    items: t.field({
      type: [RecallItem],
      description: 'Best first.',
      resolve: (result) => [...result.items],
    }),
    receipt: t.field({
      type: RecallReceipt,
      description: 'How it came about.',
      resolve: (result) => result.receipt,
    }),
  }),
});

builder.queryField('recall', (t) =>
  t.field({
    type: RecallResult,
    description:
      'The facts and messages that fit a query best, among those whose agent is none or the given one and whose user is none or the given one.',
    authScopes: { roles: EVERYONE },
    // By the house rule `items` counts as five rows. With this factor it counts as k / 2: items come loaded, and a
    // full recall with its sources stays within the limit.
    complexity: ({ input }) => ({ field: 10, multiplier: Math.max(1, (input?.k ?? DEFAULT_K) / 10) }),
    args: { input: t.arg({ type: RecallInput, required: true, description: 'What is wanted.' }) },
    resolve: (_root, { input }, context) =>
      recall(context.services, tenantActorOf(context), {
        ...input,
        agentId: optionalIdOf('Agent', input.agentId, ['agentId']),
        userId: optionalIdOf('User', input.userId, ['userId']),
      }),
  }),
);
