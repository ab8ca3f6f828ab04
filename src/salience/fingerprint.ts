import { createHash } from 'node:crypto';
import { type EffectiveProfile, protectsTenantInterests } from './effective.js';

/**
 * Version of how importance is computed. To be raised with every change of a formula that changes scores: facts
 * scored by an older one then count as stale.
 */
export const ALGORITHM_VERSION = 1;

/** Hexadecimal digits of a fingerprint: 16 bytes. */
const FINGERPRINT_DIGITS = 32;

/** What similarities are made by; they are part of every score. */
export interface FingerprintParts {
  /** Name of the embedding model. */
  readonly model: string;
  /** Version of its calibration (SPEC §3). */
  readonly calibration: string;
  /** Version of the formulas; {@link ALGORITHM_VERSION} when left out. */
  readonly algorithm?: number;
}

/**
 * Hash of all that the scores of facts depend on (SPEC §5.1): the algorithm's version, model and calibration,
 * whether the tenant's interests are protected, each topic (spelling, list, level, origin, threshold), α, β, the
 * similarity threshold, the traits of the persona and its identity terms. Equal fingerprints score equally: a vector is
 * that of a spelling, and encoders tell capitals from small letters, so what is spelled differently is different here,
 * but for Unicode's ways of writing one character. The order of topics and terms, their refs, the ICNU weights of
 * recall, the persona's name and the name of the policy play no part in scores and have none in it; nor has the
 * flashbulb threshold, which acts when a fact is taken in and on nothing that is stored (SPEC §4.5).
 * @returns 32 hexadecimal digits
 */
export function profileFingerprint(effective: EffectiveProfile, parts: FingerprintParts): string {
  const { persona } = effective;
  const topics = [...effective.interests, ...effective.disinterests].map((topic) =>
    JSON.stringify([
      topic.topic.normalize('NFC'),
      topic.list,
      topic.level,
      topic.origin,
      topic.similarityThreshold,
    ]),
  );
  // An array, so that nothing depends on the order of keys; sorted by code unit, so that no locale does.
  const canonical = JSON.stringify([
    parts.algorithm ?? ALGORITHM_VERSION,
    parts.model,
    parts.calibration,
    protectsTenantInterests(effective.policy),
    topics.toSorted(),
    effective.alpha.value,
    effective.beta.value,
    effective.similarityThreshold.value,
    persona.valenceBias.value,
    persona.arousalSensitivity.value,
    persona.selfRelevanceBoost.value,
    persona.identity.map(({ term }) => term.normalize('NFC')).toSorted(),
  ]);
  return createHash('sha256').update(canonical).digest('hex').slice(0, FINGERPRINT_DIGITS);
}
