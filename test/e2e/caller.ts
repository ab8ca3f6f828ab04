import { type Client, createClient } from 'graphql-ws';
import { expect } from 'vitest';
import WebSocket from 'ws';
import type { Answer } from '../support/app.js';
import { contractOperations } from './contract.js';

/** What a document answers; the tests look at what they need of it. */
// biome-ignore lint/suspicious/noExplicitAny: the shape is the contract's, checked by what is expected of it
export type Data = any;

const operations = contractOperations();
const used = new Set<string>();
let url = '';

/** Where the server is that the callers of this test file call. */
export function callServerAt(address: string): void {
  url = address;
}

/** Which documents of these files were not sent. */
export function unsent(...files: string[]): string[] {
  return [...contractOperations(files).keys()].filter((name) => !used.has(name));
}

/** A client over HTTP, as services write it. */
export class Caller {
  constructor(
    readonly key: string,
    readonly tenant?: string,
  ) {}

  async send(operationName: string, variables: Record<string, unknown> = {}): Promise<Answer<Data>> {
    const query = operations.get(operationName);
    if (!query) throw new Error(`the contract has no operation ${operationName}`);
    used.add(operationName);
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${this.key}`,
        ...(this.tenant ? { 'x-salient-tenant': this.tenant } : {}),
      },
      body: JSON.stringify({ query, variables, operationName }),
    });
    return (await response.json()) as Answer<Data>;
  }

  /** Sends what must succeed; returns the one root field. */
  async ask(operationName: string, variables: Record<string, unknown> = {}): Promise<Data> {
    const { data, errors } = await this.send(operationName, variables);
    expect(errors, operationName).toBeUndefined();
    const [root] = Object.values(data as Record<string, Data>);
    if (root?.errors) expect(root.errors, operationName).toEqual([]);
    return root;
  }

  /** A WebSocket of its own. */
  socket(): Client {
    return createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${this.key}` },
      retryAttempts: 0,
    });
  }
}

/** Items of a feed as they arrive. */
export function follow(client: Client, operationName: string, variables: Record<string, unknown> = {}) {
  used.add(operationName);
  const stream = client.iterate<Record<string, Data>>({
    query: operations.get(operationName) as string,
    operationName,
    variables,
  });
  return {
    async until(accept: (item: Data) => boolean): Promise<Data[]> {
      const items: Data[] = [];
      for (;;) {
        const { value, done } = await stream.next();
        if (done) throw new Error('the stream ended');
        expect(value.errors).toBeUndefined();
        const [item] = Object.values(value.data as Record<string, Data>);
        items.push(item);
        if (accept(item)) return items;
      }
    },
    close: () => stream.return?.(),
  };
}
