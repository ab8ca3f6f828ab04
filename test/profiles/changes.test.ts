import { describe, expect, test } from 'vitest';
import { changesScores, profileChanges } from '../../src/profiles/changes.js';
import { fromSnapshot, type ProfileValues, toSnapshot, UNSET_VALUES } from '../../src/profiles/values.js';

const FULL: ProfileValues = {
  interests: [
    { topic: 'cardiology', level: 'HIGH' },
    { topic: 'patient safety', level: 'CRITICAL' },
  ],
  disinterests: [{ topic: 'meeting notes', level: 'IGNORE' }],
  icnuWeights: { importance: 0.3, coactivation: 0.2, novelty: 0.3, urgency: 0.2 },
  alpha: 0.5,
  beta: 0,
  flashbulbThreshold: 2.5,
  similarityThreshold: 0.6,
  persona: {
    name: 'Nurse',
    valenceBias: -40,
    arousalSensitivity: 1.8,
    selfRelevanceBoost: 1.2,
    identity: ['ward 4', 'Sam'],
  },
};

describe('what changed in a profile', () => {
  test('is nothing between equal ones, whatever the order of their lists', () => {
    expect(profileChanges(FULL, FULL)).toEqual([]);
    const turned = {
      ...FULL,
      interests: FULL.interests.toReversed(),
      persona: { ...FULL.persona, identity: FULL.persona.identity.toReversed() },
    };
    expect(profileChanges(FULL, turned)).toEqual([]);
  });

  test('is every setting, in their order, from an unset one', () => {
    const single = (setting: string, after: string) => ({ setting, topic: null, before: null, after });
    const listed = (setting: string, topic: string, after: string) => ({
      setting,
      topic,
      before: null,
      after,
    });
    const changes = profileChanges(UNSET_VALUES, FULL);
    expect(changes).toEqual([
      listed('INTEREST', 'cardiology', 'HIGH'),
      listed('INTEREST', 'patient safety', 'CRITICAL'),
      listed('DISINTEREST', 'meeting notes', 'IGNORE'),
      single('ICNU_WEIGHTS', 'importance 0.3, coactivation 0.2, novelty 0.3, urgency 0.2'),
      single('ALPHA', '0.5'),
      single('BETA', '0'),
      single('FLASHBULB_THRESHOLD', '2.5'),
      single('SIMILARITY_THRESHOLD', '0.6'),
      single('PERSONA_NAME', 'Nurse'),
      single('VALENCE_BIAS', '-40'),
      single('AROUSAL_SENSITIVITY', '1.8'),
      single('SELF_RELEVANCE_BOOST', '1.2'),
      listed('IDENTITY', 'ward 4', 'ward 4'),
      listed('IDENTITY', 'Sam', 'Sam'),
    ]);
    // And the other way round.
    expect(profileChanges(FULL, UNSET_VALUES)).toEqual(
      changes.map((change) => ({ ...change, before: change.after, after: null })),
    );
  });

  test('is a level, a list or a spelling of a topic', () => {
    const changes = profileChanges(FULL, {
      ...FULL,
      interests: [
        { topic: 'cardiology', level: 'LOW' },
        { topic: 'Patient Safety', level: 'CRITICAL' },
      ],
      disinterests: [],
    });
    expect(changes.map(({ setting, topic, before, after }) => [setting, topic, before, after])).toEqual([
      ['INTEREST', 'cardiology', 'HIGH', 'LOW'],
      ['INTEREST', 'patient safety', 'CRITICAL', null],
      ['INTEREST', 'Patient Safety', null, 'CRITICAL'],
      ['DISINTEREST', 'meeting notes', 'IGNORE', null],
    ]);
  });

  test('changes scores, but for weights of recall, the flashbulb threshold and the name', () => {
    const isScored = (changed: Partial<ProfileValues>) =>
      changesScores(profileChanges(FULL, { ...FULL, ...changed }));
    expect(isScored({ icnuWeights: null })).toBe(false);
    expect(isScored({ persona: { ...FULL.persona, name: null } })).toBe(false);
    expect(isScored({ flashbulbThreshold: 9 })).toBe(false);
    expect(isScored({ icnuWeights: null, alpha: null })).toBe(true);
    expect(isScored({ persona: { ...FULL.persona, identity: [] } })).toBe(true);
    expect(isScored({ disinterests: [] })).toBe(true);
  });
});

test('a snapshot reads as what was written, and none as unset', () => {
  expect(fromSnapshot(toSnapshot(FULL))).toEqual(FULL);
  expect(fromSnapshot(null)).toEqual(UNSET_VALUES);
});
