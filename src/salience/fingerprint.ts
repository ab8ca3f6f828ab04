import { createHash } from 'node:crypto';
import { type EffectiveProfile, protectsTenantInterests } from './effective.js';
import { topicKey } from './topic-key.js';

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
}

/**
 * Hash of all that the scores of facts depend on (SPEC §5.1): the algorithm's version, model and calibration,
 * whether the tenant's interests are protected, each topic (key, list, level, origin, threshold), α, β, both
 * thresholds, the traits of the persona and its identity terms. Equal fingerprints score equally; the order of
 * topics and terms, their spelling and refs, the ICNU weights of recall, the persona's name and the name of the
 * policy play no part in scores and have none in it.
 * @returns 32 hexadecimal digits
 */
export function profileFingerprint(effective: EffectiveProfile, parts: FingerprintParts): string {
  const { persona } = effective;
  const topics = [...effective.interests, ...effective.disinterests].map((topic) =>
    JSON.stringify([topicKey(topic.topic), topic.list, topic.level, topic.origin, topic.similarityThreshold]),
  );
  // An array, so that nothing depends on the order of keys; sorted by code unit, so that no locale does.
  const canonical = JSON.stringify([
    ALGORITHM_VERSION,
    parts.model,
    parts.calibration,
    protectsTenantInterests(effective.policy),
    topics.toSorted(),
    effective.alpha.value,
    effective.beta.value,
    effective.flashbulbThreshold.value,
    effective.similarityThreshold.value,
    persona.valenceBias.value,
    persona.arousalSensitivity.value,
    persona.selfRelevanceBoost.value,
    persona.identity.map(({ term }) => topicKey(term)).toSorted(),
  ]);
  return createHash('sha256').update(canonical).digest('hex').slice(0, FINGERPRINT_DIGITS);
}
