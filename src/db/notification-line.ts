import { Socket } from 'node:net';
import type pg from 'pg';
import { connectClient } from './server-check.js';

/** All in ms. */
export interface NotificationTimings {
  /** Between two heartbeats: 4,000. Two without an answer, and the connection counts as lost. */
  readonly beatMs: number;
  /** The wait before the first attempt to connect again: 250. It doubles up to `retryMaxMs`; a random half is taken off. */
  readonly retryMs: number;
  /** The longest such wait: 30,000. */
  readonly retryMaxMs: number;
  /** How long connecting, and a statement, may take: 10,000. */
  readonly answerMs: number;
}

/** Silence on a connection after which the kernel asks whether the other side is there, in ms. */
const KEEP_ALIVE_MS = 10_000;
/** How long a connection has to say goodbye, in ms. */
const GOODBYE_MS = 1_000;

/** A connection outside of the pool whose end is noticed, and that can be ended although nobody answers. */
export class Line {
  /** Ends the line for whoever waits in {@link lost}. */
  fail: (reason: unknown) => void = () => {};
  readonly #broken: Promise<never>;

  private constructor(
    readonly client: pg.Client,
    private readonly socket: Socket,
  ) {
    this.#broken = new Promise((_resolve, reject) => {
      this.fail = reject;
    });
    this.#broken.catch(() => {});
    client.on('error', (error) => this.fail(error));
    client.on('end', () => this.fail(new Error('the server closed the connection')));
  }

  /** @param answerMs how long connecting, and later a statement, may take */
  static async open(connection: pg.ClientConfig, answerMs: number): Promise<Line> {
    const socket = new Socket();
    const client = await connectClient(
      {
        ...connection,
        stream: () => socket,
        keepAlive: true,
        keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
        query_timeout: answerMs,
      },
      answerMs,
    );
    return new Line(client, socket);
  }

  /** Resolves when the signal aborts. @throws what ended the connection */
  async lost(signal: AbortSignal): Promise<void> {
    let abort = () => {};
    const aborted = new Promise<void>((resolve) => {
      abort = resolve;
    });
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    try {
      await Promise.race([this.#broken, aborted]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async close(): Promise<void> {
    const timer = setTimeout(() => this.socket.destroy(), GOODBYE_MS);
    await this.client.end().catch(() => {});
    clearTimeout(timer);
    this.socket.destroy();
  }
}

/** The wait before the next attempt to connect, in ms. */
export function waitBefore(failures: number, { retryMs, retryMaxMs }: NotificationTimings): number {
  const longest = Math.min(retryMaxMs, retryMs * 2 ** Math.min(failures, 20));
  // So that the processes that lost their connections together do not come back together.
  return longest * (1 - Math.random() / 2);
}

/** What may be told of an error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
