import { setMaxListeners } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, inTenant } from '../../src/db/index.js';
import { FEED_OPTIONS } from '../../src/events/feed.js';
import { CHECK_TICK_MS } from '../../src/events/follower.js';
import {
  encodeCursor,
  type FeedEntry,
  pruneEventLog,
  readEventLog,
  selectEvents,
  selectImportance,
} from '../../src/events/index.js';
import { newId } from '../../src/ids.js';
import { revokeApiKey, type TenantActor } from '../../src/tenancy/index.js';
import { countStatements, testDatabase } from '../support/database.js';
import { Fixture, feedOf, now, otherProcess, subjectsOf, take } from './support.js';

let db: Database;
let fixture: Fixture;

beforeAll(async () => {
  db = await testDatabase();
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

/** Follows as an actor and returns the entries as they come. */
async function follow(
  feed: ReturnType<typeof feedOf>,
  actor: TenantActor,
  after: string | null = 'earliest',
  signal?: AbortSignal,
) {
  const selection = await selectEvents({ db }, actor);
  return feed.follow(actor, { after, selection, signal });
}

/** What something will fail with; it may do so before the test looks. */
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

const ids = (count: number) => Array.from({ length: count }, () => newId());
const rows = (subjects: readonly string[]) => subjects.map((subjectId) => ({ subjectId }));

describe('a feed', () => {
  it('delivers what is kept from the earliest on, then what comes, in order', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(db);
    const before = ids(3);
    const later = ids(2);
    await fixture.append(...rows(before));
    const entries = await follow(feed, fixture.admin);
    const kept = await take(entries, 3);
    const next = take(entries, 2);
    await fixture.append(...rows(later));
    expect(subjectsOf([...kept, ...(await next)])).toEqual([...before, ...later]);
    await entries.return(undefined);
  });

  it('begins with a checkpoint at the head when no place is named, and tells nothing older', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(db);
    await fixture.append({});
    const entries = await follow(feed, fixture.admin, null);
    // After the place is taken, before anything is asked for.
    const [subject] = ids(1);
    await fixture.append({ subjectId: subject as string });
    const [checkpoint, event] = await take(entries, 2);
    expect(checkpoint).toMatchObject({ kind: 'checkpoint' });
    expect(subjectsOf([event as FeedEntry])).toEqual([subject]);
    // The checkpoint's cursor is a place to resume like any other.
    const again = await follow(feed, fixture.admin, (checkpoint as FeedEntry).cursor);
    expect(subjectsOf(await take(again, 1))).toEqual([subject]);
    await entries.return(undefined);
    await again.return(undefined);
  });

  it('arrives without any hint, by its poll', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(db, { pollMs: 30, hints: false });
    const entries = await follow(feed, fixture.admin);
    const next = take(entries, 1);
    const [subject] = ids(1);
    await fixture.append({ subjectId: subject as string });
    expect(subjectsOf(await next)).toEqual([subject]);
    await entries.return(undefined);
  });

  it('resumes from every cursor it gave, without loss or repeat', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(db);
    const subjects = ids(6);
    await fixture.append(...rows(subjects));
    const all = await take(await follow(feed, fixture.admin), 6);
    for (const [index, { cursor }] of all.slice(0, -1).entries()) {
      const entries = await follow(feed, fixture.admin, cursor);
      expect(subjectsOf(await take(entries, 5 - index))).toEqual(subjects.slice(index + 1));
      await entries.return(undefined);
    }
  });

  it('gives checkpoints to a reader whose filter lets nothing pass, so that it resumes from there', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(db, { checkpointMs: 20 });
    const selection = await selectEvents({ db }, fixture.admin, { types: ['FLASHBULB'] });
    const entries = await feed.follow(fixture.admin, { after: 'earliest', selection });
    await fixture.append(...rows(ids(3)));
    const head = (await readEventLog({ db }, fixture.admin, { selection })).feedCursor;
    let checkpoint = (await take(entries, 1))[0];
    while (checkpoint?.cursor !== head) checkpoint = (await take(entries, 1))[0];
    expect(checkpoint.kind).toBe('checkpoint');
    await entries.return(undefined);
  });

  it('shows each actor what it may see: an agent its own and the shared, a user its own', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(db);
    const { agentId, userId } = fixture;
    const [shared, agents, users, both, others, last] = ids(6) as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    await fixture.append(
      { subjectId: shared },
      { subjectId: agents, agentId },
      { subjectId: users, userId },
      { subjectId: both, agentId, userId },
      { subjectId: others, agentId: newId(), userId: newId() },
      { subjectId: last, agentId, userId },
    );
    const seen = async (actor: TenantActor, count: number) => {
      const entries = await follow(feed, actor);
      const taken = subjectsOf(await take(entries, count));
      await entries.return(undefined);
      return taken;
    };
    expect(await seen(fixture.admin, 6)).toEqual([shared, agents, users, both, others, last]);
    expect(await seen(fixture.agent, 5)).toEqual([shared, agents, users, both, last]);
    expect(await seen(fixture.user, 3)).toEqual([users, both, last]);
  });

  it('never crosses tenants with equal external ids', async () => {
    const [one, two] = [await Fixture.make(db, 'same'), await Fixture.make(db, 'same')];
    await using feed = feedOf(db);
    const followed = await Promise.all(
      [one, two].flatMap((each) => [each.admin, each.agent, each.user]).map((actor) => follow(feed, actor)),
    );
    const [ofOne, ofTwo] = ids(2) as [string, string];
    const pending = followed.map((entries) => take(entries, 1));
    await one.append({ subjectId: ofOne, agentId: one.agentId, userId: one.userId });
    await two.append({ subjectId: ofTwo, agentId: two.agentId, userId: two.userId });
    const first = (await Promise.all(pending)).map(subjectsOf);
    expect(first).toEqual([[ofOne], [ofOne], [ofOne], [ofTwo], [ofTwo], [ofTwo]]);
    await Promise.all(followed.map((entries) => entries.return(undefined)));
  });

  it('loses and repeats nothing with concurrent writers, filters and followers that join at any time', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(db, { pollMs: 50, standingMs: 1_000 });
    const writers = 8;
    const perWriter = 25;
    const total = writers * perWriter;
    const early = await follow(feed, fixture.admin);
    const earlyTaken = take(early, total);
    const joiners: Promise<FeedEntry[]>[] = [];
    await Promise.all(
      Array.from({ length: writers }, async () => {
        for (let n = 0; n < perWriter; n++) {
          await fixture.append({});
          if (n % 10 === 5) joiners.push(follow(feed, fixture.admin).then((entries) => take(entries, total)));
        }
      }),
    );
    const log = await readEventLog({ db }, fixture.admin, { selection: { range: {} }, first: total });
    const expected = log.items.map(({ cursor }) => cursor);
    expect(new Set(expected).size).toBe(total);
    expect(log.hasMore).toBe(false);
    for (const taken of [earlyTaken, ...joiners]) {
      expect((await taken).map(({ cursor }) => cursor)).toEqual(expected);
    }
  });

  it('takes a slow follower along at its own pace, out of the window and back', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(db, { standingMs: 1_000 });
    const slow = await follow(feed, fixture.admin);
    const fast = await follow(feed, fixture.admin);
    const subjects = ids(2_600);
    const taken: FeedEntry[] = [];
    const slowTaken: FeedEntry[] = [];
    for (let n = 0; n < subjects.length; n += 650) {
      await fixture.append(...rows(subjects.slice(n, n + 650)));
      taken.push(...(await take(fast, 650)));
      slowTaken.push(...(await take(slow, 1)));
    }
    slowTaken.push(...(await take(slow, subjects.length - slowTaken.length)));
    expect(subjectsOf(taken)).toEqual(subjects);
    expect(subjectsOf(slowTaken)).toEqual(subjects);
    // Live again.
    const [last] = ids(1);
    await fixture.append({ subjectId: last as string });
    expect(subjectsOf(await take(slow, 1))).toEqual([last]);
  });

  it('needs no read for what its own process commits', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(db, { standingMs: 60_000 });
    const followers = await Promise.all(Array.from({ length: 20 }, () => follow(feed, fixture.admin)));
    // All are live and know that they may be.
    await fixture.append({});
    await Promise.all(followers.map((entries) => take(entries, 1)));
    const subjectIds = [newId(), newId(), newId()];
    const statements = await countStatements(db, async () => {
      for (const subjectId of subjectIds) await fixture.append({ subjectId });
      const got = await Promise.all(followers.map((entries) => take(entries, 3)));
      for (const each of got) expect(subjectsOf(each)).toEqual(subjectIds);
    });
    expect(statements.filter((sql) => /\bevent_batch\b/.test(sql))).toEqual([]);
    await Promise.all(followers.map((entries) => entries.return(undefined)));
  });

  it('reads once for all who follow a tenant what another process committed, and nothing while there is no news', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(otherProcess(db), { standingMs: 60_000, pollMs: 50 });
    const followers = await Promise.all(Array.from({ length: 20 }, () => follow(feed, fixture.admin)));
    // All are live and know that they may be.
    await fixture.append({});
    await Promise.all(followers.map((entries) => take(entries, 1)));
    const pending = Promise.all(followers.map((entries) => take(entries, 1)));
    const statements = await countStatements(db, async () => {
      await fixture.append({});
      await pending;
    });
    // Looks at the heads of streams, which a timer and a new connection bring about, are not reads of the log.
    expect(statements.filter((sql) => /\bevent_batch\b/.test(sql))).toHaveLength(1);
    await Promise.all(followers.map((entries) => entries.return(undefined)));
  });

  it('leaks nothing: followers that end while waiting, by signal or by return, are gone', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(db);
    const controller = new AbortController();
    setMaxListeners(0, controller.signal);
    const bySignal = await Promise.all(
      Array.from({ length: 50 }, () => follow(feed, fixture.admin, 'earliest', controller.signal)),
    );
    const byReturn = await Promise.all(Array.from({ length: 50 }, () => follow(feed, fixture.admin)));
    const waiting = [...bySignal, ...byReturn].map((entries) => entries.next());
    expect(feed.stats()).toEqual({ tenants: 1, followers: 100 });
    controller.abort();
    await Promise.all(byReturn.map((entries) => entries.return(undefined)));
    expect((await Promise.all(waiting)).every(({ done }) => done)).toBe(true);
    expect(feed.stats()).toEqual({ tenants: 0, followers: 0 });
  });

  it('ends at once for a signal that has aborted already', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(db);
    const entries = await follow(feed, fixture.admin, 'earliest', AbortSignal.abort());
    expect(await entries.next()).toEqual({ done: true, value: undefined });
    expect(feed.stats().followers).toBe(0);
  });

  it('ends the streams of a history that was replaced as soon as somebody follows the new one', async () => {
    fixture = await Fixture.make(db);
    const feed = feedOf(db);
    const entries = await follow(feed, fixture.admin);
    const waiting = failureOf(entries.next());
    await inTenant(
      db,
      fixture.tenant,
      ({ tx, tenantId }) =>
        tx.$executeRaw`UPDATE tenant_stream SET epoch = epoch + 1 WHERE tenant_id = ${tenantId}::uuid`,
    );
    const later = await follow(feed, fixture.admin);
    expect(await waiting).toMatchObject({ code: 'CURSOR_EXPIRED' });
    // Nobody is left behind whom the feed would wait for.
    const pending = failureOf(later.next());
    await feed[Symbol.asyncDispose]();
    expect(await pending).toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('knows of a revoked key within 2 seconds, also while nothing is delivered', () => {
    const { standingMs, idleCheckMs } = FEED_OPTIONS;
    expect(standingMs + idleCheckMs + CHECK_TICK_MS).toBeLessThan(2_000);
  });

  it('ends a stream whose key was revoked, before the next delivery', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(db);
    const entries = await follow(feed, fixture.agent);
    const bystander = await follow(feed, fixture.user);
    const failure = failureOf(entries.next());
    await revokeApiKey({ db, now }, fixture.admin, fixture.agent.keyId as string);
    await fixture.append({ agentId: fixture.agentId, userId: fixture.userId });
    expect(await failure).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect((await entries.next()).done).toBe(true);
    expect(await take(bystander, 1)).toHaveLength(1);
    await bystander.return(undefined);
    expect(feed.stats().followers).toBe(0);
  });

  it('ends an idle stream whose key has expired or whose tenant is gone', async () => {
    fixture = await Fixture.make(db);
    const gone = await Fixture.make(db);
    await using feed = feedOf(db, { idleCheckMs: 20 });
    const expired = failureOf((await follow(feed, fixture.agent)).next());
    const platform: TenantActor = { ...gone.admin, kind: 'PLATFORM_ADMIN', id: null, keyId: null };
    const orphaned = failureOf((await follow(feed, platform)).next());
    await inTenant(db, fixture.tenant, ({ tx }) =>
      tx.apiKey.updateMany({ where: { id: fixture.agent.keyId as string }, data: { expiresAt: new Date() } }),
    );
    await inTenant(db, gone.tenant, ({ tx }) => tx.tenant.updateMany({ data: { deletedAt: new Date() } }));
    expect(await expired).toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await orphaned).toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('refuses cursors of another tenant, of another history and from before what is kept', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(db);
    const other = await Fixture.make(db);
    await fixture.append({}, {}, {});
    await other.append({}, {}, {});
    const [first] = await take(await follow(feed, fixture.admin), 1);
    const [foreign] = await take(await follow(feed, other.admin), 1);
    const expired = { code: 'CURSOR_EXPIRED', inputPath: ['after'] };
    await expect(follow(feed, fixture.admin, (foreign as FeedEntry).cursor)).rejects.toMatchObject(expired);
    const epoch = await inTenant(db, fixture.tenant, async ({ tx, tenantId }) => {
      const row = await tx.tenantStream.findUniqueOrThrow({ where: { tenantId } });
      return row.epoch;
    });
    await expect(follow(feed, fixture.admin, encodeCursor({ epoch, seq: 4n }))).rejects.toMatchObject(
      expired,
    );
    await expect(follow(feed, fixture.admin, 'nonsense')).rejects.toMatchObject({
      code: 'BAD_INPUT',
      inputPath: ['after'],
    });
    // All events are dropped: the first one's cursor is from before the floor.
    await pruneEventLog({ db, now: () => new Date(Date.now() + 1_000) }, fixture.tenant, 0);
    await expect(follow(feed, fixture.admin, (first as FeedEntry).cursor)).rejects.toMatchObject(expired);
  });

  it('ends a follower that was too slow for what is kept', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(db);
    await fixture.append({}, {});
    const entries = await follow(feed, fixture.admin);
    await pruneEventLog({ db, now: () => new Date(Date.now() + 1_000) }, fixture.tenant, 0);
    await expect(entries.next()).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' });
  });

  it('ends followers of a history that was replaced', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(db, { pollMs: 30 });
    const failure = failureOf((await follow(feed, fixture.admin)).next());
    await inTenant(db, fixture.tenant, ({ tx }) =>
      tx.tenantStream.updateMany({ data: { epoch: { increment: 1 } } }),
    );
    expect(await failure).toMatchObject({ code: 'CURSOR_EXPIRED' });
  });

  it('tells who follows when it closes, and who asks later', async () => {
    fixture = await Fixture.make(db);
    const feed = feedOf(db);
    const waiting = await follow(feed, fixture.admin);
    const idle = await follow(feed, fixture.admin);
    const failure = failureOf(waiting.next());
    await feed[Symbol.asyncDispose]();
    expect(await failure).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
    await expect(idle.next()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(follow(feed, fixture.admin)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('selects changes of importance by cause, fact and size of the change', async () => {
    fixture = await Fixture.make(db);
    await using feed = feedOf(db);
    const [fact, other] = ids(2) as [string, string];
    const change = {
      type: 'IMPORTANCE_CHANGED',
      cause: 'REAFFIRM',
      factId: fact,
      oldValue: 2,
      newValue: 3.5,
    };
    const [small, wrongCause, wrongFact, right, ingest] = ids(5) as [string, string, string, string, string];
    await fixture.append(
      {},
      { ...change, subjectId: small, newValue: 2.5 },
      { ...change, subjectId: wrongCause, cause: 'PIN' },
      { ...change, subjectId: wrongFact, factId: other },
      { ...change, subjectId: right },
      { ...change, subjectId: ingest, cause: 'INGEST', oldValue: undefined },
    );
    const selection = await selectImportance({ db }, fixture.admin, {
      causes: ['REAFFIRM', 'INGEST'],
      factIds: [fact],
      minDelta: 1,
    });
    const entries = await feed.follow(fixture.admin, { after: 'earliest', selection });
    expect(subjectsOf(await take(entries, 2))).toEqual([right, ingest]);
    await entries.return(undefined);
  });
});
