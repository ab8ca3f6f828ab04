import { type AgentRow, agentsByIds, type UserRow, usersByIds } from '../db/index.js';
import { createAgent, createUser, mayRead } from '../tenancy/index.js';
import { ADMINS, builder } from './builder.js';
import { type GraphQLContext, readTenant, tenantActorOf } from './context.js';
import { defineMutation } from './mutation.js';
import { profileOf, SalienceProfile } from './profiles.js';

export const Agent = builder.objectRef<AgentRow>('Agent');
export const User = builder.objectRef<UserRow>('User');

/** An agent by id, if the caller may know of it: an agent itself only, everyone else every agent of the tenant. */
export function loadAgent(context: GraphQLContext, id: string): Promise<AgentRow | null> {
  const actor = tenantActorOf(context);
  if (actor.kind === 'AGENT' && id !== actor.agentId) return Promise.resolve(null);
  return context.batches.byId<AgentRow>(
    'agent',
    async (ids) => byId(await readTenant(context, (unit) => agentsByIds(unit, ids))),
    id,
  );
}

/** A user by id, if the caller may know of it: a user itself only, everyone else every user of the tenant. */
export function loadUser(context: GraphQLContext, id: string): Promise<UserRow | null> {
  const actor = tenantActorOf(context);
  if (actor.kind === 'USER' && id !== actor.userId) return Promise.resolve(null);
  return context.batches.byId<UserRow>(
    'user',
    async (ids) => byId(await readTenant(context, (unit) => usersByIds(unit, ids))),
    id,
  );
}

function byId<T extends { readonly id: string }>(rows: readonly T[]): Map<string, T> {
  return new Map(rows.map((row) => [row.id, row]));
}

builder.node(Agent, {
  description: 'A program of the tenant that talks with its users and remembers.',
  id: { description: 'Global id.', resolve: (agent) => agent.id },
  loadWithoutCache: (id, context) => loadAgent(context, id),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name for people.' }),
    externalId: t.exposeString('externalId', {
      nullable: true,
      description: "The host application's id, unique in the tenant.",
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created here.' }),
    salienceProfile: t.field({
      type: SalienceProfile,
      nullable: true,
      description: "What matters to this agent; null where it is not the caller's to see.",
      resolve: (agent, _args, context) =>
        mayRead(tenantActorOf(context), { agentId: agent.id, userId: null })
          ? profileOf(context, 'AGENT', agent.id)
          : null,
    }),
  }),
});

builder.node(User, {
  description: "An end user of the tenant's agents.",
  id: { description: 'Global id.', resolve: (user) => user.id },
  loadWithoutCache: (id, context) => loadUser(context, id),
  fields: (t) => ({
    externalId: t.exposeString('externalId', {
      description: "The host application's id, unique in the tenant.",
    }),
    displayName: t.exposeString('displayName', { nullable: true, description: 'Name for people.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user was created here.' }),
    salienceProfile: t.field({
      type: SalienceProfile,
      description: 'What matters to this user.',
      resolve: (user, _args, context) => profileOf(context, 'USER', user.id),
    }),
  }),
});

defineMutation<{ agent: AgentRow }, { name: string; externalId?: string | null }>('createAgent', {
  description: 'Creates an agent in the tenant.',
  roles: ADMINS,
  input: builder.inputType('CreateAgentInput', {
    description: 'A new agent.',
    fields: (t) => ({
      name: t.string({ required: true, description: 'Name for people, at most 200 characters.' }),
      externalId: t.string({
        description: "The host application's id; unique in the tenant, at most 200 characters.",
      }),
    }),
  }),
  fields: (t) => ({
    agent: t.field({
      type: Agent,
      nullable: true,
      description: 'The new agent.',
      resolve: (payload) => payload.agent ?? null,
    }),
  }),
  resolve: async (input, context) => ({
    agent: await createAgent(context.services, tenantActorOf(context), input),
  }),
});

defineMutation<{ user: UserRow }, { externalId: string; displayName?: string | null }>('createUser', {
  description: 'Creates a user in the tenant.',
  roles: ADMINS,
  input: builder.inputType('CreateUserInput', {
    description: 'A new user.',
    fields: (t) => ({
      externalId: t.string({
        required: true,
        description: "The host application's id; unique in the tenant, at most 200 characters.",
      }),
      displayName: t.string({ description: 'Name for people, at most 200 characters.' }),
    }),
  }),
  fields: (t) => ({
    user: t.field({
      type: User,
      nullable: true,
      description: 'The new user.',
      resolve: (payload) => payload.user ?? null,
    }),
  }),
  resolve: async (input, context) => ({
    user: await createUser(context.services, tenantActorOf(context), input),
  }),
});
