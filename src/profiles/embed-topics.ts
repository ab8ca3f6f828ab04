import { type EmbeddingProvider, embedLeniently } from '../embedding/index.js';
import { BadInputError, type InputPath, UnavailableError } from '../errors.js';
import type { ProfileSettings } from '../salience/index.js';
import type { ProfileInput } from './input.js';

/** What gives topics their vectors. */
export type TopicEncoder = Pick<EmbeddingProvider, 'embed'>;

/**
 * Vectors of what is new in a profile, and, as far as the encoder gives them, of what has none of the present model yet.
 * @param input the lists that are given
 * @param added ids of the refs that are new
 * @param unembedded ids of those that have no vector
 * @returns by the ref's id; an identity term that the model cannot read has none, and is found by its name
 * @throws BadInputError for a new topic that the model cannot read, which would never match anything (CASES 46);
 *   UnavailableError when the encoder does not answer
 */
export async function embedTopics(
  deps: { readonly embedding: TopicEncoder },
  input: ProfileInput,
  profile: ProfileSettings,
  added: ReadonlySet<string>,
  unembedded: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Float32Array>> {
  const entries: Entry[] = [
    ...(['interests', 'disinterests'] as const).flatMap((list) =>
      profile[list].map(({ topic, ref }, place) => ({
        id: ref.id,
        text: topic,
        path: input[list] ? [list, place, 'topic'] : null,
      })),
    ),
    ...profile.persona.identity.map(({ term, ref }) => ({ id: ref.id, text: term, path: null })),
  ];
  const vectors = new Map<string, Float32Array>();
  const late = entries.filter(({ id }) => unembedded.has(id));
  for (const [{ id }, vector] of (await embed(deps, late)).pairs) if (vector) vectors.set(id, vector);
  const { pairs, code } = await embed(
    deps,
    entries.filter(({ id }) => added.has(id)),
  );
  if (code === 'ENCODER_FAILED')
    throw new UnavailableError('The embedding model did not answer; nothing was saved');
  for (const [{ id, path }, vector] of pairs) {
    if (vector) vectors.set(id, vector);
    else if (path)
      throw new BadInputError('the embedding model cannot read this topic, so it would never match', path);
  }
  return vectors;
}

/** A topic or term; its path where it is a topic that the input gives. */
interface Entry {
  readonly id: string;
  readonly text: string;
  readonly path: InputPath | null;
}

async function embed(deps: { readonly embedding: TopicEncoder }, entries: readonly Entry[]) {
  const { vectors, code } = await embedLeniently(
    entries.map(({ text }) => text),
    (texts) => deps.embedding.embed(texts),
  );
  return { code, pairs: entries.map((entry, index) => [entry, vectors[index] ?? null] as const) };
}
