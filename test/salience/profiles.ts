import fc from 'fast-check';
import {
  type IcnuWeights,
  type IdentityTerm,
  type MergePolicy,
  type PersonaSettings,
  PROFILE_RANGES,
  type ProfileHierarchy,
  type ProfileSettings,
  type TopicLevel,
  type TopicSetting,
  topicKey,
} from '../../src/salience/index.js';

export const POLICIES: readonly MergePolicy[] = ['TENANT_ONLY', 'ADDITIVE_TOPICS', 'FULL_OVERRIDE'];

type Overrides = Partial<Omit<ProfileSettings, 'persona'>> & { readonly persona?: Partial<PersonaSettings> };

/** A profile in which nothing is set but what a test is about. */
export function settings({ persona, ...overrides }: Overrides = {}): ProfileSettings {
  return {
    interests: [],
    disinterests: [],
    icnuWeights: null,
    alpha: null,
    beta: null,
    flashbulbThreshold: null,
    similarityThreshold: null,
    ...overrides,
    persona: {
      name: null,
      valenceBias: null,
      arousalSensitivity: null,
      selfRelevanceBoost: null,
      identity: [],
      ...persona,
    },
  };
}

/** A hierarchy with a tenant at least. */
export function hierarchy(profiles: Partial<ProfileHierarchy> = {}): ProfileHierarchy {
  return { tenant: settings(), agent: null, user: null, ...profiles };
}

export function entry(topic: string, level: TopicLevel = 'HIGH', number = 1): TopicSetting {
  return { topic, level, ref: { id: `topic-${number}`, number } };
}

export function term(text: string, number = 1): IdentityTerm {
  return { term: text, ref: { id: `term-${number}`, number } };
}

/** `value` with everything in it frozen: whoever changes it throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}

const maybe = <T>(arb: fc.Arbitrary<T>) => fc.option(arb, { nil: null, freq: 2 });

/** Within the setting's range, often one of three values, so that profiles often agree. */
function within(name: keyof typeof PROFILE_RANGES): fc.Arbitrary<number> {
  const [min, max] = PROFILE_RANGES[name];
  return fc.oneof(fc.constantFrom(min, max, (min + max) / 2), fc.double({ min, max, noNaN: true }));
}

/** Few topics in several spellings, so that profiles often have the same one. */
const anyText = fc.constantFrom(
  'patient safety',
  'Patient  Safety ',
  'billing',
  'BILLING',
  'Straße',
  'STRASSE',
  'cardiology',
  '心臓病学',
);
const anyRef = fc.nat({ max: 50 }).map((number) => ({ id: `topic-${number}`, number }));

const anyTopics = fc.uniqueArray(
  fc.record({
    topic: anyText,
    level: fc.constantFrom<TopicLevel[]>('CRITICAL', 'HIGH', 'NORMAL', 'LOW', 'IGNORE'),
    list: fc.constantFrom('INTEREST', 'DISINTEREST'),
    ref: anyRef,
  }),
  { maxLength: 5, selector: ({ topic }) => topicKey(topic) },
);

const share = fc.double({ min: 0, max: 1, noNaN: true });
const anyWeights: fc.Arbitrary<IcnuWeights> = fc
  .record({ importance: share, coactivation: share, novelty: share, urgency: share })
  .filter((weights) => Object.values(weights).some((weight) => weight > 0));

/** Any profile that may be saved. */
export const anySettings: fc.Arbitrary<ProfileSettings> = fc
  .record({
    topics: anyTopics,
    icnuWeights: maybe(anyWeights),
    alpha: maybe(within('alpha')),
    beta: maybe(within('beta')),
    flashbulbThreshold: maybe(within('flashbulbThreshold')),
    similarityThreshold: maybe(within('similarityThreshold')),
    persona: fc.record({
      name: maybe(fc.constantFrom('Auditor', 'Nurse')),
      valenceBias: maybe(within('valenceBias')),
      arousalSensitivity: maybe(within('arousalSensitivity')),
      selfRelevanceBoost: maybe(within('selfRelevanceBoost')),
      identity: fc.uniqueArray(fc.record({ term: anyText, ref: anyRef }), {
        maxLength: 3,
        selector: (identity) => topicKey(identity.term),
      }),
    }),
  })
  .map(({ topics, ...rest }) => {
    const of = (list: string): TopicSetting[] =>
      topics.filter((topic) => topic.list === list).map(({ topic, level, ref }) => ({ topic, level, ref }));
    return { ...rest, interests: of('INTEREST'), disinterests: of('DISINTEREST') };
  });

export const anyPolicy: fc.Arbitrary<MergePolicy> = fc.constantFrom(...POLICIES);

export const anyHierarchy: fc.Arbitrary<ProfileHierarchy> = fc.record({
  tenant: anySettings,
  agent: maybe(anySettings),
  user: maybe(anySettings),
});
