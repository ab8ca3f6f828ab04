import { type ExtractionRunRow, type RunEnd, sqlState } from '../db/index.js';

/** After so many failures in a row a run has failed for good. */
const MOST_ATTEMPTS = 5;
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
}

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { code: 'UNKNOWN', transient: false };
  const { code, retryable } = error as { code?: unknown; retryable?: unknown };
  const transient =
    retryable === true || code === TRANSACTION_EXPIRED || TRANSIENT_STATES.has(sqlState(error) ?? '');
  return { code: typeof code === 'string' ? code : error.name, transient };
}

/**
 * What a failure does to the runs that wait (SPEC §2.2). Those with messages in the failing window fail: for good, or,
 * where it may pass, once more until they have failed {@link MOST_ATTEMPTS} times. Those beyond wait. Where only such
 * wait, the window being that of runs which have failed before, it counts as theirs: they cannot pass it.
 * @param runs those that the cursor does not pass, oldest first
 * @param failedSeq newest message of the failing window
 * @param progress whether windows before the failing one were mined: then it is the first time
 */
export function failedRuns(
  failure: Failure,
  runs: readonly ExtractionRunRow[],
  failedSeq: number,
  progress: boolean,
): RunEnd[] {
  const inWindow = runs.filter(({ fromSeq }) => fromSeq <= failedSeq);
  return (inWindow.length > 0 ? inWindow : runs).map(({ id, attempts: before }) => {
    const attempts = progress ? 1 : before + 1;
    const final = !failure.transient || attempts >= MOST_ATTEMPTS;
    return { id, status: final ? 'FAILED' : 'PENDING', error: failure.code, attempts };
  });
}

/** When what waits is tried again: 5 s after the first failure, four times as long after each further one. */
export function retryAt(ends: readonly RunEnd[], now: Date): Date {
  const attempts = Math.max(1, ...ends.map((end) => (end.status === 'PENDING' ? end.attempts : 1)));
  return new Date(now.getTime() + FIRST_RETRY_MS * RETRY_GROWTH ** (attempts - 1));
}
