import type { App } from '../app.js';

/** Events as they come over Server-Sent Events. */
export interface DemoEvents {
  /** The next event of this type. */
  next(type: string): Promise<unknown>;
  close(): Promise<void>;
}

/** A client of the GraphQL API, in process: the same requests as over HTTP. */
export class DemoClient {
  constructor(
    private readonly app: App,
    private readonly key: string,
    private readonly tenant?: string,
  ) {}

  /** The same caller in the tenant that it names by header. */
  in(tenant: string): DemoClient {
    return new DemoClient(this.app, this.key, tenant);
  }

  /** Another caller. */
  as(key: string): DemoClient {
    return new DemoClient(this.app, key);
  }

  /** Sends an operation. @throws when it fails, at the top or in a payload */
  async ask<T>(query: string, variables: Record<string, unknown> = {}): Promise<T> {
    const response = await this.app.fetch(this.#request(query, variables, 'application/json'));
    const { data, errors } = (await response.json()) as {
      data?: Record<string, { errors?: unknown[] } | null>;
      errors?: unknown[];
    };
    const refused = errors ?? Object.values(data ?? {}).flatMap((payload) => payload?.errors ?? []);
    if (refused.length > 0) throw new Error(`refused: ${JSON.stringify(refused)}`);
    return data as T;
  }

  /** Subscribes; resolves once the subscription has taken its place in the stream. */
  async subscribe(query: string, variables: Record<string, unknown> = {}): Promise<DemoEvents> {
    const response = await this.app.fetch(this.#request(query, variables, 'text/event-stream'));
    if (!response.body) throw new Error('a stream without a body');
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let buffer = '';
    const next = async (type: string): Promise<unknown> => {
      for (;;) {
        const end = buffer.indexOf('\n\n');
        if (end < 0) {
          const { value, done } = await reader.read();
          if (done) throw new Error('the stream ended');
          buffer += value;
          continue;
        }
        const data = /^data: (.*)$/m.exec(buffer.slice(0, end))?.[1];
        buffer = buffer.slice(end + 2);
        if (!data) continue;
        const [event] = Object.values(
          (JSON.parse(data) as { data: Record<string, { __typename: string }> }).data,
        );
        if (event?.__typename === type) return event;
      }
    };
    return { next, close: () => reader.cancel() };
  }

  #request(query: string, variables: Record<string, unknown>, accept: string): Request {
    return new Request('http://salient/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept,
        authorization: `Bearer ${this.key}`,
        ...(this.tenant ? { 'x-salient-tenant': this.tenant } : {}),
      },
      body: JSON.stringify({ query, variables }),
    });
  }
}
