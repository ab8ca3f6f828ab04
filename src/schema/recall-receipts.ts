import type { ReceiptCandidate, ReceiptRecord } from '../db/index.js';
import { isUuid } from '../ids.js';
import {
  type RecallArm as Arm,
  type LeftOut,
  RECEIPT_CANDIDATES,
  readReceipts,
  receiptPage,
} from '../recall/index.js';
import { readRange } from '../tenancy/index.js';
import { builder, EVERYONE } from './builder.js';
import { type GraphQLContext, readTenant, tenantActorOf } from './context.js';
import { FactKind, Role } from './enums.js';
import { checkOwners, TimeRange } from './fact-lists.js';
import { loadFact } from './facts.js';
import { optionalIdOf, parseGlobalId } from './global-id.js';
import { Agent, loadAgent, loadUser, User } from './members.js';
import { connectionOf, idPageOf, pageOf } from './page.js';
import {
  RecallArm,
  RecallArmName,
  RecallLeftOut,
  RecallMode,
  RecallNode,
  RecallOutcome,
  RecallScores,
  RecallSource,
} from './recall.js';
import { loadMessage } from './sessions.js';

const RecallCandidate = builder.objectRef<ReceiptCandidate>('RecallCandidate').implement({
  description: 'A fact or message that a recall looked at, and what became of it.',
  fields: (t) => ({
    node: t.field({
      type: RecallNode,
      nullable: true,
      description:
        'The fact or message as it is now; null where it has been forgotten or redacted since, or is not the caller’s to see.',
      resolve: ({ id }, _args, context) => loadCandidate(context, id),
    }),
    outcome: t.field({
      type: RecallOutcome,
      description: 'Whether it was returned, or why not.',
      resolve: (candidate) => candidate.outcome,
    }),
    place: t.exposeInt('place', {
      nullable: true,
      description: 'Its place among all candidates, from 1; null for what was left out before it was ranked.',
    }),
    arms: t.field({
      type: [RecallArmName],
      description: 'What brought it, as for an item of the result.',
      resolve: (candidate) => candidate.arms as never[],
    }),
    score: t.exposeFloat('score', { description: 'Its score, to seven digits.' }),
    scores: t.field({
      type: RecallScores,
      description: 'What the score is made of, to seven digits.',
      resolve: (candidate) => candidate,
    }),
  }),
});

/** Nothing is kept of a candidate but its id. */
async function loadCandidate(context: GraphQLContext, id: string) {
  const [fact, message] = await Promise.all([loadFact(context, id), loadMessage(context, id)]);
  return fact ?? (message?.redactedAt === null ? message : null);
}

const KeptRecallReceipt = builder.objectRef<ReceiptRecord>('KeptRecallReceipt');

builder.node(KeptRecallReceipt, {
  description:
    'How a LEARN recall came about: what was asked, what each arm found, and what was returned and left out, and why. Kept for as long as the tenant wants (`retention.receiptDays`).',
  id: { description: 'Global id.', resolve: (receipt) => receipt.id },
  loadManyWithoutCache: async (ids, context) => {
    const rows = await readTenant(context, (unit) => readReceipts(unit, tenantActorOf(context), ids));
    return ids.map((id) => rows.find((row) => row.id === id) ?? null);
  },
  fields: (t) => ({
    recalledAt: t.expose('recalledAt', { type: 'DateTime', description: 'When it was asked.' }),
    askedBy: t.field({
      type: Role,
      description: 'Who asked: an agent or a user, for itself, or an administrator.',
      resolve: (receipt) => receipt.actorKind as never,
    }),
    agent: t.field({
      type: Agent,
      nullable: true,
      description: 'The agent of the context.',
      resolve: ({ agentId }, _args, context) => (agentId === null ? null : loadAgent(context, agentId)),
    }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The user of the context.',
      resolve: ({ userId }, _args, context) => (userId === null ? null : loadUser(context, userId)),
    }),
    query: t.exposeString('query', {
      nullable: true,
      description: 'What was asked; null where nothing was searched for.',
    }),
    k: t.exposeInt('k', { description: 'Most items that were wanted.' }),
    charBudget: t.exposeInt('charBudget', {
      nullable: true,
      description: 'Most characters of all items together; null for no limit.',
    }),
    mode: t.field({
      type: RecallMode,
      description: 'Always LEARN: nothing is kept of the others.',
      resolve: () => 'LEARN' as const,
    }),
    kinds: t.field({
      type: [FactKind],
      description: 'The kinds of facts that were asked for; empty for all.',
      resolve: (receipt) => receipt.kinds as never[],
    }),
    sources: t.field({
      type: [RecallSource],
      description: 'What was searched.',
      resolve: (receipt) => receipt.sources as never[],
    }),
    validAt: t.expose('validAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time in the world that was asked about; null for the time of the recall.',
    }),
    knownAt: t.expose('knownAt', {
      type: 'DateTime',
      nullable: true,
      description: 'As of when; null for the time of the recall.',
    }),
    includeFlagged: t.exposeBoolean('includeFlagged', {
      description: 'Whether flagged messages were wanted.',
    }),
    arms: t.field({
      type: [RecallArm],
      description: 'The arms that ran, and what filled the result.',
      resolve: (receipt) => receipt.arms as Arm[],
    }),
    leftOut: t.field({
      type: [RecallLeftOut],
      description: 'How many candidates were left out, by the reason.',
      resolve: (receipt) => receipt.leftOut as LeftOut[],
    }),
    charactersUsed: t.exposeInt('charactersUsed', {
      description: "Characters of all returned items' texts, in Unicode code points.",
    }),
    candidateCount: t.exposeInt('candidateCount', {
      description: 'How many candidates there were, those included that are not kept.',
    }),
    candidates: t.field({
      type: [RecallCandidate],
      description: `The candidates in the order of their places, then those left out before they were ranked: all that were returned, and the best of the others until there are ${RECEIPT_CANDIDATES}.`,
      complexity: { field: 1, multiplier: 50 },
      resolve: (receipt) => [...receipt.candidates],
    }),
  }),
});

const RecallReceiptFilter = builder.inputType('RecallReceiptFilter', {
  description: 'Which recalls. What is left out does not matter.',
  fields: (t) => ({
    agentId: t.id({ description: 'Those with this agent in their context.' }),
    userId: t.id({ description: 'Those with this user in their context.' }),
    recalledBetween: t.field({ type: TimeRange, description: 'Those that were asked in this span.' }),
  }),
});

builder.queryFields((t) => ({
  recallReceipt: t.field({
    type: KeptRecallReceipt,
    nullable: true,
    description:
      'How a recall came about, by the id that its answer told. Null where there is none that the caller may see: administrators and auditors see all of their tenant, an agent or a user those of its own recalls; and until about a second after the recall.',
    authScopes: { roles: EVERYONE },
    args: { id: t.arg.id({ required: true, description: 'Which receipt.' }) },
    resolve: async (_root, args, context) => {
      const id = receiptIdOf(args.id);
      if (id === null) return null;
      const rows = await readTenant(context, (unit) => readReceipts(unit, tenantActorOf(context), [id]));
      return rows[0] ?? null;
    },
  }),
  recallReceipts: t.connection({
    type: KeptRecallReceipt,
    description:
      'How recalls came about, the newest first: for administrators and auditors those of the whole tenant, for an agent or a user those of its own recalls.',
    authScopes: { roles: EVERYONE },
    args: { filter: t.arg({ type: RecallReceiptFilter, description: 'Which recalls; all by default.' }) },
    resolve: async (_root, args, context) => {
      const actor = tenantActorOf(context);
      const page = pageOf(args, 1);
      const filter = {
        agentId: optionalIdOf('Agent', args.filter?.agentId, ['filter', 'agentId']),
        userId: optionalIdOf('User', args.filter?.userId, ['filter', 'userId']),
        from: args.filter?.recalledBetween?.from ?? null,
        to: args.filter?.recalledBetween?.to ?? null,
      };
      const rows = await readTenant(context, async (unit) => {
        await checkOwners(unit, { ...filter, range: readRange(actor) });
        return receiptPage(unit, actor, filter, idPageOf(page));
      });
      return connectionOf(page, rows, (row) => [row.id]);
    },
  }),
}));

/** Null for what is no receipt's id: it finds nothing, as an unknown one does. */
function receiptIdOf(text: string): string | null {
  const given = text.trim();
  if (isUuid(given)) return given.toLowerCase();
  const parsed = parseGlobalId(given);
  return parsed?.type === 'KeptRecallReceipt' ? parsed.id : null;
}
