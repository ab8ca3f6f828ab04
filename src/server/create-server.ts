import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import {
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { UnavailableError } from '../errors.js';
import type { Services } from '../services.js';
import type { Actor, Credentials } from '../tenancy/index.js';
import { credentialsOfHeaders, type ShownCredentials, TENANT_HEADER } from './credentials.js';
import { DocumentCache } from './document-cache.js';
import { createErrorMask, describe } from './error-mask.js';
import { answerHealth } from './health.js';
import { useLimits } from './limits.js';
import { send, toRequest, urlOf } from './node-http.js';
import { Outlet, type OutletOptions } from './outlet.js';
import { useJsonBody } from './request-body.js';
import { inRequest, REQUEST_ID_HEADER, requestIdOf } from './request-scope.js';
import type { Sharing } from './sharing.js';
import { StreamSlots } from './stream-slots.js';
import { createSubscriptions } from './subscribe.js';
import { createWebSocketTransport, MAX_MESSAGE_BYTES, type PreparedOperation } from './websocket.js';

/** Where GraphQL is served, over HTTP, Server-Sent Events and WebSocket. */
export const GRAPHQL_PATH = '/graphql';

/** Characters of all cached documents, and of all cached syntax errors. */
const CACHED_CHARACTERS = 5_000_000;
/** How long a request may take to arrive, in ms. */
const REQUEST_TIMEOUT_MS = 60_000;
/** How long an idle connection is kept, in ms: longer than load balancers do, so that it is they who close. */
const KEEP_ALIVE_MS = 75_000;
/** How long closing waits for requests under way: somewhat longer than an append waits for its extraction. In ms. */
const CLOSE_GRACE_MS = 15_000;

const NOTHING_SHARED: Sharing<unknown> = {
  itemOf: () => undefined,
  readerOf: () => undefined,
  newsOf: () => undefined,
};

/** What the server needs of a context. */
interface BaseContext {
  readonly actor: Actor | null;
  readonly requestId: string;
}

type ServerServices = Pick<Services, 'config' | 'db' | 'log'>;

export interface ServerOptions<S extends ServerServices, Context extends BaseContext> {
  readonly schema: GraphQLSchema;
  readonly services: S;
  /** Who calls; null without credentials. Fails for credentials that are not valid. */
  readonly authenticate: (services: S, credentials: Credentials) => Promise<Actor | null>;
  /** The context of one operation, or of one event of a subscription. */
  readonly createContext: (services: S, actor: Actor | null, requestId: string) => Context;
  /** Which events are resolved once for several subscribers; each for itself when left out. */
  readonly sharing?: Sharing<Context>;
  /** How far behind the reader of a stream may be; the defaults of an outlet when left out. */
  readonly lag?: Omit<OutletOptions, 'unsent'>;
}

export interface Server {
  /** Answers a request in process, as if it had come over HTTP. */
  fetch(request: Request): Promise<Response>;
  /** Starts to accept connections. @param port 0 picks a free one */
  listen(port: number, host: string): Promise<{ url: string; port: number }>;
  /** Accepts no more, ends subscriptions with UNAVAILABLE, answers what is under way, then closes all connections. */
  dispose(): Promise<void>;
}

/** What a request carries through the library to the context. */
interface Carried {
  readonly requestId: string;
  readonly credentials: ShownCredentials;
}

export function createServer<S extends ServerServices, Context extends BaseContext>(
  options: ServerOptions<S, Context>,
): Server {
  const { schema, services } = options;
  const { config, log } = services;
  const development = config.environment !== 'production';
  const mask = createErrorMask(log);
  const slots = new StreamSlots(config.maxStreamsPerTenant);
  const subscriptions = createSubscriptions<Context>({
    freshContext: (context) => options.createContext(services, context.actor, context.requestId),
    sharing: options.sharing ?? NOTHING_SHARED,
    slots,
    mask,
  });
  const authenticate = (credentials: ShownCredentials, requestId: string) =>
    options.authenticate(services, { ...credentials, requestId });

  const yoga = createYoga<Carried, Context>({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    healthCheckEndpoint: '/healthz',
    landingPage: false,
    graphiql: development ? { title: 'Salient', subscriptionsProtocol: 'SSE' } : false,
    renderGraphiQL,
    batching: false,
    multipart: false,
    maxRequestBodySize: false,
    // Its messages would hold what failed; what may be logged is logged by the mask.
    logging: false,
    // Credentials are never sent by a browser on its own, so any origin may ask.
    cors: {
      origin: '*',
      credentials: false,
      methods: ['GET', 'POST', 'OPTIONS'],
      allowedHeaders: ['Accept', 'Authorization', 'Content-Type', TENANT_HEADER, REQUEST_ID_HEADER],
      exposedHeaders: [REQUEST_ID_HEADER],
      maxAge: 86_400,
    },
    parserAndValidationCache: {
      documentCache: new DocumentCache<DocumentNode>(CACHED_CHARACTERS),
      errorCache: new DocumentCache<Error>(CACHED_CHARACTERS),
    },
    maskedErrors: { errorMessage: 'Internal error', maskError: mask },
    context: async ({ credentials, requestId }) =>
      options.createContext(services, await authenticate(credentials, requestId), requestId),
    plugins: [
      useJsonBody(config.maxBodyBytes),
      ...useLimits(),
      ...(development ? [] : [closedSchema]),
      subscriptions.plugin as Plugin,
    ],
  });

  const sockets = createWebSocketTransport({
    maxPayloadBytes: Math.min(config.maxBodyBytes, MAX_MESSAGE_BYTES),
    slots,
    lag: options.lag,
    log,
    mask,
    authenticate,
    async prepare(payload, credentials, requestId) {
      const carried = { requestId, credentials, params: payload };
      const { parse, validate, contextFactory, execute, subscribe, schema } = yoga.getEnveloped(
        carried as never,
      );
      const document: DocumentNode = parse(payload.query);
      const errors: readonly GraphQLError[] = validate(schema, document);
      if (errors.length > 0) return errors;
      return {
        schema,
        document,
        variableValues: payload.variables,
        operationName: payload.operationName,
        contextValue: await contextFactory(),
        run: { execute, subscribe },
      } satisfies PreparedOperation as PreparedOperation & ExecutionArgs;
    },
  });

  let http: HttpServer | undefined;
  let closing: Promise<void> | undefined;
  const underWay = new Set<Promise<unknown>>();

  async function answer(request: Request, outlet?: Outlet): Promise<Response> {
    const requestId = requestIdOf(request.headers.get(REQUEST_ID_HEADER));
    return inRequest({ id: requestId, outlet }, async () => {
      const { pathname } = new URL(request.url);
      const health = await answerHealth(pathname, services.db, closing !== undefined);
      const response =
        health ??
        (await yoga.fetch(request, { requestId, credentials: credentialsOfHeaders(request.headers) }));
      response.headers.set(REQUEST_ID_HEADER, requestId);
      return response;
    });
  }

  function serveHttp(): HttpServer {
    const server = createHttpServer(
      { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS },
      (incoming, outgoing) => {
        const work = async () => {
          try {
            if (closing) outgoing.setHeader('connection', 'close');
            const url = urlOf(incoming);
            const outlet = new Outlet({ unsent: () => outgoing.writableLength, ...options.lag });
            const response = url
              ? await answer(toRequest(url, incoming, outgoing, yoga.fetchAPI), outlet)
              : new Response(null, { status: 400 });
            await send(response, incoming, outgoing, outlet);
          } catch (error) {
            if (outgoing.destroyed) return;
            log.error(describe(error), 'request failed');
            if (!outgoing.headersSent) outgoing.statusCode = 500;
            outgoing.end();
          }
        };
        const done: Promise<void> = work().finally(() => underWay.delete(done));
        underWay.add(done);
      },
    );
    server.on('upgrade', (request, socket, head) => {
      const served = urlOf(request)?.pathname === GRAPHQL_PATH && !closing;
      if (served) {
        sockets.upgrade(request, socket, head);
        return;
      }
      // Its errors have no other listener any more, and would end the process.
      socket.on('error', () => socket.destroy());
      const status = closing ? '503 Service Unavailable' : '404 Not Found';
      socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    });
    return server;
  }

  async function close(): Promise<void> {
    http?.close();
    http?.closeIdleConnections();
    subscriptions.fail(new UnavailableError('The server is closing: subscribe again, from the last cursor'));
    await Promise.all([within(CLOSE_GRACE_MS, Promise.all(underWay)), sockets.close(CLOSE_GRACE_MS)]);
    http?.closeAllConnections();
    await yoga.dispose();
  }

  return {
    fetch: (request) => answer(request),
    async listen(port, host) {
      const server = serveHttp();
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve();
        });
      });
      http = server;
      const address = server.address() as AddressInfo;
      const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
      return { url: `http://${shown}:${address.port}`, port: address.port };
    },
    dispose() {
      closing ??= close();
      return closing;
    },
  };
}

/** In production a stranger learns no names: introspection is off, and mistakes are not answered with suggestions. */
const closedSchema: Plugin = {
  onValidate({ addValidationRule }) {
    addValidationRule(NoSchemaIntrospectionCustomRule);
    return ({ result, setResult }) => {
      if (!Array.isArray(result)) return;
      const errors: readonly GraphQLError[] = result;
      setResult(errors.map(withoutSuggestion));
    };
  },
};

function withoutSuggestion(error: GraphQLError): GraphQLError {
  const { nodes, source, positions, path, originalError, extensions } = error;
  const message = error.message.replace(/ Did you mean [\s\S]*$/, '');
  return new GraphQLError(message, { nodes, source, positions, path, originalError, extensions });
}

async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, deadline]);
  clearTimeout(timer);
}
