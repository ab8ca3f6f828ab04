import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import type pg from 'pg';

/** A way to the database server that can be cut, frozen or made deaf to notifications. */
export class ServerProxy implements AsyncDisposable {
  /** False: who connects is turned away. */
  accepting = true;
  /** True: NOTIFY's messages get lost, as with a pooler that hands connections from client to client. */
  deaf = false;
  /** How many were let in, or turned away, since the start. */
  attempts = 0;
  readonly #pairs = new Set<readonly [Socket, Socket]>();

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
  ) {}

  static async to({ connectionString }: pg.ClientConfig): Promise<ServerProxy> {
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const proxy = new ServerProxy(server, new URL(connectionString as string));
    server.on('connection', (socket) => proxy.#join(socket));
    return proxy;
  }

  /** How to connect through it. */
  get connection(): pg.ClientConfig {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String((this.server.address() as AddressInfo).port);
    return { connectionString: url.href };
  }

  /** How many connections go through it now. */
  get open(): number {
    return this.#pairs.size;
  }

  /** The ports by which the server sees its connections. */
  get ports(): number[] {
    return [...this.#pairs].map(([, upstream]) => upstream.localPort ?? 0);
  }

  cut(): void {
    for (const pair of [...this.#pairs]) for (const socket of pair) socket.destroy();
  }

  /** Nothing goes through the present connections any more, and nobody is told. */
  freeze(): void {
    for (const pair of this.#pairs) {
      for (const socket of pair) {
        socket.removeAllListeners('data');
        socket.resume();
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.accepting = false;
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  #join(client: Socket): void {
    this.attempts++;
    client.on('error', () => {});
    if (!this.accepting) {
      client.destroy();
      return;
    }
    const upstream = createConnection({ host: this.target.hostname, port: Number(this.target.port) });
    upstream.setNoDelay(true);
    upstream.on('error', () => {});
    const pair = [client, upstream] as const;
    this.#pairs.add(pair);
    for (const socket of pair) {
      socket.on('close', () => {
        this.#pairs.delete(pair);
        for (const each of pair) each.destroy();
      });
    }
    client.on('data', (data) => upstream.write(data));
    const filter = withoutNotifications();
    upstream.on('data', (data: Buffer) => client.write(this.deaf ? filter(data) : data));
  }
}

/** Takes NotificationResponse messages out of a server's stream, which must begin at a message. */
function withoutNotifications(): (data: Buffer) => Buffer {
  let rest = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    const kept: Buffer[] = [];
    while (rest.length >= 5) {
      const size = 1 + rest.readInt32BE(1);
      if (rest.length < size) break;
      if (rest[0] !== 'A'.charCodeAt(0)) kept.push(rest.subarray(0, size));
      rest = rest.subarray(size);
    }
    return Buffer.concat(kept);
  };
}
