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

/** How a run ended. */
export interface RunEnd {
  readonly id: string;
  readonly status: string;
  readonly error: string | null;
}

/**
 * Ends runs, moves the cursor, gives the lease back and ends the session's job unless other runs wait. Only for who
 * holds the claim. One statement.
 * @param end `minedSeq`: where the cursor is from now on; `failed`: whether messages beyond it could not be mined
 */
export async function finishRuns(
  unit: Unit,
  claim: Claim,
  end: {
    readonly runs: readonly RunEnd[];
    readonly minedSeq: number;
    readonly failed: boolean;
    readonly at: Date;
  },
): Promise<void> {
  await unit.tx.$executeRaw`
    WITH ended AS (
      UPDATE extraction_run r
      SET status = e.status, error = e.error, attempts = r.attempts + 1, finished_at = ${end.at}::timestamptz
      FROM jsonb_to_recordset(${JSON.stringify(end.runs)}::jsonb) AS e(id uuid, status text, error text)
      WHERE r.tenant_id = ${unit.tenantId}::uuid AND r.id = e.id
    ), moved AS (
      UPDATE session SET mined_seq = greatest(mined_seq, ${end.minedSeq}::int), lease_owner = NULL, lease_until = NULL
      WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${claim.sessionId}::uuid
      RETURNING id, mined_seq
    )
    UPDATE job j SET status = CASE WHEN ${end.failed}::boolean THEN 'FAILED' ELSE 'SUCCEEDED' END, finished_at = ${end.at}::timestamptz,
                     attempts = j.attempts + 1
    FROM moved m
    WHERE j.tenant_id = ${unit.tenantId}::uuid AND j.kind = 'EXTRACTION' AND j.subject_id = m.id
      AND j.status IN ('QUEUED', 'RUNNING')
      AND NOT EXISTS (
        SELECT FROM extraction_run r
        WHERE r.tenant_id = ${unit.tenantId}::uuid AND r.session_id = m.id AND r.status = 'PENDING'
          AND r.id <> ALL(${end.runs.map((run) => run.id)}::uuid[]))`;
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
