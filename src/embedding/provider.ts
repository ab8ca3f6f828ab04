import type { Calibration } from './calibration.js';
import type { OpenAIEmbeddingConfig } from './openai-models.js';

/**
 * What the rest of Salient knows of an encoder (SPEC §3). A provider is created once per process and
 * disposed with it; every vector that it returns has unit length.
 */
export interface EmbeddingProvider extends AsyncDisposable {
  /** Stable name stored with every vector, e.g. "bundled/use-lite-en-0.2". Comparisons never mix models. */
  readonly model: string;

  /** Length of every vector of this model. */
  readonly dimensions: number;

  /**
   * The calibration (SPEC §3): a monotone map from this model's cosine to a similarity in [0, 1], where 0.5
   * means "related" for every model. A cosine of 1 gives 1; one of 0 or less gives 0.
   */
  readonly similarity: Calibration;

  /** Requests that wait for their vectors now; absent where nothing waits. */
  readonly waiting?: number;

  /**
   * One vector per text, in the order given: the mean of the text's windows, re-normalised; null where the
   * encoder cannot read the text (blank, or a script that it does not know).
   * @throws EmbeddingError
   */
  embed(texts: readonly string[]): Promise<(Float32Array | null)[]>;

  /**
   * One vector per window of each text, for long messages; an empty list where nothing of the text is
   * readable, and at most {@link MAX_WINDOWS} of them.
   * @throws EmbeddingError
   */
  embedWindows(texts: readonly string[]): Promise<Float32Array[][]>;

  /**
   * The vector of a query, in the same space as `embed`. Cached by normalised text in memory only, and served
   * before texts that wait to be embedded.
   * @throws EmbeddingError
   */
  embedQuery(text: string): Promise<Float32Array | null>;
}

/** Which encoder to use. `seed` and `dimensions` of the fake default to 1 and 512. */
export type EmbeddingConfig =
  | { kind: 'bundled' }
  | { kind: 'fake'; seed?: number; dimensions?: number }
  | OpenAIEmbeddingConfig;
