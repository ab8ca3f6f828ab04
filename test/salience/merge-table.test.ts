import { describe, expect, it } from 'vitest';
import {
  type BlockReason,
  type EffectiveProfile,
  type MergePolicy,
  mergeProfiles,
  type ProfileOrigin,
  type ProfileSetting,
  type ProfileSettings,
  type Sourced,
  type TopicLevel,
  type ValueOrigin,
} from '../../src/salience/index.js';
import { entry, hierarchy, POLICIES, settings, term } from './profiles.js';

/*
 * Every cell of the table of SPEC §5.1. First the settings of one value, then the lists.
 */

type ValueSetting = Exclude<ProfileSetting, 'INTEREST' | 'DISINTEREST' | 'IDENTITY'>;

interface ValueAccess {
  readonly write: (value: never) => ProfileSettings;
  readonly read: (effective: EffectiveProfile) => Sourced<unknown>;
}

const ACCESS: Readonly<Record<ValueSetting, ValueAccess>> = {
  ICNU_WEIGHTS: {
    write: (icnuWeights) => settings({ icnuWeights }),
    read: (effective) => effective.icnuWeights,
  },
  ALPHA: { write: (alpha) => settings({ alpha }), read: (effective) => effective.alpha },
  BETA: { write: (beta) => settings({ beta }), read: (effective) => effective.beta },
  FLASHBULB_THRESHOLD: {
    write: (flashbulbThreshold) => settings({ flashbulbThreshold }),
    read: (effective) => effective.flashbulbThreshold,
  },
  SIMILARITY_THRESHOLD: {
    write: (similarityThreshold) => settings({ similarityThreshold }),
    read: (effective) => effective.similarityThreshold,
  },
  PERSONA_NAME: {
    write: (name) => settings({ persona: { name } }),
    read: (effective) => effective.persona.name,
  },
  VALENCE_BIAS: {
    write: (valenceBias) => settings({ persona: { valenceBias } }),
    read: (effective) => effective.persona.valenceBias,
  },
  AROUSAL_SENSITIVITY: {
    write: (arousalSensitivity) => settings({ persona: { arousalSensitivity } }),
    read: (effective) => effective.persona.arousalSensitivity,
  },
  SELF_RELEVANCE_BOOST: {
    write: (selfRelevanceBoost) => settings({ persona: { selfRelevanceBoost } }),
    read: (effective) => effective.persona.selfRelevanceBoost,
  },
};

const NONE = {};
const TENANT_ONLY = { AGENT: 'TENANT_ONLY', USER: 'TENANT_ONLY' } as const;
const TENANT_SETS_IT = { AGENT: 'TENANT_SETS_IT', USER: 'TENANT_SETS_IT' } as const;
const ANCESTOR_TRAIT = { AGENT: 'ANCESTOR_TRAIT', USER: 'ANCESTOR_TRAIT' } as const;
const NOT_STRICTER = { AGENT: 'NOT_STRICTER', USER: 'NOT_STRICTER' } as const;

const weights = (importance: number, coactivation: number, novelty: number, urgency: number) => ({
  importance,
  coactivation,
  novelty,
  urgency,
});
const W = {
  default: weights(0.25, 0.25, 0.25, 0.25),
  tenant: weights(0.3, 0.2, 0.3, 0.2),
  agent: weights(1, 0, 0, 0),
  user: weights(0, 0, 0, 1),
};

type ValueCase = readonly [
  setting: ValueSetting,
  policy: MergePolicy,
  name: string,
  set: readonly [tenant: unknown, agent: unknown, user: unknown],
  value: unknown,
  origin: ValueOrigin,
  blocked: Partial<Record<ProfileOrigin, BlockReason>>,
];

// biome-ignore format: a table is read by its columns.
const VALUE_CASES: readonly ValueCase[] = [
  ['ICNU_WEIGHTS', 'TENANT_ONLY', "the tenant's", [W.tenant, W.agent, W.user], W.tenant, 'TENANT', TENANT_ONLY],
  ['ICNU_WEIGHTS', 'TENANT_ONLY', 'or the default', [null, W.agent, W.user], W.default, 'DEFAULT', TENANT_ONLY],
  ['ICNU_WEIGHTS', 'ADDITIVE_TOPICS', "the tenant's", [W.tenant, W.agent, W.user], W.tenant, 'TENANT', TENANT_SETS_IT],
  ['ICNU_WEIGHTS', 'ADDITIVE_TOPICS', 'or the default', [null, W.agent, W.user], W.default, 'DEFAULT', TENANT_SETS_IT],
  ['ICNU_WEIGHTS', 'FULL_OVERRIDE', "the user's as a whole", [W.tenant, W.agent, W.user], W.user, 'USER', NONE],
  ['ICNU_WEIGHTS', 'FULL_OVERRIDE', "else the agent's", [W.tenant, W.agent, null], W.agent, 'AGENT', NONE],
  ['ICNU_WEIGHTS', 'FULL_OVERRIDE', "else the tenant's", [W.tenant, null, null], W.tenant, 'TENANT', NONE],
  ['ICNU_WEIGHTS', 'FULL_OVERRIDE', 'else the default', [null, null, null], W.default, 'DEFAULT', NONE],

  ['ALPHA', 'TENANT_ONLY', "the tenant's", [0.2, 0.7, 0.9], 0.2, 'TENANT', TENANT_ONLY],
  ['ALPHA', 'TENANT_ONLY', 'or the default', [null, 0.7, 0.9], 0.6, 'DEFAULT', TENANT_ONLY],
  ['ALPHA', 'ADDITIVE_TOPICS', "the tenant's", [0.2, 0.7, 0.9], 0.2, 'TENANT', TENANT_SETS_IT],
  ['ALPHA', 'ADDITIVE_TOPICS', 'or the default', [null, 0.7, 0.9], 0.6, 'DEFAULT', TENANT_SETS_IT],
  ['ALPHA', 'FULL_OVERRIDE', "the user's, though lower", [0.7, 0.9, 0], 0, 'USER', NONE],
  ['ALPHA', 'FULL_OVERRIDE', "else the agent's", [0.2, 0.7, null], 0.7, 'AGENT', NONE],
  ['ALPHA', 'FULL_OVERRIDE', "else the tenant's", [0.2, null, null], 0.2, 'TENANT', NONE],
  ['ALPHA', 'FULL_OVERRIDE', 'else the default', [null, null, null], 0.6, 'DEFAULT', NONE],

  ['BETA', 'TENANT_ONLY', "the tenant's", [0.1, 0.5, 0.8], 0.1, 'TENANT', TENANT_ONLY],
  ['BETA', 'TENANT_ONLY', 'or the default', [null, 0.5, 0.8], 0.4, 'DEFAULT', TENANT_ONLY],
  ['BETA', 'ADDITIVE_TOPICS', "the tenant's", [0.1, 0.5, 0.8], 0.1, 'TENANT', TENANT_SETS_IT],
  ['BETA', 'ADDITIVE_TOPICS', 'or the default', [null, 0.5, 0.8], 0.4, 'DEFAULT', TENANT_SETS_IT],
  ['BETA', 'FULL_OVERRIDE', "the user's", [0.1, 0.8, 0.5], 0.5, 'USER', NONE],
  ['BETA', 'FULL_OVERRIDE', "else the agent's", [0.8, 0.1, null], 0.1, 'AGENT', NONE],
  ['BETA', 'FULL_OVERRIDE', "else the tenant's", [0.1, null, null], 0.1, 'TENANT', NONE],
  ['BETA', 'FULL_OVERRIDE', 'else the default', [null, null, null], 0.4, 'DEFAULT', NONE],

  ['FLASHBULB_THRESHOLD', 'TENANT_ONLY', "the tenant's", [2.5, 2, 1.5], 2.5, 'TENANT', TENANT_ONLY],
  ['FLASHBULB_THRESHOLD', 'TENANT_ONLY', 'or the default', [null, 2, 1.5], 3, 'DEFAULT', TENANT_ONLY],
  ['FLASHBULB_THRESHOLD', 'ADDITIVE_TOPICS', "the tenant's", [2.5, 2, 4], 2.5, 'TENANT', TENANT_SETS_IT],
  ['FLASHBULB_THRESHOLD', 'ADDITIVE_TOPICS', 'or the default', [null, 2, 4], 3, 'DEFAULT', TENANT_SETS_IT],
  ['FLASHBULB_THRESHOLD', 'FULL_OVERRIDE', 'the lowest: the user', [4, 3, 2], 2, 'USER', NONE],
  ['FLASHBULB_THRESHOLD', 'FULL_OVERRIDE', 'the lowest: the agent', [4, 2, 3], 2, 'AGENT', { USER: 'NOT_STRICTER' }],
  ['FLASHBULB_THRESHOLD', 'FULL_OVERRIDE', 'the lowest: the tenant', [2, 3, 4], 2, 'TENANT', NOT_STRICTER],
  ['FLASHBULB_THRESHOLD', 'FULL_OVERRIDE', 'the user against the tenant', [3, 4, 2], 2, 'USER', { AGENT: 'NOT_STRICTER' }],
  ['FLASHBULB_THRESHOLD', 'FULL_OVERRIDE', "a tie is the ancestor's", [2, 2, 2], 2, 'TENANT', NOT_STRICTER],
  ['FLASHBULB_THRESHOLD', 'FULL_OVERRIDE', "a tie of children is the agent's", [3, 2, 2], 2, 'AGENT', { USER: 'NOT_STRICTER' }],
  ['FLASHBULB_THRESHOLD', 'FULL_OVERRIDE', 'of those set, though above the default', [null, 9, null], 9, 'AGENT', NONE],
  ['FLASHBULB_THRESHOLD', 'FULL_OVERRIDE', 'else the default', [null, null, null], 3, 'DEFAULT', NONE],

  ['SIMILARITY_THRESHOLD', 'TENANT_ONLY', "the tenant's", [0.4, 0.6, 0.9], 0.4, 'TENANT', TENANT_ONLY],
  ['SIMILARITY_THRESHOLD', 'TENANT_ONLY', 'or the default', [null, 0.6, 0.9], 0.5, 'DEFAULT', TENANT_ONLY],
  ['SIMILARITY_THRESHOLD', 'ADDITIVE_TOPICS', 'the highest: the user', [0.4, 0.6, 0.9], 0.9, 'USER', NONE],
  ['SIMILARITY_THRESHOLD', 'ADDITIVE_TOPICS', 'the highest: the agent', [0.4, 0.9, 0.6], 0.9, 'AGENT', { USER: 'NOT_STRICTER' }],
  ['SIMILARITY_THRESHOLD', 'ADDITIVE_TOPICS', 'the highest: the tenant', [0.9, 0.6, 0.4], 0.9, 'TENANT', NOT_STRICTER],
  ['SIMILARITY_THRESHOLD', 'ADDITIVE_TOPICS', "a tie is the ancestor's", [0.6, 0.6, 0.6], 0.6, 'TENANT', NOT_STRICTER],
  ['SIMILARITY_THRESHOLD', 'ADDITIVE_TOPICS', 'of those set, though below the default', [null, 0.3, 0.2], 0.3, 'AGENT', { USER: 'NOT_STRICTER' }],
  ['SIMILARITY_THRESHOLD', 'ADDITIVE_TOPICS', 'zero is set', [null, null, 0], 0, 'USER', NONE],
  ['SIMILARITY_THRESHOLD', 'ADDITIVE_TOPICS', 'else the default', [null, null, null], 0.5, 'DEFAULT', NONE],
  ['SIMILARITY_THRESHOLD', 'FULL_OVERRIDE', 'the highest: the user', [0.4, 0.6, 0.9], 0.9, 'USER', NONE],
  ['SIMILARITY_THRESHOLD', 'FULL_OVERRIDE', 'the highest: the agent', [0.4, 0.9, 0.6], 0.9, 'AGENT', { USER: 'NOT_STRICTER' }],
  ['SIMILARITY_THRESHOLD', 'FULL_OVERRIDE', 'the highest: the tenant', [0.9, 0.6, 0.4], 0.9, 'TENANT', NOT_STRICTER],
  ['SIMILARITY_THRESHOLD', 'FULL_OVERRIDE', "a tie is the ancestor's", [0.6, null, 0.6], 0.6, 'TENANT', { USER: 'NOT_STRICTER' }],
  ['SIMILARITY_THRESHOLD', 'FULL_OVERRIDE', 'of those set, though below the default', [null, null, 0.2], 0.2, 'USER', NONE],
  ['SIMILARITY_THRESHOLD', 'FULL_OVERRIDE', 'else the default', [null, null, null], 0.5, 'DEFAULT', NONE],

  ['PERSONA_NAME', 'TENANT_ONLY', "the tenant's", ['T', 'A', 'U'], 'T', 'TENANT', TENANT_ONLY],
  ['PERSONA_NAME', 'TENANT_ONLY', 'or none', [null, 'A', 'U'], null, 'DEFAULT', TENANT_ONLY],
  ['PERSONA_NAME', 'ADDITIVE_TOPICS', "the tenant's", ['T', 'A', 'U'], 'T', 'TENANT', ANCESTOR_TRAIT],
  ['PERSONA_NAME', 'ADDITIVE_TOPICS', 'filled by the agent', [null, 'A', 'U'], 'A', 'AGENT', { USER: 'ANCESTOR_TRAIT' }],
  ['PERSONA_NAME', 'ADDITIVE_TOPICS', 'filled by the user', [null, null, 'U'], 'U', 'USER', NONE],
  ['PERSONA_NAME', 'ADDITIVE_TOPICS', 'else none', [null, null, null], null, 'DEFAULT', NONE],
  ['PERSONA_NAME', 'FULL_OVERRIDE', "the user's", ['T', 'A', 'U'], 'U', 'USER', NONE],
  ['PERSONA_NAME', 'FULL_OVERRIDE', "else the agent's", ['T', 'A', null], 'A', 'AGENT', NONE],
  ['PERSONA_NAME', 'FULL_OVERRIDE', "else the tenant's", ['T', null, null], 'T', 'TENANT', NONE],
  ['PERSONA_NAME', 'FULL_OVERRIDE', 'else none', [null, null, null], null, 'DEFAULT', NONE],

  ['VALENCE_BIAS', 'TENANT_ONLY', "the tenant's", [-60, 20, 60], -60, 'TENANT', TENANT_ONLY],
  ['VALENCE_BIAS', 'TENANT_ONLY', 'or the default', [null, 20, 60], 0, 'DEFAULT', TENANT_ONLY],
  ['VALENCE_BIAS', 'ADDITIVE_TOPICS', "the tenant's, zero too", [0, 20, 60], 0, 'TENANT', ANCESTOR_TRAIT],
  ['VALENCE_BIAS', 'ADDITIVE_TOPICS', 'filled by the agent', [null, 20, 60], 20, 'AGENT', { USER: 'ANCESTOR_TRAIT' }],
  ['VALENCE_BIAS', 'ADDITIVE_TOPICS', 'filled by the user', [null, null, 60], 60, 'USER', NONE],
  ['VALENCE_BIAS', 'ADDITIVE_TOPICS', 'else the default', [null, null, null], 0, 'DEFAULT', NONE],
  ['VALENCE_BIAS', 'FULL_OVERRIDE', "the user's, zero too", [-60, 20, 0], 0, 'USER', NONE],
  ['VALENCE_BIAS', 'FULL_OVERRIDE', "else the agent's", [-60, 20, null], 20, 'AGENT', NONE],
  ['VALENCE_BIAS', 'FULL_OVERRIDE', "else the tenant's", [-60, null, null], -60, 'TENANT', NONE],
  ['VALENCE_BIAS', 'FULL_OVERRIDE', 'else the default', [null, null, null], 0, 'DEFAULT', NONE],

  ['AROUSAL_SENSITIVITY', 'TENANT_ONLY', "the tenant's", [0.5, 1.5, 2], 0.5, 'TENANT', TENANT_ONLY],
  ['AROUSAL_SENSITIVITY', 'TENANT_ONLY', 'or the default', [null, 1.5, 2], 1, 'DEFAULT', TENANT_ONLY],
  ['AROUSAL_SENSITIVITY', 'ADDITIVE_TOPICS', "the tenant's", [0.5, 1.5, 2], 0.5, 'TENANT', ANCESTOR_TRAIT],
  ['AROUSAL_SENSITIVITY', 'ADDITIVE_TOPICS', 'filled by the agent', [null, 1.5, 2], 1.5, 'AGENT', { USER: 'ANCESTOR_TRAIT' }],
  ['AROUSAL_SENSITIVITY', 'ADDITIVE_TOPICS', 'filled by the user', [null, null, 2], 2, 'USER', NONE],
  ['AROUSAL_SENSITIVITY', 'ADDITIVE_TOPICS', 'else the default', [null, null, null], 1, 'DEFAULT', NONE],
  ['AROUSAL_SENSITIVITY', 'FULL_OVERRIDE', "the user's", [2, 1.5, 0.5], 0.5, 'USER', NONE],
  ['AROUSAL_SENSITIVITY', 'FULL_OVERRIDE', "else the agent's", [2, 1.5, null], 1.5, 'AGENT', NONE],
  ['AROUSAL_SENSITIVITY', 'FULL_OVERRIDE', "else the tenant's", [2, null, null], 2, 'TENANT', NONE],
  ['AROUSAL_SENSITIVITY', 'FULL_OVERRIDE', 'else the default', [null, null, null], 1, 'DEFAULT', NONE],

  ['SELF_RELEVANCE_BOOST', 'TENANT_ONLY', "the tenant's", [1.1, 1.5, 2], 1.1, 'TENANT', TENANT_ONLY],
  ['SELF_RELEVANCE_BOOST', 'TENANT_ONLY', 'or the default', [null, 1.5, 2], 1, 'DEFAULT', TENANT_ONLY],
  ['SELF_RELEVANCE_BOOST', 'ADDITIVE_TOPICS', "the tenant's", [1.1, 1.5, 2], 1.1, 'TENANT', ANCESTOR_TRAIT],
  ['SELF_RELEVANCE_BOOST', 'ADDITIVE_TOPICS', 'filled by the agent', [null, 1.5, 2], 1.5, 'AGENT', { USER: 'ANCESTOR_TRAIT' }],
  ['SELF_RELEVANCE_BOOST', 'ADDITIVE_TOPICS', 'filled by the user', [null, null, 2], 2, 'USER', NONE],
  ['SELF_RELEVANCE_BOOST', 'ADDITIVE_TOPICS', 'else the default', [null, null, null], 1, 'DEFAULT', NONE],
  ['SELF_RELEVANCE_BOOST', 'FULL_OVERRIDE', "the user's", [2, 1.5, 1.1], 1.1, 'USER', NONE],
  ['SELF_RELEVANCE_BOOST', 'FULL_OVERRIDE', "else the agent's", [2, 1.5, null], 1.5, 'AGENT', NONE],
  ['SELF_RELEVANCE_BOOST', 'FULL_OVERRIDE', "else the tenant's", [2, null, null], 2, 'TENANT', NONE],
  ['SELF_RELEVANCE_BOOST', 'FULL_OVERRIDE', 'else the default', [null, null, null], 1, 'DEFAULT', NONE],
];

describe('settings of one value', () => {
  it.each(VALUE_CASES)(
    '%s under %s: %s',
    (setting, policy, _, [tenant, agent, user], value, origin, blocked) => {
      const { write, read } = ACCESS[setting];
      const profiles = {
        tenant: write(tenant as never),
        agent: write(agent as never),
        user: write(user as never),
      };
      const effective = mergeProfiles(policy, profiles);
      expect(read(effective)).toEqual({ origin, value });
      expect(effective.blocked).toEqual(
        Object.entries(blocked).map(([owner, reason]) => ({
          origin: owner,
          setting,
          topic: null,
          level: null,
          reason,
        })),
      );
    },
  );

  it('have a case for every cell', () => {
    const cells = new Set(VALUE_CASES.map(([setting, policy]) => `${setting} ${policy}`));
    expect(cells).toEqual(
      new Set(POLICIES.flatMap((policy) => Object.keys(ACCESS).map((setting) => `${setting} ${policy}`))),
    );
  });
});

/** What one profile has in its lists: "+" an interest, "-" a disinterest, "=" an identity term; then the threshold. */
type Lists = readonly [entries: readonly string[], similarityThreshold?: number];

function profileOf([entries, similarityThreshold = undefined]: Lists): ProfileSettings {
  const of = (sign: string) =>
    entries.filter((line) => line.startsWith(sign)).map((line) => line.slice(1).split(':'));
  const topics = (sign: string) =>
    of(sign).map(([topic, level]) => entry(topic ?? '', (level ?? 'HIGH') as TopicLevel));
  return settings({
    interests: topics('+'),
    disinterests: topics('-'),
    similarityThreshold: similarityThreshold ?? null,
    persona: { identity: of('=').map(([text]) => term(text ?? '')) },
  });
}

/** One line for each list entry: sign, origin, topic, level, @threshold, < what it overrides. */
function linesOf({ interests, disinterests, persona }: EffectiveProfile): string[] {
  const topic = (entry: EffectiveProfile['interests'][number]): string => {
    const sign = entry.list === 'INTEREST' ? '+' : '-';
    const overrides = entry.overrides.map(
      ({ origin, list, level }) => ` < ${list === 'INTEREST' ? '+' : '-'}${origin}:${level}`,
    );
    return `${sign}${entry.origin} ${entry.topic}:${entry.level} @${entry.similarityThreshold}${overrides.join('')}`;
  };
  return [
    ...interests.map(topic),
    ...disinterests.map(topic),
    ...persona.identity.map((identity) => `=${identity.origin} ${identity.term}`),
  ];
}

type ListCase = readonly [
  row: 'topics' | 'identity',
  policy: MergePolicy,
  name: string,
  profiles: { readonly tenant?: Lists; readonly agent?: Lists; readonly user?: Lists },
  effective: readonly string[],
  blocked: readonly string[],
];

const LIST_CASES: readonly ListCase[] = [
  [
    'topics',
    'TENANT_ONLY',
    "the tenant's, in its lists and with its threshold",
    { tenant: [['+a', '-b:LOW'], 0.4], agent: [['+c', '-d:LOW'], 0.8], user: [['+a', '-a2:LOW'], 0.9] },
    ['+TENANT a:HIGH @0.4', '-TENANT b:LOW @0.4'],
    [
      'AGENT INTEREST c:HIGH TENANT_ONLY',
      'AGENT DISINTEREST d:LOW TENANT_ONLY',
      'AGENT SIMILARITY_THRESHOLD TENANT_ONLY',
      'USER INTEREST a:HIGH TENANT_ONLY',
      'USER DISINTEREST a2:LOW TENANT_ONLY',
      'USER SIMILARITY_THRESHOLD TENANT_ONLY',
    ],
  ],
  [
    'topics',
    'ADDITIVE_TOPICS',
    'the union, ancestors first',
    { tenant: [['+a', '-b:LOW']], agent: [['+c', '-d:LOW']], user: [['+e', '-f:LOW']] },
    [
      '+TENANT a:HIGH @0.5',
      '+AGENT c:HIGH @0.5',
      '+USER e:HIGH @0.5',
      '-TENANT b:LOW @0.5',
      '-AGENT d:LOW @0.5',
      '-USER f:LOW @0.5',
    ],
    [],
  ],
  [
    'topics',
    'ADDITIVE_TOPICS',
    'the ancestor wins the same interest',
    { tenant: [['+a:NORMAL']], agent: [['+A:CRITICAL']], user: [['+ a :CRITICAL']] },
    ['+TENANT a:NORMAL @0.5'],
    ['AGENT INTEREST A:CRITICAL ANCESTOR_TOPIC', 'USER INTEREST  a :CRITICAL ANCESTOR_TOPIC'],
  ],
  [
    'topics',
    'ADDITIVE_TOPICS',
    'the ancestor wins the same disinterest',
    { tenant: [['-a:LOW']], user: [['-a:IGNORE']] },
    ['-TENANT a:LOW @0.5'],
    ['USER DISINTEREST a:IGNORE ANCESTOR_TOPIC'],
  ],
  [
    'topics',
    'ADDITIVE_TOPICS',
    'an agent is an ancestor of the user',
    { agent: [['+a:NORMAL']], user: [['+a:CRITICAL']] },
    ['+AGENT a:NORMAL @0.5'],
    ['USER INTEREST a:CRITICAL ANCESTOR_TOPIC'],
  ],
  [
    'topics',
    'ADDITIVE_TOPICS',
    "a disinterest in an ancestor's interest is blocked",
    { tenant: [['+a']], agent: [['+b']], user: [['-a:IGNORE', '-b:IGNORE']] },
    ['+TENANT a:HIGH @0.5', '+AGENT b:HIGH @0.5'],
    ['USER DISINTEREST a:IGNORE OPPOSITE_TOPIC', 'USER DISINTEREST b:IGNORE OPPOSITE_TOPIC'],
  ],
  [
    'topics',
    'ADDITIVE_TOPICS',
    "an interest in an ancestor's disinterest is blocked",
    { tenant: [['-a:LOW']], agent: [['-b:LOW']], user: [['+a', '+b']] },
    ['-TENANT a:LOW @0.5', '-AGENT b:LOW @0.5'],
    ['USER INTEREST a:HIGH OPPOSITE_TOPIC', 'USER INTEREST b:HIGH OPPOSITE_TOPIC'],
  ],
  [
    'topics',
    'ADDITIVE_TOPICS',
    'what is blocked blocks nobody else: the reason is the one that stands',
    { tenant: [['+a']], agent: [['-a:IGNORE']], user: [['+a:CRITICAL']] },
    ['+TENANT a:HIGH @0.5'],
    ['AGENT DISINTEREST a:IGNORE OPPOSITE_TOPIC', 'USER INTEREST a:CRITICAL ANCESTOR_TOPIC'],
  ],
  [
    'topics',
    'ADDITIVE_TOPICS',
    'each topic keeps the threshold of its level',
    { tenant: [['+a'], 0.4], agent: [['+b'], 0.6], user: [['+c', '-d:LOW'], 0.9] },
    ['+TENANT a:HIGH @0.4', '+AGENT b:HIGH @0.6', '+USER c:HIGH @0.9', '-USER d:LOW @0.9'],
    [],
  ],
  [
    'topics',
    'ADDITIVE_TOPICS',
    "a child's topics have its ancestors' threshold where it sets none, or none that is higher",
    { tenant: [['+a'], 0.7], agent: [['+b']], user: [['+c'], 0.3] },
    ['+TENANT a:HIGH @0.7', '+AGENT b:HIGH @0.7', '+USER c:HIGH @0.7'],
    ['USER SIMILARITY_THRESHOLD NOT_STRICTER'],
  ],
  [
    'topics',
    'ADDITIVE_TOPICS',
    'the default is the threshold only above the first level that sets one',
    { tenant: [['+a']], agent: [['+b'], 0.2], user: [['+c']] },
    ['+TENANT a:HIGH @0.5', '+AGENT b:HIGH @0.2', '+USER c:HIGH @0.2'],
    [],
  ],
  [
    'topics',
    'ADDITIVE_TOPICS',
    'a threshold of zero is one',
    { tenant: [['+a'], 0], agent: [['+b']] },
    ['+TENANT a:HIGH @0', '+AGENT b:HIGH @0'],
    [],
  ],
  [
    'topics',
    'FULL_OVERRIDE',
    'the union, where nobody has the same',
    { tenant: [['+a']], agent: [['-b:LOW']], user: [['+c']] },
    ['+TENANT a:HIGH @0.5', '+USER c:HIGH @0.5', '-AGENT b:LOW @0.5'],
    [],
  ],
  [
    'topics',
    'FULL_OVERRIDE',
    'the child wins the same topic and stands in its own place and spelling',
    { tenant: [['+a', '+b']], agent: [['+c', '+A:NORMAL', '+d']] },
    [
      '+TENANT b:HIGH @0.5',
      '+AGENT c:HIGH @0.5',
      '+AGENT A:NORMAL @0.5 < +TENANT:HIGH',
      '+AGENT d:HIGH @0.5',
    ],
    [],
  ],
  [
    'topics',
    'FULL_OVERRIDE',
    'the user wins over both, the nearest last',
    { tenant: [['+a:CRITICAL']], agent: [['+a:HIGH']], user: [['+a:NORMAL']] },
    ['+USER a:NORMAL @0.5 < +TENANT:CRITICAL < +AGENT:HIGH'],
    [],
  ],
  [
    'topics',
    'FULL_OVERRIDE',
    "a child's disinterest takes the place of an ancestor's interest",
    { tenant: [['+a:CRITICAL']], user: [['-a:IGNORE']] },
    ['-USER a:IGNORE @0.5 < +TENANT:CRITICAL'],
    [],
  ],
  [
    'topics',
    'FULL_OVERRIDE',
    "a child's interest takes the place of an ancestor's disinterest, and back",
    { tenant: [['-a:LOW']], agent: [['+a:HIGH']], user: [['-a:IGNORE']] },
    ['-USER a:IGNORE @0.5 < -TENANT:LOW < +AGENT:HIGH'],
    [],
  ],
  [
    'topics',
    'FULL_OVERRIDE',
    'all topics have the effective threshold',
    { tenant: [['+a', '-b:LOW'], 0.4], agent: [['+c'], 0.8], user: [['+d'], 0.6] },
    ['+TENANT a:HIGH @0.8', '+AGENT c:HIGH @0.8', '+USER d:HIGH @0.8', '-TENANT b:LOW @0.8'],
    ['USER SIMILARITY_THRESHOLD NOT_STRICTER'],
  ],
  [
    'identity',
    'TENANT_ONLY',
    "the tenant's",
    { tenant: [['=t']], agent: [['=a']], user: [['=T']] },
    ['=TENANT t'],
    ['AGENT IDENTITY a TENANT_ONLY', 'USER IDENTITY T TENANT_ONLY'],
  ],
  [
    'identity',
    'ADDITIVE_TOPICS',
    "the union; a repeated term stays its first owner's and is not blocked",
    { tenant: [['=t', '=s']], agent: [['=a', '=T']], user: [['=u', '= A', '=S']] },
    ['=TENANT t', '=TENANT s', '=AGENT a', '=USER u'],
    [],
  ],
  [
    'identity',
    'FULL_OVERRIDE',
    "the union; a repeated term stays its first owner's and is not blocked",
    { tenant: [['=t', '=s']], agent: [['=a', '=T']], user: [['=u', '= A', '=S']] },
    ['=TENANT t', '=TENANT s', '=AGENT a', '=USER u'],
    [],
  ],
  [
    'identity',
    'ADDITIVE_TOPICS',
    'a term may be a topic as well',
    { tenant: [['+audit']], user: [['=audit']] },
    ['+TENANT audit:HIGH @0.5', '=USER audit'],
    [],
  ],
];

describe('lists', () => {
  it.each(LIST_CASES)(
    '%s under %s: %s',
    (_row, policy, _name, { tenant, agent, user }, expected, blocked) => {
      const effective = mergeProfiles(
        policy,
        hierarchy({
          tenant: profileOf(tenant ?? [[]]),
          agent: agent ? profileOf(agent) : null,
          user: user ? profileOf(user) : null,
        }),
      );
      expect(linesOf(effective)).toEqual(expected);
      expect(
        effective.blocked.map(({ origin, setting, topic, level, reason }) => {
          const what = topic === null ? [] : [level === null ? topic : `${topic}:${level}`];
          return [origin, setting, ...what, reason].join(' ');
        }),
      ).toEqual(blocked);
    },
  );

  it('have a case for every cell', () => {
    const cells = new Set(LIST_CASES.map(([row, policy]) => `${row} ${policy}`));
    expect(cells).toEqual(new Set(POLICIES.flatMap((policy) => [`topics ${policy}`, `identity ${policy}`])));
  });
});
