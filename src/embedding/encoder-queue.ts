import type { Part, Window } from './use-lite.js';
import { meanDirection } from './vector.js';

/** What a queue needs of an encoder; parts of the same number of tokens may be encoded together. */
export interface WindowEncoder {
  windows(text: string): Window[];
  encode(parts: readonly Part[]): Promise<Float32Array[]>;
}

/** A request for the vectors of some texts. `query` goes before all others; `windows` is not averaged. */
export interface EncodeRequest {
  readonly id: number;
  readonly kind: 'embed' | 'windows' | 'query';
  readonly texts: readonly string[];
}

/** Vectors of a request: per text how many, and all of them in order, one after the other. */
export type EncodeReply =
  | { readonly id: number; readonly counts: number[]; readonly vectors: Float32Array }
  | { readonly id: number; readonly refused: true };

/** Most parts encoded in one go. More gain nothing (8 ms a short text from 4 on) and delay queries. */
const BATCH_PARTS = 8;

/** Most tokens encoded in one go: 128 take about 60 ms, so a query never waits longer than about 0.2 s. */
const BATCH_TOKENS = 384;

/** Parts kept ready ahead of time, among which equally long ones are looked for. */
const LOOK_AHEAD = 128;

interface Job {
  readonly request: EncodeRequest;
  /** Per text and window, its parts' vectors as they become ready. */
  readonly vectors: Float32Array[][][];
  /** Texts whose windows have been cut. */
  cut: number;
  /** Parts cut and not encoded yet. */
  open: number;
  refused: boolean;
}

interface Item {
  readonly job: Job;
  readonly part: Part;
  /** Where in {@link Job.vectors} the result belongs. */
  readonly into: Float32Array[];
  readonly index: number;
}

interface Lane {
  readonly jobs: Job[];
  readonly items: Item[];
}

/**
 * Orders the encoder's work. Requests are taken apart into windows and their parts, which are encoded in small batches of equal
 * length, oldest first; between two batches waiting queries go first, however much else is waiting.
 */
export class EncoderQueue {
  readonly #encoder: WindowEncoder;
  readonly #reply: (reply: EncodeReply) => void;
  readonly #queries: Lane = { jobs: [], items: [] };
  readonly #others: Lane = { jobs: [], items: [] };

  /** @param reply called once per request, in the order in which they are finished. */
  constructor(encoder: WindowEncoder, reply: (reply: EncodeReply) => void) {
    this.#encoder = encoder;
    this.#reply = reply;
  }

  /** Adds a request; nothing is encoded until {@link step}. */
  add(request: EncodeRequest): void {
    const lane = request.kind === 'query' ? this.#queries : this.#others;
    lane.jobs.push({ request, vectors: [], cut: 0, open: 0, refused: false });
  }

  /** Encodes one batch and replies to the requests that it completes. False when there is nothing to do. */
  async step(): Promise<boolean> {
    for (const lane of [this.#queries, this.#others]) {
      this.#fill(lane);
      const batch = takeBatch(lane.items);
      if (batch.length === 0) continue;
      await this.#encode(batch);
      return true;
    }
    return false;
  }

  #fill(lane: Lane): void {
    while (lane.items.length < LOOK_AHEAD && lane.jobs.length > 0) {
      const job = lane.jobs[0]!;
      const text = job.cut;
      if (text < job.request.texts.length) {
        const windows = this.#cut(job, text);
        job.vectors.push(windows.map((window) => this.#enqueue(lane, job, window)));
        job.cut++;
      }
      if (job.cut === job.request.texts.length) lane.jobs.shift();
      this.#replyIfDone(job);
    }
  }

  #cut(job: Job, text: number): Window[] {
    try {
      return this.#encoder.windows(job.request.texts[text]!);
    } catch (error) {
      if (isTrap(error)) throw error;
      job.refused = true;
      return [];
    }
  }

  /** @returns where the vectors of the window's parts will be. */
  #enqueue(lane: Lane, job: Job, window: Window): Float32Array[] {
    const into = new Array<Float32Array>(window.length);
    window.forEach((part, index) => {
      lane.items.push({ job, part, into, index });
    });
    job.open += window.length;
    return into;
  }

  async #encode(batch: Item[]): Promise<void> {
    try {
      const vectors = await this.#encoder.encode(batch.map((item) => item.part));
      batch.forEach((item, i) => {
        item.into[item.index] = vectors[i]!;
      });
    } catch (error) {
      // A trap leaves the encoder's memory undefined: nothing that it says afterwards can be trusted.
      if (isTrap(error)) throw error;
      if (batch.length > 1) {
        for (const item of batch) await this.#encode([item]);
        return;
      }
      for (const item of batch) item.job.refused = true;
    }
    for (const { job } of batch) {
      job.open--;
      this.#replyIfDone(job);
    }
  }

  #replyIfDone(job: Job): void {
    if (job.open > 0 || job.cut < job.request.texts.length) return;
    this.#reply(job.refused ? { id: job.request.id, refused: true } : toReply(job));
  }
}

/** A `WebAssembly.RuntimeError`, whose class is not among Node's own type declarations. */
function isTrap(error: unknown): boolean {
  return error instanceof Error && error.name === 'RuntimeError';
}

function toReply({ request, vectors }: Job): EncodeReply {
  const windows = vectors.map((perWindow) => perWindow.flatMap(meanOf));
  const perText = request.kind === 'windows' ? windows : windows.map(meanOf);
  const all = perText.flat();
  const dimensions = all[0]?.length ?? 0;
  const joined = new Float32Array(all.length * dimensions);
  all.forEach((vector, i) => {
    joined.set(vector, i * dimensions);
  });
  return { id: request.id, counts: perText.map((list) => list.length), vectors: joined };
}

/** The mean direction as a list: none of no vectors. */
function meanOf(vectors: Float32Array[]): Float32Array[] {
  const mean = meanDirection(vectors);
  return mean === null ? [] : [mean];
}

/** Removes from `items` the oldest and those that can be encoded with it. */
function takeBatch(items: Item[]): Item[] {
  const tokens = items[0]?.part.tokens;
  if (tokens === undefined) return [];
  const most = Math.max(1, Math.min(BATCH_PARTS, Math.floor(BATCH_TOKENS / tokens)));
  const batch: Item[] = [];
  const rest: Item[] = [];
  for (const item of items) {
    (batch.length < most && item.part.tokens === tokens ? batch : rest).push(item);
  }
  items.splice(0, items.length, ...rest);
  return batch;
}
