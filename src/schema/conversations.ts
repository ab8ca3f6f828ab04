import { appendMessages } from '../conversations/index.js';
import {
  type ExtractionRunRow,
  type FactRecord,
  factIdsOfRuns,
  factIdsReplacedByRuns,
  type MessageRecord,
  runsByIds,
  type SessionRow,
  sessionsByIds,
} from '../db/index.js';
import { BadInputError } from '../errors.js';
import type { RunRefusal } from '../extraction/index.js';
import { mayRead } from '../tenancy/index.js';
import { builder, WRITERS } from './builder.js';
import { type GraphQLContext, readTenant, tenantActorOf } from './context.js';
import { ExtractorName, MessageRole } from './enums.js';
import { Fact, loadFact } from './facts.js';
import { idOf, optionalIdOf } from './global-id.js';
import { defineMutation } from './mutation.js';
import { loadMessage, loadSession, Message, Session } from './sessions.js';

const ExtractionStatus = builder.enumType('ExtractionStatus', {
  description: 'What mining the new messages of a session came to.',
  values: {
    EXTRACTED: { description: 'It proposed facts; which of them were kept is in `facts` and `refused`.' },
    EXTRACTED_NOTHING: { description: 'It looked, and found nothing durable.' },
    SKIPPED_NOT_SALIENT: { description: 'The gate saw that nothing durable was said; no extractor ran.' },
    NOTHING_NEW: { description: 'No message was new.' },
    PENDING: {
      description:
        'It is not done yet, or failed for now and is tried again; the event EXTRACTION_FINISHED tells when it is done.',
    },
    FAILED: { description: 'The extractor failed; the messages are kept, and are mined with the next ones.' },
  },
});

const RefusedText = builder.objectRef<RunRefusal>('RefusedText').implement({
  description: 'A proposed fact that was not stored. Shown this once.',
  fields: (t) => ({
    text: t.exposeString('text', { description: 'What it said.' }),
    category: t.exposeString('category', {
      description: 'Why, as a code, such as `INSTRUCTION_OVERRIDE`, `BUDGET` or `FORGOTTEN`.',
    }),
    reason: t.exposeString('reason', { description: 'Why, in words.' }),
  }),
});

/** A run, with what only the call that asked for it is told. */
interface Extraction {
  readonly run: ExtractionRunRow;
  readonly status: string;
  readonly factIds: readonly string[] | null;
  readonly refused: readonly RunRefusal[];
}

const Extraction = builder.objectRef<Extraction>('Extraction');

async function factIdsOf(extraction: Extraction, context: GraphQLContext): Promise<readonly string[]> {
  if (extraction.factIds) return extraction.factIds;
  const ids = await context.batches.byId<string[]>(
    'factsOfRun',
    (runs) => readTenant(context, (unit) => factIdsOfRuns(unit, runs)),
    extraction.run.id,
  );
  return ids ?? [];
}

async function factsOf(extraction: Extraction, context: GraphQLContext): Promise<FactRecord[]> {
  const facts = await Promise.all((await factIdsOf(extraction, context)).map((id) => loadFact(context, id)));
  return facts.filter((fact) => fact !== null);
}

builder.node(Extraction, {
  description: 'A request to mine the new messages of a session.',
  id: { description: 'Global id.', resolve: ({ run }) => run.id },
  loadManyWithoutCache: async (ids, context) => {
    const runs = await readTenant(context, (unit) => runsByIds(unit, ids));
    const sessions = await readTenant(context, (unit) =>
      sessionsByIds(
        unit,
        runs.map((run) => run.sessionId),
      ),
    );
    const visible = new Set(
      sessions.filter((session) => mayRead(tenantActorOf(context), session)).map((session) => session.id),
    );
    return ids.map((id) => {
      const run = runs.find((one) => one.id === id && visible.has(one.sessionId));
      return run ? { run, status: run.status, factIds: null, refused: [] } : null;
    });
  },
  fields: (t) => ({
    status: t.field({
      type: ExtractionStatus,
      description: 'How far it is, and what it came to.',
      resolve: ({ status }) => status as never,
    }),
    extractor: t.field({
      type: ExtractorName,
      description: 'What mines.',
      resolve: ({ run }) => run.extractor as never,
    }),
    facts: t.field({
      type: [Fact],
      description: 'Facts that it added or reaffirmed; later, those that it added.',
      resolve: (extraction, _args, context) => factsOf(extraction, context),
    }),
    superseded: t.field({
      type: [Fact],
      description: 'Facts that were replaced by facts that it added.',
      resolve: async ({ run }, _args, context) => {
        const ids = await context.batches.byId<string[]>(
          'replacedByRun',
          (runs) => readTenant(context, (unit) => factIdsReplacedByRuns(unit, runs)),
          run.id,
        );
        const facts = await Promise.all((ids ?? []).map((id) => loadFact(context, id)));
        return facts.filter((fact) => fact !== null);
      },
    }),
    refused: t.field({
      type: [RefusedText],
      description: 'What was not stored, told this once.',
      resolve: ({ refused }) => [...refused],
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description: 'The conversation.',
      resolve: ({ run }, _args, context) => loadSession(context, run.sessionId),
    }),
    startedAt: t.field({
      type: 'DateTime',
      description: 'When it was asked for.',
      resolve: ({ run }) => run.startedAt,
    }),
    finishedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was done.',
      resolve: ({ run }) => run.finishedAt,
    }),
    error: t.string({
      nullable: true,
      description: 'Code of what made it fail, also where it is tried again.',
      resolve: ({ run }) => run.error,
    }),
  }),
});

const ExtractWhen = builder.enumType('ExtractWhen', {
  description: 'When appended messages are mined.',
  values: {
    NOW: { description: 'At once; the answer waits for it, 10 seconds at most. The default.' },
    LATER: { description: 'At once, but the answer does not wait.' },
    NEVER: { description: 'Not at all, now or later; the messages are kept and found by recall.' },
  },
});

const CreateSessionInput = builder.inputType('CreateSessionInput', {
  description: 'A session to open. One that has the same agent, user and externalId is taken up again.',
  fields: (t) => ({
    agentId: t.id({ description: 'The agent in it; an agent is always its own.' }),
    userId: t.id({ description: 'The user in it; a user is always its own.' }),
    externalId: t.string({ description: "The host application's id, at most 200 characters." }),
  }),
});

const SessionChoice = builder.inputType('SessionChoice', {
  description: 'Which session.',
  isOneOf: true,
  fields: (t) => ({
    id: t.id({ description: 'One that exists.' }),
    create: t.field({ type: CreateSessionInput, description: 'One to open or take up again.' }),
  }),
});

const MessageInput = builder.inputType('MessageInput', {
  description: 'A message as it was said.',
  fields: (t) => ({
    role: t.field({ type: MessageRole, required: true, description: 'Who speaks.' }),
    content: t.string({ required: true, description: 'What was said, at most 32,000 characters.' }),
    externalId: t.string({
      description: "The host application's id; a message that the session has by it is not added again.",
    }),
    speaker: t.string({
      description: 'Name of who speaks, where several share a role; at most 200 characters.',
    }),
    sentAt: t.field({
      type: 'DateTime',
      description: 'When it was said. The order of messages is that of their arrival, whatever this says.',
    }),
  }),
});

const AppendMessagesInput = builder.inputType('AppendMessagesInput', {
  description: 'Messages to keep, and when to mine them.',
  fields: (t) => ({
    session: t.field({ type: SessionChoice, required: true, description: 'Which session.' }),
    messages: t.field({
      type: [MessageInput],
      required: true,
      description: '1 to 200 messages, in the order in which they were said.',
    }),
    extract: t.field({ type: ExtractWhen, description: 'NOW when left out.' }),
    idempotencyKey: t.string({
      description:
        'The same key with the same request again does nothing and answers the same; at most 200 characters.',
    }),
  }),
});

type Result = { session: SessionRow; messages: MessageRecord[]; extraction: Extraction | null };

defineMutation<Result, typeof AppendMessagesInput.$inferInput>('appendMessages', {
  description:
    'Keeps messages, searchable from then on, and learns facts from them. Whatever becomes of the learning, the messages are kept.',
  roles: WRITERS,
  input: AppendMessagesInput,
  fields: (t) => ({
    session: t.field({
      type: Session,
      nullable: true,
      description: 'The session.',
      resolve: (payload) => payload.session ?? null,
    }),
    messages: t.field({
      type: [Message],
      nullable: true,
      description: 'The messages, in the order given.',
      resolve: (payload) => payload.messages ?? null,
    }),
    extraction: t.field({
      type: Extraction,
      nullable: true,
      description: 'What was learned; null with NEVER.',
      resolve: (payload) => payload.extraction ?? null,
    }),
  }),
  resolve: async (input, context): Promise<Result> => {
    const result = await appendMessages(context.services, tenantActorOf(context), {
      session: sessionChoiceOf(input.session),
      messages: input.messages,
      extract: input.extract ?? 'NOW',
      idempotencyKey: input.idempotencyKey,
    });
    const [session, messages, runs] = await Promise.all([
      loadSession(context, result.sessionId),
      Promise.all(result.messageIds.map((id) => loadMessage(context, id))),
      result.extraction
        ? readTenant(context, (unit) => runsByIds(unit, [result.extraction?.runId ?? '']))
        : [],
    ]);
    const run = runs[0];
    return {
      session: session as SessionRow,
      messages: messages.filter((message) => message !== null),
      extraction:
        result.extraction && run
          ? {
              run,
              status: result.extraction.status,
              factIds: result.extraction.factIds,
              refused: result.extraction.refused,
            }
          : null,
    };
  },
});

function sessionChoiceOf(given: typeof SessionChoice.$inferInput) {
  if (given.id != null) return { id: idOf('Session', given.id, ['session', 'id']) };
  if (!given.create) throw new BadInputError('session must have id or create', ['session']);
  const { agentId, userId, externalId } = given.create;
  return {
    create: {
      externalId,
      agentId: optionalIdOf('Agent', agentId, ['session', 'create', 'agentId']),
      userId: optionalIdOf('User', userId, ['session', 'create', 'userId']),
    },
  };
}
