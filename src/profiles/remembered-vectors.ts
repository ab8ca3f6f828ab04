import { EmbeddingError, embedLeniently } from '../embedding/index.js';
import type { TopicEncoder } from './embed-topics.js';
import type { ProfileValues } from './values.js';

/**
 * The vectors of one change of a profile, however often it is made anew on top of others: each text is encoded once, and
 * what is known can be had without the encoder, where others wait.
 */
export class RememberedVectors implements TopicEncoder {
  readonly #vectors = new Map<string, Float32Array | null>();

  constructor(private readonly encoder: TopicEncoder) {}

  /** @throws EmbeddingError as the encoder does */
  async embed(texts: readonly string[]): Promise<(Float32Array | null)[]> {
    const unknown = [...new Set(texts)].filter((text) => !this.#vectors.has(text));
    const found = unknown.length > 0 ? await this.encoder.embed(unknown) : [];
    unknown.forEach((text, index) => {
      this.#vectors.set(text, found[index] ?? null);
    });
    return texts.map((text) => this.#vectors.get(text) ?? null);
  }

  /** Learns all topics and terms of a profile, as far as the encoder answers. */
  async learn({ interests, disinterests, persona }: ProfileValues): Promise<void> {
    const texts = [...[...interests, ...disinterests].map(({ topic }) => topic), ...persona.identity];
    await embedLeniently(texts, (some) => this.embed(some));
  }

  /** What is known by now; anything else counts as not answered. */
  readonly known: TopicEncoder = {
    embed: async (texts) => {
      if (texts.some((text) => !this.#vectors.has(text)))
        throw new EmbeddingError('ENCODER_FAILED', 'A text was not encoded beforehand');
      return texts.map((text) => this.#vectors.get(text) ?? null);
    },
  };
}
