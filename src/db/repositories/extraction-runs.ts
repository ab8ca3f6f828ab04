import { newId } from '../../ids.js';
import type { QuarantinedWindow } from './quarantined-windows.js';
import type { Claim, FailingWindow } from './session-claims.js';
import type { Unit } from './unit.js';

/** One request to mine a session's new messages (SPEC §2.2). */
export interface ExtractionRunRow {
  readonly id: string;
  readonly sessionId: string;
  readonly status: string;
  readonly extractor: string;
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly attempts: number;
  readonly error: string | null;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  /** Tokens of a language model, failed attempts included; 0 where none was asked. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** What they cost, in US dollars; null where no price is known. */
  readonly cost: number | null;
  /** Remarks of the extractor, without content. */
  readonly notes: readonly string[];
}

const COLUMNS = {
  id: true,
  sessionId: true,
  status: true,
  extractor: true,
  fromSeq: true,
  toSeq: true,
  attempts: true,
  error: true,
  startedAt: true,
  finishedAt: true,
  inputTokens: true,
  outputTokens: true,
  cost: true,
  notes: true,
} as const;

/** Adds a run, with the job that sees it done should this process end. Two statements. */
export async function insertRun(
  unit: Unit,
  run: Omit<ExtractionRunRow, 'inputTokens' | 'outputTokens' | 'cost' | 'notes'>,
  at: Date,
): Promise<void> {
  await unit.tx.extractionRun.create({ data: { tenantId: unit.tenantId, ...run }, select: { id: true } });
  if (run.status !== 'PENDING') return;
  await unit.tx.$executeRaw`
    INSERT INTO job (tenant_id, id, kind, status, subject_id, run_after, requested_at)
    VALUES (${unit.tenantId}::uuid, ${newId()}::uuid, 'EXTRACTION', 'QUEUED', ${run.sessionId}::uuid, ${at}::timestamptz, ${at}::timestamptz)
    ON CONFLICT (tenant_id, subject_id) WHERE kind = 'EXTRACTION' AND status IN ('QUEUED', 'RUNNING') DO NOTHING`;
}

export async function runsByIds(unit: Unit, ids: readonly string[]): Promise<ExtractionRunRow[]> {
  return unit.tx.extractionRun.findMany({
    where: { tenantId: unit.tenantId, id: { in: [...ids] } },
    select: COLUMNS,
  });
}

/** The runs of a session that wait to be done, oldest first. */
export async function pendingRuns(unit: Unit, sessionId: string): Promise<ExtractionRunRow[]> {
  return unit.tx.extractionRun.findMany({
    where: { tenantId: unit.tenantId, sessionId, status: 'PENDING' },
    orderBy: { toSeq: 'asc' },
    select: COLUMNS,
  });
}

/**
 * The runs with messages in a window that was put aside and is tried again, oldest first: those that wait for that and
 * those that it left unfinished. One statement.
 */
export async function runsOfWindow(
  unit: Unit,
  { sessionId, fromSeq, toSeq }: Pick<QuarantinedWindow, 'sessionId' | 'fromSeq' | 'toSeq'>,
): Promise<ExtractionRunRow[]> {
  return unit.tx.extractionRun.findMany({
    where: {
      tenantId: unit.tenantId,
      sessionId,
      fromSeq: { lte: toSeq },
      toSeq: { gte: fromSeq },
      status: { in: ['PENDING', 'QUARANTINED'] },
    },
    orderBy: { toSeq: 'asc' },
    select: COLUMNS,
  });
}

/** How a run ended; or, with the status PENDING, that it failed for now and is to be tried again. */
export interface RunEnd {
  readonly id: string;
  readonly status: string;
  readonly error: string | null;
  /** How often its messages were tried. */
  readonly attempts: number;
}

/**
 * Runs that had failed before their messages were put aside are quarantined, too: what they are is where their messages
 * are. One statement.
 */
export async function quarantineFailedRuns(unit: Unit, window: QuarantinedWindow): Promise<void> {
  await unit.tx.$executeRaw`
    UPDATE extraction_run SET status = 'QUARANTINED', error = ${window.error}::text
    WHERE tenant_id = ${unit.tenantId}::uuid AND session_id = ${window.sessionId}::uuid AND status = 'FAILED'
      AND from_seq <= ${window.toSeq}::int AND to_seq >= ${window.fromSeq}::int`;
}

/** What mining a run's messages used and said, to be added to what is known of it. */
export interface RunExpense {
  readonly id: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number | null;
  readonly notes: readonly string[];
}

/** Adds what was used to runs. One statement, or none. */
export async function addExpenses(unit: Unit, expenses: readonly RunExpense[]): Promise<void> {
  if (expenses.length === 0) return;
  await unit.tx.$executeRaw`
    UPDATE extraction_run r
    SET input_tokens = r.input_tokens + e."inputTokens", output_tokens = r.output_tokens + e."outputTokens",
        cost = CASE WHEN e.cost IS NULL THEN r.cost ELSE coalesce(r.cost, 0) + e.cost END,
        notes = (SELECT coalesce(array_agg(DISTINCT n), '{}') FROM unnest(r.notes || e.notes) AS n)
    FROM jsonb_to_recordset(${JSON.stringify(expenses)}::jsonb)
      AS e(id uuid, "inputTokens" int, "outputTokens" int, cost float8, notes text[])
    WHERE r.tenant_id = ${unit.tenantId}::uuid AND r.id = e.id`;
}

/**
 * Ends runs, moves the cursor, gives the lease back and ends the session's job unless runs wait: then it is due again
 * at `retryAt`. Only for who holds the claim. One statement.
 * @param end `minedSeq`: where the cursor is from now on; `failed`: whether messages beyond it could not be mined;
 *   `retryAt`: when what waits is tried again, if it waits because of a failure; `window`: what is known from now on of
 *   the window after the cursor
 */
export async function finishRuns(
  unit: Unit,
  claim: Claim,
  end: {
    readonly runs: readonly RunEnd[];
    readonly minedSeq: number;
    readonly failed: boolean;
    readonly retryAt: Date | null;
    readonly window: FailingWindow;
    readonly at: Date;
  },
): Promise<void> {
  const ended = end.runs.filter(({ status }) => status !== 'PENDING');
  await unit.tx.$executeRaw`
    WITH told AS (
      UPDATE extraction_run r
      SET status = e.status, error = e.error, attempts = e.attempts,
          finished_at = CASE WHEN e.status <> 'PENDING' THEN ${end.at}::timestamptz END
      FROM jsonb_to_recordset(${JSON.stringify(end.runs)}::jsonb) AS e(id uuid, status text, error text, attempts int)
      WHERE r.tenant_id = ${unit.tenantId}::uuid AND r.id = e.id
    ), moved AS (
      UPDATE session SET mined_seq = greatest(mined_seq, ${end.minedSeq}::int), lease_owner = NULL, lease_until = NULL,
             window_to = ${end.window.to}::int, window_failures = ${end.window.failures}::int,
             window_retry_at = ${end.window.retryAt}::timestamptz
      WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${claim.sessionId}::uuid
      RETURNING id
    ), waiting AS (
      SELECT EXISTS (
        SELECT FROM extraction_run r
        WHERE r.tenant_id = ${unit.tenantId}::uuid AND r.session_id = ${claim.sessionId}::uuid AND r.status = 'PENDING'
          AND r.id <> ALL(${ended.map((run) => run.id)}::uuid[])) AS any
    )
    UPDATE job j
    SET status = CASE WHEN w.any THEN j.status WHEN ${end.failed}::boolean THEN 'FAILED' ELSE 'SUCCEEDED' END,
        finished_at = CASE WHEN NOT w.any THEN ${end.at}::timestamptz END,
        run_after = CASE WHEN w.any THEN coalesce(${end.retryAt}::timestamptz, j.run_after) ELSE j.run_after END,
        attempts = j.attempts + 1
    FROM moved m, waiting w
    WHERE j.tenant_id = ${unit.tenantId}::uuid AND j.kind = 'EXTRACTION' AND j.subject_id = m.id
      AND j.status IN ('QUEUED', 'RUNNING')`;
}

/**
 * Of these runs, those from whose messages facts were learned in the rounds before. One statement.
 * @param minedSeq what the rounds before have mined
 */
export async function runsWithFacts(
  unit: Unit,
  runs: readonly Pick<ExtractionRunRow, 'id' | 'sessionId' | 'fromSeq' | 'toSeq'>[],
  minedSeq: number,
): Promise<ReadonlySet<string>> {
  if (runs.length === 0) return new Set();
  const rows = await unit.tx.$queryRaw<{ id: string }[]>`
    SELECT r.id FROM jsonb_to_recordset(${JSON.stringify(runs)}::jsonb)
      AS r(id uuid, "sessionId" uuid, "fromSeq" int, "toSeq" int)
    WHERE EXISTS (
        SELECT FROM message m JOIN fact_source fs ON fs.tenant_id = m.tenant_id AND fs.message_id = m.id
        WHERE m.tenant_id = ${unit.tenantId}::uuid AND m.session_id = r."sessionId"
          AND m.seq BETWEEN r."fromSeq" AND least(r."toSeq", ${minedSeq}::int))`;
  return new Set(rows.map((row) => row.id));
}

/** The facts that a run learned, by run. */
export async function factIdsOfRuns(unit: Unit, runIds: readonly string[]): Promise<Map<string, string[]>> {
  const rows = await unit.tx.fact.findMany({
    where: { tenantId: unit.tenantId, runId: { in: [...runIds] } },
    orderBy: { id: 'asc' },
    select: { id: true, runId: true },
  });
  const byRun = new Map<string, string[]>();
  for (const row of rows) byRun.set(row.runId as string, [...(byRun.get(row.runId as string) ?? []), row.id]);
  return byRun;
}

/** The facts that a run replaced: those superseded by a fact that it added, by run. One statement. */
export async function factIdsReplacedByRuns(
  unit: Unit,
  runIds: readonly string[],
): Promise<Map<string, string[]>> {
  const rows = await unit.tx.$queryRaw<{ runId: string; id: string }[]>`
    SELECT n.run_id AS "runId", o.id
    FROM fact n JOIN fact o ON o.tenant_id = n.tenant_id AND o.superseded_by = n.id
    WHERE n.tenant_id = ${unit.tenantId}::uuid AND n.run_id = ANY(${[...runIds]}::uuid[])
    ORDER BY o.retired_at, o.id`;
  const byRun = new Map<string, string[]>();
  for (const { runId, id } of rows) byRun.set(runId, [...(byRun.get(runId) ?? []), id]);
  return byRun;
}
