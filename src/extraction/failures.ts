import { type ExtractionRunRow, type FailingWindow, type RunEnd, sqlState } from '../db/index.js';
import { ExtractorError, type ExtractorUsage } from './extractor.js';

/** After so many failures a window is quarantined (SPEC §2.2). */
export const MOST_FAILURES = 5;
const FIRST_RETRY_MS = 5_000;
const RETRY_GROWTH = 4;

/** serialization_failure and deadlock_detected, whose retries are used up. */
const TRANSIENT_STATES = new Set(['40001', '40P01']);
/** Prisma's: a transaction took too long. */
const TRANSACTION_EXPIRED = 'P2028';

/** What made mining fail: a code alone, for an error's message may hold what was said. */
export interface Failure {
  readonly code: string;
  /** Whether the same may succeed later. */
  readonly transient: boolean;
  /** What was spent all the same. */
  readonly usage: ExtractorUsage | null;
}

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { code: 'UNKNOWN', transient: false, usage: null };
  const { code, retryable } = error as { code?: unknown; retryable?: unknown };
  const transient =
    retryable === true || code === TRANSACTION_EXPIRED || TRANSIENT_STATES.has(sqlState(error) ?? '');
  return {
    code: typeof code === 'string' ? code : error.name,
    transient,
    usage: error instanceof ExtractorError ? error.usage : null,
  };
}

/** No window has failed. */
export const NO_FAILURE: FailingWindow = { to: null, failures: 0, retryAt: null };

/** What becomes of a window that failed. */
export interface WindowVerdict {
  readonly window: FailingWindow;
  /** Whether it has failed so often that the cursor goes past it. */
  readonly quarantined: boolean;
}

/**
 * Counts a failure of a window (SPEC §2.2). One that may pass and comes before the window is due again, because
 * something else had the session mined, does not count: an endpoint that is away for a minute must not use up the five
 * of a session that talks a lot.
 * @param before what was known of the window after the cursor
 * @param to sequence of the newest message of the window that failed
 * @param first whether it is the window after the cursor as it was
 */
export function judgeWindow(
  before: FailingWindow,
  failure: Failure,
  to: number,
  first: boolean,
  now: Date,
): WindowVerdict {
  const known = first && before.to === to ? before : NO_FAILURE;
  if (failure.transient && known.retryAt !== null && now < known.retryAt)
    return { window: known, quarantined: false };
  const failures = known.failures + 1;
  const quarantined = failures >= MOST_FAILURES;
  const retryAt = failure.transient && !quarantined ? retryTime(failures, now) : null;
  return { window: { to, failures, retryAt }, quarantined };
}

/** When a window is tried again: 5 s after its first failure, four times as long after each further one. */
export function retryTime(failures: number, now: Date): Date {
  return new Date(now.getTime() + FIRST_RETRY_MS * RETRY_GROWTH ** (failures - 1));
}

/**
 * What a failure that does not end in quarantine does to the runs that wait (SPEC §2.2). Those with messages in the
 * failing window have failed, or wait on where the cause may pass. Where only runs beyond it wait, the window being that
 * of runs that have failed before, it counts as theirs: they cannot pass it.
 * @param runs those that the cursor does not pass, oldest first
 * @param failedSeq newest message of the failing window
 */
export function failedRuns(failure: Failure, runs: readonly ExtractionRunRow[], failedSeq: number): RunEnd[] {
  const inWindow = runs.filter(({ fromSeq }) => fromSeq <= failedSeq);
  return (inWindow.length > 0 ? inWindow : runs).map(({ id, attempts }) => ({
    id,
    status: failure.transient ? 'PENDING' : 'FAILED',
    error: failure.code,
    attempts: attempts + 1,
  }));
}
