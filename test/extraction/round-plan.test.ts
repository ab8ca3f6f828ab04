import fc from 'fast-check';
import { expect, test } from 'vitest';
import type {
  Claim,
  ExtractionRunRow,
  FailingWindow,
  MessageRecord,
  QuarantinedWindow,
} from '../../src/db/index.js';
import { type Failure, MOST_FAILURES, NO_FAILURE } from '../../src/extraction/failures.js';
import type { MinedWindow } from '../../src/extraction/mine.js';
import { dueWindow, nextWindows } from '../../src/extraction/round.js';
import { planRetried, planRound, type RoundPlan } from '../../src/extraction/round-plan.js';

const AWAY: Failure = { code: 'EXTRACTOR_UNAVAILABLE', transient: true, usage: null };
const PROSE: Failure = { code: 'EXTRACTOR_UNPARSEABLE', transient: false, usage: null };
const MOST_MESSAGES = 500;

/** A session in memory, mined by the same decisions as one in the database. */
class Session {
  now = new Date('2026-06-01T12:00:00Z');
  lastSeq = 0;
  minedSeq = 0;
  window: FailingWindow = NO_FAILURE;
  aside: QuarantinedWindow[] = [];
  readonly runs: ExtractionRunRow[] = [];
  /** Sequences of what was mined, in its order; and how often a window was given to the extractor, by its messages. */
  readonly mined: number[] = [];
  readonly tries = new Map<string, number>();
  readonly #lengths: number[] = [];

  /** @param behave what the extractor does with the next window: null is an answer */
  constructor(private readonly behave: () => Failure | null) {}

  say(lengths: readonly number[]): void {
    const fromSeq = this.lastSeq + 1;
    this.#lengths.push(...lengths);
    this.lastSeq += lengths.length;
    this.runs.push(runOf(`run ${this.runs.length}`, fromSeq, this.lastSeq));
  }

  /** Rounds until the session rests. */
  mine(): void {
    for (let rounds = 0; ; rounds++) {
      if (rounds > 200) throw new Error('mining does not come to an end');
      if (!this.#round()) return;
    }
  }

  /** As `reopenRun` does. */
  retry(run: ExtractionRunRow): void {
    this.#set(run.id, { status: 'PENDING', attempts: 0, error: null });
    this.aside = this.aside.map((window) =>
      overlaps(window, run) ? { ...window, retryAt: this.now, failures: 0 } : window,
    );
    if ((this.window.to ?? 0) >= run.fromSeq && this.minedSeq < run.toSeq)
      this.window = { ...this.window, failures: 0, retryAt: null };
  }

  wait(seconds: number): void {
    this.now = new Date(this.now.getTime() + seconds * 1_000);
  }

  #round(): boolean {
    const { minedSeq, lastSeq, window, aside, now } = this;
    const claim: Claim = {
      sessionId: 's',
      scopeId: 1,
      agentId: null,
      userId: null,
      minedSeq,
      lastSeq,
      window,
      aside,
    };
    const retried = dueWindow(aside, now);
    const pending = this.runs.filter(({ status }) => status === 'PENDING');
    const runs = retried
      ? this.runs.filter((run) => overlaps(retried, run) && ['PENDING', 'QUARANTINED'].includes(run.status))
      : pending;
    const from = retried ? retried.fromSeq - 1 : minedSeq;
    const read = this.#messages(from, Math.min(lastSeq, from + MOST_MESSAGES));
    const cut = from + MOST_MESSAGES < lastSeq;
    const { given, endSeq } = retried
      ? { given: [read.filter(({ seq }) => seq <= retried.toSeq)], endSeq: minedSeq }
      : nextWindows(claim, { messages: read, cut }, runs);
    const windows: MinedWindow[] = [];
    let reached = minedSeq;
    let failed: { failure: Failure; seq: number } | null = null;
    for (const messages of given) {
      const seqs = messages.map(({ seq }) => seq);
      const last = seqs.at(-1) as number;
      this.tries.set(seqs.join(), (this.tries.get(seqs.join()) ?? 0) + 1);
      const failure = this.behave();
      if (failure) {
        failed = { failure, seq: last };
        break;
      }
      windows.push({ status: 'EXTRACTED', messages, proposals: [], notes: [], usage: null });
      this.mined.push(...seqs);
      reached = last;
    }
    const outcome = {
      claim,
      runs,
      windows,
      failed,
      minedSeq: retried ? minedSeq : failed ? reached : endSeq,
    };
    const plan = retried ? planRetried(outcome, retried, new Set(), now) : planRound(outcome, new Set(), now);
    this.#apply(plan);
    return plan.more;
  }

  /** As the statements do that carry a plan out. */
  #apply({ ends, minedSeq, window, put, taken }: RoundPlan): void {
    if (minedSeq < this.minedSeq) throw new Error('the cursor went back');
    this.minedSeq = minedSeq;
    this.window = window;
    const gone = put ?? taken;
    this.aside = this.aside.filter(({ fromSeq }) => fromSeq !== gone?.fromSeq);
    if (put) {
      this.aside = [...this.aside, put].sort((one, other) => one.fromSeq - other.fromSeq);
      for (const run of this.runs)
        if (run.status === 'FAILED' && overlaps(put, run)) this.#set(run.id, { status: 'QUARANTINED' });
    }
    for (const { id, status, error, attempts } of ends) this.#set(id, { status, error, attempts });
  }

  #messages(after: number, to: number): MessageRecord[] {
    return Array.from({ length: to - after }, (_, n) => {
      const seq = after + n + 1;
      return { id: String(seq), seq, content: 'x'.repeat(this.#lengths[seq - 1] as number) } as MessageRecord;
    });
  }

  #set(id: string, change: Partial<ExtractionRunRow>): void {
    const place = this.runs.findIndex((run) => run.id === id);
    this.runs[place] = { ...(this.runs[place] as ExtractionRunRow), ...change };
  }
}

type Stretch = { readonly fromSeq: number; readonly toSeq: number };
const overlaps = (one: Stretch, other: Stretch) => one.fromSeq <= other.toSeq && other.fromSeq <= one.toSeq;

function runOf(id: string, fromSeq: number, toSeq: number): ExtractionRunRow {
  return {
    id,
    sessionId: 's',
    status: 'PENDING',
    extractor: 'OPENAI',
    fromSeq,
    toSeq,
    attempts: 0,
    error: null,
    startedAt: new Date(0),
    finishedAt: null,
    inputTokens: 0,
    outputTokens: 0,
    cost: null,
    notes: [],
  };
}

/** What holds of a session at any time. */
function check(session: Session): void {
  expect(new Set(session.mined).size, 'none is mined twice').toBe(session.mined.length);
  const put = session.aside.flatMap(({ fromSeq, toSeq }) =>
    Array.from({ length: toSeq - fromSeq + 1 }, (_, n) => fromSeq + n),
  );
  expect(
    [...session.mined, ...put].sort((a, b) => a - b),
    'what is behind the cursor is mined or put aside',
  ).toEqual(Array.from({ length: session.minedSeq }, (_, n) => n + 1));
  expect(session.window.failures, 'no window fails without end').toBeLessThan(MOST_FAILURES);
  for (const run of session.runs) {
    const aside = session.aside.filter((window) => overlaps(window, run));
    const told = `${run.status} of ${run.fromSeq}–${run.toSeq}`;
    if (run.status === 'QUARANTINED') expect(aside, told).not.toEqual([]);
    if (run.status === 'EXTRACTED_NOTHING') {
      expect(aside, told).toEqual([]);
      expect(run.toSeq, told).toBeLessThanOrEqual(session.minedSeq);
    }
    if (run.status === 'FAILED') expect(aside, told).toEqual([]);
    // A run that waits is looked for: by the job of the session, which is due when its window is.
    if (run.status === 'PENDING' && run.toSeq <= session.minedSeq)
      expect(
        aside.some(({ retryAt }) => retryAt !== null),
        told,
      ).toBe(true);
  }
}

const step = fc.oneof(
  fc.record({
    say: fc.array(fc.constantFrom(10, 10, 10, 3_000, 9_000, 30_000), { minLength: 1, maxLength: 80 }),
  }),
  fc.record({ wait: fc.constantFrom(1, 5, 20, 80, 320, 3_600) }),
  fc.record({ retry: fc.nat({ max: 7 }) }),
);
const behaviour = fc.constantFrom(null, AWAY, AWAY, PROSE, PROSE, PROSE, PROSE);

test('2,000 sequences of failures: no message is lost, none mined twice, the cursor only goes on', () => {
  const reached = new Map<string, number>();
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 12 }),
      fc.array(behaviour, { minLength: 5, maxLength: 30 }),
      (steps, behaviours) => {
        const coming = [...behaviours];
        const session = new Session(() => coming.shift() ?? null);
        for (const one of steps) {
          if ('say' in one) session.say(one.say);
          if ('wait' in one) session.wait(one.wait);
          if ('retry' in one) {
            const failed = session.runs.filter(({ status }) => ['FAILED', 'QUARANTINED'].includes(status));
            const chosen = failed[one.retry % Math.max(1, failed.length)];
            if (chosen) session.retry(chosen);
          }
          session.mine();
          check(session);
        }
        for (const { status } of session.runs) reached.set(status, (reached.get(status) ?? 0) + 1);
        // All is well again: with one more message, and the retries that somebody asks for, everything is mined.
        coming.length = 0;
        session.wait(3_600);
        session.say([10]);
        session.mine();
        while (session.aside.length > 0) {
          const left = session.aside.length;
          session.retry(session.runs.find((run) => run.status === 'QUARANTINED') as ExtractionRunRow);
          session.mine();
          expect(session.aside.length).toBeLessThan(left);
        }
        check(session);
        expect(
          [...session.mined].sort((a, b) => a - b),
          'none is lost',
        ).toEqual(Array.from({ length: session.lastSeq }, (_, n) => n + 1));
        const open = session.runs.filter(({ status }) => ['PENDING', 'QUARANTINED'].includes(status));
        expect(open).toEqual([]);
      },
    ),
    { numRuns: 2_000 },
  );
  // They are not all alike: every end occurs in many.
  for (const status of ['EXTRACTED_NOTHING', 'PENDING', 'FAILED', 'QUARANTINED'])
    expect(reached.get(status) ?? 0, status).toBeGreaterThan(50);
});

test('a window fails five times at most before it is put aside, and nothing that came later is with it', () => {
  const session = new Session(() =>
    session.mined.length === 0 && session.aside.length === 0 ? PROSE : null,
  );
  for (let n = 0; n < 5; n++) {
    session.say([10]);
    session.mine();
  }
  expect(session.tries.get('1')).toBe(5);
  expect(session.aside).toMatchObject([{ fromSeq: 1, toSeq: 1, failures: 5, error: PROSE.code }]);
  expect(session.mined).toEqual([2, 3, 4, 5]);
});

test('failures that may pass count when they are due: the fifth comes 425 s after the first at the earliest', () => {
  const session = new Session(() => AWAY);
  session.say([10]);
  const begun = session.now.getTime();
  while (session.aside.length === 0) {
    session.mine();
    session.wait(1);
  }
  expect((session.now.getTime() - begun) / 1_000 - 1).toBe(5 + 20 + 80 + 320);
});
