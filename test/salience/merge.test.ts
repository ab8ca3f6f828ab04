import { describe, expect, it } from 'vitest';
import {
  type EffectiveProfile,
  type MergePolicy,
  mergeProfiles,
  type ProfileHierarchy,
  topicKey,
} from '../../src/salience/index.js';
import { deepFreeze, entry, hierarchy, POLICIES, settings, term } from './profiles.js';

/** Tenant hospital-a, agent medication-checker, user dr-smith. */
const HOSPITAL: ProfileHierarchy = {
  tenant: settings({
    interests: [entry('patient safety', 'CRITICAL', 1), entry('HIPAA compliance', 'HIGH', 2)],
    icnuWeights: { importance: 0.3, coactivation: 0.2, novelty: 0.3, urgency: 0.2 },
    flashbulbThreshold: 2.5,
  }),
  agent: settings({
    interests: [entry('drug interactions', 'CRITICAL', 3), entry('patient safety', 'HIGH', 4)],
  }),
  user: settings({
    interests: [entry('cardiology', 'HIGH', 5)],
    disinterests: [entry('administrative tasks', 'LOW', 6)],
  }),
};

const standing = {
  safety: {
    ...entry('patient safety', 'CRITICAL', 1),
    list: 'INTEREST',
    origin: 'TENANT',
    similarityThreshold: 0.5,
    overrides: [],
  },
  hipaa: {
    ...entry('HIPAA compliance', 'HIGH', 2),
    list: 'INTEREST',
    origin: 'TENANT',
    similarityThreshold: 0.5,
    overrides: [],
  },
  drugs: {
    ...entry('drug interactions', 'CRITICAL', 3),
    list: 'INTEREST',
    origin: 'AGENT',
    similarityThreshold: 0.5,
    overrides: [],
  },
  cardiology: {
    ...entry('cardiology', 'HIGH', 5),
    list: 'INTEREST',
    origin: 'USER',
    similarityThreshold: 0.5,
    overrides: [],
  },
  administration: {
    ...entry('administrative tasks', 'LOW', 6),
    list: 'DISINTEREST',
    origin: 'USER',
    similarityThreshold: 0.5,
    overrides: [],
  },
} as const;

/** What no policy changes, as only the tenant says it or nobody does. */
const SAME_UNDER_EVERY_POLICY = {
  icnuWeights: {
    origin: 'TENANT',
    value: { importance: 0.3, coactivation: 0.2, novelty: 0.3, urgency: 0.2 },
  },
  alpha: { origin: 'DEFAULT', value: 0.6 },
  beta: { origin: 'DEFAULT', value: 0.4 },
  flashbulbThreshold: { origin: 'TENANT', value: 2.5 },
  similarityThreshold: { origin: 'DEFAULT', value: 0.5 },
  persona: {
    name: { origin: 'DEFAULT', value: null },
    valenceBias: { origin: 'DEFAULT', value: 0 },
    arousalSensitivity: { origin: 'DEFAULT', value: 1 },
    selfRelevanceBoost: { origin: 'DEFAULT', value: 1 },
    identity: [],
  },
} as const satisfies Partial<EffectiveProfile>;

describe('mergeProfiles: the hospital', () => {
  it('under ADDITIVE_TOPICS adds what the children have and keeps what the tenant says', () => {
    expect(mergeProfiles('ADDITIVE_TOPICS', HOSPITAL)).toEqual({
      policy: 'ADDITIVE_TOPICS',
      ...SAME_UNDER_EVERY_POLICY,
      interests: [standing.safety, standing.hipaa, standing.drugs, standing.cardiology],
      disinterests: [standing.administration],
      blocked: [
        {
          origin: 'AGENT',
          setting: 'INTEREST',
          topic: 'patient safety',
          level: 'HIGH',
          reason: 'ANCESTOR_TOPIC',
        },
      ],
    });
  });

  it("under TENANT_ONLY is the tenant's, and says so of all that the children have", () => {
    const blocked = (origin: string, setting: string, topic: string, level: string) => ({
      origin,
      setting,
      topic,
      level,
      reason: 'TENANT_ONLY',
    });
    expect(mergeProfiles('TENANT_ONLY', HOSPITAL)).toEqual({
      policy: 'TENANT_ONLY',
      ...SAME_UNDER_EVERY_POLICY,
      interests: [standing.safety, standing.hipaa],
      disinterests: [],
      blocked: [
        blocked('AGENT', 'INTEREST', 'drug interactions', 'CRITICAL'),
        blocked('AGENT', 'INTEREST', 'patient safety', 'HIGH'),
        blocked('USER', 'INTEREST', 'cardiology', 'HIGH'),
        blocked('USER', 'DISINTEREST', 'administrative tasks', 'LOW'),
      ],
    });
  });

  it("under FULL_OVERRIDE lets the agent's patient safety stand for the tenant's", () => {
    expect(mergeProfiles('FULL_OVERRIDE', HOSPITAL)).toEqual({
      policy: 'FULL_OVERRIDE',
      ...SAME_UNDER_EVERY_POLICY,
      interests: [
        standing.hipaa,
        standing.drugs,
        {
          ...entry('patient safety', 'HIGH', 4),
          list: 'INTEREST',
          origin: 'AGENT',
          similarityThreshold: 0.5,
          overrides: [{ origin: 'TENANT', list: 'INTEREST', level: 'CRITICAL' }],
        },
        standing.cardiology,
      ],
      disinterests: [standing.administration],
      blocked: [],
    });
  });

  it("is the tenant's own profile where the context names nobody", () => {
    for (const policy of POLICIES) {
      const { interests, disinterests, blocked } = mergeProfiles(policy, {
        ...HOSPITAL,
        agent: null,
        user: null,
      });
      expect(interests).toEqual([standing.safety, standing.hipaa]);
      expect(disinterests).toEqual([]);
      expect(blocked).toEqual([]);
    }
  });

  it('goes from the tenant to the user directly where no agent is named', () => {
    const { interests, blocked } = mergeProfiles('ADDITIVE_TOPICS', { ...HOSPITAL, agent: null });
    expect(interests).toEqual([standing.safety, standing.hipaa, standing.cardiology]);
    expect(blocked).toEqual([]);
  });
});

describe('mergeProfiles: what is blocked', () => {
  const all = settings({
    interests: [entry('a')],
    disinterests: [entry('b', 'LOW')],
    icnuWeights: { importance: 1, coactivation: 0, novelty: 0, urgency: 0 },
    alpha: 0.1,
    beta: 0.1,
    flashbulbThreshold: 2,
    similarityThreshold: 0.7,
    persona: {
      name: 'Auditor',
      valenceBias: -40,
      arousalSensitivity: 1.8,
      selfRelevanceBoost: 1.5,
      identity: [term('audit'), term('security')],
    },
  });
  const order = [
    'INTEREST',
    'DISINTEREST',
    'ICNU_WEIGHTS',
    'ALPHA',
    'BETA',
    'FLASHBULB_THRESHOLD',
    'SIMILARITY_THRESHOLD',
    'PERSONA_NAME',
    'VALENCE_BIAS',
    'AROUSAL_SENSITIVITY',
    'SELF_RELEVANCE_BOOST',
    'IDENTITY',
    'IDENTITY',
  ];

  it("is everything under TENANT_ONLY, the agent's first, in the profile's order", () => {
    const { blocked } = mergeProfiles('TENANT_ONLY', hierarchy({ agent: all, user: all }));
    expect(blocked.map(({ origin, setting }) => `${origin} ${setting}`)).toEqual([
      ...order.map((setting) => `AGENT ${setting}`),
      ...order.map((setting) => `USER ${setting}`),
    ]);
    expect(new Set(blocked.map(({ reason }) => reason))).toEqual(new Set(['TENANT_ONLY']));
    expect(blocked.filter(({ setting }) => setting === 'IDENTITY').map(({ topic }) => topic)).toEqual([
      'audit',
      'security',
      'audit',
      'security',
    ]);
  });

  it('is never what the tenant has set', () => {
    for (const policy of POLICIES) {
      expect(mergeProfiles(policy, hierarchy({ tenant: all })).blocked).toEqual([]);
    }
  });

  it("is shown in the child's spelling", () => {
    const { interests, blocked } = mergeProfiles(
      'ADDITIVE_TOPICS',
      hierarchy({
        tenant: settings({ interests: [entry('Patient Safety')] }),
        user: settings({ interests: [entry('  PATIENT   safety', 'LOW')] }),
      }),
    );
    expect(interests.map(({ topic }) => topic)).toEqual(['Patient Safety']);
    expect(blocked.map(({ topic, level }) => [topic, level])).toEqual([['  PATIENT   safety', 'LOW']]);
  });
});

describe('mergeProfiles: the boost of self-relevance', () => {
  const identity = [term('audit')];

  it.each([
    ['1 where nobody has an identity', {}, { origin: 'DEFAULT', value: 1 }],
    [
      '1.2 once the tenant has one',
      { tenant: settings({ persona: { identity } }) },
      { origin: 'DEFAULT', value: 1.2 },
    ],
    [
      '1.2 once a child has one',
      { user: settings({ persona: { identity } }) },
      { origin: 'DEFAULT', value: 1.2 },
    ],
    [
      "the tenant's for a child's identity",
      { tenant: settings({ persona: { selfRelevanceBoost: 1 } }), user: settings({ persona: { identity } }) },
      { origin: 'TENANT', value: 1 },
    ],
  ] as const)('is %s', (_, profiles, expected) => {
    expect(mergeProfiles('ADDITIVE_TOPICS', hierarchy(profiles)).persona.selfRelevanceBoost).toEqual(
      expected,
    );
  });

  it('stays 1 while the only identity is blocked', () => {
    const { persona } = mergeProfiles(
      'TENANT_ONLY',
      hierarchy({ agent: settings({ persona: { identity } }) }),
    );
    expect(persona).toMatchObject({ identity: [], selfRelevanceBoost: { origin: 'DEFAULT', value: 1 } });
  });
});

describe('mergeProfiles: a topic that one profile holds twice', () => {
  it.each(POLICIES)(
    'counts by its first entry under %s, and neither blocks nor overrides itself',
    (policy) => {
      const { interests, disinterests, blocked } = mergeProfiles(
        policy,
        hierarchy({
          tenant: settings({
            interests: [entry('billing', 'HIGH'), entry('BILLING', 'LOW')],
            disinterests: [entry('Billing', 'IGNORE')],
          }),
        }),
      );
      expect(interests).toMatchObject([{ topic: 'billing', level: 'HIGH', overrides: [] }]);
      expect(disinterests).toEqual([]);
      expect(blocked).toEqual([]);
    },
  );
});

describe('mergeProfiles: its arguments', () => {
  it.each<MergePolicy>(['TENANT_ONLY', 'ADDITIVE_TOPICS', 'FULL_OVERRIDE'])(
    'are left alone by %s',
    (policy) => {
      const before = structuredClone(HOSPITAL);
      mergeProfiles(policy, deepFreeze(HOSPITAL));
      expect(HOSPITAL).toEqual(before);
    },
  );
});

describe('topicKey', () => {
  it.each([
    ['case', 'HIPAA Compliance', 'hipaa compliance'],
    ['white space around', '\t patient safety\n', 'patient safety'],
    ['white space between', 'patient \u00a0\u3000 safety', 'patient safety'],
    ['a next-line control', 'patient\u0085safety', 'patient safety'],
    ['compatibility forms', 'ﬁnance ２０', 'finance 20'],
    ['composition', 'cafe\u0301', 'café'],
    ['sharp s', 'Straße', 'STRASSE'],
    ['capital sharp s', 'STRAẞE', 'strasse'],
    ['final sigma', 'ΟΔΟΣ', 'οδοσ'],
    ['composition after folding', '\u0399\u0308\u0301', '\u03b9\u0308\u0301'],
  ])('does not see a difference of %s', (_, a, b) => {
    expect(topicKey(a)).toBe(topicKey(b));
  });

  it.each([
    ['words', 'patient safety', 'patient'],
    ['accents', 'cafe', 'café'],
    ['word borders', 'data base', 'database'],
    ['punctuation', 'C++', 'C'],
  ])('sees a difference of %s', (_, a, b) => {
    expect(topicKey(a)).not.toBe(topicKey(b));
  });

  it('of a blank text is empty', () => {
    expect(topicKey(' \t\u00a0')).toBe('');
  });
});
