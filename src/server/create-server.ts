import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
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
import type { RateLimiter, RateState } from '../limits/index.js';
import type { Services } from '../services.js';
import type { Actor, Credentials } from '../tenancy/index.js';
import { corsOf, harden, mayConnect } from './browsers.js';
import { credentialsOfHeaders, type ShownCredentials } from './credentials.js';
import { DocumentCache } from './document-cache.js';
import { createErrorMask, describe } from './error-mask.js';
import { answerHealth } from './health.js';
import { useLimits } from './limits.js';
import { Listener, refuseUpgrade } from './listener.js';
import { answerMetrics, METRICS_PATH } from './metrics-endpoint.js';
import { isStream, send, toRequest, urlOf } from './node-http.js';
import { OperationRecord, useOperationRecord } from './operation-record.js';
import { Outlet, type OutletOptions } from './outlet.js';
import { loadDocuments, usePersistedDocuments } from './persisted-documents.js';
import { useRateLimit } from './rate-limit.js';
import { useJsonBody } from './request-body.js';
import { currentScope, inRequest, REQUEST_ID_HEADER, requestIdOf } from './request-scope.js';
import type { Sharing } from './sharing.js';
import { StreamSlots } from './stream-slots.js';
import { createSubscriptions } from './subscribe.js';
import { createWebSocketTransport, MAX_MESSAGE_BYTES, type PreparedOperation } from './websocket.js';

/** Where GraphQL is served, over HTTP, Server-Sent Events and WebSocket. */
export const GRAPHQL_PATH = '/graphql';

/** Characters of all cached documents, and of all cached syntax errors. */
const CACHED_CHARACTERS = 5_000_000;
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

type ServerServices = Pick<Services, 'config' | 'db' | 'log' | 'telemetry'>;

export interface ServerOptions<S extends ServerServices, Context extends BaseContext> {
  readonly schema: GraphQLSchema;
  readonly services: S;
  /** Who calls; null without credentials. Fails for credentials that are not valid. */
  readonly authenticate: (services: S, credentials: Credentials) => Promise<Actor | null>;
  /** The context of one operation, or of one event of a subscription. */
  readonly createContext: (services: S, actor: Actor | null, requestId: string) => Context;
  /** Which events are resolved once for several subscribers; each for itself when left out. */
  readonly sharing?: Sharing<Context>;
  /** What operations cost and who lets tenants spend it; nothing is charged when left out. */
  readonly rate?: {
    readonly limiter: RateLimiter;
    readonly costOf: (args: ExecutionArgs) => number | undefined;
  };
  /** How far behind the reader of a stream may be; the defaults of an outlet when left out. */
  readonly lag?: Omit<OutletOptions, 'unsent' | 'cut'>;
}

export interface Server {
  /** Answers a request in process, as if it had come over HTTP. */
  fetch(request: Request): Promise<Response>;
  /** Starts to accept connections. @param port 0 picks a free one */
  listen(port: number, host: string): Promise<{ url: string; port: number }>;
  /** Serves what arrives at a port that is open already, which its opener closes. */
  serveOn(listener: Listener): void;
  /**
   * Refuses what comes anew with UNAVAILABLE, ends subscriptions with the same, answers what is under way, then closes
   * all sockets, and the port where it opened it. Takes 17 s at most.
   */
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
  const { config, log, telemetry } = services;
  const { metrics, tracing } = telemetry;
  const isOpen =
    config.introspection === undefined ? config.environment !== 'production' : config.introspection === 'on';
  const documents = loadDocuments(config.persistedDocuments, config.persistedOnly === 'on', schema);
  const mask = createErrorMask(log);
  const slots = new StreamSlots(config.maxStreamsPerTenant);
  const subscriptions = createSubscriptions<Context>({
    freshContext: (context) => options.createContext(services, context.actor, context.requestId),
    sharing: options.sharing ?? NOTHING_SHARED,
    slots,
    mask,
    metrics,
  });
  const authenticate = (credentials: ShownCredentials, requestId: string) =>
    options.authenticate(services, { ...credentials, requestId });

  const yoga = createYoga<Carried, Context>({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    healthCheckEndpoint: '/healthz',
    landingPage: false,
    graphiql: isOpen ? { title: 'Salient', subscriptionsProtocol: 'SSE' } : false,
    renderGraphiQL,
    batching: false,
    multipart: false,
    maxRequestBodySize: false,
    // Its messages would hold what failed; what may be logged is logged by the mask.
    logging: false,
    cors: corsOf(config.corsOrigins),
    extraParamNames: ['documentId'],
    parserAndValidationCache: {
      documentCache: new DocumentCache<DocumentNode>(CACHED_CHARACTERS),
      errorCache: new DocumentCache<Error>(CACHED_CHARACTERS),
    },
    maskedErrors: { errorMessage: 'Internal error', maskError: mask },
    context: async ({ credentials, requestId }) =>
      options.createContext(services, await authenticate(credentials, requestId), requestId),
    plugins: [
      useJsonBody(config.maxBodyBytes),
      usePersistedDocuments(documents),
      ...useLimits(),
      ...(isOpen ? [] : [closedSchema]),
      subscriptions.plugin as Plugin,
      // After the one that runs subscriptions, so that it is what is traced.
      useOperationRecord(tracing),
      ...(options.rate ? [useRateLimit({ ...options.rate, mask })] : []),
    ],
  });

  const sockets = createWebSocketTransport({
    maxPayloadBytes: Math.min(config.maxBodyBytes, MAX_MESSAGE_BYTES),
    slots,
    lag: options.lag,
    log,
    telemetry,
    mask,
    authenticate,
    async prepare(payload, credentials, requestId) {
      const carried = { requestId, credentials, params: payload };
      const { parse, validate, contextFactory, execute, subscribe, schema } = yoga.getEnveloped(
        carried as never,
      );
      const document: DocumentNode = parse(documents.textOf(payload));
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

  let listener: Listener | undefined;
  /** The same where it was opened here. */
  let own: Listener | undefined;
  metrics.gauge('salient_connections', 'Connections that are open, by protocol.', ['protocol'], async () => [
    [{ protocol: 'websocket' }, sockets.size],
    [{ protocol: 'http' }, Math.max(0, ((await listener?.connections()) ?? 0) - sockets.size)],
  ]);
  metrics.gauge('salient_subscriptions', 'Subscriptions that are open.', [], () => [
    [{}, subscriptions.size],
  ]);
  let closing: Promise<void> | undefined;
  const underWay = new Set<Promise<unknown>>();

  async function answer(request: Request, outlet?: Outlet): Promise<Response> {
    const requestId = requestIdOf(request.headers.get(REQUEST_ID_HEADER));
    const record = new OperationRecord();
    return inRequest({ id: requestId, outlet, record }, async () => {
      const { pathname } = new URL(request.url);
      const response =
        (await answerHealth(pathname, services.db, closing !== undefined)) ??
        (pathname === METRICS_PATH
          ? await answerMetrics(request, metrics, config.metricsToken)
          : await answerGraphql(request, requestId));
      response.headers.set(REQUEST_ID_HEADER, requestId);
      harden(response.headers);
      if (record.rate) tellRate(response.headers, record.rate);
      if (pathname === GRAPHQL_PATH && isOperation(request, response))
        record.tell(telemetry, log, isStream(response) ? 'sse' : 'http', response.status);
      return response;
    });
  }

  async function answerGraphql(request: Request, requestId: string): Promise<Response> {
    const { headers } = request;
    const attributes = { 'http.request.method': request.method, 'salient.request_id': requestId };
    return tracing.span(
      `${request.method} ${GRAPHQL_PATH}`,
      attributes,
      async (span) => {
        const response = await yoga.fetch(request, { requestId, credentials: credentialsOfHeaders(headers) });
        const outcome = currentScope()?.record.outcome ?? 'OK';
        span.set({ 'http.response.status_code': response.status });
        if (outcome !== 'OK') span.fail(outcome);
        return response;
      },
      headers.get('traceparent'),
    );
  }

  function request(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const work = async () => {
      try {
        const url = urlOf(incoming);
        const outlet = new Outlet({
          unsent: () => outgoing.writableLength,
          cut: () => outgoing.destroy(),
          ...options.lag,
        });
        const response = url
          ? await answer(toRequest(url, incoming, outgoing, yoga.fetchAPI), outlet)
          : new Response(null, { status: 400 });
        // Also of what was under way when closing began: the next request is for another connection.
        if (closing) outgoing.setHeader('connection', 'close');
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
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const served = urlOf(request)?.pathname === GRAPHQL_PATH && !closing;
    if (served && !mayConnect(request.headers, config.corsOrigins)) refuseUpgrade(socket, '403 Forbidden');
    else if (served) sockets.upgrade(request, socket, head);
    else refuseUpgrade(socket, closing ? '503 Service Unavailable' : '404 Not Found');
  }

  async function close(): Promise<void> {
    subscriptions.fail(new UnavailableError('The server is closing: subscribe again, from the last cursor'));
    await Promise.all([within(CLOSE_GRACE_MS, Promise.all(underWay)), sockets.close(CLOSE_GRACE_MS)]);
    listener?.handOver(null);
    await own?.[Symbol.asyncDispose]();
    await yoga.dispose();
  }

  return {
    fetch: (request) => answer(request),
    async listen(port, host) {
      own = await Listener.open(port, host);
      this.serveOn(own);
      return { url: own.url, port: own.port };
    },
    serveOn(given) {
      listener = given;
      given.handOver({ request, upgrade });
    },
    dispose() {
      closing ??= close();
      return closing;
    },
  };
}

/** Whether that was an operation, answered or refused: not the page for people, and no browser's question beforehand. */
function isOperation({ method }: Request, { headers }: Response): boolean {
  return method !== 'OPTIONS' && !(headers.get('content-type') ?? '').startsWith('text/html');
}

/** The headers of the IETF draft, with times in seconds. */
function tellRate(headers: Headers, { paid, limit, remaining, fullInMs, retryInMs }: RateState): void {
  headers.set('ratelimit-limit', String(limit));
  headers.set('ratelimit-remaining', String(remaining));
  headers.set('ratelimit-reset', String(Math.ceil(fullInMs / 1_000)));
  if (!paid) headers.set('retry-after', String(Math.ceil(retryInMs / 1_000)));
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
