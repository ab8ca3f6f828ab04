import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type EffectiveProfile,
  type EffectiveTopic,
  encodeImportance,
  type Meeting,
  meetProfile,
  mergeProfiles,
  type ProfileHierarchy,
  type ProfileSettings,
  profileFingerprint,
  topicKey,
} from '../../src/salience/index.js';
import { topicBoost } from '../../src/salience/topics.js';
import { anyInputs } from './builders.js';
import { anyHierarchy, anyPolicy, anySettings, deepFreeze, settings } from './profiles.js';

const share = fc.double({ min: 0, max: 1, noNaN: true });

/** A fact of arbitrary similarities: the same one for the same topic, whoever's profile it is met through. */
const anyMeeting: fc.Arbitrary<Meeting> = fc
  .record({
    topics: fc.array(fc.option(share, { nil: null }), { minLength: 51, maxLength: 51 }),
    isNamed: fc.array(fc.boolean(), { minLength: 51, maxLength: 51 }),
  })
  .map(({ topics, isNamed }) => ({
    topicSimilarity: ({ ref }) => topics[ref.number] ?? null,
    identity: ({ ref }) => ({ named: isNamed[ref.number] === true, similarity: topics[ref.number] ?? null }),
  }));

const boostOf = (effective: EffectiveProfile, meeting: Meeting) => {
  const met = meetProfile(effective, meeting);
  return topicBoost(met.topics, met.protectTenantInterests);
};

const keysOf = (topics: readonly EffectiveTopic[]) => topics.map(({ topic }) => topicKey(topic));

/** Everything that a profile sets, as lines. */
function statements({
  interests,
  disinterests,
  persona,
  icnuWeights,
  ...numbers
}: ProfileSettings): string[] {
  const { identity, ...traits } = persona;
  const values = Object.entries({ icnuWeights, ...numbers, ...traits });
  return [
    ...interests.map(({ topic }) => `+${topic}`),
    ...disinterests.map(({ topic }) => `-${topic}`),
    ...identity.map((entry) => `=${entry.term}`),
    ...values.filter(([, value]) => value !== null).map(([name]) => name),
  ];
}

describe('mergeProfiles, whatever the profiles', () => {
  it('gives the same for the same and leaves its arguments alone', () => {
    fc.assert(
      fc.property(anyPolicy, anyHierarchy, (policy, profiles) => {
        const before = structuredClone(profiles);
        const effective = mergeProfiles(policy, deepFreeze(profiles));
        expect(profiles).toEqual(before);
        expect(mergeProfiles(policy, before)).toEqual(effective);
      }),
    );
  });

  it("gives the same entries in whatever order a profile's lists stand", () => {
    const turned = <P extends ProfileSettings | null>(profile: P): P | ProfileSettings =>
      profile === null
        ? profile
        : {
            ...profile,
            interests: profile.interests.toReversed(),
            disinterests: profile.disinterests.toReversed(),
            persona: { ...profile.persona, identity: profile.persona.identity.toReversed() },
          };
    const sorted = ({ interests, disinterests, persona, blocked, ...rest }: EffectiveProfile) => ({
      ...rest,
      persona: { ...persona, identity: new Set(persona.identity) },
      entries: new Set([...interests, ...disinterests]),
      blocked: new Set(blocked),
    });
    fc.assert(
      fc.property(anyPolicy, anyHierarchy, (policy, { tenant, agent, user }) => {
        const straight = mergeProfiles(policy, { tenant, agent, user });
        const reversed = mergeProfiles(policy, {
          tenant: turned(tenant),
          agent: turned(agent),
          user: turned(user),
        });
        expect(sorted(reversed)).toEqual(sorted(straight));
        const parts = { model: 'm', calibration: 'c' };
        expect(profileFingerprint(reversed, parts)).toBe(profileFingerprint(straight, parts));
      }),
    );
  });

  it('has each topic once, in one list, and each identity term once', () => {
    fc.assert(
      fc.property(anyPolicy, anyHierarchy, (policy, profiles) => {
        const { interests, disinterests, persona } = mergeProfiles(policy, profiles);
        const keys = [...keysOf(interests), ...keysOf(disinterests)];
        expect(new Set(keys).size).toBe(keys.length);
        const terms = persona.identity.map(({ term }) => topicKey(term));
        expect(new Set(terms).size).toBe(terms.length);
      }),
    );
  });

  it('loses no topic: each one stands, is blocked, or was overridden', () => {
    fc.assert(
      fc.property(anyPolicy, anyHierarchy, (policy, profiles) => {
        const { interests, disinterests, blocked } = mergeProfiles(policy, profiles);
        const told = [...interests, ...disinterests].flatMap(({ topic, list, level, origin, overrides }) => [
          `${origin} ${list} ${topicKey(topic)} ${level}`,
          ...overrides.map((over) => `${over.origin} ${over.list} ${topicKey(topic)} ${over.level}`),
        ]);
        for (const { origin, setting, topic, level } of blocked) {
          if (setting === 'INTEREST' || setting === 'DISINTEREST')
            told.push(`${origin} ${setting} ${topicKey(topic ?? '')} ${level}`);
        }
        const said = (['TENANT', 'AGENT', 'USER'] as const).flatMap((origin) => {
          const profile = profiles[origin.toLowerCase() as keyof ProfileHierarchy];
          const of = (list: 'INTEREST' | 'DISINTEREST') =>
            (profile?.[list === 'INTEREST' ? 'interests' : 'disinterests'] ?? []).map(
              ({ topic, level }) => `${origin} ${list} ${topicKey(topic)} ${level}`,
            );
          return [...of('INTEREST'), ...of('DISINTEREST')];
        });
        expect(told.sort()).toEqual(said.sort());
      }),
    );
  });

  it('names the owner of a value: it is what that profile says, and a default only where it applies', () => {
    fc.assert(
      fc.property(anyPolicy, anyHierarchy, (policy, profiles) => {
        const effective = mergeProfiles(policy, profiles);
        const owners = { TENANT: profiles.tenant, AGENT: profiles.agent, USER: profiles.user };
        for (const name of [
          'icnuWeights',
          'alpha',
          'beta',
          'flashbulbThreshold',
          'similarityThreshold',
        ] as const) {
          const { origin, value } = effective[name];
          if (origin !== 'DEFAULT') expect(owners[origin]?.[name]).toEqual(value);
          else expect(profiles.tenant[name]).toBeNull();
        }
        for (const name of ['name', 'valenceBias', 'arousalSensitivity', 'selfRelevanceBoost'] as const) {
          const { origin, value } = effective.persona[name];
          if (origin !== 'DEFAULT') expect(owners[origin]?.persona[name]).toBe(value);
          else expect(profiles.tenant.persona[name]).toBeNull();
        }
      }),
    );
  });

  it('CASE 45: takes unset for nothing: a profile in which nothing is set changes nothing', () => {
    fc.assert(
      fc.property(anyPolicy, anyHierarchy, (policy, profiles) => {
        const without = mergeProfiles(policy, { ...profiles, agent: null });
        expect(mergeProfiles(policy, { ...profiles, agent: settings() })).toEqual(without);
        expect(mergeProfiles(policy, { ...profiles, user: settings() })).toEqual(
          mergeProfiles(policy, { ...profiles, user: null }),
        );
      }),
    );
  });

  it('under TENANT_ONLY is the same whatever the children set, and says so of each thing', () => {
    fc.assert(
      fc.property(anyHierarchy, ({ tenant, agent, user }) => {
        const { blocked, ...effective } = mergeProfiles('TENANT_ONLY', { tenant, agent, user });
        expect({ ...effective, blocked: [] }).toEqual(
          mergeProfiles('TENANT_ONLY', { tenant, agent: null, user: null }),
        );
        const set = [agent, user].flatMap((profile) => (profile === null ? [] : statements(profile)));
        expect(blocked).toHaveLength(set.length);
        expect(blocked.every(({ reason }) => reason === 'TENANT_ONLY')).toBe(true);
      }),
    );
  });

  it('under FULL_OVERRIDE blocks nothing but a threshold that is not stricter', () => {
    fc.assert(
      fc.property(anyHierarchy, (profiles) => {
        for (const { setting, reason } of mergeProfiles('FULL_OVERRIDE', profiles).blocked) {
          expect(reason).toBe('NOT_STRICTER');
          expect(['FLASHBULB_THRESHOLD', 'SIMILARITY_THRESHOLD']).toContain(setting);
        }
      }),
    );
  });
});

describe('scores, whatever the profiles', () => {
  it("never weaken a tenant's matching interest for what a child wants, unless FULL_OVERRIDE", () => {
    let protectedRuns = 0;
    fc.assert(
      fc.property(
        fc.constantFrom('TENANT_ONLY' as const, 'ADDITIVE_TOPICS' as const),
        anyHierarchy,
        anyMeeting,
        (policy, profiles, meeting) => {
          const own = boostOf(mergeProfiles(policy, { ...profiles, agent: null, user: null }), meeting);
          if (!own.matched.some(({ list }) => list === 'INTEREST')) return;
          protectedRuns += 1;
          expect(boostOf(mergeProfiles(policy, profiles), meeting).boost).toBeGreaterThanOrEqual(own.boost);
        },
      ),
      { numRuns: 1000 },
    );
    expect(protectedRuns).toBeGreaterThan(50);
  });

  it("let a child weaken a tenant's matching interest under FULL_OVERRIDE", () => {
    const weakens = fc.property(anyHierarchy, anyMeeting, (profiles, meeting) => {
      const own = boostOf(mergeProfiles('FULL_OVERRIDE', { ...profiles, agent: null, user: null }), meeting);
      if (!own.matched.some(({ list }) => list === 'INTEREST')) return true;
      return boostOf(mergeProfiles('FULL_OVERRIDE', profiles), meeting).boost >= own.boost;
    });
    expect(fc.check(weakens, { numRuns: 1000 }).failed).toBe(true);
  });

  it('do not depend on a child under TENANT_ONLY', () => {
    fc.assert(
      fc.property(
        anySettings,
        anySettings,
        anySettings,
        anyInputs,
        anyMeeting,
        (tenant, agent, user, inputs, meeting) => {
          const score = (profiles: ProfileHierarchy) =>
            encodeImportance(inputs, meetProfile(mergeProfiles('TENANT_ONLY', profiles), meeting));
          expect(score({ tenant, agent, user })).toEqual(score({ tenant, agent: null, user: null }));
        },
      ),
    );
  });

  it('lie on the scale of importance', () => {
    fc.assert(
      fc.property(anyPolicy, anyHierarchy, anyInputs, anyMeeting, (policy, profiles, inputs, meeting) => {
        const { encoded, topicBoost: boost } = encodeImportance(
          inputs,
          meetProfile(mergeProfiles(policy, profiles), meeting),
        );
        expect(encoded).toBeGreaterThanOrEqual(0.05);
        expect(encoded).toBeLessThanOrEqual(10);
        expect(boost).toBeGreaterThanOrEqual(0.01);
        expect(boost).toBeLessThanOrEqual(2);
      }),
      { numRuns: 300 },
    );
  });

  it('and fingerprints do not depend on order, refs, or what only recall and readers look at', () => {
    const parts = { model: 'm', calibration: 'c' };
    const retold = (profile: ProfileSettings): ProfileSettings => {
      const renumbered = { id: 'other', number: 0 };
      const topics = (entries: ProfileSettings['interests']) =>
        entries.map(({ topic, level }) => ({ topic, level, ref: renumbered })).reverse();
      const identity = profile.persona.identity.map(({ term }) => ({ term, ref: renumbered })).reverse();
      return {
        ...profile,
        interests: topics(profile.interests),
        disinterests: topics(profile.disinterests),
        icnuWeights: { importance: 0, coactivation: 0, novelty: 0, urgency: 1 },
        persona: { ...profile.persona, name: 'Somebody else', identity },
      };
    };
    // What a topic is to a fact is here a matter of its text alone.
    const meeting: Meeting = {
      topicSimilarity: ({ topic }) => (topicKey(topic).length % 7) / 6,
      identity: ({ term }) => ({ named: false, similarity: (topicKey(term).length % 5) / 4 }),
    };
    fc.assert(
      fc.property(anyPolicy, anyHierarchy, anyInputs, (policy, { tenant, agent, user }, inputs) => {
        const told = mergeProfiles(policy, { tenant, agent, user });
        const again = mergeProfiles(policy, {
          tenant: retold(tenant),
          agent: agent && retold(agent),
          user: user && retold(user),
        });
        expect(profileFingerprint(again, parts)).toBe(profileFingerprint(told, parts));
        const { matchedTopics: before, ...score } = encodeImportance(inputs, meetProfile(told, meeting));
        const { matchedTopics: after, ...rescore } = encodeImportance(inputs, meetProfile(again, meeting));
        expect(rescore).toEqual(score);
        expect(after).toHaveLength(before.length);
      }),
    );
  });
});

describe('topicKey', () => {
  it('of a key is the key, and neither case nor form makes a difference', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const key = topicKey(text);
        expect(topicKey(key)).toBe(key);
        expect(topicKey(` ${text.toUpperCase()} `)).toBe(key);
        expect(topicKey(text.normalize('NFD'))).toBe(key);
      }),
      { numRuns: 2000 },
    );
  });
});
