import { EmbeddingError } from './errors.js';

/** Vectors of texts, some of which may have none because of a fault. */
export interface LenientVectors<V> {
  /** One for each text, in order; null where the encoder failed at it. */
  readonly vectors: readonly (V | null)[];
  /** How many texts have none because of a fault, and its code. */
  readonly failed: number;
  readonly code: string | null;
}

/**
 * Embeds texts so that a fault of the encoder costs vectors and nothing else: what may pass is tried once more, and one
 * text that is refused does not refuse the others.
 * @param embed a method of a provider: one result for each text
 * @throws EmbeddingError when the provider is closed; whatever else `embed` throws
 */
export async function embedLeniently<V>(
  texts: readonly string[],
  embed: (texts: readonly string[]) => Promise<readonly V[]>,
): Promise<LenientVectors<V>> {
  let code: string | null = null;
  let failed = 0;
  let retries = 1;
  const some = async (part: readonly string[]): Promise<(V | null)[]> => {
    if (part.length === 0) return [];
    try {
      return [...(await embed(part))];
    } catch (error) {
      if (!(error instanceof EmbeddingError) || error.code === 'ENCODER_CLOSED') throw error;
      if (error.retryable && retries > 0) {
        retries -= 1;
        return some(part);
      }
      if (part.length === 1 || error.retryable) {
        code = error.code;
        failed += part.length;
        return part.map(() => null);
      }
      const half = Math.ceil(part.length / 2);
      return [...(await some(part.slice(0, half))), ...(await some(part.slice(half)))];
    }
  };
  const vectors = await some(texts);
  return { vectors, failed, code };
}
