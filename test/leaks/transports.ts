import { type Client, createClient, type ExecutionResult } from 'graphql-ws';
import { WebSocket } from 'ws';
import { counted, headersOf, type Reply, replyOf, type Sent } from './ask.js';
import { type Caller, credentialsOf } from './callers.js';
import type { World } from './owners.js';

/** A stream of answers that is read one by one and given up. */
export interface Answers {
  /** The next answer; null when the stream is at its end. */
  next(): Promise<Reply | null>;
  close(): Promise<void>;
}

/** Sends a query in the address. */
export async function get(world: World, caller: Caller, { document, variables }: Sent): Promise<Reply> {
  counted.requests++;
  const url = new URL('http://salient/graphql');
  url.searchParams.set('query', document);
  url.searchParams.set('variables', JSON.stringify(variables));
  const headers = { accept: 'application/json', ...headersOf(caller) };
  const response = await world.test.app.fetch(new Request(url, { headers }));
  return replyOf(response.status, await response.text());
}

/** Sends any operation and reads the answers as Server-Sent Events. */
export async function overSse(world: World, caller: Caller, { document, variables }: Sent): Promise<Answers> {
  counted.requests++;
  const gone = new AbortController();
  const response = await world.test.app.fetch(
    new Request('http://salient/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headersOf(caller) },
      body: JSON.stringify({ query: document, variables }),
      signal: gone.signal,
    }),
  );
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let buffered = '';
  return {
    async next() {
      for (;;) {
        const end = buffered.indexOf('\n\n');
        if (end < 0) {
          const { done, value } = await reader.read();
          // A refusal may come as one JSON text instead of a stream.
          if (done) return buffered.trim().startsWith('{') ? replyOf(response.status, buffered) : null;
          buffered += decoder.decode(value, { stream: true });
          continue;
        }
        const block = buffered.slice(0, end);
        buffered = buffered.slice(end + 2);
        if (/^event: ?complete$/m.test(block)) return null;
        const data = /^data: ?(.+)$/m.exec(block)?.[1];
        if (data) return replyOf(response.status, data);
      }
    },
    async close() {
      await reader.cancel().catch(() => {});
      gone.abort();
    },
  };
}

/** The WebSocket connection of one caller; what it sends goes over one socket. */
export class Socket implements AsyncDisposable {
  readonly #client: Client;

  constructor(url: string, caller: Caller) {
    const { key, tenant } = credentialsOf(caller);
    this.#client = createClient({
      url: `${url.replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      lazy: true,
      retryAttempts: 0,
      connectionParams: {
        ...(key ? { authorization: `Bearer ${key}` } : {}),
        ...(tenant ? { 'x-salient-tenant': tenant } : {}),
      },
    });
  }

  send({ document, variables }: Sent): Answers {
    counted.requests++;
    const results = this.#client.iterate({ query: document, variables });
    return {
      async next() {
        try {
          const { done, value } = await results.next();
          return done ? null : replyOf(200, JSON.stringify(value as ExecutionResult));
        } catch (error) {
          return replyOf(200, JSON.stringify({ errors: refusalIn(error) }));
        }
      },
      async close() {
        await results.return?.();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.dispose();
  }
}

/** Errors that came instead of an answer: those of the operation, or the code that the socket was closed with. */
function refusalIn(error: unknown): unknown {
  if (Array.isArray(error)) return error;
  const { code, reason } = error as { code?: number; reason?: string };
  if (code === undefined) throw error;
  return [{ message: reason, extensions: { code: code === 4401 ? 'UNAUTHENTICATED' : `CLOSED_${code}` } }];
}

/** The first answer of a subscription. */
export async function firstAnswer(world: World, caller: Caller, sent: Sent): Promise<Reply> {
  const answers = await overSse(world, caller, sent);
  const first = await answers.next();
  await answers.close();
  return first ?? replyOf(200, '{}');
}
