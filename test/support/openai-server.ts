import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a model answers: chat completions carry it as `content`. */
export interface Completion {
  readonly content: string | null;
  readonly finishReason?: string;
  readonly refusal?: string;
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
}

/**
 * What the server does with one request: it answers, refuses with a status, ends the connection before or in the middle
 * of the answer, stalls after the headers, never answers, or writes a body as it is.
 */
export type Behaviour =
  | { readonly answer: Completion }
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | { readonly raw: string; readonly contentType?: string }
  | 'RESET'
  | 'RESET_IN_BODY'
  | 'STALL_IN_BODY'
  | 'HANG';

/** A request as it came. */
export interface Received {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: {
    readonly model: string;
    readonly messages?: readonly { readonly role: string; readonly content: string }[];
    readonly response_format?: { readonly type: string; readonly json_schema?: { readonly schema: unknown } };
    readonly input?: readonly string[];
    readonly dimensions?: number;
    readonly encoding_format?: string;
  };
  /** Whether the client went away before it was answered. */
  aborted: boolean;
}

/**
 * A local server that speaks the protocol of OpenAI's `/chat/completions` and `/embeddings`, for the real client. What it
 * does with the next requests is queued in `next`; when that is empty, `otherwise` says. Vectors of embeddings are a
 * function of the text.
 */
export class OpenAIServer implements AsyncDisposable {
  readonly received: Received[] = [];
  /** Behaviours of the requests to come, in their order. */
  readonly next: Behaviour[] = [];
  otherwise: (request: Received) => Behaviour | Promise<Behaviour> = () => ({ answer: { content: NOTHING } });
  /** Dimensions of its vectors where a request names none. */
  dimensions = 64;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  static async start(): Promise<OpenAIServer> {
    const server = new OpenAIServer();
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Forgets what was received and what was to come. */
  reset(): void {
    this.received.length = 0;
    this.next.length = 0;
    this.otherwise = () => ({ answer: { content: NOTHING } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const received: Received = {
      path: request.url ?? '',
      authorization: request.headers.authorization,
      body: JSON.parse(Buffer.concat(chunks).toString('utf8')),
      aborted: false,
    };
    response.on('close', () => {
      received.aborted = !response.writableFinished;
    });
    this.received.push(received);
    const behaviour = this.next.shift() ?? (await this.otherwise(received));
    if (behaviour === 'HANG') return;
    if (behaviour === 'RESET') {
      request.socket.resetAndDestroy();
      return;
    }
    if (behaviour === 'RESET_IN_BODY' || behaviour === 'STALL_IN_BODY') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' });
      response.write('{"id":"chatcmpl-1","choices":[{"message":{"content":"');
      if (behaviour === 'RESET_IN_BODY') setImmediate(() => request.socket.destroy());
      return;
    }
    if ('status' in behaviour) {
      response.writeHead(behaviour.status, { 'content-type': 'application/json', ...behaviour.headers });
      response.end(
        behaviour.body ?? JSON.stringify({ error: { message: 'refused', type: 'x', code: null } }),
      );
      return;
    }
    if ('raw' in behaviour) {
      response.writeHead(200, { 'content-type': behaviour.contentType ?? 'application/json' });
      response.end(behaviour.raw);
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    const { body } = received;
    response.end(JSON.stringify(body.input ? this.#embeddings(body) : completionOf(body, behaviour.answer)));
  }

  #embeddings({ input = [], model, dimensions = this.dimensions }: Received['body']) {
    const data = input.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: vectorOf(text, dimensions),
    }));
    return { object: 'list', data, model, usage: { prompt_tokens: 1, total_tokens: 1 } };
  }
}

/** The answer that nothing is worth remembering. */
export const NOTHING = '{"add":[],"supersede":[],"edges":[]}';

function completionOf({ model }: Received['body'], { content, finishReason, refusal, usage }: Completion) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [
      {
        index: 0,
        finish_reason: finishReason ?? 'stop',
        message: { role: 'assistant', content, refusal: refusal ?? null },
      },
    ],
    ...(usage === null ? {} : { usage: usage ?? { prompt_tokens: 120, completion_tokens: 30 } }),
  };
}

/** Not of unit length, different for different texts, and the same for the same. */
export function vectorOf(text: string, dimensions: number): number[] {
  let state = 2_166_136_261;
  for (const character of text) state = Math.imul(state ^ (character.codePointAt(0) as number), 16_777_619);
  return Array.from({ length: dimensions }, () => {
    state = Math.imul(state ^ (state >>> 15), 2_246_822_507) + 1;
    return ((state >>> 0) / 2 ** 32 - 0.5) * 4;
  });
}

/** The document that a request to extract holds. */
export function documentOf({ body }: Received): {
  reference_time: string;
  known_facts: string[];
  turn: { role: string; speaker?: string; sent_at?: string; content: string }[];
} {
  return JSON.parse(body.messages?.at(-1)?.content ?? 'null');
}
