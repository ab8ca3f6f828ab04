import { describe, expect, it } from 'vitest';
import {
  decay,
  type EncodeInputs,
  encodeImportance,
  type Meeting,
  meetProfile,
  mergeProfiles,
  NEUTRAL_PROFILE,
  type ProfileHierarchy,
  resolveHints,
} from '../../src/salience/index.js';
import { inputs } from './builders.js';
import { entry, hierarchy, POLICIES, settings, term } from './profiles.js';

/** A fact that is far from everything. */
const STRANGER: Meeting = {
  topicSimilarity: () => null,
  identity: () => ({ named: false, similarity: null }),
};

/** How important a fact is in a hierarchy. */
function scored(
  profiles: Partial<ProfileHierarchy>,
  overrides: Partial<EncodeInputs> = {},
  meeting: Partial<Meeting> = {},
) {
  const effective = mergeProfiles('ADDITIVE_TOPICS', hierarchy(profiles));
  return encodeImportance(inputs(overrides), meetProfile(effective, { ...STRANGER, ...meeting }));
}

describe('meetProfile', () => {
  const profiles = hierarchy({
    tenant: settings({
      interests: [entry('patient safety', 'CRITICAL', 1)],
      alpha: 0.5,
      beta: 0.3,
      flashbulbThreshold: 2.5,
      similarityThreshold: 0.4,
      persona: {
        valenceBias: -40,
        arousalSensitivity: 1.8,
        selfRelevanceBoost: 1.5,
        identity: [term('audit')],
      },
    }),
    agent: settings({ disinterests: [entry('small talk', 'IGNORE', 2)], similarityThreshold: 0.6 }),
    user: settings({
      interests: [entry('cardiology', 'HIGH', 3)],
      persona: { identity: [term('Dr Smith')] },
    }),
  });

  it('hands settings through, and each topic and term with what the fact makes of it', () => {
    const similarities = new Map([
      ['topic-1', 0.9],
      ['topic-3', 0.7],
    ]);
    const met = meetProfile(mergeProfiles('ADDITIVE_TOPICS', profiles), {
      topicSimilarity: ({ ref }) => similarities.get(ref.id) ?? null,
      identity: ({ term: text, origin }) => ({
        named: text === 'audit',
        similarity: origin === 'USER' ? 0.2 : null,
      }),
    });
    expect(met).toEqual({
      alpha: 0.5,
      beta: 0.3,
      flashbulbThreshold: 2.5,
      similarityThreshold: 0.6,
      topics: [
        {
          ...entry('patient safety', 'CRITICAL', 1),
          list: 'INTEREST',
          origin: 'TENANT',
          similarityThreshold: 0.4,
          similarity: 0.9,
        },
        {
          ...entry('cardiology', 'HIGH', 3),
          list: 'INTEREST',
          origin: 'USER',
          similarityThreshold: 0.6,
          similarity: 0.7,
        },
        {
          ...entry('small talk', 'IGNORE', 2),
          list: 'DISINTEREST',
          origin: 'AGENT',
          similarityThreshold: 0.6,
          similarity: null,
        },
      ],
      protectTenantInterests: true,
      persona: {
        valenceBias: -40,
        arousalSensitivity: 1.8,
        selfRelevanceBoost: 1.5,
        identity: [
          { term: 'audit', origin: 'TENANT', named: true, similarity: null },
          { term: 'Dr Smith', origin: 'USER', named: false, similarity: 0.2 },
        ],
      },
    });
  });

  it('tells a breakdown which topics matched, by their refs', () => {
    const met = meetProfile(mergeProfiles('ADDITIVE_TOPICS', profiles), {
      ...STRANGER,
      topicSimilarity: () => 0.5,
    });
    expect(encodeImportance(inputs(), met).matchedTopics).toEqual([
      { ...entry('patient safety', 'CRITICAL', 1), list: 'INTEREST', origin: 'TENANT', similarity: 0.5 },
    ]);
  });

  it('asks for each topic and each term once', () => {
    const asked: string[] = [];
    meetProfile(mergeProfiles('FULL_OVERRIDE', profiles), {
      topicSimilarity: ({ topic }) => {
        asked.push(topic);
        return 0;
      },
      identity: (identity) => {
        asked.push(identity.term);
        return { named: false, similarity: 0 };
      },
    });
    expect(asked).toEqual(['patient safety', 'cardiology', 'small talk', 'audit', 'Dr Smith']);
  });

  it.each([
    ['TENANT_ONLY', true],
    ['ADDITIVE_TOPICS', true],
    ['FULL_OVERRIDE', false],
  ] as const)("under %s protects the tenant's interests: %s", (policy, isProtected) => {
    expect(meetProfile(mergeProfiles(policy, profiles), STRANGER).protectTenantInterests).toBe(isProtected);
  });

  it('of profiles in which nothing is set scores as no profile does', () => {
    const stirring = inputs({ distance: 1.15, ...resolveHints({ caller: { valence: -0.8, urgency: 1 } }) });
    for (const policy of POLICIES) {
      const nothing = mergeProfiles(policy, hierarchy({ agent: settings(), user: settings() }));
      expect(encodeImportance(stirring, meetProfile(nothing, STRANGER))).toEqual(
        encodeImportance(stirring, NEUTRAL_PROFILE),
      );
    }
  });
});

describe('policies at work', () => {
  const tenant = settings({ interests: [entry('patient safety', 'CRITICAL', 1)] });
  const similar = { ...STRANGER, topicSimilarity: () => 0.82 };
  const boost = (policy: (typeof POLICIES)[number], profiles: Partial<ProfileHierarchy>): number =>
    encodeImportance(inputs(), meetProfile(mergeProfiles(policy, hierarchy(profiles)), similar)).topicBoost;

  it("a user's disinterest in something near does not silence the tenant's interest, unless it may", () => {
    const user = settings({ disinterests: [entry('safety drills', 'IGNORE', 2)] });
    expect(boost('TENANT_ONLY', { tenant, user })).toBeCloseTo(1.64, 12);
    expect(boost('ADDITIVE_TOPICS', { tenant, user })).toBeCloseTo(1.64, 12);
    expect(boost('FULL_OVERRIDE', { tenant, user })).toBeCloseTo(0.082, 12);
  });

  it("a user's threshold does not silence the tenant's interest, unless it may", () => {
    const user = settings({ similarityThreshold: 0.9 });
    expect(boost('TENANT_ONLY', { tenant, user })).toBeCloseTo(1.64, 12);
    expect(boost('ADDITIVE_TOPICS', { tenant, user })).toBeCloseTo(1.64, 12);
    expect(boost('FULL_OVERRIDE', { tenant, user })).toBe(1);
  });

  it("an agent that cares less for the tenant's topic is heard only where it may be", () => {
    const agent = settings({ interests: [entry('Patient safety', 'HIGH', 3)] });
    expect(boost('ADDITIVE_TOPICS', { tenant, agent })).toBeCloseTo(1.64, 12);
    expect(boost('FULL_OVERRIDE', { tenant, agent })).toBeCloseTo(1.23, 12);
  });

  it('a flashbulb is one by the most sensitive threshold, where children may set it', () => {
    const user = settings({ flashbulbThreshold: 1.5 });
    const surprising = inputs({ distance: 1.2 });
    const isFlashbulb = (policy: (typeof POLICIES)[number]): boolean =>
      encodeImportance(surprising, meetProfile(mergeProfiles(policy, hierarchy({ tenant, user })), STRANGER))
        .flashbulb;
    expect(POLICIES.map(isFlashbulb)).toEqual([false, false, true]);
  });
});

describe('personas at work', () => {
  const threat = resolveHints({ extractor: { valence: -0.8 } });
  const success = resolveHints({ extractor: { valence: 0.8 } });
  const biased = (valenceBias: number) => ({ agent: settings({ persona: { valenceBias } }) });

  it('a pessimist holds a threat above a success of equal novelty', () => {
    const [bad, good] = [scored(biased(-60), threat), scored(biased(-60), success)];
    expect(bad.base).toBe(good.base);
    expect(bad.encoded).toBeCloseTo(bad.base * 1.48, 9);
    expect(good.encoded).toBeCloseTo(good.base * 0.52, 9);
  });

  it('an optimist holds the success above the threat', () => {
    const [bad, good] = [scored(biased(60), threat), scored(biased(60), success)];
    expect(good.encoded).toBeCloseTo(good.base * 1.48, 9);
    expect(bad.encoded).toBeCloseTo(bad.base * 0.52, 9);
  });

  it('nobody in particular holds them equal', () => {
    expect(scored({}, threat).encoded).toBe(scored({}, success).encoded);
  });

  it('a persona lifts what is about itself, and that alone', () => {
    const smith = { user: settings({ persona: { identity: [term('Dr Smith')] } }) };
    const named: Partial<Meeting> = { identity: () => ({ named: true, similarity: null }) };
    const other = scored(smith);
    expect(scored(smith, {}, named).encoded).toBeCloseTo(other.encoded * 1.2, 9);
    expect(other.encoded).toBe(scored({}).encoded);
    expect(scored({}, {}, named).encoded).toBe(other.encoded);
  });

  it('lifts by similarity from the effective threshold on', () => {
    const profiles = {
      tenant: settings({
        similarityThreshold: 0.7,
        persona: { identity: [term('audit')], selfRelevanceBoost: 2 },
      }),
    };
    const near = (similarity: number) =>
      scored(profiles, {}, { identity: () => ({ named: false, similarity }) }).selfRelevanceFactor;
    expect([near(0.69), near(0.7)]).toEqual([1, 2]);
  });

  it('a reactive persona remembers a stirring fact longer than a calm one, and no more strongly', () => {
    const stirring = resolveHints({ caller: { arousal: 0.9 } });
    const of = (arousalSensitivity: number) =>
      scored({ user: settings({ persona: { arousalSensitivity } }) }, stirring);
    const [reactive, calm] = [of(2), of(0.5)];
    expect(reactive.encoded).toBe(calm.encoded);
    // R = 1 + 0.65 · 0.9 · sensitivity; D = (1 + 90 · 24)^(−0.15 / R).
    expect(decay(90 * 24, reactive.decayResistance)).toBeCloseTo(2161 ** (-0.15 / 2.17), 12);
    expect(decay(90 * 24, calm.decayResistance)).toBeCloseTo(2161 ** (-0.15 / 1.2925), 12);
    expect(decay(90 * 24, reactive.decayResistance)).toBeGreaterThan(decay(90 * 24, calm.decayResistance));
  });

  it('forgets an unmoving fact at the same pace, whatever its sensitivity', () => {
    const of = (arousalSensitivity: number) =>
      scored({ user: settings({ persona: { arousalSensitivity } }) }, { distance: 0.9 }).decayResistance;
    expect([of(2), of(0.5)]).toEqual([1, 1]);
  });
});
