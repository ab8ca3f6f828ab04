// A process of its own that writes events and follows them, as test/events/event-process.ts asks it to.
import { PooledDatabase } from '../../dist/db/database.js';
import { appendEvents, inTenant, noteAppended } from '../../dist/db/index.js';
import { silentLog } from '../../dist/db/log.js';
import { createEventFeed, decodeCursor } from '../../dist/events/index.js';
import { createLogger } from '../../dist/log.js';

const { connection, feedOptions } = JSON.parse(process.argv[2]);
const now = () => new Date();
const db = new PooledDatabase(
  'postgres',
  { connection, size: 12, connectTimeoutMs: 30_000, log: silentLog },
  async () => {},
);
const feed = createEventFeed({ db, log: createLogger('silent'), now }, feedOptions);

const SYSTEM = { kind: 'SYSTEM', id: null };
class RolledBack extends Error {}

/** Events tell their writer and number by their subject. */
const subjectOf = (writer, number) =>
  `${writer.toString(16).padStart(8, '0')}-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;

const between = (low, high) => low + Math.floor(Math.random() * (high - low + 1));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function appendBatch(unit, subjects) {
  const { tx, tenantId } = unit;
  const values = subjects.map(() => 1);
  await tx.$executeRaw`
    WITH stream AS (
      UPDATE tenant_stream SET head = head + ${subjects.length}::int8
      WHERE tenant_id = ${tenantId}::uuid RETURNING head
    )
    INSERT INTO event_batch (tenant_id, first_seq, last_seq, type, cause, actor_kind, occurred_at, fact_ids,
                             old_values, new_values)
    SELECT ${tenantId}::uuid, s.head - ${subjects.length}::int8 + 1, s.head, 'IMPORTANCE_CHANGED', 'RESCORE', 'SYSTEM',
           ${now()}::timestamptz, ${subjects}::uuid[], ${values}::float8[], ${values}::float8[]
    FROM stream s`;
  noteAppended(unit);
}

/** One transaction: rows, a batch or both, at its own pace; some are rolled back. Returns whether it was committed. */
async function transaction(tenant, rows, batch, rollback) {
  try {
    await inTenant(db, tenant, async (unit) => {
      await pause(between(0, 6));
      const events = rows.map((subjectId) => ({
        type: 'FACT_REMEMBERED',
        agentId: null,
        userId: null,
        subjectId,
      }));
      if (batch.length > 0) await appendBatch(unit, batch);
      appendEvents(unit, events, SYSTEM, now());
      if (Math.random() < 0.2) await pause(between(0, 3));
      if (rollback) throw new RolledBack();
    });
    return true;
  } catch (error) {
    if (error instanceof RolledBack) return false;
    throw error;
  }
}

let through = Number.POSITIVE_INFINITY;
const sessions = new Set();

const commands = {
  /** Transactions one after the other; returns the numbers of each committed one, first and last. */
  async write({ tenant, writer, transactions, first = 1 }) {
    const committed = [];
    let number = first;
    const take = (count) => Array.from({ length: count }, () => subjectOf(writer, number++));
    for (let n = 0; n < transactions; n++) {
      const from = number;
      const kind = Math.random();
      // Rows go with the commit, so a batch comes before them.
      const batch = kind > 0.65 ? take(between(20, 200)) : [];
      const rows = kind < 0.75 ? take(between(1, 40)) : [];
      if (!(await transaction(tenant, rows, batch, Math.random() < 0.15))) continue;
      committed.push([from, number - 1]);
      process.send({ committed: [writer, from, number - 1] });
    }
    return committed;
  },

  /** Follows after a cursor until `count` events came, or all that there will be. Each as `seq:subject`. */
  async follow({ actor, after, count }) {
    const entries = await feed.follow(actor, { after, selection: { range: {} } });
    const session = { entries, last: -1 };
    sessions.add(session);
    const taken = [];
    while (taken.length < count && session.last < through) {
      const { value, done } = await entries.next();
      if (done) break;
      session.last = Number(decodeCursor(value.cursor).seq);
      if (value.kind === 'event') taken.push(`${session.last}:${value.event.subjectId}`);
    }
    sessions.delete(session);
    await entries.return();
    return taken.join(',');
  },

  /** There will be no event after this one. */
  async through({ seq }) {
    through = seq;
    for (const { entries, last } of sessions) if (last >= seq) await entries.return();
  },

  async counts() {
    return feed.wakeUps();
  },
};

process.on('message', ({ id, name, input }) => {
  commands[name](input).then(
    (result) => process.send({ id, result }),
    (error) => process.send({ id, error: String(error?.stack ?? error) }),
  );
});
process.on('disconnect', () => process.exit());
process.send({ ready: true });
