import type { Config } from '../config/index.js';
import { BundledEmbeddingProvider } from './bundled.js';
import { FakeEmbeddingProvider } from './fake.js';
import { OpenAIEmbeddingProvider } from './openai.js';
import { openaiEmbeddingOptions } from './openai-models.js';
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

/**
 * Creates the provider that the configuration names (SPEC §3). Whoever creates it disposes it.
 * @throws ConfigError where what it needs to know of a model is missing
 */
export async function createEmbeddingProvider(config: EmbeddingConfig): Promise<EmbeddingProvider> {
  switch (config.kind) {
    case 'fake':
      return new FakeEmbeddingProvider(config.seed, config.dimensions);
    case 'bundled':
      return new BundledEmbeddingProvider();
    case 'openai':
      return new OpenAIEmbeddingProvider(openaiEmbeddingOptions(config));
  }
}

/** Which encoder the server's configuration names. */
export function embeddingConfigOf(config: Config): EmbeddingConfig {
  if (config.embedding !== 'openai') return { kind: config.embedding };
  return {
    kind: 'openai',
    baseUrl: config.openaiEmbeddingBaseUrl ?? config.openaiBaseUrl,
    apiKey: config.openaiEmbeddingApiKey ?? config.openaiApiKey,
    model: config.openaiEmbeddingModel,
    dimensions: config.openaiEmbeddingDimensions,
    calibration: config.openaiEmbeddingCalibration,
    timeout: config.openaiTimeout * 1_000,
  };
}
