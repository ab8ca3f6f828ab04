import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FeedOptions, FeedWakeUps } from '../../src/events/index.js';
import type { TenantActor, TenantContext } from '../../src/tenancy/index.js';
import { sharedConnection } from '../support/database.js';

const script = fileURLToPath(new URL('event-process.mjs', import.meta.url));

/** An event as a follower got it: its place in the stream, and its subject, by which writer and number are known. */
export interface Seen {
  readonly seq: number;
  readonly subject: string;
}

/** A committed transaction: the writer's events from one number to another. */
export interface Committed {
  readonly writer: number;
  readonly from: number;
  readonly to: number;
}

/** A process of its own on the shared database, with a feed and writers. */
export class EventProcess implements AsyncDisposable {
  /** What was committed, as the process has told so far. */
  readonly committed: Committed[] = [];
  readonly #requests = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  readonly #gone: Promise<void>;
  #count = 0;

  private constructor(private readonly child: ChildProcess) {
    this.#gone = new Promise((resolve) => child.once('exit', () => resolve()));
    child.on('message', (message) => this.#hear(message as Message));
    child.on('exit', () => {
      for (const { reject } of this.#requests.values()) reject(new Error('the process is gone'));
    });
  }

  static async start(feedOptions: Partial<FeedOptions> = {}): Promise<EventProcess> {
    const connection = sharedConnection();
    const child = fork(script, [JSON.stringify({ connection, feedOptions })]);
    const process = new EventProcess(child);
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.once('exit', () => reject(new Error('the process did not start')));
    });
    return process;
  }

  /** Writes transactions one after the other as this writer. */
  async write(tenant: TenantContext, writer: number, transactions: number, first = 1): Promise<void> {
    await this.#ask('write', { tenant, writer, transactions, first });
  }

  /** Follows after a cursor until `count` events came, or all that there will be. */
  async follow(actor: TenantActor, after: string, count: number): Promise<Seen[]> {
    const text = (await this.#ask('follow', { actor, after, count })) as string;
    if (text === '') return [];
    return text.split(',').map((each) => {
      const [seq, subject] = each.split(':') as [string, string];
      return { seq: Number(seq), subject };
    });
  }

  /** There will be no event after this one: who has it stops to follow. */
  async through(seq: number): Promise<void> {
    await this.#ask('through', { seq });
  }

  async counts(): Promise<FeedWakeUps> {
    return (await this.#ask('counts', {})) as FeedWakeUps;
  }

  /** Ends it at once, in the middle of whatever it does. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.#gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #ask(name: string, input: unknown): Promise<unknown> {
    const id = ++this.#count;
    return new Promise((resolve, reject) => {
      this.#requests.set(id, { resolve, reject });
      this.child.send({ id, name, input }, (error) => error && reject(error));
    });
  }

  #hear(message: Message): void {
    if ('committed' in message) {
      const [writer, from, to] = message.committed;
      this.committed.push({ writer, from, to });
    }
    if (!('id' in message)) return;
    const request = this.#requests.get(message.id);
    this.#requests.delete(message.id);
    if (message.error === undefined) request?.resolve(message.result);
    else request?.reject(new Error(message.error));
  }
}

type Message =
  | { readonly ready: true }
  | { readonly committed: readonly [writer: number, from: number, to: number] }
  | { readonly id: number; readonly result?: unknown; readonly error?: string };

/** Which writer's event it is, and its number. */
export function writerOf(subject: string): { writer: number; number: number } {
  return {
    writer: Number.parseInt(subject.slice(0, 8), 16),
    number: Number.parseInt(subject.slice(-12), 16),
  };
}
