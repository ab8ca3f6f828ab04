import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ExecutionArgs, GraphQLError } from 'graphql';
import { CloseCode, handleProtocols, makeServer, type SubscribePayload } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Logger } from '../log.js';
import { credentialsOfParams, type ShownCredentials } from './credentials.js';
import { describe, toWire } from './error-mask.js';
import { assertJsonDepth, limitError } from './limits.js';
import { currentRequestId, inRequest, REQUEST_ID_HEADER, requestIdOf } from './request-scope.js';

/** Operations that one socket may have under way, subscriptions included. */
export const MAX_OPERATIONS_PER_SOCKET = 100;
/** A socket must say `connection_init` within this, in ms. */
const INIT_WAIT_MS = 3_000;
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
  /** Fails when the credentials are not valid now. */
  readonly authenticate: (credentials: ShownCredentials, requestId: string) => Promise<unknown>;
  /** Parses, validates and makes the context; the errors of a document that is not valid. */
  readonly prepare: (
    payload: SubscribePayload,
    credentials: ShownCredentials,
    requestId: string,
  ) => Promise<PreparedOperation | readonly GraphQLError[]>;
  readonly mask: (error: unknown) => GraphQLError;
}

export interface WebSocketTransport {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes every socket once its operations have ended, or after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

interface Connection {
  readonly socket: WebSocket;
  readonly requestId: string;
  /** How many operations are under way. */
  operations: () => number;
  credentials: ShownCredentials;
}

/** GraphQL over WebSocket by the protocol graphql-transport-ws. */
export function createWebSocketTransport(options: WebSocketOptions): WebSocketTransport {
  const { log, mask } = options;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: options.maxPayloadBytes,
    handleProtocols: (protocols) => handleProtocols(protocols),
  });
  const connections = new Set<Connection>();

  const server = makeServer<Record<string, unknown>, Connection>({
    connectionInitWaitTimeout: INIT_WAIT_MS,
    async onConnect(context) {
      const { connectionParams, extra } = context;
      extra.operations = () => Object.keys(context.subscriptions).length;
      extra.credentials = credentialsOfParams(connectionParams);
      try {
        await options.authenticate(extra.credentials, extra.requestId);
        return true;
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
        return isErrors(prepared) ? prepared.map(mask) : prepared;
      } catch (error) {
        return [mask(error)];
      }
    },
    execute: (args) => (args as PreparedOperation).run.execute(args) as never,
    subscribe: (args) => (args as PreparedOperation).run.subscribe(args) as never,
    onOperation(_context, _id, _payload, _args, result) {
      if (!(Symbol.asyncIterator in result)) return undefined;
      return maskFailures(result as AsyncGenerator<unknown>, mask) as never;
    },
    onNext: (_context, _id, _payload, _args, result) => {
      if (!result.errors) return undefined;
      return { ...result, errors: result.errors.map(toWire) } as never;
    },
    onError: (_context, _id, _payload, errors) => errors.map((error) => toWire(mask(error))),
  });

  function serve(socket: WebSocket, request: IncomingMessage): void {
    const given = request.headers[REQUEST_ID_HEADER];
    const connection: Connection = {
      socket,
      requestId: requestIdOf(Array.isArray(given) ? given[0] : given),
      operations: () => 0,
      credentials: { authorization: null, tenantSlug: null },
    };
    connections.add(connection);
    const stopPinging = keepAlive(socket);
    const failed = (error: unknown) => {
      log.warn({ requestId: connection.requestId, ...describe(error) }, 'websocket failed');
      socket.close(CloseCode.InternalServerError, 'Internal error');
    };
    const closed = server.opened(
      {
        protocol: socket.protocol,
        // Resolves when the message is on its way: a slow reader is not sent to faster than it reads.
        send: (data) =>
          new Promise((resolve, reject) => {
            // Not at once: a stream that never waits would keep the news of the socket's end from coming through.
            if (socket.readyState !== socket.OPEN) setImmediate(resolve);
            else socket.send(data, (error) => (error ? reject(error) : resolve()));
          }),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (receive) => {
          socket.on('message', (data) => {
            const work = async () => receive(String(data));
            inRequest({ id: requestIdOf(null) }, () => work().catch(failed));
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
      connections.delete(connection);
      closed(code, String(reason)).catch(failed);
    });
  }

  return {
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

function keepAlive(socket: WebSocket): () => void {
  let answered = true;
  socket.on('pong', () => {
    answered = true;
  });
  const timer = setInterval(() => {
    if (!answered) socket.terminate();
    answered = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  }, PING_MS);
  return () => clearInterval(timer);
}

/** The library would send the message of whatever ends a stream as it is. */
function maskFailures<T>(
  source: AsyncGenerator<T>,
  mask: (error: unknown) => GraphQLError,
): AsyncGenerator<T> {
  const masked = (error: unknown) => Promise.reject(mask(error));
  return {
    next: () => source.next().catch(masked),
    return: (value) => source.return(value),
    throw: (error) => source.throw(error),
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: async () => {
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
