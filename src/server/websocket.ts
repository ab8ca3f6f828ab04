import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql';
import { CloseCode, handleProtocols, makeServer, type SubscribePayload } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { UnauthenticatedError } from '../errors.js';
import type { Logger } from '../log.js';
import type { Telemetry } from '../telemetry/index.js';
import type { Actor } from '../tenancy/index.js';
import { credentialsOfParams, type ShownCredentials } from './credentials.js';
import { describe, toWire } from './error-mask.js';
import { assertJsonDepth, limitError } from './limits.js';
import { OperationRecord } from './operation-record.js';
import { Outlet, type OutletOptions } from './outlet.js';
import {
  currentRequestId,
  currentScope,
  inRequest,
  REQUEST_ID_HEADER,
  requestIdOf,
} from './request-scope.js';
import type { StreamSlots } from './stream-slots.js';
import { tooManyStreams } from './subscribe.js';

/** Operations that one socket may have under way, subscriptions included. */
export const MAX_OPERATIONS_PER_SOCKET = 100;
/** Bytes of one message, unless the configuration allows less; a longer one closes the socket with 1009. */
export const MAX_MESSAGE_BYTES = 1_048_576;
/** A socket must say `connection_init` within this, else it is closed with 4408. In ms. */
const INIT_WAIT_MS = 5_000;
/** What a tenant's sockets beyond its limit are closed with: clients may try again later. */
const TRY_AGAIN_LATER = 1013;
/** How often a socket is pinged; one that has not answered by the next time is dropped. In ms. */
const PING_MS = 30_000;
/** How long a socket may take to close after it was told to, in ms. */
const CLOSE_WAIT_MS = 2_000;

/** An operation that is ready to run. */
export interface PreparedOperation extends ExecutionArgs {
  readonly run: { execute(args: ExecutionArgs): unknown; subscribe(args: ExecutionArgs): unknown };
}

export interface WebSocketOptions {
  readonly maxPayloadBytes: number;
  readonly log: Logger;
  readonly telemetry: Telemetry;
  /** Fails when the credentials are not valid now. */
  readonly authenticate: (credentials: ShownCredentials, requestId: string) => Promise<Actor | null>;
  /** Those of the tenants; a socket takes one. */
  readonly slots: StreamSlots;
  /** Parses, validates and makes the context; the errors of a document that is not valid. */
  readonly prepare: (
    payload: SubscribePayload,
    credentials: ShownCredentials,
    requestId: string,
  ) => Promise<PreparedOperation | readonly GraphQLError[]>;
  readonly mask: (error: unknown) => GraphQLError;
  /** How far behind a reader may be; the defaults of {@link Outlet} when left out. */
  readonly lag?: Omit<OutletOptions, 'unsent' | 'cut'>;
}

export interface WebSocketTransport {
  /** How many sockets are open. */
  readonly size: number;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes every socket once its operations have ended, or after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

interface Connection {
  readonly socket: WebSocket;
  readonly send: (data: string) => Promise<void>;
  readonly requestId: string;
  /** How many operations are under way. */
  operations: () => number;
  credentials: ShownCredentials;
  readonly outlet: Outlet;
  /** Gives back the tenant's slot. */
  release: () => void;
}

/** GraphQL over WebSocket by the protocol graphql-transport-ws. */
export function createWebSocketTransport(options: WebSocketOptions): WebSocketTransport {
  const { log, mask, slots, telemetry } = options;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: options.maxPayloadBytes,
    handleProtocols: (protocols) => handleProtocols(protocols),
  });
  const connections = new Set<Connection>();
  const tell = () => currentScope()?.record.tell(telemetry, log, 'websocket');

  function refused(errors: readonly unknown[]): GraphQLError[] {
    const shown = errors.map(mask);
    tell();
    return shown;
  }

  async function told(run: () => unknown): Promise<unknown> {
    try {
      return await run();
    } finally {
      tell();
    }
  }

  const server = makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: INIT_WAIT_MS,
    async onConnect(context) {
      const { connectionParams, extra } = context;
      extra.operations = () => Object.keys(context.subscriptions).length;
      extra.credentials = credentialsOfParams(connectionParams);
      try {
        const actor = await options.authenticate(extra.credentials, extra.requestId);
        if (!actor) throw new UnauthenticatedError();
        if (extra.socket.readyState !== extra.socket.OPEN) return false;
        const release = slots.take(actor.tenant?.id ?? null);
        if (release) extra.release = release;
        else extra.socket.close(TRY_AGAIN_LATER, `LIMIT_EXCEEDED: ${tooManyStreams(slots)}`);
        return release !== undefined;
      } catch (error) {
        const { message, extensions } = mask(error);
        const unauthenticated = extensions.code === 'UNAUTHENTICATED';
        // 4401 tells clients that trying again is no use; 4403 is what the protocol says for any other refusal.
        extra.socket.close(
          unauthenticated ? CloseCode.Unauthorized : CloseCode.Forbidden,
          message.slice(0, 120),
        );
        return false;
      }
    },
    async onSubscribe({ extra }, _id, payload) {
      try {
        if (extra.operations() > MAX_OPERATIONS_PER_SOCKET) {
          throw limitError(`More than ${MAX_OPERATIONS_PER_SOCKET} operations at a time on one socket`);
        }
        assertJsonDepth(payload.variables, 'variables');
        assertJsonDepth(payload.extensions, 'extensions');
        const prepared = await options.prepare(
          payload,
          extra.credentials,
          currentRequestId() ?? extra.requestId,
        );
        if (!isErrors(prepared)) return prepared;
        return refused(prepared);
      } catch (error) {
        return refused([error]);
      }
    },
    execute: (args) => told(() => (args as PreparedOperation).run.execute(args)) as never,
    subscribe: (args) => told(() => (args as PreparedOperation).run.subscribe(args)) as never,
    onOperation({ extra }, id, _payload, _args, result) {
      if (!(Symbol.asyncIterator in result)) return undefined;
      const { send } = extra;
      return sendAll(result as AsyncGenerator<ExecutionResult>, mask, (payload) =>
        send(`{"id":${JSON.stringify(id)},"type":"next","payload":${payload}}`),
      ) as never;
    },
    onNext: (_context, _id, _payload, _args, result) => {
      if (!result.errors) return undefined;
      return { ...result, errors: result.errors.map(toWire) } as never;
    },
    onError: (_context, _id, _payload, errors) => errors.map((error) => toWire(mask(error))),
  });

  function serve(socket: WebSocket, request: IncomingMessage): void {
    const given = request.headers[REQUEST_ID_HEADER];
    const outlet = new Outlet({
      unsent: () => socket.bufferedAmount,
      cut: () => socket.terminate(),
      ...options.lag,
    });
    const connection: Connection = {
      socket,
      outlet,
      release: () => {},
      // Resolves when there is room for more: a slow reader is not sent to faster than it reads.
      send(data) {
        // Not at once: a stream that never waits would keep the news of the socket's end from coming through.
        if (socket.readyState !== socket.OPEN) return new Promise((resolve) => setImmediate(resolve));
        socket.send(data, () => outlet.sent());
        return outlet.room();
      },
      requestId: requestIdOf(Array.isArray(given) ? given[0] : given),
      operations: () => 0,
      credentials: { authorization: null, tenantSlug: null },
    };
    connections.add(connection);
    const stopPinging = keepAlive(socket, outlet);
    const failed = (error: unknown) => {
      log.warn({ requestId: connection.requestId, ...describe(error) }, 'websocket failed');
      socket.close(CloseCode.InternalServerError, 'Internal error');
    };
    const closed = server.opened(
      {
        protocol: socket.protocol,
        send: connection.send,
        close: (code, reason) => socket.close(code, reason),
        onMessage: (receive) => {
          socket.on('message', (data) => {
            const work = async () => receive(String(data));
            const record = new OperationRecord();
            inRequest({ id: requestIdOf(null), outlet, socket: true, record }, () => work().catch(failed));
          });
        },
      },
      connection,
    );
    // ws closes the socket itself, with the code of what was wrong: 1009 for a message that is too long.
    socket.on('error', (error) =>
      log.debug({ requestId: connection.requestId, ...describe(error) }, 'websocket error'),
    );
    socket.once('close', (code, reason) => {
      stopPinging();
      connection.release();
      outlet.close();
      connections.delete(connection);
      closed(code, String(reason)).catch(failed);
    });
  }

  return {
    get size() {
      return connections.size;
    },
    upgrade(request, socket, head) {
      sockets.handleUpgrade(request, socket, head, serve);
    },
    async close(graceMs) {
      const deadline = Date.now() + graceMs;
      await Promise.all([...connections].map((connection) => closeGently(connection, deadline)));
      sockets.close();
    },
  };
}

async function closeGently({ socket, operations }: Connection, deadline: number): Promise<void> {
  while (operations() > 0 && Date.now() < deadline && socket.readyState === socket.OPEN) await sleep(20);
  const closed = new Promise<void>((resolve) => {
    if (socket.readyState === socket.CLOSED) resolve();
    else socket.once('close', () => resolve());
  });
  socket.close(1001, 'The server is closing');
  const timer = setTimeout(() => socket.terminate(), CLOSE_WAIT_MS);
  await closed;
  clearTimeout(timer);
}

/** A socket that does not answer is dropped; one that is behind with reading answers later, and has its time. */
function keepAlive(socket: WebSocket, outlet: Outlet): () => void {
  let answered = true;
  socket.on('pong', () => {
    answered = true;
  });
  const timer = setInterval(() => {
    if (!answered && !outlet.full) socket.terminate();
    answered = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  }, PING_MS);
  return () => clearInterval(timer);
}

/** Results as they are sent; one that several subscribers share is written out once. */
const payloads = new WeakMap<ExecutionResult, string>();

function payloadOf(result: ExecutionResult): string {
  const known = payloads.get(result);
  if (known !== undefined) return known;
  const { errors } = result;
  const payload = JSON.stringify(errors ? { ...result, errors: errors.map(toWire) } : result);
  payloads.set(result, payload);
  return payload;
}

/**
 * Sends a stream's results by itself and leaves the library nothing but the end: it would write out each result for
 * each subscriber, and send the message of whatever ends a stream as it is.
 */
function sendAll(
  source: AsyncGenerator<ExecutionResult>,
  mask: (error: unknown) => GraphQLError,
  send: (payload: string) => Promise<void>,
): AsyncGenerator<never, undefined> {
  return {
    async next() {
      try {
        for (let next = await source.next(); !next.done; next = await source.next()) {
          await send(payloadOf(next.value));
        }
      } catch (error) {
        throw mask(error);
      }
      return { done: true, value: undefined };
    },
    async return() {
      await source.return(undefined);
      return { done: true, value: undefined };
    },
    throw: (error) => source.throw(error) as Promise<never>,
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await source.return(undefined);
    },
  };
}

function isErrors(
  prepared: PreparedOperation | readonly GraphQLError[],
): prepared is readonly GraphQLError[] {
  return Array.isArray(prepared);
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
