import { type ApiKeyRow, apiKeysByIds } from '../db/index.js';
import { type CreateApiKeyInput, createApiKey, revokeApiKey } from '../tenancy/index.js';
import { ADMINS, builder, OVERSEERS } from './builder.js';
import { actorOf, readTenant, tenantActorOf } from './context.js';
import { KeyRole } from './enums.js';
import { idOf, optionalIdOf } from './global-id.js';
import { Agent, loadAgent, loadUser, User } from './members.js';
import { defineMutation } from './mutation.js';

export const ApiKey = builder.objectRef<ApiKeyRow>('ApiKey');

builder.node(ApiKey, {
  description: 'An API key, without its secret: that is shown once, when the key is created.',
  id: { description: 'Global id.', resolve: (key) => key.id },
  loadManyWithoutCache: async (ids, context) => {
    if (!(OVERSEERS as readonly string[]).includes(actorOf(context).kind)) return ids.map(() => null);
    const rows = await readTenant(context, (unit) => apiKeysByIds(unit, ids));
    return ids.map((id) => rows.find((row) => row.id === id) ?? null);
  },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name for people.' }),
    role: t.field({
      type: KeyRole,
      description: 'What it lets its holder be.',
      resolve: (key) => key.role as never,
    }),
    agent: t.field({
      type: Agent,
      nullable: true,
      description: 'The agent it is for, with role AGENT.',
      resolve: (key, _args, context) => (key.agentId ? loadAgent(context, key.agentId) : null),
    }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The user it is for, with role USER.',
      resolve: (key, _args, context) => (key.userId ? loadUser(context, key.userId) : null),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ends by itself; null: never.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was revoked.',
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, exact to a minute.',
    }),
  }),
});

type CreateInput = Omit<CreateApiKeyInput, 'agentId' | 'userId'> & {
  agentId?: string | null;
  userId?: string | null;
};

defineMutation<{ secret: string; apiKey: ApiKeyRow }, CreateInput>('createApiKey', {
  description: 'Creates an API key of the tenant.',
  roles: ADMINS,
  input: builder.inputType('CreateApiKeyInput', {
    description: 'A new key.',
    fields: (t) => ({
      role: t.field({ type: KeyRole, required: true, description: 'What it lets its holder be.' }),
      agentId: t.id({ description: 'The agent, with role AGENT and only then.' }),
      userId: t.id({ description: 'The user, with role USER and only then.' }),
      name: t.string({ required: true, description: 'Name for people, at most 200 characters.' }),
      expiresAt: t.field({
        type: 'DateTime',
        description: 'When it ends by itself; in the future. Left out: never.',
      }),
    }),
  }),
  fields: (t) => ({
    secret: t.string({
      nullable: true,
      description: 'The key to send as `Authorization: Bearer <secret>`. Shown this once.',
      resolve: (payload) => payload.secret ?? null,
    }),
    apiKey: t.field({
      type: ApiKey,
      nullable: true,
      description: 'The new key.',
      resolve: (payload) => payload.apiKey ?? null,
    }),
  }),
  resolve: (input, context) =>
    createApiKey(context.services, tenantActorOf(context), {
      ...input,
      agentId: optionalIdOf('Agent', input.agentId, ['agentId']),
      userId: optionalIdOf('User', input.userId, ['userId']),
    }),
});

defineMutation<{ apiKey: ApiKeyRow }, { id: string }>('revokeApiKey', {
  description:
    'Revokes a key at once: its next request, and its open subscriptions, end. Revoking again changes nothing.',
  roles: ADMINS,
  input: builder.inputType('RevokeApiKeyInput', {
    description: 'Which key.',
    fields: (t) => ({ id: t.id({ required: true, description: 'The key.' }) }),
  }),
  fields: (t) => ({
    apiKey: t.field({
      type: ApiKey,
      nullable: true,
      description: 'The key, revoked.',
      resolve: (payload) => payload.apiKey ?? null,
    }),
  }),
  resolve: async (input, context) => ({
    apiKey: await revokeApiKey(context.services, tenantActorOf(context), idOf('ApiKey', input.id, ['id'])),
  }),
});
