import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type EffectiveProfile,
  mergeProfiles,
  type ProfileHierarchy,
  profileFingerprint,
} from '../../src/salience/index.js';
import { anyHierarchy, anyPolicy, entry, hierarchy, settings, term } from './profiles.js';

const PARTS = { model: 'bundled-1', calibration: '3' };

const TENANT = settings({
  interests: [entry('patient safety', 'CRITICAL', 1), entry('billing', 'HIGH', 2)],
  disinterests: [entry('small talk', 'LOW', 3)],
  persona: { name: 'Auditor', identity: [term('audit'), term('security')] },
});

const print = (profiles: Partial<ProfileHierarchy>, policy: EffectiveProfile['policy'] = 'ADDITIVE_TOPICS') =>
  profileFingerprint(mergeProfiles(policy, hierarchy(profiles)), PARTS);

const withTenant = (overrides: Parameters<typeof settings>[0]) =>
  print({
    tenant: settings({ ...TENANT, ...overrides, persona: { ...TENANT.persona, ...overrides?.persona } }),
  });

describe('profileFingerprint', () => {
  const original = print({ tenant: TENANT });

  it('is 32 hexadecimal digits', () => {
    expect(original).toMatch(/^[0-9a-f]{32}$/);
  });

  it('stays what it was: a change of it has every fact scored anew', () => {
    expect(print({})).toBe('829b79e7fde42454a6605d1358235747');
    expect(original).toBe('f6137e8365fb3954f7e7c0ebc9f86ea0');
  });

  it.each([
    ['a topic more', { interests: [...TENANT.interests, entry('cardiology')] }],
    ['a topic less', { interests: TENANT.interests.slice(1) }],
    ['a level', { interests: [entry('patient safety', 'HIGH', 1), entry('billing', 'HIGH', 2)] }],
    [
      'a list',
      {
        interests: TENANT.interests.slice(0, 1),
        disinterests: [entry('billing', 'HIGH', 2), entry('small talk', 'LOW', 3)],
      },
    ],
    ['the similarity threshold', { similarityThreshold: 0.51 }],
    ['alpha', { alpha: 0.5 }],
    ['beta', { beta: 0.5 }],
    [
      'the spelling of a topic, whose vector is another then',
      { interests: [entry('Patient Safety', 'CRITICAL', 1), entry('billing', 'HIGH', 2)] },
    ],
    ['the spelling of an identity term', { persona: { identity: [term('AUDIT'), term('security')] } }],
    ['the valence bias', { persona: { valenceBias: -1 } }],
    ['the arousal sensitivity', { persona: { arousalSensitivity: 1.1 } }],
    ['the boost of self-relevance', { persona: { selfRelevanceBoost: 1.3 } }],
    ['an identity term more', { persona: { identity: [...TENANT.persona.identity, term('sox')] } }],
    ['an identity term less', { persona: { identity: [term('audit')] } }],
  ])('changes with %s', (_, overrides) => {
    expect(withTenant(overrides)).not.toBe(original);
  });

  it.each([
    ['the order of topics', { interests: TENANT.interests.toReversed() }],
    ['the order of identity terms', { persona: { identity: TENANT.persona.identity.toReversed() } }],
    ['the flashbulb threshold, which acts when a fact is taken in', { flashbulbThreshold: 2.5 }],
    ['refs', { interests: [entry('patient safety', 'CRITICAL', 77), entry('billing', 'HIGH', 78)] }],
    ['ICNU weights', { icnuWeights: { importance: 1, coactivation: 0, novelty: 0, urgency: 0 } }],
    ["the persona's name", { persona: { name: 'Nurse' } }],
    ['a default that is set', { alpha: 0.6, beta: 0.4, flashbulbThreshold: 3, similarityThreshold: 0.5 }],
  ])('does not change with %s', (_, overrides) => {
    expect(withTenant(overrides)).toBe(original);
  });

  it('does not change with how Unicode writes a character', () => {
    const spelled = (topic: string) =>
      print({ tenant: settings({ interests: [entry(topic)], persona: { identity: [term(topic)] } }) });
    expect(spelled('caf\u00e9')).toBe(spelled('cafe\u0301'));
  });

  it('changes with the owner of a topic, which protection looks at', () => {
    expect(print({ user: settings({ interests: [entry('billing')] }) })).not.toBe(
      print({ tenant: settings({ interests: [entry('billing')] }) }),
    );
  });

  it("changes with a topic's own threshold alone", () => {
    const [a, b] = [settings({ interests: [entry('a')] }), settings({ interests: [entry('b')] })];
    const raised = { similarityThreshold: 0.8 };
    // Effective threshold and topics are the same; whose topics have the higher threshold is not.
    expect(print({ agent: a, user: { ...b, ...raised } })).not.toBe(
      print({ agent: { ...a, ...raised }, user: b }),
    );
  });

  it('changes with the policy only where the policy makes a difference', () => {
    expect(print({ tenant: TENANT }, 'TENANT_ONLY')).toBe(original);
    expect(print({ tenant: TENANT }, 'FULL_OVERRIDE')).not.toBe(original);
  });

  it('does not change with what is blocked', () => {
    const user = settings({ interests: [entry('Billing', 'CRITICAL')], alpha: 0.1 });
    expect(print({ tenant: TENANT, user })).toBe(original);
  });

  it('changes with the model and with the calibration, and does not take one for the other', () => {
    const effective = mergeProfiles('ADDITIVE_TOPICS', hierarchy({ tenant: TENANT }));
    const prints = [
      PARTS,
      { ...PARTS, model: 'bundled-2' },
      { ...PARTS, calibration: '4' },
      { model: PARTS.calibration, calibration: PARTS.model },
      { model: 'bundled-1","3', calibration: '' },
    ].map((parts) => profileFingerprint(effective, parts));
    expect(new Set(prints).size).toBe(prints.length);
  });

  it('does not take two topics for one whose name holds both', () => {
    expect(withTenant({ interests: [entry('a","INTEREST', 'HIGH')] })).not.toBe(
      withTenant({ interests: [entry('a', 'HIGH')] }),
    );
  });

  it('is equal exactly where all that scores depend on is equal', () => {
    fc.assert(
      fc.property(
        anyPolicy,
        anyHierarchy,
        anyPolicy,
        anyHierarchy,
        fc.boolean(),
        (p1, h1, p2, h2, isNear) => {
          // Independent profiles are hardly ever equal, so half of the pairs differ in one owner at most.
          const first = mergeProfiles(p1, h1);
          const second = mergeProfiles(p2, isNear ? { ...h1, user: h2.user } : h2);
          const areEqual = JSON.stringify(relevant(first)) === JSON.stringify(relevant(second));
          expect(profileFingerprint(first, PARTS) === profileFingerprint(second, PARTS)).toBe(areEqual);
        },
      ),
      { numRuns: 500 },
    );
  });
});

/** All that scores depend on, as text of one order. */
function relevant(effective: EffectiveProfile): unknown {
  const { persona } = effective;
  const topics = [...effective.interests, ...effective.disinterests].map(
    ({ topic, list, level, origin, similarityThreshold }) =>
      `${list} ${origin} ${level} ${similarityThreshold} ${topic.normalize('NFC')}`,
  );
  return {
    isProtected: effective.policy !== 'FULL_OVERRIDE',
    topics: topics.sort(),
    numbers: [
      effective.alpha,
      effective.beta,
      effective.similarityThreshold,
      persona.valenceBias,
      persona.arousalSensitivity,
      persona.selfRelevanceBoost,
    ].map(({ value }) => value),
    identity: persona.identity.map(({ term: text }) => text.normalize('NFC')).sort(),
  };
}
