import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AppendedEvents,
  appendEvents,
  type Database,
  inTenant,
  openDatabase,
  sqlState,
  TransactionAbortedError,
  type Unit,
} from '../../src/db/index.js';
import { newId } from '../../src/ids.js';
import { ServerProxy } from '../events/server-proxy.js';
import { Fixture } from '../events/support.js';
import { isPostgres, ownerClient, sharedConnection, testDatabase } from '../support/database.js';

const actor = { kind: 'TENANT_ADMIN', id: null };

let db: Database;
let fixture: Fixture;

beforeAll(async () => {
  db = await testDatabase();
  fixture = await Fixture.make(db);
});
afterAll(async () => {
  await db[Symbol.asyncDispose]();
});

const event = (type = 'FACT_REMEMBERED') => ({ type, agentId: null, userId: null, subjectId: newId() });

/** Runs `work` and tells what was appended to the fixture's stream meanwhile, as told and as stored. */
async function appendedBy(work: () => Promise<unknown>) {
  const told: AppendedEvents[] = [];
  const stop = db.onAppended((appended) => {
    if (appended.tenantId === fixture.tenant.id) told.push(appended);
  });
  const before = await storedEvents();
  const outcome = await work().catch((error: unknown) => error);
  stop();
  const stored = (await storedEvents()).slice(before.length);
  return { outcome, told: told.flatMap(({ known }) => known?.events ?? []), stored };
}

async function storedEvents() {
  return inTenant(
    db,
    fixture.tenant,
    ({ tx, tenantId }) => tx.$queryRaw<{ seq: bigint; subjectId: string }[]>`
      SELECT seq, subject_id AS "subjectId" FROM event WHERE tenant_id = ${tenantId}::uuid ORDER BY seq`,
  );
}

describe('events that go with the COMMIT', () => {
  it('are told with the numbers that they are stored by, of one call after the other', async () => {
    const events = [event(), event(), event()];
    const { told, stored } = await appendedBy(() =>
      inTenant(db, fixture.tenant, async (unit) => {
        appendEvents(unit, events.slice(0, 2), actor, new Date());
        appendEvents(unit, events.slice(2), actor, new Date());
      }),
    );
    expect(stored.map(({ subjectId }) => subjectId)).toEqual(events.map(({ subjectId }) => subjectId));
    expect(told.map(({ seq, subjectId }) => ({ seq, subjectId }))).toEqual(stored);
  });

  it('are literals: whatever characters they hold', async () => {
    const type = `it's a "type" \\ with ; -- and $1`;
    const { told, stored } = await appendedBy(() =>
      inTenant(db, fixture.tenant, async (unit) => appendEvents(unit, [event(type)], actor, new Date())),
    );
    expect(stored).toHaveLength(1);
    expect(told[0]?.type).toBe(type);
    const rows = await inTenant(
      db,
      fixture.tenant,
      ({ tx, tenantId }) => tx.$queryRaw<{ type: string }[]>`
        SELECT type FROM event WHERE tenant_id = ${tenantId}::uuid AND seq = ${told[0]?.seq}::int8`,
    );
    expect(rows).toEqual([{ type }]);
  });

  it('undo the transaction when they fail, are told to nobody, and leave the connection usable', async () => {
    const broken = { ...event(), subjectId: 'no uuid' };
    const agentsBefore = await agents();
    const { outcome, told, stored } = await appendedBy(() =>
      inTenant(db, fixture.tenant, async (unit) => {
        await renameAgent(unit, 'Renamed');
        appendEvents(unit, [broken], actor, new Date());
      }),
    );
    expect(sqlState(outcome)).toBe('22P02');
    expect([told, stored]).toEqual([[], []]);
    expect(await agents()).toEqual(agentsBefore);
  });

  it('are not appended when a statement before them failed, although its failure was hidden', async () => {
    const { outcome, told, stored } = await appendedBy(() =>
      inTenant(db, fixture.tenant, async (unit) => {
        appendEvents(unit, [event()], actor, new Date());
        await unit.tx.$queryRaw`SELECT 1 / 0`.catch(() => {});
      }),
    );
    expect(outcome).toBeInstanceOf(TransactionAbortedError);
    expect(sqlState(outcome)).toBe('22012');
    expect([told, stored]).toEqual([[], []]);
    expect(await agents()).toHaveLength(1);
  });

  it('are appended once when the work runs again', async () => {
    let runs = 0;
    const { told, stored } = await appendedBy(() =>
      inTenant(db, fixture.tenant, async (unit) => {
        appendEvents(unit, [event()], actor, new Date());
        if (++runs === 1) {
          await unit.tx.$executeRawUnsafe(
            `DO $$ BEGIN RAISE EXCEPTION 'on purpose' USING errcode = '40001'; END $$`,
          );
        }
      }),
    );
    expect(runs).toBe(2);
    expect([told.length, stored.length]).toEqual([1, 1]);
  });

  it('queued behind a savepoint go when the work is rolled back to it', async () => {
    const [kept, undone] = [event(), event()];
    const { told, stored } = await appendedBy(() =>
      inTenant(db, fixture.tenant, async (unit) => {
        appendEvents(unit, [kept], actor, new Date());
        await unit.tx.$executeRaw`SAVEPOINT before`;
        appendEvents(unit, [undone], actor, new Date());
        await unit.tx.$queryRaw`SELECT 1 / 0`.catch(() => {});
        await unit.tx.$executeRaw`ROLLBACK TO SAVEPOINT before`;
      }),
    );
    expect(stored.map(({ subjectId }) => subjectId)).toEqual([kept.subjectId]);
    expect(told).toHaveLength(1);
  });

  it('are told to nobody when the work itself fails', async () => {
    const { told, stored } = await appendedBy(() =>
      inTenant(db, fixture.tenant, async (unit) => {
        appendEvents(unit, [event()], actor, new Date());
        throw new Error('on purpose');
      }),
    );
    expect([told, stored]).toEqual([[], []]);
  });
});

describe.runIf(isPostgres)('a connection that is lost', () => {
  it('in the work or at its COMMIT makes the write unavailable, not run again, and the next one finds another connection', async () => {
    const own = await openDatabase({
      databaseUrl: sharedConnection().connectionString as string,
      migrate: false,
      poolSize: 1,
    });
    const owner = await ownerClient();
    try {
      let runs = 0;
      const lost = await inTenant(own, fixture.tenant, async (unit) => {
        runs++;
        const [{ pid }] = (await unit.tx.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`) as [
          { pid: number },
        ];
        appendEvents(unit, [event()], actor, new Date());
        await owner.query('SELECT pg_terminate_backend($1)', [pid]);
      }).catch((error: unknown) => error);
      expect(lost).toMatchObject({ code: 'UNAVAILABLE' });
      expect(runs).toBe(1);
      const told: AppendedEvents[] = [];
      own.onAppended((appended) => told.push(appended));
      await inTenant(own, fixture.tenant, async (unit) => appendEvents(unit, [event()], actor, new Date()));
      expect(told).toHaveLength(1);
    } finally {
      await owner.end();
      await own[Symbol.asyncDispose]();
    }
  });

  it('without a word is given up when no answer comes in time', async () => {
    await using proxy = await ServerProxy.to(sharedConnection());
    const own = await openDatabase({
      databaseUrl: proxy.connection.connectionString as string,
      migrate: false,
      poolSize: 1,
      answerTimeoutMs: 1_000,
    });
    try {
      await inTenant(own, fixture.tenant, ({ tx }) => tx.$queryRaw`SELECT 1`);
      proxy.freeze();
      const lost = inTenant(own, fixture.tenant, ({ tx }) => tx.$queryRaw`SELECT 1`);
      await expect(lost).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    } finally {
      await own[Symbol.asyncDispose]();
    }
  });
});

async function agents() {
  return inTenant(db, fixture.tenant, ({ tx }) => tx.agent.findMany({ select: { name: true } }));
}

async function renameAgent({ tx, tenantId }: Unit, name: string) {
  await tx.$executeRaw`UPDATE agent SET name = ${name}::text WHERE tenant_id = ${tenantId}::uuid`;
}
