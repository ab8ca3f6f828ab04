import {
  type MessageRecord,
  messagesByIds,
  messagesOfSessions,
  type SessionRow,
  sessionsByIds,
} from '../db/index.js';
import { mayRead } from '../tenancy/index.js';
import { builder } from './builder.js';
import { type GraphQLContext, readTenant, tenantActorOf } from './context.js';
import { MessageRole } from './enums.js';
import { Agent, loadAgent, loadUser, User } from './members.js';
import { connectionOf, numberPageOf, pageOf } from './page.js';

export const Session = builder.objectRef<SessionRow>('Session');
export const Message = builder.objectRef<MessageRecord>('Message');

/** A session by id, if it is the caller's to see. */
export function loadSession(context: GraphQLContext, id: string): Promise<SessionRow | null> {
  return context.batches.byId<SessionRow>(
    'session',
    async (ids) => {
      const rows = await readTenant(context, (unit) => sessionsByIds(unit, ids));
      return new Map(rows.filter((row) => mayRead(tenantActorOf(context), row)).map((row) => [row.id, row]));
    },
    id,
  );
}

/** A message by id, if it is the caller's to see. */
export function loadMessage(context: GraphQLContext, id: string): Promise<MessageRecord | null> {
  return context.batches.byId<MessageRecord>(
    'message',
    async (ids) => {
      const rows = await readTenant(context, (unit) => messagesByIds(unit, ids));
      return new Map(rows.filter((row) => mayRead(tenantActorOf(context), row)).map((row) => [row.id, row]));
    },
    id,
  );
}

builder.node(Session, {
  description: 'A conversation of a user with an agent.',
  id: { description: 'Global id.', resolve: (session) => session.id },
  loadWithoutCache: (id, context) => loadSession(context, id),
  fields: (t) => ({
    externalId: t.exposeString('externalId', {
      nullable: true,
      description: "The host application's id, unique for its agent and user.",
    }),
    agent: t.field({
      type: Agent,
      nullable: true,
      description: 'The agent in it, if one was named.',
      resolve: (session, _args, context) => (session.agentId ? loadAgent(context, session.agentId) : null),
    }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The user in it, if one was named.',
      resolve: (session, _args, context) => (session.userId ? loadUser(context, session.userId) : null),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was opened here.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When its newest message arrived.' }),
    messageCount: t.exposeInt('lastSeq', { description: 'Messages in it.' }),
    minedCount: t.exposeInt('minedSeq', {
      description: 'How many of them, from the first on, extraction has dealt with.',
    }),
    messages: t.connection({
      type: Message,
      description: 'Its messages in the order in which they arrived.',
      resolve: async (session, args, context) => {
        const page = pageOf(args, 1);
        const { limit, after, before, backward } = numberPageOf(page);
        const rows = await context.batches.byId(
          `messages:${JSON.stringify([limit, after, before, backward])}`,
          (ids) =>
            readTenant(context, (unit) => messagesOfSessions(unit, ids, { limit, after, before, backward })),
          session.id,
        );
        return connectionOf(page, rows ?? [], (row) => [row.seq]);
      },
    }),
  }),
});

builder.node(Message, {
  description: 'A message as it was said: kept and searchable, whatever extraction made of it.',
  id: { description: 'Global id.', resolve: (message) => message.id },
  loadWithoutCache: (id, context) => loadMessage(context, id),
  fields: (t) => ({
    role: t.field({
      type: MessageRole,
      description: 'Who speaks.',
      resolve: (message) => message.role as never,
    }),
    content: t.exposeString('content', { description: 'What was said; empty once it was redacted.' }),
    speaker: t.exposeString('speaker', {
      nullable: true,
      description: 'Name of who speaks, where several share a role.',
    }),
    externalId: t.exposeString('externalId', {
      nullable: true,
      description: "The host application's id, unique in the session.",
    }),
    flagged: t.boolean({
      description: 'Whether it holds instructions or the like; recall leaves such messages out unless asked.',
      resolve: (message) => message.flags.length > 0,
    }),
    flags: t.stringList({
      description: 'What was found in it, such as `INSTRUCTION_OVERRIDE`.',
      resolve: (message) => [...message.flags],
    }),
    sentAt: t.expose('sentAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was said, if the host application told.',
    }),
    recordedAt: t.expose('recordedAt', { type: 'DateTime', description: 'When it arrived here.' }),
    redactedAt: t.expose('redactedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its content was removed.',
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description: 'The conversation it is part of.',
      resolve: (message, _args, context) => loadSession(context, message.sessionId),
    }),
  }),
});
