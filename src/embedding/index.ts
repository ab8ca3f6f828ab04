import { BundledEmbeddingProvider } from './bundled.js';
import { FakeEmbeddingProvider } from './fake.js';
import type { EmbeddingConfig, EmbeddingProvider } from './provider.js';

export { embedLeniently } from './embed-leniently.js';
export { EmbeddingError, type EmbeddingErrorCode } from './errors.js';
export { LruCache } from './lru-cache.js';
export type { EmbeddingConfig, EmbeddingProvider } from './provider.js';
export {
  cosine,
  cosineOfDistance,
  isUnit,
  l2Distance,
  toVectorLiteral,
  type VectorLike,
} from './vector.js';
export { MAX_WINDOWS, WINDOW_LENGTH } from './windows.js';

/** Creates the provider that the configuration names (SPEC §3). Whoever creates it disposes it. */
export async function createEmbeddingProvider(config: EmbeddingConfig): Promise<EmbeddingProvider> {
  switch (config.kind) {
    case 'fake':
      return new FakeEmbeddingProvider(config.seed, config.dimensions);
    case 'bundled':
      return new BundledEmbeddingProvider();
  }
}
