import fc from 'fast-check';
import {
  addSample,
  type Baseline,
  EMPTY_BASELINE,
  type EncodeInputs,
  type EncodeProfile,
  type IdentityMatch,
  NEUTRAL_PROFILE,
  NO_HINTS,
  type TopicSimilarity,
} from '../../src/salience/index.js';

/** The baseline of a list of distances, in their order. */
export function baselineOf(distances: readonly number[]): Baseline {
  return distances.reduce(addSample, EMPTY_BASELINE);
}

/** A settled baseline of `n` samples: half of them at mean − sigma, half at mean + sigma. */
export function settledBaseline(mean = 1, sigma = 0.1, n = 20): Baseline {
  return baselineOf(Array.from({ length: n }, (_, i) => (i % 2 === 0 ? mean - sigma : mean + sigma)));
}

/** Inputs of an unremarkable new fact in a settled scope; override what a test is about. */
export function inputs(overrides: Partial<EncodeInputs> = {}): EncodeInputs {
  return {
    distance: 1,
    nearestSimilarity: 0.3,
    gapHours: 10,
    baseline: { n: 20, mean: 1, sigma: 0.1, origin: 'SCOPE' },
    ...NO_HINTS,
    reaffirmed: false,
    flashbulb: null,
    ...overrides,
  };
}

/** The neutral profile with some settings changed. */
export function profile(
  overrides: Partial<Omit<EncodeProfile, 'persona'>> & { persona?: Partial<EncodeProfile['persona']> } = {},
): EncodeProfile {
  return { ...NEUTRAL_PROFILE, ...overrides, persona: { ...NEUTRAL_PROFILE.persona, ...overrides.persona } };
}

/** A tenant's CRITICAL interest at similarity 0.82, threshold 0.5; override what a test is about. */
export function topic(overrides: Partial<TopicSimilarity> = {}): TopicSimilarity {
  return {
    topic: 'database performance',
    ref: { id: 'topic-1', number: 1 },
    level: 'CRITICAL',
    list: 'INTEREST',
    origin: 'TENANT',
    similarityThreshold: 0.5,
    similarity: 0.82,
    ...overrides,
  };
}

export function identity(overrides: Partial<IdentityMatch> = {}): IdentityMatch {
  return { term: 'security', origin: 'TENANT', named: false, similarity: null, ...overrides };
}

const real = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const share = real(0, 1);
const maybe = <T>(arb: fc.Arbitrary<T>) => fc.option(arb, { nil: null });

export const distances = real(0, 2);

export const anyTopic: fc.Arbitrary<TopicSimilarity> = fc.record({
  topic: fc.string(),
  ref: fc.record({ id: fc.uuid(), number: fc.integer({ min: 1 }) }),
  level: fc.constantFrom('CRITICAL', 'HIGH', 'NORMAL', 'LOW', 'IGNORE'),
  list: fc.constantFrom('INTEREST', 'DISINTEREST'),
  origin: fc.constantFrom('TENANT', 'AGENT', 'USER'),
  similarityThreshold: share,
  similarity: maybe(share),
});

/** Any inputs that the rules allow, extremes included; hints may be outside their range, they are clamped. */
export const anyInputs: fc.Arbitrary<EncodeInputs> = fc.record({
  distance: maybe(distances),
  nearestSimilarity: maybe(share),
  gapHours: maybe(real(-1e6, 1e9)),
  baseline: maybe(
    fc.record({
      n: fc.integer({ min: 20, max: 1e9 }),
      mean: distances,
      sigma: real(0, 1),
      origin: fc.constantFrom('SCOPE', 'TENANT'),
    }),
  ),
  hints: fc.record({
    interest: maybe(real(-3, 3)),
    challenge: maybe(real(-3, 3)),
    urgency: maybe(real(-3, 3)),
    valence: maybe(real(-3, 3)),
    arousal: maybe(real(-3, 3)),
  }),
  hintSources: fc.record({
    urgency: fc.constantFrom('CALLER', 'EXTRACTOR', null),
    valence: fc.constantFrom('CALLER', 'EXTRACTOR', 'SENTIMENT', null),
    arousal: fc.constantFrom('CALLER', 'EXTRACTOR', null),
  }),
  reaffirmed: fc.boolean(),
  flashbulb: maybe(fc.boolean()),
});

/** Any profile that the rules allow. */
export const anyProfile: fc.Arbitrary<EncodeProfile> = fc.record({
  alpha: share,
  beta: share,
  flashbulbThreshold: real(1.5, 10),
  similarityThreshold: share,
  topics: fc.array(anyTopic, { maxLength: 6 }),
  protectTenantInterests: fc.boolean(),
  persona: fc.record({
    valenceBias: real(-100, 100),
    arousalSensitivity: real(0.5, 2),
    selfRelevanceBoost: real(1, 2),
    identity: fc.array(
      fc.record({
        term: fc.string(),
        origin: fc.constantFrom('TENANT' as const, 'AGENT' as const, 'USER' as const),
        named: fc.boolean(),
        similarity: maybe(share),
      }),
      { maxLength: 3 },
    ),
  }),
});
