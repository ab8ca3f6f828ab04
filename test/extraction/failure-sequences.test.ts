import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { contentOf, findTenant, inTenant, reopenRun } from '../../src/db/index.js';
import { type Extractor, ExtractorError, mineSession } from '../../src/extraction/index.js';
import { newId } from '../../src/ids.js';
import { type TenantContext, toTenantContext } from '../../src/tenancy/index.js';
import { TestClock, uuidOf } from '../facts/support.js';
import { seeingClient } from '../facts/tables.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 });

/** Sessions, each with its own sequence of failures; round-plan.test.ts has the thousands, without a database. */
const SEQUENCES = 25;
/**
 * What happens at each call of the extractor: it answers, or fails in a way that may pass or not; or it answers and what
 * it found cannot be written; or it answers when another process has taken the session over.
 */
type Behaviour = 'OK' | 'AWAY' | 'PROSE' | 'UNWRITTEN' | 'LOST';
/** What happens to a session: it is mined again, by two at once, more is said, time passes, or a failed run is retried. */
type Step = 'MINE' | 'TWICE' | 'SAY' | 'WAIT' | 'WAIT_LONG' | 'RETRY';

const clock = new TestClock();
/** The behaviours to come of the session that is mined. */
let coming: Behaviour[] = [];
let session = '';
const extractor: Extractor = {
  name: 'OPENAI',
  async extract({ messages }) {
    const behaviour = coming.shift() ?? 'OK';
    happened.add(behaviour);
    if (behaviour === 'AWAY') throw new ExtractorError('EXTRACTOR_UNAVAILABLE', 'away');
    if (behaviour === 'PROSE') throw new ExtractorError('EXTRACTOR_UNPARSEABLE', 'prose');
    if (behaviour === 'UNWRITTEN') unwritable = true;
    if (behaviour === 'LOST')
      await owner.query('UPDATE session SET lease_owner = $2 WHERE id = $1', [session, randomUUID()]);
    // A fact for each message, by which is seen what was applied, and how often.
    const add = messages.map(({ id }) => ({
      text: `Note ${id} was taken`,
      kind: 'FACT' as const,
      entities: [],
      confidence: 1,
      sourceMessageIds: [id],
    }));
    return { add, supersede: [] };
  },
};

/** Whether the next write of facts fails, and all that has happened in any sequence. */
let unwritable = false;
const happened = new Set<Behaviour>();

let salient: TestApp;
let owner: pg.Client;
let tenant: TestTenant;
let context: TenantContext;
beforeAll(async () => {
  salient = await testApp({ now: clock.now, extractor });
  owner = await seeingClient();
  const { profiles } = salient.app.services;
  const read = profiles.effectiveOf.bind(profiles);
  vi.spyOn(profiles, 'effectiveOf').mockImplementation((...given) => {
    if (!unwritable) return read(...given);
    unwritable = false;
    throw Object.assign(new Error('the disk is full'), { code: '53100' });
  });
  tenant = await salient.tenant();
  const row = await salient.app.services.db.withPlatform((tx) => findTenant(tx, { id: uuidOf(tenant.id) }));
  context = toTenantContext(row!);
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

/** A session as it stands. */
interface State {
  readonly minedSeq: number;
  readonly failures: number;
  readonly retryAt: Date | null;
  readonly aside: { from: number; to: number }[];
  /** The messages that facts were learned from: what was mined and applied. */
  readonly mined: string[];
  /** Facts, and how often any was learned again. */
  readonly facts: number;
  readonly again: number;
  readonly runs: { id: string; status: string; from: number; to: number }[];
}

async function stateOf(session: string): Promise<State> {
  const { rows } = await owner.query<State>(
    `SELECT s.mined_seq AS "minedSeq", s.window_failures AS failures, s.window_retry_at AS "retryAt",
            (SELECT coalesce(json_agg(json_build_object('from', from_seq, 'to', to_seq)), '[]')
             FROM quarantined_window q WHERE q.session_id = s.id) AS aside,
            (SELECT coalesce(json_agg(json_build_object('id', id, 'status', status, 'from', from_seq, 'to', to_seq)
                                      ORDER BY to_seq), '[]')
             FROM extraction_run r WHERE r.session_id = s.id) AS runs,
            (SELECT coalesce(json_agg(fs.message_id), '[]') FROM fact_source fs
             JOIN message m ON m.tenant_id = fs.tenant_id AND m.id = fs.message_id WHERE m.session_id = s.id) AS mined,
            (SELECT count(*)::int FROM fact f WHERE f.session_id = s.id) AS facts,
            (SELECT coalesce(sum(n.reaffirmations), 0)::int FROM fact f
             JOIN fact_salience n ON n.tenant_id = f.tenant_id AND n.fact_id = f.id WHERE f.session_id = s.id) AS again
     FROM session s WHERE s.id = $1`,
    [session],
  );
  return rows[0]!;
}

/** A session with its scope, as an append would make it, without its searching and embedding. */
class Conversation {
  readonly id = newId();
  readonly messages: string[] = [];

  constructor(private readonly scopeId: number) {}

  async open(): Promise<void> {
    await owner.query(
      `INSERT INTO session (tenant_id, id, scope_id, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)`,
      [context.id, this.id, this.scopeId, clock.now()],
    );
  }

  async say(count: number): Promise<void> {
    const content = contentOf(context.hashKey);
    const first = this.messages.length + 1;
    const rows = Array.from({ length: count }, (_, n) => ({ id: newId(), seq: first + n }));
    this.messages.push(...rows.map(({ id }) => id));
    await owner.query(
      `WITH said AS (
         INSERT INTO message (tenant_id, id, session_id, scope_id, seq, role, content, characters, recorded_at)
         SELECT $1, r.id, $2, $3, r.seq, 'USER', $4, 20, $5 FROM jsonb_to_recordset($6::jsonb) AS r(id uuid, seq int)
       ), run AS (
         INSERT INTO extraction_run (tenant_id, id, session_id, status, extractor, from_seq, to_seq, started_at)
         VALUES ($1, $7, $2, 'PENDING', 'OPENAI', $8, $9, $5)
       )
       UPDATE session SET last_seq = $9 WHERE tenant_id = $1 AND id = $2`,
      [
        context.id,
        this.id,
        this.scopeId,
        content.seal('I prefer tabs over spaces'),
        clock.now(),
        JSON.stringify(rows),
        newId(),
        first,
        this.messages.length,
      ],
    );
  }

  /** Mines until the session rests, as the job runner does. */
  async mine(): Promise<void> {
    for (let rounds = 0; ; rounds++) {
      expect(rounds, 'mining comes to an end').toBeLessThan(100);
      const result = await this.round();
      if (result && !result.more) return;
      // The other that has taken it over comes to nothing.
      if (!result)
        await owner.query('UPDATE session SET lease_owner = NULL, lease_until = NULL WHERE id = $1', [
          this.id,
        ]);
    }
  }

  /** One round of mining; null where another holds the session, or has taken it over. */
  round() {
    return mineSession(salient.app.services, context, this.id, new AbortController().signal);
  }
}

const steps = fc.array(fc.constantFrom<Step>('MINE', 'TWICE', 'SAY', 'WAIT', 'WAIT_LONG', 'RETRY'), {
  minLength: 3,
  maxLength: 7,
});
const behaviours = fc.array(
  fc.constantFrom<Behaviour>('OK', 'AWAY', 'UNWRITTEN', 'LOST', 'PROSE', 'PROSE', 'PROSE', 'PROSE'),
  { minLength: 6, maxLength: 14 },
);
const said = fc.integer({ min: 1, max: 60 });

test(`${SEQUENCES} sequences of failures: no message is lost, none mined twice, the cursor only goes on`, async () => {
  const { rows } = await owner.query<{ id: number }>(
    'INSERT INTO scope (tenant_id, created_at) VALUES ($1, $2) RETURNING id',
    [context.id, clock.now()],
  );
  const scopeId = rows[0]!.id;
  await owner.query('INSERT INTO scope_state (tenant_id, scope_id) VALUES ($1, $2)', [context.id, scopeId]);
  const reached = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(said, steps, behaviours, async (count, what, then) => {
      const conversation = new Conversation(scopeId);
      coming = [...then];
      unwritable = false;
      session = conversation.id;
      await conversation.open();
      await conversation.say(count);
      await conversation.mine();
      let before = await stateOf(conversation.id);
      for (const step of what) {
        if (step === 'SAY') await conversation.say(1 + (count % 7));
        if (step === 'WAIT') clock.advance(5_000);
        if (step === 'WAIT_LONG') clock.advance(3_600_000);
        if (step === 'RETRY') await retryOne(before);
        // Two at once do not get in each other's way: one of them mines.
        if (step === 'TWICE') await Promise.all([conversation.round(), conversation.round()]);
        await conversation.mine();
        const after = await stateOf(conversation.id);
        expect(after.minedSeq, 'the cursor only goes on').toBeGreaterThanOrEqual(before.minedSeq);
        checkAll(conversation, after);
        for (const { status } of after.runs) reached.set(status, (reached.get(status) ?? 0) + 1);
        before = after;
      }
      // The endpoint is well again: with one more message and the retries that somebody asks for, all is mined.
      coming = [];
      clock.advance(3_600_000);
      await conversation.say(1);
      await conversation.mine();
      for (
        let left = await stateOf(conversation.id);
        left.aside.length > 0;
        left = await stateOf(conversation.id)
      ) {
        const asides = left.aside.length;
        await retryOne(left);
        await conversation.mine();
        expect((await stateOf(conversation.id)).aside.length).toBeLessThan(asides);
      }
      const end = await stateOf(conversation.id);
      expect(end.minedSeq).toBe(conversation.messages.length);
      expect(end.runs.filter(({ status }) => status === 'PENDING' || status === 'QUARANTINED')).toEqual([]);
      expect([...end.mined].sort(), 'each message is mined').toEqual([...conversation.messages].sort());
      expect([end.facts, end.again], 'and once').toEqual([conversation.messages.length, 0]);
    }),
    {
      numRuns: SEQUENCES,
      // One that fails for good is among them, whatever chance brings.
      examples: [
        [3, ['MINE', 'WAIT_LONG', 'MINE', 'WAIT_LONG', 'MINE', 'RETRY', 'MINE'], Array(14).fill('PROSE')],
        [60, ['TWICE', 'SAY', 'TWICE'], ['LOST', 'UNWRITTEN', 'OK', 'LOST', 'AWAY', 'UNWRITTEN']],
      ],
    },
  );
  // The sequences are not all alike: every end occurs.
  for (const status of ['EXTRACTED', 'PENDING', 'FAILED', 'QUARANTINED'])
    expect(reached.get(status) ?? 0, status).toBeGreaterThan(0);
  expect([...happened].sort()).toEqual(['AWAY', 'LOST', 'OK', 'PROSE', 'UNWRITTEN']);

  /** What holds at any time. */
  function checkAll(
    { messages }: Conversation,
    { minedSeq, aside, runs, failures, mined, facts, again }: State,
  ): void {
    expect([facts, again], 'none is mined twice').toEqual([mined.length, 0]);
    expect(failures).toBeLessThan(5);
    const isAside = (seq: number) => aside.some(({ from, to }) => from <= seq && seq <= to);
    const behind = messages.slice(0, minedSeq).filter((_, place) => !isAside(place + 1));
    expect([...mined].sort(), 'what is behind the cursor is mined or put aside').toEqual(behind.sort());
    for (const run of runs) {
      const quarantined = aside.some(({ from, to }) => from <= run.to && run.from <= to);
      if (run.status === 'QUARANTINED')
        expect(quarantined, 'a run in quarantine has messages there').toBe(true);
      if (quarantined && run.to <= minedSeq)
        expect(['QUARANTINED', 'PENDING'], 'a run with messages put aside says so').toContain(run.status);
      if (run.status === 'EXTRACTED') expect(run.to).toBeLessThanOrEqual(minedSeq);
    }
  }

  /** As `retryExtraction` does for the first run that failed. */
  async function retryOne({ runs }: State): Promise<void> {
    const failed =
      runs.find(({ status }) => status === 'QUARANTINED') ?? runs.find(({ status }) => status === 'FAILED');
    if (!failed) return;
    const { rows: sessions } = await owner.query<{ id: string }>(
      'SELECT session_id AS id FROM extraction_run WHERE id = $1',
      [failed.id],
    );
    const run = { id: failed.id, sessionId: sessions[0]!.id, fromSeq: failed.from, toSeq: failed.to };
    await inTenant(salient.app.services.db, context, (unit) =>
      reopenRun(unit, run, randomUUID(), clock.now()),
    );
  }
});
