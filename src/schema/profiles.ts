import {
  type ProfileRow,
  profileSettingsByIds,
  profilesByIds,
  profilesByOwners,
  tenantProfile,
} from '../db/index.js';
import type {
  PersonaSettings,
  ProfileSettings,
  TopicSetting,
  IcnuWeights as Weights,
} from '../salience/index.js';
import { mayRead } from '../tenancy/index.js';
import { builder } from './builder.js';
import { type GraphQLContext, readTenant, tenantActorOf } from './context.js';
import { ProfileOriginEnum, TopicLevelEnum } from './profile-enums.js';

/** A profile; its settings come with it where it was just saved, and are else read when they are asked for. */
export type ProfileView = ProfileRow & { readonly settings?: ProfileSettings };

export const SalienceProfile = builder.objectRef<ProfileView>('SalienceProfile');

/** What a profile says, read once for all of a list. */
async function settingsOf(profile: ProfileView, context: GraphQLContext): Promise<ProfileSettings> {
  if (profile.settings) return profile.settings;
  const settings = await context.batches.byId<ProfileSettings>(
    'profile-settings',
    (ids) => readTenant(context, (unit) => profileSettingsByIds(unit, ids)),
    profile.id,
  );
  if (!settings) throw new Error('a salience profile that went while it was read');
  return settings;
}

export const Topic = builder.objectRef<Pick<TopicSetting, 'topic' | 'level'>>('Topic').implement({
  description: 'A topic of a salience profile.',
  fields: (t) => ({
    topic: t.exposeString('topic', { description: "In its owner's spelling." }),
    level: t.field({
      type: TopicLevelEnum,
      description: 'How much it matters.',
      resolve: ({ level }) => level,
    }),
  }),
});

export const IcnuWeights = builder.objectRef<Weights>('IcnuWeights').implement({
  description: 'Shares of the four signals by which recall reorders what is relevant, 0 to 1 each.',
  fields: (t) => ({
    importance: t.exposeFloat('importance', { description: "Share of a fact's importance." }),
    coactivation: t.exposeFloat('coactivation', {
      description: 'Share of having been recalled together with other results.',
    }),
    novelty: t.exposeFloat('novelty', { description: 'Share of freshness.' }),
    urgency: t.exposeFloat('urgency', { description: 'Share of urgency, which halves every week.' }),
  }),
});

const Persona = builder.objectRef<PersonaSettings>('Persona').implement({
  description: 'Traits that bear on all facts, whatever their topic; null is unset.',
  fields: (t) => ({
    name: t.exposeString('name', { nullable: true, description: 'Name for people; no score depends on it.' }),
    valenceBias: t.exposeFloat('valenceBias', {
      nullable: true,
      description: 'From −100, attends to the bad, to 100, attends to the good.',
    }),
    arousalSensitivity: t.exposeFloat('arousalSensitivity', {
      nullable: true,
      description: 'How much longer stirring facts stay, 0.5 to 2.',
    }),
    selfRelevanceBoost: t.exposeFloat('selfRelevanceBoost', {
      nullable: true,
      description: 'What facts that concern the identity are multiplied by, 1 to 2.',
    }),
    identity: t.stringList({
      description: 'Words that tell who the owner is; empty where none are set.',
      resolve: ({ identity }) => identity.map(({ term }) => term),
    }),
  }),
});

builder.node(SalienceProfile, {
  description:
    'What matters to a tenant, an agent or a user. Everyone has one, in which everything is unset at first; unset is null, and takes no part in what applies in the end (`effectiveSalienceProfile`).',
  id: { description: 'Global id.', resolve: (profile) => profile.id },
  loadManyWithoutCache: async (ids, context) => {
    const rows = await readTenant(context, (unit) => profilesByIds(unit, ids));
    return ids.map((id) => rows.find((row) => row.id === id && mayRead(tenantActorOf(context), row)) ?? null);
  },
  fields: (t) => ({
    version: t.exposeInt('version', {
      description: 'Counts the changes, from 1; pass it as `expectedVersion`.',
    }),
    ownerKind: t.field({
      type: ProfileOriginEnum,
      description: 'Whose it is: `agent` or `user` then says which.',
      resolve: (profile) => profile.ownerKind as 'TENANT' | 'AGENT' | 'USER',
    }),
    interests: t.field({
      type: [Topic],
      description: 'What matters more, in the order in which it was last changed.',
      resolve: async (profile, _args, context) => [...(await settingsOf(profile, context)).interests],
    }),
    disinterests: t.field({
      type: [Topic],
      description: 'What matters less, in the order in which it was last changed.',
      resolve: async (profile, _args, context) => [...(await settingsOf(profile, context)).disinterests],
    }),
    icnuWeights: t.field({
      type: IcnuWeights,
      nullable: true,
      description: 'Weights of recall; null where unset.',
      resolve: async (profile, _args, context) => (await settingsOf(profile, context)).icnuWeights,
    }),
    alpha: t.float({
      nullable: true,
      description: 'Weight of the spatial surprise of a familiar statement, 0 to 1; null where unset.',
      resolve: async (profile, _args, context) => (await settingsOf(profile, context)).alpha,
    }),
    beta: t.float({
      nullable: true,
      description: 'Weight of the temporal surprise of a familiar statement, 0 to 1; null where unset.',
      resolve: async (profile, _args, context) => (await settingsOf(profile, context)).beta,
    }),
    flashbulbThreshold: t.float({
      nullable: true,
      description:
        'Standard deviations of surprise from which a new fact is pinned at once, 1.5 to 10; null where unset.',
      resolve: async (profile, _args, context) => (await settingsOf(profile, context)).flashbulbThreshold,
    }),
    similarityThreshold: t.float({
      nullable: true,
      description: 'Similarity that a fact must exceed to be of a topic, 0 to 1; null where unset.',
      resolve: async (profile, _args, context) => (await settingsOf(profile, context)).similarityThreshold,
    }),
    persona: t.field({
      type: Persona,
      description: 'Its persona; every trait may be unset.',
      resolve: async (profile, _args, context) => (await settingsOf(profile, context)).persona,
    }),
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
): Promise<ProfileView> {
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

export async function profileOfTenant(context: GraphQLContext): Promise<ProfileView> {
  const profile = await readTenant(context, tenantProfile);
  if (!profile) throw new Error('a tenant without a salience profile');
  return profile;
}
