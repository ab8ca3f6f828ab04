import { newId } from '../../ids.js';
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
} as const;

/** Adds a run, with the job that sees it done should this process end. Two statements. */
export async function insertRun(unit: Unit, run: ExtractionRunRow, at: Date): Promise<void> {
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

/** A session taken for mining: nobody else mines it until the lease ends. */
export interface Claim {
  readonly sessionId: string;
  readonly scopeId: number;
  readonly agentId: string | null;
  readonly userId: string | null;
  readonly minedSeq: number;
  readonly lastSeq: number;
}

/** Takes a session's lease; null when another holds it or the session is gone. One statement. */
export async function claimSession(
  unit: Unit,
  sessionId: string,
  owner: string,
  now: Date,
  until: Date,
): Promise<Claim | null> {
  const rows = await unit.tx.$queryRaw<Claim[]>`
    UPDATE session SET lease_owner = ${owner}::uuid, lease_until = ${until}::timestamptz
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${sessionId}::uuid
      AND (lease_until IS NULL OR lease_until < ${now}::timestamptz OR lease_owner = ${owner}::uuid)
    RETURNING id AS "sessionId", scope_id AS "scopeId", agent_id AS "agentId", user_id AS "userId",
              mined_seq AS "minedSeq", last_seq AS "lastSeq"`;
  return rows[0] ?? null;
}

/** Makes a claim that is held last until then. One statement. */
export async function renewClaim(unit: Unit, sessionId: string, owner: string, until: Date): Promise<void> {
  await unit.tx.$executeRaw`
    UPDATE session SET lease_until = ${until}::timestamptz
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${sessionId}::uuid AND lease_owner = ${owner}::uuid`;
}

/** Gives a claim that is held back, with the work undone: its runs and job wait for who takes them up. One statement. */
export async function releaseClaim(unit: Unit, sessionId: string, owner: string): Promise<void> {
  await unit.tx.$executeRaw`
    UPDATE session SET lease_owner = NULL, lease_until = NULL
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${sessionId}::uuid AND lease_owner = ${owner}::uuid`;
}

/** The runs of a session that wait to be done, oldest first. */
export async function pendingRuns(unit: Unit, sessionId: string): Promise<ExtractionRunRow[]> {
  return unit.tx.extractionRun.findMany({
    where: { tenantId: unit.tenantId, sessionId, status: 'PENDING' },
    orderBy: { toSeq: 'asc' },
    select: COLUMNS,
  });
}

/** Checks, in the transaction that applies a result, that the session is still ours and where it was; locks it. */
export async function holdsClaim(unit: Unit, claim: Claim, owner: string): Promise<boolean> {
  const rows = await unit.tx.$queryRaw<{ held: boolean }[]>`
    SELECT (lease_owner = ${owner}::uuid AND mined_seq = ${claim.minedSeq}::int) AS held FROM session
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${claim.sessionId}::uuid
    FOR NO KEY UPDATE`;
  return rows[0]?.held ?? false;
}

/** How a run ended; or, with the status PENDING, that it failed for now and is to be tried again. */
export interface RunEnd {
  readonly id: string;
  readonly status: string;
  readonly error: string | null;
  /** How often in a row it has failed. */
  readonly attempts: number;
}

/**
 * Ends runs, moves the cursor, gives the lease back and ends the session's job unless runs wait: then it is due again
 * at `retryAt`. Only for who holds the claim. One statement.
 * @param end `minedSeq`: where the cursor is from now on; `failed`: whether messages beyond it could not be mined;
 *   `retryAt`: when what waits is tried again, if it waits because of a failure
 */
export async function finishRuns(
  unit: Unit,
  claim: Claim,
  end: {
    readonly runs: readonly RunEnd[];
    readonly minedSeq: number;
    readonly failed: boolean;
    readonly retryAt: Date | null;
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
      UPDATE session SET mined_seq = greatest(mined_seq, ${end.minedSeq}::int), lease_owner = NULL, lease_until = NULL
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
