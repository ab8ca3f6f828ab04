import type { DatabaseLog } from './log.js';
import { type Line, type NotificationTimings, reasonOf, waitBefore } from './notification-line.js';

/** Sends messages, one statement at a time. What it cannot send it drops. */
export class Speaker {
  /** The server process behind it, by which others know its messages. */
  processId: number | null = null;
  #line: Line | undefined;
  #tail: Promise<void> = Promise.resolve();
  #failures = 0;
  #notBefore = 0;
  #closed = false;

  constructor(
    private readonly connect: () => Promise<Line>,
    private readonly log: DatabaseLog,
    private readonly timings: NotificationTimings,
  ) {}

  send(channel: string, messages: readonly string[]): Promise<void> {
    this.#tail = this.#tail.then(() => this.#send(channel, messages));
    return this.#tail;
  }

  async close(): Promise<void> {
    await this.#tail;
    this.#closed = true;
    await this.#drop();
  }

  async #send(channel: string, messages: readonly string[]): Promise<void> {
    if (this.#closed || performance.now() < this.#notBefore) return;
    try {
      this.#line ??= await this.#open();
      // Nobody waits for it to be on disk, and all who notify would wait for this one.
      await this.#line.client.query(
        `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1::text, m) FROM unnest($2::text[]) AS m`,
        [channel, messages],
      );
      if (this.#failures > 0) this.log('info', 'other processes are told of news at once again', {});
      this.#failures = 0;
    } catch (error) {
      if (this.#failures === 0) {
        this.log('warn', 'other processes are not told of news at once: they have to poll', {
          reason: reasonOf(error),
        });
      }
      this.#notBefore = performance.now() + waitBefore(this.#failures++, this.timings);
      await this.#drop();
    }
  }

  async #open(): Promise<Line> {
    const line = await this.connect();
    const { rows } = await line.client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    this.processId = rows[0]?.pid ?? null;
    return line;
  }

  async #drop(): Promise<void> {
    const line = this.#line;
    this.#line = undefined;
    // Another process may get the number.
    this.processId = null;
    await line?.close();
  }
}
