import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, inTenant, streamState } from '../../src/db/index.js';
import { EARLIEST, encodeCursor, readEventLog } from '../../src/events/index.js';
import { isPostgres, testDatabase } from '../support/database.js';
import { type Committed, EventProcess, type Seen, writerOf } from './event-process.js';
import { Fixture } from './support.js';

const WRITERS = 16;
const READERS = 8;
/** Of each writer; each has 54 events on average, and one of seven is rolled back. */
const TRANSACTIONS = 42;

let db: Database;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db[Symbol.asyncDispose]());

const between = (low: number, high: number) => low + Math.floor(Math.random() * (high - low + 1));

/** The whole log, as it is read by pages. */
async function wholeLog(fixture: Fixture): Promise<Seen[]> {
  const seen: Seen[] = [];
  let after: string | null = null;
  for (;;) {
    const page = await readEventLog({ db }, fixture.admin, { selection: { range: {} }, after, first: 500 });
    for (const { event } of page.items)
      seen.push({ seq: Number(event.seq), subject: event.subjectId as string });
    if (!page.hasMore) return seen;
    after = page.endCursor;
  }
}

/** What is wrong with a log of these transactions, which each writer made one after the other. */
function faultsOf(log: readonly Seen[], committed: readonly Committed[]): string[] {
  const faults: string[] = [];
  const gap = log.findIndex(({ seq }, index) => seq !== index + 1);
  if (gap >= 0) faults.push(`event ${gap + 1} has the number ${log[gap]?.seq}`);
  const total = committed.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  if (log.length !== total) faults.push(`${total} events were committed, ${log.length} are in the log`);
  const left = new Map(Array.from({ length: WRITERS }, (_none, n) => [n, [] as Committed[]]));
  for (const each of committed) left.get(each.writer)?.push(each);
  for (let index = 0; index < log.length; ) {
    // Each stretch is a whole transaction, and the next one of its writer.
    const { writer, number } = writerOf((log[index] as Seen).subject);
    const next = left.get(writer)?.shift();
    if (next?.from !== number) return [...faults, `event ${index + 1} is not of a committed transaction`];
    for (let n = next.from; n <= next.to; n++, index++) {
      const found = writerOf(log[index]?.subject ?? '');
      if (found.writer !== writer || found.number !== n) faults.push(`event ${index + 1} is out of place`);
    }
  }
  return faults;
}

describe.runIf(isPostgres)('in two processes that write and serve', () => {
  it.each([
    ['with hints', { hints: true }],
    ['without hints, by polls alone', { hints: false, pollMs: 250 }],
  ])(
    'each reader that joins, drops and resumes anywhere sees every committed event once, in order, %s',
    async (_name, options) => {
      const fixture = await Fixture.make(db);
      const { tenant, admin } = fixture;
      const processes = [await EventProcess.start(options), await EventProcess.start(options)] as const;
      const anyProcess = () => processes[between(0, 1)] as EventProcess;
      const stream = await inTenant(db, tenant, streamState);
      const cursorAfter = (seq: number) =>
        seq === 0 ? EARLIEST : encodeCursor({ epoch: stream?.epoch ?? 0, seq: BigInt(seq) });
      let head = Number.POSITIVE_INFINITY;
      let resumed = 0;

      /** Follows in one process, then in any, from any cursor that it had, and holds what comes against what came. */
      async function read(): Promise<{ seen: Seen[]; faults: string[] }> {
        const seen: Seen[] = [];
        const faults: string[] = [];
        await new Promise((resolve) => setTimeout(resolve, between(0, 2_000)));
        while (seen.length < head) {
          const back = [0, 0, between(0, 300), between(0, 3_000)][between(0, 3)] as number;
          const from = Math.max(0, seen.length - back);
          const came = await anyProcess().follow(admin, cursorAfter(from), between(1, 3_000));
          resumed++;
          for (const [index, event] of came.entries()) {
            const place = from + index;
            if (event.seq !== place + 1) faults.push(`${event.seq} came at ${place + 1}`);
            if (place >= seen.length) seen.push(event);
            else if (seen[place]?.subject !== event.subject)
              faults.push(`another event came at ${place + 1}`);
          }
        }
        return { seen, faults };
      }

      try {
        const readers = Promise.all(Array.from({ length: READERS }, read));
        await Promise.all(
          Array.from({ length: WRITERS }, (_none, writer) =>
            (processes[writer % 2] as EventProcess).write(tenant, writer, TRANSACTIONS),
          ),
        );
        const log = await wholeLog(fixture);
        head = log.length;
        await Promise.all(processes.map((process) => process.through(head)));
        const committed = processes.flatMap((process) => process.committed);
        expect(faultsOf(log, committed)).toEqual([]);
        expect(log.length).toBeGreaterThan(25_000);
        // Some were rolled back, and each reader was in and out again.
        expect(committed.length).toBeLessThan(WRITERS * TRANSACTIONS);
        for (const { seen, faults } of await readers) {
          expect(faults).toEqual([]);
          expect(seen.length).toBe(log.length);
          expect(seen.findIndex(({ subject }, index) => subject !== log[index]?.subject)).toBe(-1);
        }
        expect(resumed).toBeGreaterThan(READERS * 5);
        for (const process of processes) {
          const counts = await process.counts();
          if (options.hints) expect(counts.heard).toBeGreaterThan(0);
          else expect(counts).toMatchObject({ own: 0, told: 0, heard: 0, connected: 0 });
        }
      } finally {
        await Promise.all(processes.map((process) => process.kill()));
      }
    },
    180_000,
  );
});
