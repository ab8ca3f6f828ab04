import { createClient } from 'graphql-ws';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { decodeCursor } from '../../src/events/index.js';
import { emptyDatabase, isPostgres } from '../support/database.js';
import { EVENTS, type Item, openTenant, readLog, remember, ServerProcess } from './server-process.js';

const wait = { timeout: 60_000, interval: 20 };

/** A graphql-ws client's subscription: what came, and how it ended. */
class Subscription {
  readonly items: Item[] = [];
  cursor: string | undefined;
  readonly ended: Promise<unknown>;
  readonly #client;

  constructor(url: string, key: string, after?: string) {
    this.cursor = after;
    this.#client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${key}` },
      retryAttempts: 0,
    });
    this.ended = new Promise((resolve) => {
      this.#client.subscribe<{ memoryEvents: Item }>(
        { query: EVENTS, variables: { after } },
        {
          next: ({ data, errors }) => {
            if (!data) return resolve(errors);
            const { memoryEvents: item } = data;
            this.cursor = item.cursor;
            if (item.__typename !== 'FeedCheckpoint') this.items.push(item);
          },
          error: resolve,
          complete: () => resolve('complete'),
        },
      );
    });
  }

  async close(): Promise<void> {
    await this.#client.dispose();
  }
}

/** Writers that state one fact after the other, until the server is gone or all is said. */
async function write(server: ServerProcess, key: string, facts: number, name: string): Promise<string[]> {
  const acknowledged: string[] = [];
  const writer = async (number: number) => {
    for (let n = 0; n < facts; n++) {
      const text = `Machine ${name}-${number}-${n} stands in hall ${number * facts + n}`;
      try {
        acknowledged.push(await remember(server, key, text));
      } catch (error) {
        if (error instanceof TypeError) return;
        throw error;
      }
    }
  };
  await Promise.all([0, 1, 2, 3].map(writer));
  return acknowledged;
}

const seqsOf = (items: readonly Item[]) => items.map(({ cursor }) => Number(decodeCursor(cursor).seq));
const countFrom = (first: number, count: number) => Array.from({ length: count }, (_none, n) => first + n);

describe.runIf(isPostgres)('two servers on one database', { timeout: 180_000 }, () => {
  let database: { connection: pg.ClientConfig } & AsyncDisposable;
  let one: ServerProcess;
  let other: ServerProcess;
  const start = () => ServerProcess.start({ DATABASE_URL: database.connection.connectionString as string });

  beforeAll(async () => {
    database = await emptyDatabase();
    // One after the other: the first brings the database up to date.
    one = await start();
    other = await start();
  }, 180_000);
  afterAll(async () => {
    await one?.[Symbol.asyncDispose]();
    await other?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  it('a client of a server that is killed resumes at the other by its last cursor: nothing lost, nothing twice', async () => {
    const key = await openTenant(other, 'served');
    const first = new Subscription(one.url, key);
    await expect.poll(() => first.cursor, wait).toBeDefined();
    const begin = first.cursor as string;

    const writing = write(other, key, 25, 'a');
    await expect.poll(() => first.items.length, wait).toBeGreaterThan(20);
    await one.end('SIGKILL');
    await first.ended;
    expect(first.items.length).toBeLessThan(200);
    const second = new Subscription(other.url, key, first.cursor);
    const facts = await writing;
    expect(facts).toHaveLength(100);

    const log = await readLog(other, key, begin);
    await expect.poll(() => second.cursor, wait).toBe(log.at(-1)?.cursor);
    await second.close();
    const seen = [...first.items, ...second.items];
    expect(seen).toEqual(log);
    expect(seqsOf(seen)).toEqual(countFrom(Number(decodeCursor(begin).seq) + 1, seen.length));
    const told = seen.filter(({ type }) => type === 'FACT_REMEMBERED').map(({ subjectId }) => subjectId);
    expect(told.toSorted()).toEqual(facts.toSorted());
    one = await start();
  });

  it('a server that is killed while it writes leaves whole transactions: what it acknowledged is told, once', async () => {
    const key = await openTenant(other, 'written');
    const subscription = new Subscription(other.url, key);
    await expect.poll(() => subscription.cursor, wait).toBeDefined();
    const begin = subscription.cursor as string;

    const writing = write(one, key, 500, 'b');
    await expect.poll(() => subscription.items.length, wait).toBeGreaterThan(40);
    await one.end('SIGKILL');
    const facts = await writing;
    expect(facts.length).toBeGreaterThan(15);
    expect(facts.length).toBeLessThan(2_000);

    // The stream's counter is free again: who writes next does not wait for the dead.
    const last = await remember(other, key, 'The night shift ends at six');
    const isLast = ({ __typename, factId }: Item) => __typename === 'ImportanceChange' && factId === last;
    await expect.poll(() => subscription.items.some(isLast), wait).toBe(true);
    await subscription.close();
    const log = await readLog(other, key, begin);
    expect(subscription.items).toEqual(log);
    expect(seqsOf(log)).toEqual(countFrom(Number(decodeCursor(begin).seq) + 1, log.length));
    const told = log.filter(({ type }) => type === 'FACT_REMEMBERED').map(({ subjectId }) => subjectId);
    expect(new Set(told).size).toBe(told.length);
    expect(told).toEqual(expect.arrayContaining([...facts, last]));
    // A fact and its first importance are of one transaction: each has both.
    const scored = log.filter(({ factId }) => factId !== undefined).map(({ factId }) => factId);
    expect(scored).toEqual(told);
  });
});
