import { type EmbeddingProvider, embedLeniently } from '../embedding/index.js';
import { BadInputError, UnavailableError } from '../errors.js';
import type { ProfileSettings } from '../salience/index.js';
import type { ProfileInput } from './input.js';

/**
 * Vectors of those topics and identity terms of a profile that need one.
 * @param input the lists that are given: only what stands in one of them is refused for having no vector
 * @param needed ids of refs
 * @returns by the ref's id; an identity term that the model cannot read has none, and is found by its name
 * @throws BadInputError for a topic that the model cannot read, which would never match anything (CASES 46);
 *   UnavailableError when the encoder does not answer
 */
export async function embedTopics(
  deps: { readonly embedding: EmbeddingProvider },
  input: ProfileInput,
  profile: ProfileSettings,
  needed: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Float32Array>> {
  const topics = (['interests', 'disinterests'] as const).flatMap((list) =>
    profile[list].map(({ topic, ref }, place) => ({
      id: ref.id,
      text: topic,
      path: input[list] ? [list, place, 'topic'] : null,
    })),
  );
  const terms = profile.persona.identity.map(({ term, ref }) => ({ id: ref.id, text: term, path: null }));
  const wanted = [...topics, ...terms].filter(({ id }) => needed.has(id));
  const { vectors, code } = await embedLeniently(
    wanted.map(({ text }) => text),
    (texts) => deps.embedding.embed(texts),
  );
  if (code === 'ENCODER_FAILED')
    throw new UnavailableError('The embedding model did not answer; nothing was saved');
  const byId = new Map<string, Float32Array>();
  wanted.forEach(({ id, path }, index) => {
    const vector = vectors[index];
    if (vector) byId.set(id, vector);
    else if (path)
      throw new BadInputError('the embedding model cannot read this topic, so it would never match', path);
  });
  return byId;
}
