import type { Transaction } from '../index.js';
import { type IdPage, idPage } from './members.js';
import type { ScopeOwner } from './scopes.js';
import type { Unit } from './unit.js';

/** A job as consoles see it; no content. */
export interface JobRow {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly strategy: string | null;
  /** Which facts a rescoring is for; null: all of the tenant. */
  readonly targets: readonly ScopeOwner[] | null;
  readonly total: number | null;
  readonly processed: number;
  readonly changed: number;
  readonly failed: number;
  readonly error: string | null;
  readonly requestedAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

const COLUMNS = {
  id: true,
  kind: true,
  status: true,
  strategy: true,
  targets: true,
  total: true,
  processed: true,
  changed: true,
  failed: true,
  error: true,
  requestedAt: true,
  startedAt: true,
  finishedAt: true,
} as const;

/** Rescoring jobs of the tenant, newest first by default order of ids. */
export async function listRescoreJobs(
  unit: Unit,
  page: IdPage,
  statuses: readonly string[] | null,
): Promise<JobRow[]> {
  const { AND, ...rest } = idPage(page);
  const rows = await unit.tx.job.findMany({
    where: {
      tenantId: unit.tenantId,
      kind: 'RESCORE',
      AND,
      ...(statuses ? { status: { in: [...statuses] } } : {}),
    },
    ...rest,
    select: COLUMNS,
  });
  return rows.map(toJob);
}

export async function rescoreJobsByIds(unit: Unit, ids: readonly string[]): Promise<JobRow[]> {
  const rows = await unit.tx.job.findMany({
    where: { tenantId: unit.tenantId, kind: 'RESCORE', id: { in: [...ids] } },
    select: COLUMNS,
  });
  return rows.map(toJob);
}

/** Only `enqueueRescore` writes targets. */
function toJob(row: Omit<JobRow, 'targets'> & { readonly targets: unknown }): JobRow {
  return { ...row, targets: row.targets as JobRow['targets'] };
}

/** An extraction that waits for somebody to do it. */
export interface OpenExtraction {
  readonly tenantId: string;
  readonly sessionId: string;
  readonly hashKey: Uint8Array;
}

/**
 * Extraction jobs of all tenants that are due and were asked for before `before`: their process has ended, or is slow.
 * The first of each tenant, then the second of each: who has many does not keep the others waiting.
 */
export async function openExtractions(
  tx: Transaction,
  before: Date,
  limit: number,
): Promise<OpenExtraction[]> {
  return tx.$queryRaw<OpenExtraction[]>`
    SELECT j.tenant_id AS "tenantId", j.subject_id AS "sessionId", t.hash_key AS "hashKey"
    FROM (
      SELECT o.tenant_id, o.subject_id, o.run_after,
        row_number() OVER (PARTITION BY o.tenant_id ORDER BY o.run_after, o.id) AS place
      FROM job o
      WHERE o.kind = 'EXTRACTION' AND o.status IN ('QUEUED', 'RUNNING') AND o.run_after <= ${before}::timestamptz
    ) j JOIN tenant t ON t.id = j.tenant_id AND t.deleted_at IS NULL
    ORDER BY j.place, j.run_after LIMIT ${limit}::int`;
}

/** How many jobs of all tenants wait or run, by kind. */
export async function countOpenJobs(
  tx: Transaction,
): Promise<{ readonly kind: string; readonly status: string; readonly count: number }[]> {
  return tx.$queryRaw`
    SELECT kind, status, count(*)::int AS count FROM job
    WHERE status IN ('QUEUED', 'RUNNING') GROUP BY kind, status`;
}

/** Makes a session's open extraction due again at that time. One statement. */
export async function postponeExtraction(
  tx: Transaction,
  tenantId: string,
  sessionId: string,
  until: Date,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE job SET run_after = ${until}::timestamptz
    WHERE tenant_id = ${tenantId}::uuid AND subject_id = ${sessionId}::uuid AND kind = 'EXTRACTION'
      AND status IN ('QUEUED', 'RUNNING')`;
}

/** Ends the open extraction of a session that is gone. One statement. */
export async function endExtraction(unit: Unit, sessionId: string, at: Date): Promise<void> {
  await unit.tx.$executeRaw`
    UPDATE job SET status = 'FAILED', error = 'SESSION_GONE', finished_at = ${at}::timestamptz
    WHERE tenant_id = ${unit.tenantId}::uuid AND subject_id = ${sessionId}::uuid AND kind = 'EXTRACTION'
      AND status IN ('QUEUED', 'RUNNING')`;
}
