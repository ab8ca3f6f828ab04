import {
  type EffectiveIdentity,
  type EffectiveProfile,
  type EffectiveTopic,
  protectsTenantInterests,
} from './effective.js';
import type { EncodeProfile } from './profile.js';

/** How close one fact is to what a profile names. */
export interface Meeting {
  /** Calibrated similarity, 0 to 1; null when the fact or the topic has no vector. */
  readonly topicSimilarity: (topic: EffectiveTopic) => number | null;
  /** `named`: see `namesIdentity`; `similarity` as above. */
  readonly identity: (term: EffectiveIdentity) => {
    readonly named: boolean;
    readonly similarity: number | null;
  };
}

/** The effective profile as one fact meets it: what `encodeImportance` takes. Each topic and term is asked for once. */
export function meetProfile(effective: EffectiveProfile, meeting: Meeting): EncodeProfile {
  const { persona } = effective;
  return {
    alpha: effective.alpha.value,
    beta: effective.beta.value,
    flashbulbThreshold: effective.flashbulbThreshold.value,
    similarityThreshold: effective.similarityThreshold.value,
    topics: [...effective.interests, ...effective.disinterests].map((entry) => {
      const { topic, ref, level, list, origin, similarityThreshold } = entry;
      const similarity = meeting.topicSimilarity(entry);
      return { topic, ref, level, list, origin, similarityThreshold, similarity };
    }),
    protectTenantInterests: protectsTenantInterests(effective.policy),
    persona: {
      valenceBias: persona.valenceBias.value,
      arousalSensitivity: persona.arousalSensitivity.value,
      selfRelevanceBoost: persona.selfRelevanceBoost.value,
      identity: persona.identity.map((entry) => {
        const { named, similarity } = meeting.identity(entry);
        return { term: entry.term, origin: entry.origin, named, similarity };
      }),
    },
  };
}
