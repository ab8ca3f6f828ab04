import { APIError } from 'openai';
import {
  isTransient,
  type OpenAIEndpoint,
  openaiClient,
  type RetryTools,
  withRetries,
} from '../openai/index.js';
import { type Calibration, calibration, type Knot } from './calibration.js';
import { EmbeddingError } from './errors.js';
import { batchesOf, checkedVectors } from './openai-batches.js';
import type { EmbeddingProvider } from './provider.js';
import { QueryCache } from './query-cache.js';
import { normaliseText } from './text.js';
import { meanDirection } from './vector.js';
import { cutWindows } from './windows.js';

/** What the `openai` provider is made of. */
export interface OpenAIEmbeddingOptions extends OpenAIEndpoint {
  /** As the server calls it, such as `text-embedding-3-small`. */
  readonly model: string;
  /** Length of its vectors. */
  readonly dimensions: number;
  /** Whether the server is asked for that many dimensions: only models that can shorten their vectors take it. */
  readonly shortened: boolean;
  /** The calibration's knots (SPEC §3): one is fitted by scripts/calibrate.mjs. */
  readonly knots: readonly Knot[];
  /** Sleep, chance and clock of the retries; only tests give others. */
  readonly tools?: RetryTools;
}

/** Requests under way at a time, beside those of queries: more would only meet the server's limits sooner. */
const CONCURRENT = 4;
/** Somebody waits for the answer: a server that asks for more patience has failed for now. In milliseconds. */
const MAX_RETRY_AFTER_MS = 5_000;
/** A query has something to fall back on, and its caller waits: it is tried twice. */
const QUERY_RETRIES = 1;

/**
 * Embeddings of any server with OpenAI's `/embeddings` (SPEC §3). Texts are cut into the same windows as with the bundled
 * encoder, and sent in batches; every vector is checked and made unit-length. Everything but a blank text is readable.
 *
 * A fault that may pass is `ENCODER_FAILED`, after retries; so is a key that is refused, for it concerns no text. A
 * request that the server rejects, or an answer of another form than asked for, is `ENCODER_REFUSED`.
 */
export class OpenAIEmbeddingProvider implements EmbeddingProvider {
  readonly model: string;
  readonly dimensions: number;
  readonly similarity: Calibration;
  readonly #options: OpenAIEmbeddingOptions;
  readonly #client: ReturnType<typeof openaiClient>;
  readonly #queries = new QueryCache();
  readonly #closed = new AbortController();
  /** One for each request that may begin. */
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @throws RangeError for knots that are no calibration */
  constructor(options: OpenAIEmbeddingOptions) {
    this.#options = options;
    this.#client = openaiClient(options);
    this.dimensions = options.dimensions;
    // Vectors of two lengths of one model cannot be compared either.
    this.model = `openai/${options.model}/${options.dimensions}`;
    this.similarity = calibration(options.knots);
  }

  get waiting(): number {
    return this.#running + this.#waiting.length;
  }

  async embed(texts: readonly string[]): Promise<(Float32Array | null)[]> {
    return (await this.embedWindows(texts)).map(meanDirection);
  }

  async embedWindows(texts: readonly string[]): Promise<Float32Array[][]> {
    this.#assertOpen();
    const windows = texts.map((text) => cutWindows(normaliseText(text)));
    const all = windows.flat();
    const vectors = await Promise.all(
      batchesOf(all).map((batch) => this.#inTurn(() => this.#request(batch))),
    );
    const flat = vectors.flat();
    let place = 0;
    return windows.map((ofText) => ofText.map(() => flat[place++] as Float32Array));
  }

  async embedQuery(text: string): Promise<Float32Array | null> {
    this.#assertOpen();
    return this.#queries.vectorOf(text, async (query) => {
      const windows = cutWindows(query);
      return windows.length === 0 ? null : meanDirection(await this.#request(windows, QUERY_RETRIES));
    });
  }

  /** Ends what is under way; it is rejected. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    this.#queries.clear();
    for (const begin of this.#waiting.splice(0)) begin();
  }

  #assertOpen(): void {
    if (this.#closed.signal.aborted)
      throw new EmbeddingError('ENCODER_CLOSED', 'The embedding provider is closed.');
  }

  /** Runs a request when one of the places is free, in the order of asking. */
  async #inTurn<T>(request: () => Promise<T>): Promise<T> {
    if (this.#running >= CONCURRENT) await new Promise<void>((begin) => this.#waiting.push(begin));
    this.#running += 1;
    try {
      return await request();
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #request(input: readonly string[], retries?: number): Promise<Float32Array[]> {
    this.#assertOpen();
    const { model, dimensions, shortened, timeout, tools } = this.#options;
    const { signal } = this.#closed;
    let answer: unknown;
    try {
      answer = await withRetries(
        (attempt) =>
          this.#client.embeddings.create(
            // Base64, the client's default, is not understood by every server.
            { model, input: [...input], encoding_format: 'float', ...(shortened ? { dimensions } : {}) },
            { signal: attempt },
          ),
        signal,
        {
          timeout,
          maxRetryAfter: MAX_RETRY_AFTER_MS,
          ...(retries === undefined ? {} : { retries }),
          ...(tools ? { tools } : {}),
        },
      );
    } catch (error) {
      this.#assertOpen();
      throw failureOf(error);
    }
    const vectors = checkedVectors(answer, input.length, dimensions);
    if (vectors === null) {
      throw new EmbeddingError(
        'ENCODER_REFUSED',
        `The encoder's endpoint did not answer with ${dimensions} numbers for each text: see OPENAI_EMBEDDING_DIMENSIONS.`,
      );
    }
    return vectors;
  }
}

/** The client's errors quote what the server wrote, which may quote the texts: none of it is handed on. */
function failureOf(error: unknown): EmbeddingError {
  const status = error instanceof APIError ? error.status : undefined;
  const told = status === undefined ? 'no answer' : `status ${status}`;
  const concernsNoText = status === 401 || status === 403 || status === 404;
  return isTransient(error) || concernsNoText
    ? new EmbeddingError('ENCODER_FAILED', `The encoder's endpoint could not be used: ${told}.`)
    : new EmbeddingError('ENCODER_REFUSED', `The encoder's endpoint rejected the request: ${told}.`);
}
