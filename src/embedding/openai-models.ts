import { ConfigError } from '../config/index.js';
import type { Knot } from './calibration.js';
import type { OpenAIEmbeddingOptions } from './openai.js';

/** What is known of a model without being told. */
interface KnownModel {
  /** Length of its vectors unless shorter ones are asked for. */
  readonly dimensions: number;
  readonly knots: readonly Knot[];
}

/** How an OpenAI-compatible server is configured to embed. Unset: what is known of the model. */
export interface OpenAIEmbeddingConfig {
  readonly kind: 'openai';
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model: string;
  readonly dimensions?: number | undefined;
  readonly calibration?: readonly Knot[] | undefined;
  /** Longest wait for one answer, in milliseconds; a minute by default. */
  readonly timeout?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 60_000;
/**
 * What vectors are shortened to by default, where the model can: of this length they lie beside their keys in the
 * database, longer ones are moved out of line and compared several times as slowly.
 */
const DEFAULT_DIMENSIONS = 512;

/**
 * Starting points for OpenAI's third generation, from what is published of their cosines: unrelated English texts lie
 * about 0.1 to 0.25, related ones from 0.4 on. They are not fitted on this repository's pairs, which needs a key:
 * `node scripts/calibrate.mjs` with the provider's configuration does that (docs/language-models.md).
 */
const THIRD_GENERATION: readonly Knot[] = [
  [0, 0],
  [0.35, 0.5],
  [0.5, 0.7],
  [0.85, 0.75],
  [1, 1],
];

const MODELS: Readonly<Record<string, KnownModel>> = {
  'text-embedding-3-small': { dimensions: 1536, knots: THIRD_GENERATION },
  'text-embedding-3-large': { dimensions: 3072, knots: THIRD_GENERATION },
};

/**
 * Fills in what is known of the model.
 * @throws ConfigError for a model that is not known, without its dimensions and a calibration
 */
export function openaiEmbeddingOptions(config: OpenAIEmbeddingConfig): OpenAIEmbeddingOptions {
  const { baseUrl, apiKey, model, timeout = DEFAULT_TIMEOUT_MS } = config;
  const known = Object.hasOwn(MODELS, model) ? MODELS[model] : undefined;
  const dimensions = config.dimensions ?? (known ? DEFAULT_DIMENSIONS : undefined);
  const knots = config.calibration ?? known?.knots;
  if (dimensions === undefined || knots === undefined) {
    const missing = dimensions === undefined ? 'OPENAI_EMBEDDING_DIMENSIONS' : 'OPENAI_EMBEDDING_CALIBRATION';
    throw new ConfigError(
      `${missing}: must be set for a model other than ${Object.keys(MODELS).join(' and ')} (docs/language-models.md)`,
    );
  }
  if (known && dimensions > known.dimensions)
    throw new ConfigError(`OPENAI_EMBEDDING_DIMENSIONS: the model has ${known.dimensions} at most`);
  const shortened = known !== undefined && dimensions < known.dimensions;
  return { baseUrl, apiKey, model, timeout, dimensions, knots, shortened };
}
