import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  appendEvents,
  type Database,
  type EventSelection,
  inTenant,
  readEvents,
} from '../../src/db/index.js';
import {
  EVENT_TYPES,
  IMPORTANCE_CAUSES,
  pruneEventLog,
  readEventLog,
  selectEvents,
  selectImportance,
} from '../../src/events/index.js';
import { selects } from '../../src/events/selection.js';
import { newId } from '../../src/ids.js';
import { testDatabase } from '../support/database.js';
import { appendBatch, Fixture, now } from './support.js';

let db: Database;
let fixture: Fixture;

beforeAll(async () => {
  db = await testDatabase();
  fixture = await Fixture.make(db);
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

const everything: EventSelection = { range: {} };

describe('the event log', () => {
  it('is read in pages that join without gap or repeat', async () => {
    const own = await Fixture.make(db);
    const subjects = Array.from({ length: 7 }, () => newId());
    await own.append(...subjects.map((subjectId) => ({ subjectId })));
    const seen: (string | null)[] = [];
    let after: string | null = null;
    for (const more of [true, true, false]) {
      const page = await readEventLog({ db }, own.admin, { selection: everything, after, first: 3 });
      seen.push(...page.items.map(({ event }) => event.subjectId));
      expect(page.hasMore).toBe(more);
      expect(page.endCursor).toBe(page.items.at(-1)?.cursor);
      after = page.endCursor;
    }
    expect(seen).toEqual(subjects);
    const end = await readEventLog({ db }, own.admin, { selection: everything, after });
    expect(end).toMatchObject({ items: [], hasMore: false, endCursor: after, feedCursor: after });
  });

  it('says that there is no more when a page is exactly full', async () => {
    const own = await Fixture.make(db);
    await own.append({}, {});
    expect(await readEventLog({ db }, own.admin, { selection: everything, first: 2 })).toMatchObject({
      hasMore: false,
    });
  });

  it('names the place to follow from: behind what the filter left out, before what did not fit', async () => {
    const own = await Fixture.make(db);
    await own.append({ type: 'FLASHBULB' }, {}, { type: 'FLASHBULB' }, {}, {});
    const selection = await selectEvents({ db }, own.admin, { types: ['FLASHBULB'] });
    const all = await readEventLog({ db }, own.admin, { selection: everything });
    const part = await readEventLog({ db }, own.admin, { selection, first: 1 });
    expect(part).toMatchObject({ hasMore: true, feedCursor: all.items[0]?.cursor });
    const whole = await readEventLog({ db }, own.admin, { selection });
    expect(whole).toMatchObject({
      hasMore: false,
      endCursor: all.items[2]?.cursor,
      feedCursor: all.items[4]?.cursor,
    });
  });

  it('looks through more than one statement does for a filter that few events pass', async () => {
    const own = await Fixture.make(db);
    const rare = newId();
    const filler = Array.from({ length: 21_000 }, () => ({}));
    await own.append(...filler, { type: 'FLASHBULB', subjectId: rare }, {});
    const selection = await selectEvents({ db }, own.admin, { types: ['FLASHBULB'] });
    const page = await readEventLog({ db }, own.admin, { selection });
    expect(page.items.map(({ event }) => event.subjectId)).toEqual([rare]);
    expect(page.hasMore).toBe(false);
  });

  it.each([0, 501, 2.5, -1])('refuses a page of %j', async (first) => {
    await expect(readEventLog({ db }, fixture.admin, { selection: everything, first })).rejects.toMatchObject(
      {
        code: 'BAD_INPUT',
        inputPath: ['first'],
      },
    );
  });

  it('is isolated by the database: a reader of one tenant finds nothing of another', async () => {
    const other = await Fixture.make(db);
    await other.append({});
    const page = await inTenant(db, { ...fixture.tenant, id: newId() }, (unit) =>
      readEvents(
        { ...unit, tenantId: other.tenant.id },
        { after: 'floor', limit: 10, span: 10, selection: everything },
      ),
    );
    expect(page).toBeNull();
  });
});

describe('dropping old events', () => {
  const day = 86_400_000;
  const at = (days: number) => () => new Date(Date.now() + days * day);

  it('keeps those within the time kept, and lets earliest begin behind what was dropped', async () => {
    const own = await Fixture.make(db);
    const [old, young] = [newId(), newId()];
    await own.append({ subjectId: old }, { subjectId: old });
    const before = await readEventLog({ db }, own.admin, { selection: everything });
    expect(await pruneEventLog({ db, now: at(29) }, own.tenant)).toBe(0);
    await inTenant(db, own.tenant, ({ tx, tenantId }) =>
      tx.$executeRaw`
        INSERT INTO event (tenant_id, seq, type, subject_id, actor_kind, occurred_at)
        VALUES (${tenantId}::uuid, 3, 'FLASHBULB', ${young}::uuid, 'USER', ${at(2)()}::timestamptz)`.then(
        () => tx.$executeRaw`UPDATE tenant_stream SET head = 3 WHERE tenant_id = ${tenantId}::uuid`,
      ),
    );
    expect(await pruneEventLog({ db, now: at(31) }, own.tenant)).toBe(2);
    const kept = await readEventLog({ db }, own.admin, { selection: everything, after: 'earliest' });
    expect(kept.items.map(({ event }) => event.subjectId)).toEqual([young]);
    await expect(
      readEventLog({ db }, own.admin, { selection: everything, after: before.items[0]?.cursor }),
    ).rejects.toMatchObject({ code: 'CURSOR_EXPIRED' });
    // The last one dropped is a place after which everything is still there.
    const next = await readEventLog({ db }, own.admin, {
      selection: everything,
      after: before.items[1]?.cursor,
    });
    expect(next.items).toHaveLength(1);
  });

  it('goes on until nothing old is left, and starts over where it was', async () => {
    const own = await Fixture.make(db);
    await own.append(...Array.from({ length: 5_001 }, () => ({})));
    expect(await pruneEventLog({ db, now: at(31) }, own.tenant)).toBe(5_001);
    expect(await pruneEventLog({ db, now: at(31) }, own.tenant)).toBe(0);
    await own.append({});
    expect((await readEventLog({ db }, own.admin, { selection: everything })).items).toHaveLength(1);
  });
});

describe('a filter', () => {
  it('must name something, not too much, and within range', async () => {
    const bad = (inputPath: string[]) => ({ code: 'BAD_INPUT', inputPath });
    await expect(selectEvents({ db }, fixture.admin, { types: [] })).rejects.toMatchObject(
      bad(['filter', 'types']),
    );
    const facts = Array.from({ length: 501 }, () => newId());
    await expect(selectImportance({ db }, fixture.admin, { factIds: facts })).rejects.toMatchObject(
      bad(['filter', 'factIds']),
    );
    for (const minDelta of [-0.1, 10.1, Number.NaN]) {
      await expect(selectImportance({ db }, fixture.admin, { minDelta })).rejects.toMatchObject(
        bad(['filter', 'minDelta']),
      );
    }
  });

  it('names agents and users that exist in this tenant', async () => {
    const other = await Fixture.make(db);
    await expect(selectEvents({ db }, fixture.admin, { agentId: other.agentId })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      inputPath: ['filter', 'agentId'],
    });
    await expect(selectImportance({ db }, fixture.admin, { userId: newId() })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      inputPath: ['filter', 'userId'],
    });
    expect(await selectEvents({ db }, fixture.agent, { userId: fixture.userId })).toMatchObject({
      userId: fixture.userId,
      range: { agentId: fixture.agentId },
    });
  });

  it('may not name another agent or user when an agent or a user asks, whether it exists or not', async () => {
    const forbidden = { code: 'FORBIDDEN' };
    await expect(selectEvents({ db }, fixture.agent, { agentId: newId() })).rejects.toMatchObject(forbidden);
    await expect(selectEvents({ db }, fixture.user, { userId: newId() })).rejects.toMatchObject(forbidden);
  });

  it("leaves out what the caller caused when it wants that, by kind and id of the event's actor", async () => {
    const own = await Fixture.make(db);
    const [mine, theirs, learned] = [newId(), newId(), newId()];
    for (const [subjectId, actor] of [
      [mine, { kind: 'AGENT', id: own.agentId }],
      [theirs, { kind: 'USER', id: own.agentId }],
      [learned, { kind: 'SYSTEM', id: null }],
    ] as const) {
      const event = { type: 'FACT_REMEMBERED', agentId: null, userId: null, subjectId };
      await inTenant(db, own.tenant, async (unit) => appendEvents(unit, [event], actor, now()));
    }
    const seen = async (excludeActor: boolean | null) => {
      const selection = await selectEvents({ db }, own.agent, { excludeActor });
      return (await readEventLog({ db }, own.agent, { selection })).items.map(({ event }) => event.subjectId);
    };
    expect(await seen(true)).toEqual([theirs, learned]);
    expect(await seen(false)).toEqual([mine, theirs, learned]);
    expect(await seen(null)).toEqual([mine, theirs, learned]);
    const changes = await selectImportance({ db }, own.admin, { excludeActor: true });
    expect(changes.exceptActor).toEqual({ kind: 'TENANT_ADMIN', id: own.admin.id });
  });

  it('selects the same in the database as in the live stream', async () => {
    const agents = [fixture.agentId, newId(), null];
    const users = [fixture.userId, newId(), null];
    const facts = [newId(), newId(), undefined];
    const someone = newId();
    const actors = [
      { kind: 'TENANT_ADMIN', id: someone },
      { kind: 'AGENT', id: fixture.agentId },
      { kind: 'AGENT', id: someone },
      { kind: 'PLATFORM_ADMIN', id: null },
      { kind: 'SYSTEM', id: null },
    ];
    const importance = fc.option(fc.double({ min: 0.05, max: 10, noNaN: true }), { nil: undefined });
    const event = fc.record({
      type: fc.constantFrom(...EVENT_TYPES),
      agentId: fc.constantFrom(...agents),
      userId: fc.constantFrom(...users),
      factId: fc.constantFrom(...facts),
      cause: fc.option(fc.constantFrom(...IMPORTANCE_CAUSES), { nil: undefined }),
      oldValue: importance,
      newValue: importance,
    });
    const some = <T>(values: readonly T[]) =>
      fc.option(fc.subarray([...values], { minLength: 1 }), { nil: undefined });
    const one = (values: readonly (string | null)[]) =>
      fc.option(fc.constantFrom(...values.filter((value) => value !== null)), { nil: undefined });
    const selection = fc.record({
      types: some(EVENT_TYPES),
      agentId: one(agents),
      userId: one(users),
      factIds: some(facts.filter((fact) => fact !== undefined)),
      causes: some(IMPORTANCE_CAUSES),
      minDelta: fc.option(fc.double({ min: 0, max: 10, noNaN: true }), { nil: undefined }),
      exceptActor: fc.option(fc.constantFrom(...actors), { nil: undefined }),
      range: fc.constantFrom({}, { agentId: fixture.agentId }, { userId: fixture.userId }),
    });
    const own = await Fixture.make(db);
    // Some events in rows of their own, others many to a row, each by somebody.
    for (const [index, actor] of actors.entries()) {
      const rows = fc
        .sample(event, 60)
        .map((each) => ({ ...each, subjectId: newId(), factId: each.factId ?? undefined }));
      await inTenant(db, own.tenant, async (unit) => appendEvents(unit, rows, actor, now()));
      await inTenant(db, own.tenant, (unit) =>
        appendBatch(unit, {
          agentId: agents[index % agents.length] ?? null,
          userId: users[index % 2] ?? null,
          actor,
          changes: Array.from({ length: 20 }, (_none, place) => ({
            factId: facts[place % 2] ?? newId(),
            oldValue: place / 4 + 0.05,
            newValue: 5,
          })),
        }),
      );
    }
    const read = (wanted: EventSelection) =>
      inTenant(db, own.tenant, (unit) =>
        readEvents(unit, { after: 'floor', limit: 1_000, span: 1_000, selection: wanted }),
      );
    const all = (await read(everything))?.events ?? [];
    expect(all).toHaveLength(actors.length * 80);
    await fc.assert(
      fc.asyncProperty(selection, async (wanted) => {
        const page = await read(wanted);
        expect(page?.events).toEqual(all.filter((each) => selects(wanted, each)));
      }),
      { numRuns: 60 },
    );
  });
});
