import { Writable } from 'node:stream';
import {
  GraphQLBoolean,
  GraphQLError,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
} from 'graphql';
import { type Client, createClient } from 'graphql-ws';
import { pino } from 'pino';
import { WebSocket } from 'ws';
import { createConfig } from '../../src/config/index.js';
import type { Database } from '../../src/db/index.js';
import { BadInputError, ForbiddenError, UnauthenticatedError, UnavailableError } from '../../src/errors.js';
import { PullIterator } from '../../src/events/index.js';
import { createServer, type Server } from '../../src/server/index.js';
import { Metrics, NO_TRACING } from '../../src/telemetry/index.js';
import type { Actor, Credentials } from '../../src/tenancy/index.js';

/** What tests plant where content or secrets would be, and then look for in every answer and log line. */
export const MARKER = 'canary-7f3a91';

/** A server of a small schema that does what a test asks of it: answer, fail, wait, stream. */
export class Probe {
  /** Keys that are valid: `Bearer <key>`. */
  readonly keys = new Set(['good']);
  readonly logged: string[] = [];
  readonly metrics = new Metrics({ tenants: false });
  /** How many contexts were made; each has its number. */
  contexts = 0;
  /** Subscriptions whose source has ended. */
  ended = 0;
  /** Events of 100 kB that were made. */
  large = 0;
  /** Lets waiting fields go on. */
  release: () => void = () => {};
  databaseAnswers = true;
  readonly server: Server;
  #url: Promise<string> | undefined;
  readonly #clients: Client[] = [];

  /** @param lag how far behind a reader may be */
  constructor(settings: Record<string, unknown> = {}, lag?: { maxUnsentBytes?: number; lagMs?: number }) {
    const stream = new Writable({
      write: (chunk, _encoding, done) => {
        this.logged.push(String(chunk));
        done();
      },
    });
    this.server = createServer({
      schema: this.#schema(),
      services: {
        config: createConfig({ environment: 'test', ...settings }),
        db: this.#database(),
        log: pino({ level: 'debug' }, stream),
        telemetry: { metrics: this.metrics, tracing: NO_TRACING, async [Symbol.asyncDispose]() {} },
      },
      lag,
      authenticate: async (_services, credentials) => this.#authenticate(credentials),
      createContext: (_services, actor: Actor | null, requestId) => ({
        actor,
        requestId,
        number: ++this.contexts,
      }),
    });
  }

  /** Where it listens; it begins to at the first call. */
  url(): Promise<string> {
    this.#url ??= this.server.listen(0, '127.0.0.1').then(({ url }) => url);
    return this.#url;
  }

  /** Posts an operation over a connection. */
  async post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${await this.url()}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer good', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  /** Opens a WebSocket client. */
  async socket(
    connectionParams: Record<string, unknown> = { authorization: 'Bearer good' },
  ): Promise<Client> {
    const url = (await this.url()).replace('http', 'ws');
    const client = createClient({
      url: `${url}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams,
      retryAttempts: 0,
      lazy: true,
    });
    this.#clients.push(client);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) await client.dispose();
    this.release();
    await this.server.dispose();
    this.metrics.close();
  }

  async #authenticate({ authorization, tenantSlug }: Credentials): Promise<Actor | null> {
    if (authorization === null) return null;
    const key = /^Bearer (.+)$/.exec(authorization)?.[1];
    if (!key || !this.keys.has(key)) throw new UnauthenticatedError();
    if (tenantSlug === 'forbidden') throw new ForbiddenError('X-Salient-Tenant is not for this key');
    return { kind: 'TENANT_ADMIN', id: key, keyId: tenantSlug, tenant: null, agentId: null, userId: null };
  }

  #database(): Database {
    return {
      withPlatform: async () => {
        if (!this.databaseAnswers) throw new UnavailableError('The database is not available');
      },
    } as unknown as Database;
  }

  #schema(): GraphQLSchema {
    type Context = { actor: Actor | null; requestId: string; number: number };
    const json = new GraphQLScalarType({ name: 'JSON' });
    const node: GraphQLObjectType = new GraphQLObjectType({
      name: 'Node',
      fields: () => ({
        node: { type: node, resolve: () => ({}) },
        name: { type: GraphQLString, resolve: () => 'name' },
      }),
    });
    const kinds: Record<string, () => unknown> = {
      error: () => new Error(`failed with ${MARKER}`),
      text: () => `failed with ${MARKER}`,
      graphql: () => new GraphQLError(`thrown with ${MARKER}`, { extensions: { secret: MARKER } }),
      input: () => new BadInputError('first must be from 1 to 100', ['first']),
      unavailable: () => new UnavailableError('The database is not available at the moment'),
      database: () =>
        Object.assign(new Error(`invalid input syntax for type uuid: "${MARKER}"`), {
          code: 'P2010',
          meta: { driverAdapterError: { cause: { originalCode: '22P02', message: MARKER } } },
        }),
    };
    const boom = (kind: string) => {
      throw kinds[kind]?.();
    };
    const stream = <T>(pull: (signal: AbortSignal) => Promise<T | undefined>) =>
      new PullIterator<T>(pull, () => {
        this.ended++;
      });
    return new GraphQLSchema({
      query: new GraphQLObjectType<unknown, Context>({
        name: 'Query',
        fields: {
          who: {
            type: GraphQLString,
            resolve: (_root, _args, { actor }) => {
              if (!actor) throw new UnauthenticatedError();
              return actor.id;
            },
          },
          tenant: { type: GraphQLString, resolve: (_root, _args, { actor }) => actor?.keyId },
          requestId: { type: GraphQLString, resolve: (_root, _args, { requestId }) => requestId },
          boom: {
            type: GraphQLString,
            args: { kind: { type: new GraphQLNonNull(GraphQLString) } },
            resolve: (_root, { kind }) => boom(kind),
          },
          required: { type: new GraphQLNonNull(GraphQLString), resolve: () => null },
          number: { type: GraphQLInt, resolve: () => MARKER },
          node: { type: node, resolve: () => ({}) },
          echo: { type: json, args: { value: { type: json } }, resolve: (_root, { value }) => value },
          needs: {
            type: GraphQLString,
            args: { text: { type: new GraphQLNonNull(GraphQLString) } },
            resolve: (_root, { text }) => text,
          },
          waits: {
            type: GraphQLBoolean,
            resolve: () =>
              new Promise((resolve) => {
                this.release = () => resolve(true);
              }),
          },
        },
      }),
      mutation: new GraphQLObjectType({
        name: 'Mutation',
        fields: {
          write: {
            type: GraphQLString,
            args: {
              input: {
                type: new GraphQLInputObjectType({
                  name: 'WriteInput',
                  fields: { text: { type: new GraphQLNonNull(GraphQLString) }, count: { type: GraphQLInt } },
                }),
              },
            },
            resolve: () => 'written',
          },
        },
      }),
      subscription: new GraphQLObjectType<unknown, Context>({
        name: 'Subscription',
        fields: {
          count: {
            type: GraphQLInt,
            args: { to: { type: new GraphQLNonNull(GraphQLInt) } },
            subscribe: (_root, { to }) => {
              let n = 0;
              return stream(async () => (n < to ? { count: ++n } : undefined));
            },
          },
          contexts: {
            type: GraphQLInt,
            subscribe: () => stream(async () => ({})),
            resolve: (_root, _args, { number }) => number,
          },
          large: {
            type: GraphQLString,
            subscribe: () =>
              stream(async () => {
                this.large++;
                return { large: 'x'.repeat(100_000) };
              }),
          },
          silence: { type: GraphQLInt, subscribe: () => stream(() => new Promise(() => {})) },
          breaks: {
            type: GraphQLInt,
            args: { kind: { type: new GraphQLNonNull(GraphQLString) } },
            subscribe: (_root, { kind }) => {
              let n = 0;
              return stream(async () => (n++ === 0 ? { breaks: 1 } : boom(kind)));
            },
          },
          refuses: {
            type: GraphQLInt,
            args: { kind: { type: new GraphQLNonNull(GraphQLString) } },
            subscribe: (_root, { kind }) => boom(kind) as never,
          },
        },
      }),
    });
  }
}

/** The events of a Server-Sent Events body as they come: `next` with its data, `complete`. */
export async function* sse(response: Response): AsyncGenerator<{ event: string; data: unknown }> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      const event = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: ?(.*)$/m.exec(block)?.[1];
      if (event) yield { event, data: data ? JSON.parse(data) : undefined };
    }
  }
}
