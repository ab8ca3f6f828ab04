import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { answerUnserved } from './health.js';
import { urlOf } from './node-http.js';

/** How long a request may take to arrive, in ms. */
const REQUEST_TIMEOUT_MS = 60_000;
/** How long an idle connection is kept, in ms: longer than load balancers do, so that it is they who close. */
const KEEP_ALIVE_MS = 75_000;

/** Who serves what arrives. */
export interface Serving {
  request(incoming: IncomingMessage, outgoing: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/**
 * The port, open for as long as the process lives: before and after there is a Salient behind it, it answers that the
 * process lives (`/healthz`) and does not serve (`/readyz`), and refuses everything else with UNAVAILABLE. Whoever
 * watches the process never has to take a refused connection for either.
 */
export class Listener implements AsyncDisposable {
  /** What it answers while nobody serves. */
  #state: 'starting' | 'closing' = 'starting';
  #serving: Serving | null = null;

  private constructor(
    private readonly http: Server,
    readonly url: string,
    readonly port: number,
  ) {}

  /**
   * Starts to accept connections.
   * @param port 0 picks a free one
   * @throws Error of the system where the port is taken or not allowed
   */
  static async open(port: number, host: string): Promise<Listener> {
    const http = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS });
    await new Promise<void>((resolve, reject) => {
      http.once('error', reject);
      http.listen(port, host, resolve);
    });
    // A later error, such as of accepting, is no reason to end.
    http.on('error', () => {});
    const address = http.address() as AddressInfo;
    const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
    const listener = new Listener(http, `http://${shown}:${address.port}`, address.port);
    http.on('request', (incoming, outgoing) => listener.request(incoming, outgoing));
    http.on('upgrade', (request, socket, head) => listener.upgrade(request, socket, head));
    return listener;
  }

  /** From now on this serves; null: nobody any more. */
  handOver(serving: Serving | null): void {
    if (!serving) this.#state = 'closing';
    this.#serving = serving;
  }

  /** How many connections are open, those of WebSockets among them. */
  connections(): Promise<number> {
    return new Promise((resolve) => this.http.getConnections((error, count) => resolve(error ? 0 : count)));
  }

  private request(incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (this.#serving) this.#serving.request(incoming, outgoing);
    else {
      const { status, body, headers } = answerUnserved(urlOf(incoming)?.pathname ?? '', this.#state);
      outgoing.writeHead(status, headers);
      outgoing.end(incoming.method === 'HEAD' ? undefined : body);
      incoming.resume();
    }
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.#serving) this.#serving.upgrade(request, socket, head);
    else refuseUpgrade(socket, '503 Service Unavailable');
  }

  /** Accepts no more and drops all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.handOver(null);
    const closed = new Promise<void>((resolve) => this.http.close(() => resolve()));
    this.http.closeAllConnections();
    await closed;
  }
}

/** Answers a request for a WebSocket that is not to be had. */
export function refuseUpgrade(socket: Duplex, status: string): void {
  // Its errors have no other listener any more, and would end the process.
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
}
