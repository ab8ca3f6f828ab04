import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeImportance,
  NEUTRAL_PROFILE,
  resolveHints,
  SalienceInputError,
} from '../../src/salience/index.js';
import { anyInputs, anyProfile, identity, inputs, profile, topic } from './builders.js';

const score = (overrides: Parameters<typeof inputs>[0] = {}, settings: Parameters<typeof profile>[0] = {}) =>
  encodeImportance(inputs(overrides), profile(settings));

describe('encodeImportance: base', () => {
  it.each([
    [0.8, -2, 0.315],
    [0.9, -1, 0.878],
    [1.0, 0, 2.353],
    [1.1, 1, 5.025],
    [1.2, 2, 7.697],
    [1.4, 4, 9.735],
  ])('of distance %s (z %s) is %s', (distance, z, base) => {
    const breakdown = score({ distance });
    expect(breakdown.spatialZ).toBeCloseTo(z, 9);
    expect(breakdown.base).toBeCloseTo(base, 3);
    expect(breakdown).toMatchObject({ baseSource: 'NOVELTY', warmup: false, temporalZ: null });
    expect(breakdown.z).toBe(breakdown.spatialZ);
    expect(breakdown.encoded).toBe(breakdown.base);
  });

  it('is 1.0 in warm-up, however far the fact', () => {
    const breakdown = score({ distance: 2, baseline: null });
    expect(breakdown).toMatchObject({
      base: 1,
      baseSource: 'WARMUP',
      warmup: true,
      z: null,
      spatialZ: null,
      temporalZ: null,
      flashbulb: false,
      encoded: 1,
      distance: 2,
    });
  });

  it('is 1.0 without a neighbour: the first fact of a new scope is no flashbulb', () => {
    expect(score({ distance: null, nearestSimilarity: null, gapHours: null })).toMatchObject({
      base: 1,
      baseSource: 'NO_NEIGHBOUR',
      warmup: false,
      z: null,
      flashbulb: false,
    });
  });

  it('has z 0 where all distances were alike', () => {
    expect(score({ distance: 2, baseline: { n: 40, mean: 1, sigma: 0, origin: 'TENANT' } })).toMatchObject({
      spatialZ: 0,
      flashbulb: false,
    });
  });
});

describe('encodeImportance: dual surprise', () => {
  const known = { distance: 0.2, nearestSimilarity: 0.9 };

  it('scores a known statement 0.88 on the same day', () => {
    const breakdown = score({ ...known, gapHours: 0 });
    expect(breakdown.temporalZ).toBe(-1);
    expect(breakdown.z).toBeCloseTo(-1, 12);
    expect(breakdown.encoded).toBeCloseTo(0.88, 2);
  });

  it('scores it 6.20 after 180 days', () => {
    const breakdown = score({ ...known, gapHours: 180 * 24 });
    expect(breakdown.temporalZ).toBe(5);
    expect(breakdown.z).toBeCloseTo(1.4, 12);
    expect(breakdown.encoded).toBeCloseTo(6.2, 2);
  });

  it('is told apart at a similarity of 0.75', () => {
    expect(score({ ...known, nearestSimilarity: 0.75 }).temporalZ).not.toBeNull();
    expect(score({ ...known, nearestSimilarity: 0.7499 }).temporalZ).toBeNull();
  });

  it("weighs by the profile's alpha and beta", () => {
    expect(score({ ...known, gapHours: 180 * 24 }, { alpha: 0.5, beta: 0.5 }).z).toBeCloseTo(2, 12);
  });

  it('takes a restatement for known whatever its similarity', () => {
    const restated = { distance: 0.2, nearestSimilarity: 0.6, gapHours: 180 * 24, reaffirmed: true };
    expect(score(restated).encoded).toBeCloseTo(6.2, 2);
  });

  it('is spatial alone when the gap is not known', () => {
    expect(score({ ...known, gapHours: null })).toMatchObject({ temporalZ: null });
    expect(score({ ...known, gapHours: null }).z).toBeCloseTo(-8, 9);
  });

  it('does not apply in warm-up', () => {
    expect(score({ ...known, gapHours: 180 * 24, baseline: null })).toMatchObject({
      base: 1,
      temporalZ: null,
    });
  });

  it('takes a back-dated restatement for one of the same moment', () => {
    expect(score({ ...known, gapHours: -1000 }).encoded).toBe(score({ ...known, gapHours: 0 }).encoded);
  });
});

describe('encodeImportance: hints', () => {
  const hinted = (caller: Parameters<typeof resolveHints>[0]['caller'], rest = {}) =>
    score({ ...resolveHints({ caller }), ...rest });

  it('is 8.21 for I .7, C .5, U 1.0 at distance 1.8', () => {
    const breakdown = hinted({ interest: 0.7, challenge: 0.5, urgency: 1 }, { distance: 1.8 });
    expect(breakdown.baseSource).toBe('HINTS');
    expect(breakdown.base).toBeCloseTo(8.21, 2);
  });

  it.each([
    ['interest alone', { interest: 0.5 }, 0.05 + 9.95 * (0.15 + 0.4 * 0.5)],
    ['challenge alone', { challenge: 0.5 }, 0.05 + 9.95 * (0.05 + 0.4 * 0.5)],
    ['an interest of 0', { interest: 0 }, 0.05 + 9.95 * 0.4 * 0.5],
    ['hints out of range', { interest: 9, urgency: -9 }, 0.05 + 9.95 * (0.3 + 0.4 * 0.5)],
  ])('takes %s', (_, caller, base) => {
    expect(hinted(caller).base).toBeCloseTo(base, 9);
  });

  it.each([{ urgency: 1 }, { arousal: 1 }, { valence: -1 }])('is novelty only for %o', (caller) => {
    expect(hinted(caller).baseSource).toBe('NOVELTY');
  });

  it('needs no baseline, and counts "no neighbour" as all new', () => {
    const alone = { distance: null, nearestSimilarity: null, gapHours: null, baseline: null };
    const breakdown = hinted({ interest: 0.7, challenge: 0.5, urgency: 1 }, alone);
    expect(breakdown.base).toBeCloseTo(0.05 + 9.95 * 0.86, 9);
    expect(breakdown).toMatchObject({ baseSource: 'HINTS', warmup: true });
  });

  it('still shows z and decides the flashbulb by it', () => {
    const breakdown = hinted({ interest: 0 }, { distance: 1.5 });
    expect(breakdown.z).toBeCloseTo(5, 9);
    expect(breakdown.flashbulb).toBe(true);
  });
});

describe('encodeImportance: modulation', () => {
  const bad = resolveHints({ extractor: { valence: -0.8 } });
  const good = resolveHints({ extractor: { valence: 0.8 } });

  it.each([
    ['bad', bad, 1.48],
    ['good', good, 0.52],
  ])('a bias of −60 makes of %s news a factor', (_, hints, factor) => {
    const breakdown = score({ ...hints }, { persona: { valenceBias: -60 } });
    expect(breakdown.valenceFactor).toBeCloseTo(factor, 12);
    expect(breakdown.encoded).toBeCloseTo(breakdown.base * factor, 12);
  });

  it('multiplies by a matching topic and names it', () => {
    const breakdown = score({}, { topics: [topic()] });
    expect(breakdown.topicBoost).toBeCloseTo(1.64, 12);
    expect(breakdown.matchedTopics).toHaveLength(1);
    expect(breakdown.encoded).toBeCloseTo(breakdown.base * 1.64, 12);
  });

  it('suppresses a disinterest nearly, not wholly', () => {
    const topics = [topic({ list: 'DISINTEREST', level: 'IGNORE', similarity: 0.91 })];
    expect(score({}, { topics }).encoded).toBeCloseTo(2.353 * 0.091, 3);
    expect(score({ distance: 0.2 }, { topics }).encoded).toBe(0.05);
  });

  it('boosts what is about the persona', () => {
    const breakdown = score({}, { persona: { identity: [identity({ named: true })] } });
    expect(breakdown.selfRelevanceFactor).toBe(1.2);
    expect(breakdown.encoded).toBeCloseTo(breakdown.base * 1.2, 12);
  });

  it('gives arousal to the decay resistance alone', () => {
    const calm = score();
    const stirring = score(resolveHints({ caller: { arousal: 1 } }), { persona: { arousalSensitivity: 2 } });
    expect(stirring.encoded).toBe(calm.encoded);
    expect(stirring.arousal).toBe(1);
    expect(stirring.decayResistance).toBeCloseTo(2.3, 12);
    expect(calm.decayResistance).toBe(1);
  });

  it('takes a surprise of z 3 for an arousal of 0.75', () => {
    const breakdown = score({ distance: 1.3 });
    expect(breakdown.arousal).toBeCloseTo(0.75, 9);
    expect(breakdown.decayResistance).toBeCloseTo(1 + 0.65 * 0.75, 9);
  });

  it('takes a return after a long gap for stirring too', () => {
    const breakdown = score({ distance: 0.2, nearestSimilarity: 0.9, gapHours: 180 * 24 });
    expect(breakdown.arousal).toBeCloseTo(1.4 / 4, 9);
  });

  it('multiplies all of it and clamps once, at the end', () => {
    const settings = {
      topics: [topic({ similarity: 1 })],
      persona: { valenceBias: 100, identity: [identity({ named: true })] },
    };
    // 5.025 × 2 is over 10 on the way; × 0.2 × 1.2 brings it back.
    const breakdown = score({ distance: 1.1, ...resolveHints({ caller: { valence: -1 } }) }, settings);
    expect(breakdown.encoded).toBeCloseTo(5.025 * 2 * 0.2 * 1.2, 3);
    expect(score({ distance: 1.2 }, settings).encoded).toBe(10);
  });
});

describe('encodeImportance: flashbulb', () => {
  it.each([
    [1.2999, 3, false],
    [1.3001, 3, true],
    [1.2, 1.5, true],
    [1.3001, 10, false],
  ])('distance %s at threshold %s: %s', (distance, flashbulbThreshold, flashbulb) => {
    expect(score({ distance }, { flashbulbThreshold }).flashbulb).toBe(flashbulb);
  });

  it('includes the threshold itself', () => {
    const exact = { distance: 1.5, baseline: { n: 20, mean: 0, sigma: 0.5, origin: 'SCOPE' } } as const;
    expect(score(exact).spatialZ).toBe(3);
    expect(score(exact).flashbulb).toBe(true);
  });

  it('keeps the encoded value computed', () => {
    const breakdown = score({ distance: 1.3001 });
    expect(breakdown.flashbulb).toBe(true);
    expect(breakdown.encoded).toBeCloseTo(9.172, 2);
  });

  it('looks at the spatial z, not at the gap', () => {
    const far = { distance: 1.31, nearestSimilarity: 0.9, gapHours: 0 };
    expect(score(far).z).toBeLessThan(3);
    expect(score(far).flashbulb).toBe(true);
    expect(score({ ...far, distance: 1.2, gapHours: 1e6 }).z).toBeGreaterThan(3);
    expect(score({ ...far, distance: 1.2, gapHours: 1e6 }).flashbulb).toBe(false);
  });

  it('is neither gained nor lost at a rescore', () => {
    expect(score({ distance: 2, flashbulb: false }, { flashbulbThreshold: 1.5 }).flashbulb).toBe(false);
    expect(score({ distance: 1.31, flashbulb: true }, { flashbulbThreshold: 10 }).flashbulb).toBe(true);
  });

  it('is not made by a restatement', () => {
    expect(score({ distance: 2, reaffirmed: true }).flashbulb).toBe(false);
  });
});

describe('encodeImportance: as a function', () => {
  it('always lies on the scale, finite and complete, whatever is allowed in', () => {
    fc.assert(
      fc.property(anyInputs, anyProfile, (any, settings) => {
        const b = encodeImportance(any, settings);
        expect(b.encoded).toBeGreaterThanOrEqual(0.05);
        expect(b.encoded).toBeLessThanOrEqual(10);
        expect(b.base).toBeGreaterThanOrEqual(0.05);
        expect(b.base).toBeLessThanOrEqual(10);
        expect(b.decayResistance).toBeGreaterThanOrEqual(1);
        expect(b.decayResistance).toBeLessThanOrEqual(2.3);
        for (const value of Object.values(b)) {
          if (typeof value === 'number') expect(Number.isFinite(value)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is explained by its own breakdown', () => {
    fc.assert(
      fc.property(anyInputs, anyProfile, (any, settings) => {
        const b = encodeImportance(any, settings);
        const product = b.base * b.topicBoost * b.valenceFactor * b.selfRelevanceFactor;
        expect(b.encoded).toBe(Math.min(10, Math.max(0.05, product)));
      }),
    );
  });

  it('gives the same for inputs that were stored and read back, with nothing changed in them', () => {
    fc.assert(
      fc.property(anyInputs, anyProfile, (any, settings) => {
        const before = JSON.stringify([any, settings]);
        const first = encodeImportance(any, settings);
        const [stored, again] = JSON.parse(before) as [typeof any, typeof settings];
        // −0 is stored as 0; no score may depend on the difference.
        expect(JSON.stringify(encodeImportance(stored, again))).toBe(JSON.stringify(first));
        expect(JSON.stringify([any, settings])).toBe(before);
      }),
    );
  });

  it('does not compound: another profile and back gives the first result', () => {
    fc.assert(
      fc.property(anyInputs, anyProfile, anyProfile, (any, a, b) => {
        const first = encodeImportance(any, a);
        const kept = { ...any, flashbulb: first.flashbulb };
        encodeImportance(kept, b);
        expect(encodeImportance(kept, a)).toEqual(first);
      }),
    );
  });

  const bad = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const baseline = { n: 20, mean: 1, sigma: 0.1, origin: 'SCOPE' } as const;
  const noHints = inputs().hints;

  describe.each(bad)('refuses %s', (value) => {
    it.each([
      ['inputs.distance', { distance: value }],
      ['inputs.nearestSimilarity', { nearestSimilarity: value }],
      ['inputs.gapHours', { gapHours: value }],
      ['inputs.baseline.n', { baseline: { ...baseline, n: value } }],
      ['inputs.baseline.mean', { baseline: { ...baseline, mean: value } }],
      ['inputs.baseline.sigma', { baseline: { ...baseline, sigma: value } }],
      ['inputs.hints.interest', { hints: { ...noHints, interest: value } }],
      ['inputs.hints.challenge', { hints: { ...noHints, challenge: value } }],
      ['inputs.hints.urgency', { hints: { ...noHints, urgency: value } }],
      ['inputs.hints.valence', { hints: { ...noHints, valence: value } }],
      ['inputs.hints.arousal', { hints: { ...noHints, arousal: value } }],
    ])('as %s', (field, overrides) => {
      expect(fieldRefused(() => score(overrides))).toBe(field);
    });

    it.each([
      ['profile.alpha', { alpha: value }],
      ['profile.beta', { beta: value }],
      ['profile.flashbulbThreshold', { flashbulbThreshold: value }],
      ['profile.similarityThreshold', { similarityThreshold: value }],
      ['profile.persona.valenceBias', { persona: { valenceBias: value } }],
      ['profile.persona.arousalSensitivity', { persona: { arousalSensitivity: value } }],
      ['profile.persona.selfRelevanceBoost', { persona: { selfRelevanceBoost: value } }],
      ['profile.topics[1].similarity', { topics: [topic(), topic({ similarity: value })] }],
      ['profile.topics[0].similarityThreshold', { topics: [topic({ similarityThreshold: value })] }],
      [
        'profile.persona.identity[0].similarity',
        { persona: { identity: [identity({ similarity: value })] } },
      ],
    ])('as %s', (field, settings) => {
      expect(fieldRefused(() => score({}, settings))).toBe(field);
    });
  });

  it.each([
    ['inputs.distance', { distance: 2.5 }],
    ['inputs.nearestSimilarity', { nearestSimilarity: 47 }],
    ['inputs.baseline.n', { baseline: { ...baseline, n: 19 } }],
    ['inputs.baseline.sigma', { baseline: { ...baseline, sigma: -1 } }],
  ])('refuses %s out of its range', (field, overrides) => {
    expect(fieldRefused(() => score(overrides))).toBe(field);
  });

  it('names the field of a topic, never the topic', () => {
    const secret = topic({ topic: 'merger with Initech', similarity: 3 });
    expect(() => score({}, { topics: [secret] })).toThrow(/^profile\.topics\[0\]\.similarity must lie in/);
    expect(() => score({}, { topics: [secret] })).not.toThrow(/Initech/);
  });

  it('cannot be changed through the neutral profile', () => {
    expect(() => Object.assign(NEUTRAL_PROFILE, { alpha: 0 })).toThrow(TypeError);
    expect(() => Object.assign(NEUTRAL_PROFILE.persona, { valenceBias: 1 })).toThrow(TypeError);
  });
});

function fieldRefused(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    if (error instanceof SalienceInputError) return error.field;
    throw error;
  }
  return undefined;
}
