import { readEffectiveProfile, type ScopeProfile } from '../profiles/index.js';
import type {
  BlockedSetting as Blocked,
  EffectiveProfile,
  EffectiveTopic as EffectiveTopicValue,
  EffectiveIdentity as Identity,
  OverriddenTopic as Overridden,
  Sourced,
  IcnuWeights as Weights,
} from '../salience/index.js';
import { builder, EVERYONE } from './builder.js';
import { tenantActorOf } from './context.js';
import { OverridePolicy } from './enums.js';
import { optionalIdOf } from './global-id.js';
import {
  BlockReasonEnum,
  ProfileOriginEnum,
  ProfileSettingEnum,
  TopicLevelEnum,
  TopicListEnum,
  ValueOriginEnum,
} from './profile-enums.js';
import { IcnuWeights } from './profiles.js';

const ORIGIN = 'Whose profile it comes from; DEFAULT where nobody has set it.';

const SourcedFloat = builder.objectRef<Sourced<number>>('SourcedFloat').implement({
  description: 'A number that applies, and where it comes from.',
  fields: (t) => ({
    origin: t.field({ type: ValueOriginEnum, description: ORIGIN, resolve: ({ origin }) => origin }),
    value: t.exposeFloat('value', { description: 'The number.' }),
  }),
});

const SourcedString = builder.objectRef<Sourced<string | null>>('SourcedString').implement({
  description: 'A text that applies, and where it comes from.',
  fields: (t) => ({
    origin: t.field({ type: ValueOriginEnum, description: ORIGIN, resolve: ({ origin }) => origin }),
    value: t.exposeString('value', {
      nullable: true,
      description: 'The text; null where nobody has set it.',
    }),
  }),
});

const SourcedIcnuWeights = builder.objectRef<Sourced<Weights>>('SourcedIcnuWeights').implement({
  description: 'The weights that apply, and where they come from.',
  fields: (t) => ({
    origin: t.field({ type: ValueOriginEnum, description: ORIGIN, resolve: ({ origin }) => origin }),
    value: t.field({ type: IcnuWeights, description: 'The weights.', resolve: ({ value }) => value }),
  }),
});

const OverriddenTopic = builder.objectRef<Overridden>('OverriddenTopic').implement({
  description: 'An entry that another took the place of.',
  fields: (t) => ({
    origin: t.field({
      type: ProfileOriginEnum,
      description: 'Whose entry it was.',
      resolve: ({ origin }) => origin,
    }),
    list: t.field({
      type: TopicListEnum,
      description: 'In which list it stands there.',
      resolve: ({ list }) => list,
    }),
    level: t.field({ type: TopicLevelEnum, description: 'At which level.', resolve: ({ level }) => level }),
  }),
});

const EffectiveTopic = builder.objectRef<EffectiveTopicValue>('EffectiveTopic').implement({
  description: 'A topic that applies.',
  fields: (t) => ({
    topic: t.exposeString('topic', { description: "In its owner's spelling." }),
    level: t.field({
      type: TopicLevelEnum,
      description: 'How much it matters.',
      resolve: ({ level }) => level,
    }),
    origin: t.field({
      type: ProfileOriginEnum,
      description: 'Whose profile it comes from.',
      resolve: ({ origin }) => origin,
    }),
    similarityThreshold: t.exposeFloat('similarityThreshold', {
      description:
        'What the similarity of a fact to it must exceed: that of the level it comes from, unless the policy is FULL_OVERRIDE.',
    }),
    overrides: t.field({
      type: [OverriddenTopic],
      description:
        'Entries of the same topic in profiles above that it took the place of, nearest last; none unless the policy is FULL_OVERRIDE.',
      resolve: ({ overrides }) => [...overrides],
    }),
  }),
});

const EffectiveIdentity = builder.objectRef<Identity>('EffectiveIdentity').implement({
  description: 'An identity term that applies.',
  fields: (t) => ({
    origin: t.field({
      type: ProfileOriginEnum,
      description: 'Whose persona it comes from.',
      resolve: ({ origin }) => origin,
    }),
    term: t.exposeString('term', { description: "In its owner's spelling." }),
  }),
});

const EffectivePersona = builder.objectRef<EffectiveProfile['persona']>('EffectivePersona').implement({
  description: 'The traits that apply, each with where it comes from.',
  fields: (t) => ({
    name: t.field({ type: SourcedString, description: 'Name for people.', resolve: ({ name }) => name }),
    valenceBias: t.field({
      type: SourcedFloat,
      description: '−100 to 100; 0 by default, which leaves valence without effect.',
      resolve: ({ valenceBias }) => valenceBias,
    }),
    arousalSensitivity: t.field({
      type: SourcedFloat,
      description: '0.5 to 2; 1 by default.',
      resolve: ({ arousalSensitivity }) => arousalSensitivity,
    }),
    selfRelevanceBoost: t.field({
      type: SourcedFloat,
      description: '1 to 2; by default 1.2 where there is an identity term, and 1 where there is none.',
      resolve: ({ selfRelevanceBoost }) => selfRelevanceBoost,
    }),
    identity: t.field({
      type: [EffectiveIdentity],
      description: 'The terms of all the profiles that count.',
      resolve: ({ identity }) => [...identity],
    }),
  }),
});

export const BlockedSetting = builder.objectRef<Blocked>('BlockedSetting').implement({
  description: 'Something that a profile sets and that has no effect.',
  fields: (t) => ({
    origin: t.field({
      type: ProfileOriginEnum,
      description: 'Whose profile sets it.',
      resolve: ({ origin }) => origin,
    }),
    setting: t.field({
      type: ProfileSettingEnum,
      description: 'What it sets.',
      resolve: ({ setting }) => setting,
    }),
    topic: t.exposeString('topic', {
      nullable: true,
      description: 'The topic or identity term; null for other settings.',
    }),
    level: t.field({
      type: TopicLevelEnum,
      nullable: true,
      description: "The topic's level; null for other settings.",
      resolve: ({ level }) => level,
    }),
    reason: t.field({ type: BlockReasonEnum, description: 'Why.', resolve: ({ reason }) => reason }),
  }),
});

const EffectiveSalienceProfile = builder.objectRef<ScopeProfile>('EffectiveSalienceProfile').implement({
  description:
    "What applies to an agent and a user: the profiles of tenant, agent and user merged by the tenant's override policy.",
  fields: (t) => ({
    policy: t.field({
      type: OverridePolicy,
      description: "The tenant's policy, by which it was merged.",
      resolve: ({ effective }) => effective.policy,
    }),
    fingerprint: t.exposeString('fingerprint', {
      description:
        'Hash of all that scores depend on, 32 hexadecimal digits: with equal ones facts are scored equally.',
    }),
    interests: t.field({
      type: [EffectiveTopic],
      description: "What matters more: the tenant's first, then the agent's, then the user's.",
      resolve: ({ effective }) => [...effective.interests],
    }),
    disinterests: t.field({
      type: [EffectiveTopic],
      description: "What matters less: the tenant's first, then the agent's, then the user's.",
      resolve: ({ effective }) => [...effective.disinterests],
    }),
    icnuWeights: t.field({
      type: SourcedIcnuWeights,
      description: 'Weights of recall; a quarter each by default.',
      resolve: ({ effective }) => effective.icnuWeights,
    }),
    alpha: t.field({
      type: SourcedFloat,
      description: 'Weight of the spatial surprise of a familiar statement; 0.6 by default.',
      resolve: ({ effective }) => effective.alpha,
    }),
    beta: t.field({
      type: SourcedFloat,
      description: 'Weight of the temporal surprise of a familiar statement; 0.4 by default.',
      resolve: ({ effective }) => effective.beta,
    }),
    flashbulbThreshold: t.field({
      type: SourcedFloat,
      description: 'Standard deviations of surprise from which a new fact is pinned at once; 3 by default.',
      resolve: ({ effective }) => effective.flashbulbThreshold,
    }),
    similarityThreshold: t.field({
      type: SourcedFloat,
      description: 'Threshold of identity terms; topics carry their own. 0.5 by default.',
      resolve: ({ effective }) => effective.similarityThreshold,
    }),
    persona: t.field({
      type: EffectivePersona,
      description: 'The persona.',
      resolve: ({ effective }) => effective.persona,
    }),
    blocked: t.field({
      type: [BlockedSetting],
      description: "What an agent's or a user's profile sets and the policy leaves without effect.",
      resolve: ({ effective }) => [...effective.blocked],
    }),
  }),
});

builder.queryField('effectiveSalienceProfile', (t) =>
  t.field({
    type: EffectiveSalienceProfile,
    description:
      "What applies to an agent and a user together, to one of them, or, with neither, to what all share; every value says where it comes from. An agent asks for itself with any user, a user for itself alone: an agent's profile is not a user's to see. An unknown agent or user is an error.",
    authScopes: { roles: EVERYONE },
    args: {
      agentId: t.arg.id({ description: 'The agent; an agent is always its own. Not for users.' }),
      userId: t.arg.id({ description: 'The user; a user is always its own.' }),
    },
    resolve: (_root, args, context) =>
      readEffectiveProfile(context.services, tenantActorOf(context), {
        agentId: optionalIdOf('Agent', args.agentId, ['agentId']),
        userId: optionalIdOf('User', args.userId, ['userId']),
      }),
  }),
);
