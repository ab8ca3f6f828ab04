import type { Unit } from './unit.js';

/** A window that the cursor passed without its being mined, after too many failures (SPEC §2.2). */
export interface QuarantinedWindow {
  readonly sessionId: string;
  /** Sequences of its oldest and newest message. */
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Code of the latest failure. */
  readonly error: string;
  /** How often in a row it has failed, also since it is tried again. */
  readonly failures: number;
  readonly quarantinedAt: Date;
  /** When it is tried again, because somebody asked for that; null: it is not. */
  readonly retryAt: Date | null;
}

/** The windows of each session that are put aside, oldest first. One statement. */
export async function quarantinedWindows(
  unit: Unit,
  sessionIds: readonly string[],
): Promise<Map<string, QuarantinedWindow[]>> {
  const rows = await unit.tx.quarantinedWindow.findMany({
    where: { tenantId: unit.tenantId, sessionId: { in: [...sessionIds] } },
    orderBy: { fromSeq: 'asc' },
    omit: { tenantId: true },
  });
  const bySession = new Map<string, QuarantinedWindow[]>();
  for (const row of rows) bySession.set(row.sessionId, [...(bySession.get(row.sessionId) ?? []), row]);
  return bySession;
}

/** Puts a window aside, or changes what is known of one that is. One statement. */
export async function putAside(unit: Unit, window: QuarantinedWindow): Promise<void> {
  const { sessionId, fromSeq, toSeq, error, failures, quarantinedAt, retryAt } = window;
  await unit.tx.$executeRaw`
    INSERT INTO quarantined_window (tenant_id, session_id, from_seq, to_seq, error, failures, quarantined_at, retry_at)
    VALUES (${unit.tenantId}::uuid, ${sessionId}::uuid, ${fromSeq}::int, ${toSeq}::int, ${error}::text,
            ${failures}::int, ${quarantinedAt}::timestamptz, ${retryAt}::timestamptz)
    ON CONFLICT (tenant_id, session_id, from_seq)
    DO UPDATE SET error = excluded.error, failures = excluded.failures, retry_at = excluded.retry_at`;
}

/** Takes a window that was mined out of quarantine. One statement. */
export async function takeBack(
  unit: Unit,
  window: Pick<QuarantinedWindow, 'sessionId' | 'fromSeq'>,
): Promise<void> {
  await unit.tx.$executeRaw`
    DELETE FROM quarantined_window
    WHERE tenant_id = ${unit.tenantId}::uuid AND session_id = ${window.sessionId}::uuid
      AND from_seq = ${window.fromSeq}::int`;
}

/**
 * Makes a run that failed wait again (SPEC §2.2): its windows that are put aside are due at once, a window of it that
 * fails at the cursor begins to count anew, and there is a job to do it. Two statements.
 */
export async function reopenRun(
  unit: Unit,
  run: { readonly id: string; readonly sessionId: string; readonly fromSeq: number; readonly toSeq: number },
  jobId: string,
  at: Date,
): Promise<void> {
  await unit.tx.$executeRaw`
    WITH reopened AS (
      UPDATE extraction_run SET status = 'PENDING', attempts = 0, error = NULL, finished_at = NULL
      WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${run.id}::uuid
    ), due AS (
      UPDATE quarantined_window SET retry_at = ${at}::timestamptz, failures = 0
      WHERE tenant_id = ${unit.tenantId}::uuid AND session_id = ${run.sessionId}::uuid
        AND from_seq <= ${run.toSeq}::int AND to_seq >= ${run.fromSeq}::int
    )
    UPDATE session SET window_failures = 0, window_retry_at = NULL
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${run.sessionId}::uuid
      AND window_to >= ${run.fromSeq}::int AND mined_seq < ${run.toSeq}::int`;
  await unit.tx.$executeRaw`
    INSERT INTO job (tenant_id, id, kind, status, subject_id, run_after, requested_at)
    VALUES (${unit.tenantId}::uuid, ${jobId}::uuid, 'EXTRACTION', 'QUEUED', ${run.sessionId}::uuid, ${at}::timestamptz, ${at}::timestamptz)
    ON CONFLICT (tenant_id, subject_id) WHERE kind = 'EXTRACTION' AND status IN ('QUEUED', 'RUNNING')
    DO UPDATE SET run_after = least(job.run_after, excluded.run_after)`;
}
