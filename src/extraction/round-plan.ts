import type { ExtractionRunRow, FailingWindow, QuarantinedWindow, RunEnd } from '../db/index.js';
import { failedRuns, judgeWindow, MOST_FAILURES, NO_FAILURE, retryTime } from './failures.js';
import type { MinedWindow } from './mine.js';
import type { Round } from './round.js';
import type { Mined } from './runner.js';

/** How a round leaves its session (SPEC §2.2). */
export interface RoundPlan {
  readonly ends: readonly RunEnd[];
  readonly minedSeq: number;
  readonly window: FailingWindow;
  readonly failed: boolean;
  /** When what waits is tried again, because of a failure. */
  readonly retryAt: Date | null;
  /** Whether there is something to mine at once. */
  readonly more: boolean;
  /** The window that is put aside, or goes back into quarantine or waits there to be tried again. */
  readonly put: QuarantinedWindow | null;
  /** The window that is out of quarantine. */
  readonly taken: QuarantinedWindow | null;
  /** The run to tell of as EXTRACTION_QUARANTINED. */
  readonly quarantined: string | null;
}

/** What a plan is made of. */
export type Outcome = Pick<Round, 'claim' | 'runs'> & Pick<Mined, 'windows' | 'minedSeq' | 'failed'>;

/**
 * Decides what becomes of a round of what is after the cursor: this goes behind the last window that was mined, or behind
 * one that has failed too often. Pure.
 * @param found runs that facts were found for, in this round or before
 */
export function planRound(outcome: Outcome, found: ReadonlySet<string>, now: Date): RoundPlan {
  const { claim, runs, windows, failed } = outcome;
  const first = outcome.minedSeq === claim.minedSeq;
  const verdict = failed ? judgeWindow(claim.window, failed.failure, failed.seq, first, now) : null;
  const put =
    failed && verdict?.quarantined
      ? {
          sessionId: claim.sessionId,
          fromSeq: outcome.minedSeq + 1,
          toSeq: failed.seq,
          error: failed.failure.code,
          failures: verdict.window.failures,
          quarantinedAt: now,
          retryAt: null,
        }
      : null;
  const minedSeq = put ? put.toSeq : outcome.minedSeq;
  const done = runs.filter((run) => run.toSeq <= minedSeq);
  const ends = endsOf(done, windows, found, put ? [...claim.aside, put] : claim.aside);
  const stuck = failed && !put ? failed : null;
  if (stuck) {
    const left = runs.filter((run) => run.toSeq > minedSeq);
    const aside = new Set(left.filter((run) => asideOf(run, claim.aside).length > 0).map(({ id }) => id));
    // Part of it was put aside before: that is what is to be seen of it.
    for (const end of failedRuns(stuck.failure, left, stuck.seq))
      ends.push(end.status === 'FAILED' && aside.has(end.id) ? { ...end, status: 'QUARANTINED' } : end);
  }
  const window = stuck && verdict ? verdict.window : NO_FAILURE;
  return {
    ends,
    minedSeq,
    window,
    failed: stuck !== null,
    retryAt: window.retryAt,
    more: stuck === null && minedSeq < claim.lastSeq,
    put,
    taken: null,
    quarantined: put ? (runOfWindow(runs, put.toSeq)?.id ?? null) : null,
  };
}

/**
 * Decides what becomes of a window that was put aside and was tried again; the cursor stays. It is out of quarantine when
 * it is mined, and else back in it, or due later where the cause may pass. Pure.
 * @param found runs that facts were found for, in this round or before
 */
export function planRetried(
  { claim, runs, windows, failed }: Outcome,
  retried: QuarantinedWindow,
  found: ReadonlySet<string>,
  now: Date,
): RoundPlan {
  const left = { minedSeq: claim.minedSeq, window: claim.window, quarantined: null };
  // A run that reaches beyond the cursor ends with its last messages.
  const behind = runs.filter(({ toSeq }) => toSeq <= claim.minedSeq);
  const ahead = runs.filter(({ toSeq }) => toSeq > claim.minedSeq);
  if (!failed) {
    const others = claim.aside.filter(({ fromSeq }) => fromSeq !== retried.fromSeq);
    const ends = endsOf(behind, windows, found, others);
    for (const { id, attempts } of ahead) ends.push({ id, status: 'PENDING', error: null, attempts });
    return { ...left, ends, failed: false, retryAt: null, more: true, put: null, taken: retried };
  }
  const { code, transient } = failed.failure;
  const failures = retried.failures + 1;
  const retryAt = transient && failures < MOST_FAILURES ? retryTime(failures, now) : null;
  const ends = behind.map((run) => ({
    id: run.id,
    status: retryAt ? 'PENDING' : 'QUARANTINED',
    error: code,
    attempts: run.attempts + 1,
  }));
  const put = { ...retried, error: code, failures, retryAt };
  return { ...left, ends, failed: true, retryAt, more: claim.minedSeq < claim.lastSeq, put, taken: null };
}

/** The run of a window: the one that asked for its newest message, else the newest there is. */
export function runOfWindow(runs: readonly ExtractionRunRow[], toSeq: number): ExtractionRunRow | undefined {
  return runs.find((run) => toSeq <= run.toSeq) ?? runs.at(-1);
}

/**
 * The ends of runs all of whose messages are behind the cursor: QUARANTINED where some of them are put aside, else the
 * most that any of the windows came to. A run whose window is tried again goes on waiting for that.
 */
function endsOf(
  runs: readonly ExtractionRunRow[],
  windows: readonly MinedWindow[],
  found: ReadonlySet<string>,
  aside: readonly QuarantinedWindow[],
): RunEnd[] {
  const statusOf = (run: ExtractionRunRow) => {
    if (found.has(run.id)) return 'EXTRACTED';
    const own = windows.filter((window) =>
      window.messages.some(({ seq }) => seq >= run.fromSeq && seq <= run.toSeq),
    );
    if (own.length === 0) return 'NOTHING_NEW';
    return own.some((window) => window.status === 'EXTRACTED') ? 'EXTRACTED_NOTHING' : 'SKIPPED_NOT_SALIENT';
  };
  return runs.flatMap((run): RunEnd[] => {
    const own = asideOf(run, aside);
    if (own.some(({ retryAt }) => retryAt !== null)) return [];
    const [put] = own;
    const attempts = run.attempts + 1;
    return put
      ? [{ id: run.id, status: 'QUARANTINED', error: put.error, attempts }]
      : [{ id: run.id, status: statusOf(run), error: null, attempts }];
  });
}

/** The windows with messages of a run. */
function asideOf(run: ExtractionRunRow, aside: readonly QuarantinedWindow[]): QuarantinedWindow[] {
  return aside.filter(({ fromSeq, toSeq }) => fromSeq <= run.toSeq && toSeq >= run.fromSeq);
}
