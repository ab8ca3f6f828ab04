import type { IdentityMatch } from './persona.js';
import { requireRange, requireSimilarity } from './scale.js';
import type { TopicSimilarity } from './topics.js';

/**
 * The effective profile of a fact's scope as that one fact meets it: the settings, and for each topic and
 * identity term how close the fact is to it. Values are effective ones: unset settings have become defaults.
 */
export interface EncodeProfile {
  /** Weight of the spatial z of a familiar statement, 0 to 1 (SPEC §4.2). */
  readonly alpha: number;
  /** Weight of the temporal z of a familiar statement, 0 to 1 (SPEC §4.2). */
  readonly beta: number;
  /** Spatial z from which a new fact is a flashbulb, 1.5 to 10 (SPEC §4.4.6). */
  readonly flashbulbThreshold: number;
  /** Threshold of identity terms, 0 to 1; topics carry their own (SPEC §4.4.4, §5.1). */
  readonly similarityThreshold: number;
  /** Interests and disinterests (SPEC §5.2). */
  readonly topics: readonly TopicSimilarity[];
  /** True unless the tenant's policy is FULL_OVERRIDE (SPEC §5.1). */
  readonly protectTenantInterests: boolean;
  readonly persona: EncodePersona;
}

/** The persona's traits that bear on importance (SPEC §4.4.2–4, §5). */
export interface EncodePersona {
  /** −100 to 100; 0 leaves valence without effect. */
  readonly valenceBias: number;
  /** 0.5 to 2. */
  readonly arousalSensitivity: number;
  /** 1 to 2; without identity terms it has no effect. */
  readonly selfRelevanceBoost: number;
  readonly identity: readonly IdentityMatch[];
}

/** Allowed ranges of the numeric settings (SPEC §5). */
export const PROFILE_RANGES = {
  alpha: [0, 1],
  beta: [0, 1],
  flashbulbThreshold: [1.5, 10],
  similarityThreshold: [0, 1],
  valenceBias: [-100, 100],
  arousalSensitivity: [0.5, 2],
  selfRelevanceBoost: [1, 2],
} as const;

/** What applies where no profile says anything (SPEC §4.2, §4.4.6, §5). */
export const NEUTRAL_PROFILE: EncodeProfile = Object.freeze({
  alpha: 0.6,
  beta: 0.4,
  flashbulbThreshold: 3,
  similarityThreshold: 0.5,
  topics: Object.freeze([]),
  protectTenantInterests: true,
  persona: Object.freeze({
    valenceBias: 0,
    arousalSensitivity: 1,
    selfRelevanceBoost: 1.2,
    identity: Object.freeze([]),
  }),
});

/**
 * The same profile, checked, with similarities brought into [0, 1] where rounding had carried them out.
 * @throws SalienceInputError naming the setting (such as `profile.topics[2].similarity`) when a number is not
 *   finite or out of range
 */
export function checkProfile(profile: EncodeProfile): EncodeProfile {
  for (const name of ['alpha', 'beta', 'flashbulbThreshold', 'similarityThreshold'] as const) {
    const [min, max] = PROFILE_RANGES[name];
    requireRange(`profile.${name}`, profile[name], min, max);
  }
  const { persona } = profile;
  for (const name of ['valenceBias', 'arousalSensitivity', 'selfRelevanceBoost'] as const) {
    const [min, max] = PROFILE_RANGES[name];
    requireRange(`profile.persona.${name}`, persona[name], min, max);
  }
  if (profile.topics.length === 0 && persona.identity.length === 0) return profile;
  const topics = profile.topics.map((topic, index) => {
    const path = `profile.topics[${index}]`;
    requireRange(`${path}.similarityThreshold`, topic.similarityThreshold, 0, 1);
    return { ...topic, similarity: optionalSimilarity(`${path}.similarity`, topic.similarity) };
  });
  const identity = persona.identity.map((match, index) => ({
    ...match,
    similarity: optionalSimilarity(`profile.persona.identity[${index}].similarity`, match.similarity),
  }));
  return { ...profile, topics, persona: { ...persona, identity } };
}

function optionalSimilarity(field: string, value: number | null): number | null {
  return value === null ? null : requireSimilarity(field, value);
}
