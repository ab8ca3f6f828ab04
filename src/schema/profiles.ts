import { type ProfileRow, profilesByIds, profilesByOwners, tenantProfile } from '../db/index.js';
import { mayRead } from '../tenancy/index.js';
import { builder } from './builder.js';
import { type GraphQLContext, readTenant, tenantActorOf } from './context.js';

export const SalienceProfile = builder.objectRef<ProfileRow>('SalienceProfile');

builder.node(SalienceProfile, {
  description:
    'What matters to a tenant, an agent or a user. Everyone has one, in which everything is unset at first.',
  id: { description: 'Global id.', resolve: (profile) => profile.id },
  loadManyWithoutCache: async (ids, context) => {
    const rows = await readTenant(context, (unit) => profilesByIds(unit, ids));
    return ids.map((id) => rows.find((row) => row.id === id && mayRead(tenantActorOf(context), row)) ?? null);
  },
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Counts the changes, from 1.' }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When it came to be, with its owner.',
    }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

/** The profile of an agent or user, read once for all of a list. */
export async function profileOf(
  context: GraphQLContext,
  kind: 'AGENT' | 'USER',
  ownerId: string,
): Promise<ProfileRow> {
  const profile = await context.batches.byId<ProfileRow>(
    `profile:${kind}`,
    async (ids) => {
      const rows = await readTenant(context, (unit) => profilesByOwners(unit, kind, ids));
      return new Map(rows.map((row) => [(kind === 'AGENT' ? row.agentId : row.userId) ?? '', row]));
    },
    ownerId,
  );
  if (!profile) throw new Error('an owner without a salience profile');
  return profile;
}

export async function profileOfTenant(context: GraphQLContext): Promise<ProfileRow> {
  const profile = await readTenant(context, tenantProfile);
  if (!profile) throw new Error('a tenant without a salience profile');
  return profile;
}
