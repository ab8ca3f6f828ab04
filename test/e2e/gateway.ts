import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message that the API has acknowledged. */
export interface Acknowledged {
  readonly session: string;
  readonly externalId: string;
}

interface Batch {
  readonly session: { readonly create: { readonly externalId: string } };
  readonly messages: readonly { readonly externalId: string }[];
}

/**
 * An address that stays while servers behind it come and go, as a load balancer has it: it keeps what was acknowledged
 * through it, and answers 503 while nobody serves or the server goes away in the middle.
 */
export class Gateway implements AsyncDisposable {
  /** Where the server is; null: nowhere at the moment. */
  target: string | null = null;
  /** Messages of appends that were answered without an error, in the order of the answers. */
  readonly acknowledged: Acknowledged[] = [];
  /** Told of every append that arrives, before it is passed on. */
  onAppend: () => void = () => {};
  readonly #http = createServer((incoming, outgoing) => void this.#pass(incoming, outgoing));

  static async open(): Promise<Gateway> {
    const gateway = new Gateway();
    await new Promise<void>((resolve) => gateway.#http.listen(0, '127.0.0.1', resolve));
    return gateway;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const batch = appendOf(body);
    if (batch) this.onAppend();
    const answer = await this.#ask(incoming, body);
    if (batch && answer?.status === 200 && isAccepted(answer.text)) this.#keep(batch);
    outgoing.writeHead(answer?.status ?? 503, { 'content-type': answer ? 'application/json' : 'text/plain' });
    outgoing.end(answer?.text ?? 'nobody serves');
  }

  /** Null where the server did not answer to the end. */
  async #ask(incoming: IncomingMessage, body: string): Promise<{ status: number; text: string } | null> {
    if (this.target === null) return null;
    try {
      const headers = Object.entries(incoming.headers).filter(
        ([name]) => !['host', 'connection', 'content-length', 'transfer-encoding'].includes(name),
      ) as [string, string][];
      const response = await fetch(`${this.target}${incoming.url}`, { method: 'POST', headers, body });
      return { status: response.status, text: await response.text() };
    } catch {
      return null;
    }
  }

  #keep({ session, messages }: Batch): void {
    const { externalId } = session.create;
    for (const message of messages)
      this.acknowledged.push({ session: externalId, externalId: message.externalId });
  }
}

function appendOf(body: string): Batch | undefined {
  const { query, variables } = JSON.parse(body) as { query: string; variables?: { input?: Batch } };
  return query.includes('appendMessages') ? variables?.input : undefined;
}

function isAccepted(text: string): boolean {
  const { data, errors } = JSON.parse(text) as {
    data?: { appendMessages?: { errors: unknown[] } };
    errors?: unknown[];
  };
  return errors === undefined && data?.appendMessages?.errors.length === 0;
}
