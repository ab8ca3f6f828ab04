import type { ScoringMeans, ScoringProfile } from '../db/index.js';
import type { ScopeProfile } from '../profiles/index.js';
import {
  DECAY_VARIANTS,
  type EffectiveProfile,
  type EffectiveTopic,
  protectsTenantInterests,
  TOPIC_MULTIPLIERS,
  type TopicRef,
} from '../salience/index.js';
import type { Services } from '../services.js';
import { decayVariantOf, type TenantContext } from '../tenancy/index.js';

/** Vectors of topics that are not saved, by the ref's id. */
export type UnsavedVectors = ReadonlyMap<string, Float32Array>;

/** An effective profile in the form that the database scores with. */
export function scoringProfile(
  { effective, fingerprint, revision }: Pick<ScopeProfile, 'effective' | 'fingerprint' | 'revision'>,
  unsaved: UnsavedVectors = new Map(),
): ScoringProfile {
  const { persona } = effective;
  const found = ({ id }: TopicRef) => {
    const vector = unsaved.get(id);
    return vector ? { id, vector: `[${Array.from(vector).join(',')}]` } : { id };
  };
  return {
    fingerprint,
    revision,
    alpha: effective.alpha.value,
    beta: effective.beta.value,
    valenceBias: persona.valenceBias.value,
    arousalSensitivity: persona.arousalSensitivity.value,
    selfRelevanceBoost: persona.selfRelevanceBoost.value,
    similarityThreshold: effective.similarityThreshold.value,
    protectTenantInterests: protectsTenantInterests(effective.policy),
    topics: topicsOf(effective).map((topic) => ({
      ...found(topic.ref),
      number: topic.ref.number,
      isInterest: topic.list === 'INTEREST',
      multiplier: TOPIC_MULTIPLIERS[topic.level],
      isTenants: topic.origin === 'TENANT',
      similarityThreshold: topic.similarityThreshold,
    })),
    identity: persona.identity.map(({ ref }) => found(ref)),
  };
}

/** Interests, then disinterests: the order in which a fact's matches are kept. */
export function topicsOf({ interests, disinterests }: EffectiveProfile): readonly EffectiveTopic[] {
  return [...interests, ...disinterests];
}

/** What scoring in the database goes by, beside the profile. */
export function scoringMeans(
  { embedding, embeddingModelId }: Pick<Services, 'embedding' | 'embeddingModelId'>,
  tenant: TenantContext,
  now: Date,
): ScoringMeans {
  return {
    tenantId: tenant.id,
    modelId: embeddingModelId,
    knots: embedding.similarity.knots,
    decay: DECAY_VARIANTS[decayVariantOf(tenant.settings)],
    now,
  };
}
