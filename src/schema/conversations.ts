import { appendMessages } from '../conversations/index.js';
import type { MessageRecord, SessionRow } from '../db/index.js';
import { BadInputError } from '../errors.js';
import { builder, WRITERS } from './builder.js';
import { tenantActorOf } from './context.js';
import { MessageRole } from './enums.js';
import { Extraction, extractionAfter } from './extractions.js';
import { idOf, optionalIdOf } from './global-id.js';
import { defineMutation } from './mutation.js';
import { loadMessage, loadSession, Message, Session } from './sessions.js';

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
    const [session, messages, extraction] = await Promise.all([
      loadSession(context, result.sessionId),
      Promise.all(result.messageIds.map((id) => loadMessage(context, id))),
      result.extraction ? extractionAfter(context, result.extraction) : null,
    ]);
    return {
      session: session as SessionRow,
      messages: messages.filter((message) => message !== null),
      extraction,
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
