import type { Cosines } from '../db/index.js';
import type { ScopeProfile } from '../profiles/index.js';
import {
  type EffectiveProfile,
  type EncodeProfile,
  type FactWords,
  meetProfile,
  namesIdentity,
} from '../salience/index.js';
import type { PlacedFact } from './plan.js';

/** The topics and identity terms of a profile that facts may be close to, by the ids of their vectors. */
export function topicIdsOf({ interests, disinterests, persona }: EffectiveProfile): string[] {
  return [...interests, ...disinterests, ...persona.identity].map(({ ref }) => ref.id);
}

/** A profile as one fact meets it: how close it is to each topic, whether it names who the owner is (SPEC §4.4, §5.2). */
export function meet(
  profile: EffectiveProfile,
  words: FactWords,
  cosines: Cosines,
  similarity: (cosine: number) => number,
): EncodeProfile {
  const similarityTo = (id: string) => {
    const cosine = cosines[id];
    return cosine === undefined ? null : similarity(cosine);
  };
  return meetProfile(profile, {
    topicSimilarity: ({ ref }) => similarityTo(ref.id),
    identity: ({ term, ref }) => ({ named: namesIdentity(term, words), similarity: similarityTo(ref.id) }),
  });
}

/**
 * A scope's profile as a statement meets it; where the statement repeats a fact, as that fact does: by its stored text,
 * entities and vector, which a rescoring reads too, so that it finds nothing to change.
 */
export function profileOfStatement(
  { effective }: ScopeProfile,
  { prepared, duplicate, found }: PlacedFact,
  similarity: (cosine: number) => number,
): EncodeProfile {
  const { text, entities, cosines } = duplicate ?? {
    text: prepared.text,
    entities: prepared.entities.map(({ name }) => name),
    cosines: found.cosines,
  };
  return meet(effective, { text, entities }, cosines, similarity);
}
