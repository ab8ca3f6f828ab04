import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Database,
  type NotificationOptions,
  type Notifications,
  TENANTS_PER_MESSAGE,
} from '../../src/db/index.js';
import type { DatabaseLog } from '../../src/db/log.js';
import { createNotifications } from '../../src/db/notifications.js';
import { type EventFeed, type FeedOptions, selectEvents } from '../../src/events/index.js';
import { WakeUps } from '../../src/events/wake-ups.js';
import { newId } from '../../src/ids.js';
import { isPostgres, ownerClient, sharedConnection, testDatabase } from '../support/database.js';
import { ServerProxy } from './server-proxy.js';
import { Fixture, feedOf, otherProcess, subjectsOf, take } from './support.js';

const wait = { timeout: 20_000, interval: 20 };
/** So soon that a test need not wait for long. */
const SOON = { retryMs: 20, retryMaxMs: 100 };

let db: Database;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db[Symbol.asyncDispose]());

/** The one that the file's feeds follow with, and what it is told next. */
async function reader(feed: EventFeed, fixture: Fixture) {
  const selection = await selectEvents({ db }, fixture.admin);
  const entries = await feed.follow(fixture.admin, { after: null, selection });
  await take(entries, 1);
  return entries;
}

describe('hints', () => {
  /** Notifications that say what they were asked to tell, and end telling when they are let. */
  function scripted() {
    const told: (readonly string[])[] = [];
    let options: NotificationOptions | undefined;
    let release = () => {};
    let closed = 0;
    const notifications: Notifications = {
      listening: true,
      listen: () => options?.onListening(),
      tell: (tenantIds) => {
        told.push(tenantIds);
        return new Promise((resolve) => {
          release = resolve;
        });
      },
      [Symbol.asyncDispose]: async () => void closed++,
    };
    const openNotifications = (given: NotificationOptions) => {
      options = given;
      return notifications;
    };
    return {
      db: { openNotifications },
      told,
      hear: (ids: string[]) => options?.onTenants(ids),
      release: () => release(),
      closed: () => closed,
    };
  }

  const tenants = (count: number) => Array.from({ length: count }, () => newId());

  it('reach other processes together, each tenant once', async () => {
    const other = scripted();
    const wakeUps = new WakeUps(other.db, { enabled: true, onNews: () => {}, onGap: () => {} });
    const [one, two] = tenants(2) as [string, string];
    for (const id of [one, two, one, one]) wakeUps.tell(id);
    expect(other.told).toEqual([]);
    await expect.poll(() => other.told, wait).toEqual([[one, two]]);
    // While that is under way, what comes is collected.
    wakeUps.tell(two);
    wakeUps.tell(one);
    other.release();
    await expect
      .poll(() => other.told, wait)
      .toEqual([
        [one, two],
        [two, one],
      ]);
    other.release();
    expect(wakeUps.counts).toMatchObject({ own: 6, told: 4, heard: 0 });
    await wakeUps[Symbol.asyncDispose]();
    expect(other.closed()).toBe(1);
  });

  it('of the last moment are told before the end, and none after it', async () => {
    const other = scripted();
    const wakeUps = new WakeUps(other.db, { enabled: true, onNews: () => {}, onGap: () => {} });
    const [last, late] = tenants(2) as [string, string];
    wakeUps.tell(last);
    const closing = wakeUps[Symbol.asyncDispose]();
    await expect.poll(() => other.told, wait).toEqual([[last]]);
    wakeUps.tell(late);
    other.release();
    await closing;
    expect(other.told).toEqual([[last]]);
  });

  it('of other processes are passed on; each beginning to listen is a reason to look at all', async () => {
    const other = scripted();
    const news: string[] = [];
    let gaps = 0;
    const wakeUps = new WakeUps(other.db, {
      enabled: true,
      onNews: (id) => news.push(id),
      onGap: () => gaps++,
    });
    const ids = tenants(3);
    wakeUps.begin();
    other.hear(ids);
    expect(news).toEqual(ids);
    expect(gaps).toBe(1);
    expect(wakeUps.counts).toEqual({ own: 0, told: 0, heard: 3, connected: 1 });
    await wakeUps[Symbol.asyncDispose]();
  });

  it('are neither given nor heard when they are off, and the poll delivers', async () => {
    const fixture = await Fixture.make(db);
    await using feed = feedOf(db, { hints: false, pollMs: 50 });
    const entries = await reader(feed, fixture);
    // The first one may be read because following has just begun.
    for (const subjectId of [newId(), newId()]) {
      await fixture.append({ subjectId });
      expect(subjectsOf(await take(entries, 1))).toEqual([subjectId]);
    }
    expect(feed.wakeUps()).toMatchObject({ own: 0, told: 0, heard: 0, connected: 0, listening: false });
    expect(feed.wakeUps().found).toBeGreaterThan(0);
    await entries.return(undefined);
  });

  it.runIf(!isPostgres)('need no connection where there is one process', () => {
    expect(db.openNotifications({ onTenants: () => {}, onListening: () => {} })).toBeUndefined();
  });
});

describe.runIf(isPostgres)('hints across processes', () => {
  interface Line {
    readonly level: string;
    readonly message: string;
  }

  /** The database with the way to other processes led through a proxy. */
  function through(proxy: ServerProxy, lines: Line[] = []): Database {
    const log: DatabaseLog = (level, message) => void lines.push({ level, message });
    return otherProcess(db, (options) => createNotifications(proxy.connection, log, options));
  }

  const proxied = () => ServerProxy.to(sharedConnection());

  /** A follower of another process than the one that writes: through the proxy, with hints and polls counted. */
  async function follower(
    proxy: ServerProxy,
    fixture: Fixture,
    options: Partial<FeedOptions>,
    lines?: Line[],
  ) {
    const process = through(proxy, lines);
    const feed = feedOf(process, { standingMs: 60_000, ...options });
    return { process, feed, entries: await reader(feed, fixture), counts: () => feed.wakeUps() };
  }

  const listens = (feed: EventFeed) => expect.poll(() => feed.wakeUps().listening, wait).toBe(true);

  it('deliver what another process wrote, without any poll', async () => {
    const fixture = await Fixture.make(db);
    await using proxy = await proxied();
    await using _writer = feedOf(db);
    const { feed, entries, counts } = await follower(proxy, fixture, {});
    await listens(feed);
    const before = counts();
    for (let n = 0; n < 5; n++) {
      const subjectId = newId();
      await fixture.append({ subjectId });
      expect(subjectsOf(await take(entries, 1))).toEqual([subjectId]);
    }
    expect(counts().polls).toBe(before.polls);
    expect(counts().heard).toBeGreaterThan(before.heard);
    await feed[Symbol.asyncDispose]();
  });

  it('do not come back to who gave them', async () => {
    const [here, there] = [otherProcess(db), otherProcess(db)];
    const fixture = await Fixture.make(here);
    const inOther = await Fixture.make(there);
    await using other = feedOf(there);
    await using feed = feedOf(here);
    const entries = [await reader(feed, inOther), await reader(other, fixture)];
    await Promise.all([listens(feed), listens(other)]);
    await fixture.append({});
    await expect.poll(() => other.wakeUps().heard, wait).toBe(1);
    await inOther.append({});
    await expect.poll(() => feed.wakeUps().heard, wait).toBe(1);
    // Each has heard the other, whose message came after its own.
    expect(other.wakeUps().heard).toBe(1);
    for (const each of entries) await each.return(undefined);
  });

  it('name tenants by id and nothing else, many in a message of less than 8,000 bytes', async () => {
    const client = await ownerClient();
    const ids = Array.from({ length: 2 * TENANTS_PER_MESSAGE + 100 }, () => randomUUID());
    const wanted = new Set<string>(ids);
    const payloads: string[] = [];
    client.on('notification', ({ payload = '' }) => {
      if (payload.split(',').some((id) => wanted.has(id))) payloads.push(payload);
    });
    await client.query('LISTEN salient_events');
    await using wakeUps = new WakeUps(db, { enabled: true, onNews: () => {}, onGap: () => {} });
    for (const id of [...ids, ...ids, ...ids]) wakeUps.tell(id);
    await expect.poll(() => payloads.length, wait).toBe(3);
    await client.end();
    expect(payloads.flatMap((payload) => payload.split(','))).toEqual(ids);
    for (const payload of payloads) expect(Buffer.byteLength(payload)).toBeLessThan(8_000);
  });

  it('are sent by a connection of their own, in no transaction of a writer', async () => {
    await using proxy = await proxied();
    const process = through(proxy);
    const fixture = await Fixture.make(process);
    const statements: string[] = [];
    const stop = db.onStatement(({ sql }) => statements.push(sql));
    const feed = feedOf(process);
    await fixture.append({});
    await feed[Symbol.asyncDispose]();
    stop();
    expect(feed.wakeUps().told).toBe(1);
    expect(proxy.attempts).toBe(1);
    expect(statements.length).toBeGreaterThan(0);
    expect(statements.filter((sql) => /notify|listen/i.test(sql))).toEqual([]);
  });

  it('are done without while the listening connection is killed, and come again when it is back', async () => {
    const fixture = await Fixture.make(db);
    await using proxy = await proxied();
    await using _writer = feedOf(db);
    const lines: Line[] = [];
    const options = { pollMs: 250, notifications: SOON };
    const { feed, entries, counts } = await follower(proxy, fixture, options, lines);
    const write = async () => {
      const subjectId = newId();
      await fixture.append({ subjectId });
      expect(subjectsOf(await take(entries, 1))).toEqual([subjectId]);
    };
    /** Writes until a hint was quicker than the poll. */
    const writeUntilHinted = async () => {
      for (let n = 0; n < 100; n++) {
        const before = counts();
        await write();
        if (counts().found === before.found && counts().heard > before.heard) return true;
      }
      return false;
    };
    await listens(feed);
    expect(await writeUntilHinted()).toBe(true);

    proxy.accepting = false;
    const client = await ownerClient();
    const { rows } = await client.query<{ killed: boolean }>(
      `SELECT pg_terminate_backend(pid) AS killed FROM pg_stat_activity
       WHERE application_name = 'salient listen' AND datname = current_database() AND client_port = ANY($1)`,
      [proxy.ports],
    );
    await client.end();
    expect(rows).toEqual([{ killed: true }]);
    await expect.poll(() => counts().listening, wait).toBe(false);
    const down = counts();
    for (let n = 0; n < 4; n++) await write();
    expect(counts()).toMatchObject({ heard: down.heard, listening: false });
    expect(counts().found).toBeGreaterThan(down.found);

    proxy.accepting = true;
    await listens(feed);
    expect(counts().connected).toBe(2);
    expect(await writeUntilHinted()).toBe(true);
    await feed[Symbol.asyncDispose]();
    await expect.poll(() => proxy.open, wait).toBe(0);
    const told = lines.map(({ level, message }) => `${level}: ${message}`);
    expect(told[0]).toMatch(/^warn: .*polled/);
  });

  it('are known to be lost by their heartbeat on a connection that says nothing; then all is looked at', async () => {
    const fixture = await Fixture.make(db);
    await using proxy = await proxied();
    const lines: Line[] = [];
    const notifications = { ...SOON, beatMs: 400, answerMs: 1_000 };
    const { process, feed, entries, counts } = await follower(proxy, fixture, { notifications }, lines);
    await listens(feed);
    // All that came before the loss has been read.
    const live = take(entries, 1);
    await fixture.append({});
    await live;
    proxy.accepting = false;
    proxy.freeze();
    await expect.poll(() => counts().listening, wait).toBe(false);
    const [known, missed] = [newId(), newId()];
    await fixture.in(process).append({ subjectId: known });
    expect(subjectsOf(await take(entries, 1))).toEqual([known]);
    const before = counts();
    // Nobody gives a hint of this one, and the poll is a minute away.
    await fixture.append({ subjectId: missed });
    proxy.accepting = true;
    expect(subjectsOf(await take(entries, 1))).toEqual([missed]);
    expect(counts()).toMatchObject({
      connected: before.connected + 1,
      polls: before.polls + 1,
      found: before.found + 1,
    });
    expect(lines.filter(({ message }) => /not heard/.test(message))).toHaveLength(1);
    await expect
      .poll(() => lines.filter(({ message }) => /heard at once again/.test(message)).length, wait)
      .toBe(1);
    await feed[Symbol.asyncDispose]();
  });

  it.each([
    ['nobody may connect', 'accepting'],
    ['a pooler swallows what is notified', 'deaf'],
  ] as const)('are done without where %s, which is said once', async (_case, fault) => {
    const fixture = await Fixture.make(db);
    await using proxy = await proxied();
    proxy[fault] = fault === 'deaf';
    await using _writer = feedOf(db);
    const lines: Line[] = [];
    const options = { pollMs: 50, notifications: { ...SOON, beatMs: 150 } };
    const { feed, entries, counts } = await follower(proxy, fixture, options, lines);
    const write = async () => {
      const subjectId = newId();
      await fixture.append({ subjectId });
      expect(subjectsOf(await take(entries, 1))).toEqual([subjectId]);
    };
    await expect.poll(() => proxy.attempts, wait).toBeGreaterThan(5);
    for (let n = 0; n < 3; n++) await write();
    expect(counts().heard).toBe(0);
    expect(lines.filter(({ message }) => /not heard/.test(message))).toHaveLength(1);
    proxy[fault] = fault !== 'deaf';
    await expect
      .poll(() => lines.filter(({ message }) => /heard at once again/.test(message)).length, wait)
      .toBe(1);
    await feed[Symbol.asyncDispose]();
  });

  it('end with their feed: both connections are closed, also those that are being opened', async () => {
    const fixture = await Fixture.make(db);
    await using proxy = await proxied();
    const { process, feed } = await follower(proxy, fixture, {});
    await fixture.in(process).append({});
    await listens(feed);
    await expect.poll(() => proxy.open, wait).toBe(2);
    await feed[Symbol.asyncDispose]();
    await expect.poll(() => proxy.open, wait).toBe(0);

    const hasty = (await follower(proxy, fixture, {})).feed;
    await hasty[Symbol.asyncDispose]();
    await expect.poll(() => proxy.open, wait).toBe(0);
    const { attempts } = proxy;
    expect(hasty.wakeUps().listening).toBe(false);
    await new Promise(setImmediate);
    expect(proxy.attempts).toBe(attempts);
  });
});
