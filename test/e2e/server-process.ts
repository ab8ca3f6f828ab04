import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { ADMIN_KEY, type Answer } from '../support/app.js';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** `salient serve` as a process of its own, which a test may kill. */
export class ServerProcess implements AsyncDisposable {
  readonly #gone: Promise<Ending>;

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {
    this.#gone = exit(child);
  }

  /** Begins to start one at a free port, and does not wait until it serves. */
  static async launch(environment: Record<string, string>): Promise<ServerProcess> {
    const port = await freePort();
    const child = launch({ ...environment, PORT: String(port) });
    child.stdout.resume();
    child.stderr.resume();
    return new ServerProcess(child, `http://127.0.0.1:${port}`);
  }

  /** @param environment where its data is, and what else is not as usual; its own port unless it names one */
  static async start(environment: Record<string, string>): Promise<ServerProcess> {
    const child = launch(environment);
    const errors: string[] = [];
    child.stderr.on('data', (data) => errors.push(String(data)));
    const url = await new Promise<string>((resolve, reject) => {
      let text = '';
      child.stdout.on('data', (data) => {
        text += String(data);
        const found = /serves (http\S+)\/graphql/.exec(text)?.[1];
        if (found) resolve(found);
      });
      child.once('exit', () => reject(new Error(`the server did not start: ${errors.join('')}`)));
    });
    return new ServerProcess(child, url);
  }

  async send<T>(
    query: string,
    variables: Record<string, unknown>,
    key: string,
    tenant?: string,
  ): Promise<Answer<T>> {
    const response = await fetch(`${this.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${key}`,
        ...(tenant ? { 'x-salient-tenant': tenant } : {}),
      },
      body: JSON.stringify({ query, variables }),
    });
    return (await response.json()) as Answer<T>;
  }

  /** Sends what must succeed and returns its data. */
  async ask<T>(query: string, variables: Record<string, unknown>, key: string, tenant?: string): Promise<T> {
    const { data, errors } = await this.send<T>(query, variables, key, tenant);
    if (errors || !data) throw new Error(`refused: ${JSON.stringify(errors)}`);
    return data;
  }

  /** How it ended, once it has. */
  get gone(): Promise<Ending> {
    return this.#gone;
  }

  /** Sends it a signal, and does not wait for what comes of it. */
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Ends it by this signal; resolves when it is gone. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<Ending> {
    this.signal(signal);
    return this.#gone;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGKILL');
  }
}

/** A port that was free a moment ago, for a server that is to come back at the same address. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A new tenant, and its administrator's key. */
export async function openTenant(server: ServerProcess, slug: string): Promise<string> {
  await server.ask(
    'mutation ($input: CreateTenantInput!) { createTenant(input: $input) { tenant { id } errors { message } } }',
    { input: { slug, name: slug } },
    ADMIN_KEY,
  );
  const { createApiKey } = await server.ask<{ createApiKey: { secret: string } }>(
    'mutation { createApiKey(input: { role: TENANT_ADMIN, name: "test" }) { secret errors { message } } }',
    {},
    ADMIN_KEY,
    slug,
  );
  return createApiKey.secret;
}

/** States a fact; returns its id once it is committed. */
export async function remember(server: ServerProcess, key: string, text: string): Promise<string> {
  const answer = await server.ask<{ remember: { fact: { id: string } | null; errors: unknown[] } }>(
    'mutation ($text: String!) { remember(input: { text: $text }) { fact { id } errors { message } } }',
    { text },
    key,
  );
  const { fact, errors } = answer.remember;
  if (!fact) throw new Error(`refused: ${JSON.stringify(errors)}`);
  return fact.id;
}

/** An event as the tests tell them apart. */
export interface Item {
  readonly __typename: 'MemoryEvent' | 'ImportanceChange' | 'FeedCheckpoint';
  readonly cursor: string;
  readonly type?: string;
  readonly subjectId?: string;
  readonly factId?: string;
}

const ITEM =
  '__typename cursor ... on MemoryEvent { type subjectId } ... on ImportanceChange { factId cause }';
export const EVENTS = `subscription ($after: String) { memoryEvents(after: $after) { ${ITEM} } }`;

/** All events after a cursor, read from the log. */
export async function readLog(server: ServerProcess, key: string, from: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let after = from; ; ) {
    const { eventLog } = await server.ask<{
      eventLog: { items: Item[]; endCursor: string; hasMore: boolean };
    }>(
      `query ($after: String) { eventLog(after: $after, first: 200) { items { ${ITEM} } endCursor hasMore } }`,
      { after },
      key,
    );
    items.push(...eventLog.items);
    after = eventLog.endCursor;
    if (!eventLog.hasMore) return items;
  }
}

/** The exit code of a process, or the signal that ended it. */
export type Ending = number | NodeJS.Signals;

function exit(child: ChildProcess): Promise<Ending> {
  const ended = child.exitCode ?? child.signalCode;
  if (ended !== null) return Promise.resolve(ended);
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve((code ?? signal) as Ending)));
}

function launch(environment: Record<string, string>) {
  return spawn(process.execPath, [main, 'serve'], {
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      SALIENT_ADMIN_KEY: ADMIN_KEY,
      SALIENT_EMBEDDING: 'fake',
      SALIENT_LOG_LEVEL: 'warn',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
