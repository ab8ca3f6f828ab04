import type {
  BlockReason,
  ProfileOrigin,
  ProfileSetting,
  TopicLevel,
  TopicList,
  ValueOrigin,
} from '../salience/index.js';
import type { RescoreStrategy as Strategy } from '../tenancy/index.js';
import { builder } from './builder.js';

export const TopicLevelEnum = builder.enumType('TopicLevel', {
  description:
    'How much a topic matters. A fact whose similarity to it exceeds the threshold gets multiplier × similarity: an interest raises the boost to that where it is more, a disinterest lowers it to that where it is less.',
  values: {
    CRITICAL: { description: 'Multiplier 2.0.' },
    HIGH: { description: 'Multiplier 1.5.' },
    NORMAL: { description: 'Multiplier 1.0: never raises as an interest, lowers mildly as a disinterest.' },
    LOW: { description: 'Multiplier 0.5: never raises as an interest.' },
    IGNORE: { description: 'Multiplier 0.1: never raises as an interest, silences as a disinterest.' },
  } satisfies Record<TopicLevel, object>,
});

export const TopicListEnum = builder.enumType('TopicList', {
  description: 'Which list of a profile a topic stands in.',
  values: {
    INTEREST: { description: 'What matters more than other things.' },
    DISINTEREST: { description: 'What matters less.' },
  } satisfies Record<TopicList, object>,
});

export const ProfileOriginEnum = builder.enumType('ProfileOrigin', {
  description: 'Whose profile it is, or comes from.',
  values: {
    TENANT: { description: "The tenant's." },
    AGENT: { description: "The agent's." },
    USER: { description: "The user's." },
  } satisfies Record<ProfileOrigin, object>,
});

export const ValueOriginEnum = builder.enumType('ValueOrigin', {
  description: 'Where an effective value comes from.',
  values: {
    TENANT: { description: "The tenant's profile." },
    AGENT: { description: "The agent's profile." },
    USER: { description: "The user's profile." },
    DEFAULT: { description: 'Nobody has set it.' },
  } satisfies Record<ValueOrigin, object>,
});

export const ProfileSettingEnum = builder.enumType('ProfileSetting', {
  description: 'What a salience profile can set.',
  values: {
    INTEREST: { description: 'A topic of `interests`.' },
    DISINTEREST: { description: 'A topic of `disinterests`.' },
    ICNU_WEIGHTS: { description: '`icnuWeights`, as a whole.' },
    ALPHA: { description: '`alpha`.' },
    BETA: { description: '`beta`.' },
    FLASHBULB_THRESHOLD: { description: '`flashbulbThreshold`.' },
    SIMILARITY_THRESHOLD: { description: '`similarityThreshold`.' },
    PERSONA_NAME: { description: '`persona.name`.' },
    VALENCE_BIAS: { description: '`persona.valenceBias`.' },
    AROUSAL_SENSITIVITY: { description: '`persona.arousalSensitivity`.' },
    SELF_RELEVANCE_BOOST: { description: '`persona.selfRelevanceBoost`.' },
    IDENTITY: { description: 'A term of `persona.identity`.' },
  } satisfies Record<ProfileSetting, object>,
});

export const BlockReasonEnum = builder.enumType('BlockReason', {
  description: 'Why a setting has no effect.',
  values: {
    TENANT_ONLY: { description: "The override policy leaves everything to the tenant's profile." },
    ANCESTOR_TOPIC: { description: 'A profile above has the same topic in the same list.' },
    OPPOSITE_TOPIC: { description: 'A profile above has the topic in its other list.' },
    TENANT_SETS_IT: { description: 'The override policy leaves this setting to the tenant.' },
    ANCESTOR_TRAIT: { description: 'A profile above has set this trait of the persona.' },
    NOT_STRICTER: { description: 'A threshold of a profile above is at least as strict.' },
  } satisfies Record<BlockReason, object>,
});

export const RescoreStrategy = builder.enumType('RescoreStrategy', {
  description: 'What becomes of the stored importance of facts when what matters has changed.',
  values: {
    RECALL_ONLY: {
      description: 'It stays: the change applies to recall and to facts that are learned from now on.',
    },
    LAZY: {
      description:
        'Each fact is rescored when a recall with mode LEARN next returns it, or when it is consolidated. Other recalls and `importanceBreakdown` show the new numbers and store nothing; lists keep to the stored ones.',
    },
    BACKGROUND: { description: 'A job rescores all of them; one that is read before gets rescored then.' },
  } satisfies Record<Strategy, object>,
});
