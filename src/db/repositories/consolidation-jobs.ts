import type { Transaction } from '../index.js';
import type { Unit } from './unit.js';

/** What a consolidation has done so far. */
export interface ConsolidationFigures {
  /** Stored importances that were renewed. */
  readonly refreshed: number;
  /** Facts retired because they had faded. */
  readonly retired: number;
  /** Facts retired because another says the same. */
  readonly merged: number;
  /** Ties between facts that had become too weak. */
  readonly edgesRemoved: number;
}

/** A consolidation as consoles see it. */
export interface ConsolidationRow extends ConsolidationFigures {
  readonly id: string;
  readonly status: string;
  /** Code of what stopped it, or of what made it wait. */
  readonly error: string | null;
  readonly requestedAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

/** Where a consolidation stands: first its facts, in the order of scopes and ids, then the ties. */
export interface ConsolidationState {
  readonly step: 'FACTS' | 'TIES';
  /** The last fact done; null at the beginning of a step. */
  readonly position: string | null;
  /** Its scope; null in the step TIES. */
  readonly positionScope: number | null;
  readonly figures: ConsolidationFigures;
}

interface StoredReport extends Partial<ConsolidationFigures> {
  readonly step?: 'FACTS' | 'TIES';
}

function figuresOf(report: StoredReport | null): ConsolidationFigures {
  const { refreshed = 0, retired = 0, merged = 0, edgesRemoved = 0 } = report ?? {};
  return { refreshed, retired, merged, edgesRemoved };
}

/**
 * Asks for a consolidation. One that is open already is the one that was asked for. One statement.
 * @param id of the job, if there has to be a new one
 * @returns the open job's id
 */
export async function enqueueConsolidation(unit: Unit, id: string, at: Date): Promise<string> {
  const rows = await unit.tx.$queryRaw<{ id: string }[]>`
    INSERT INTO job AS j (tenant_id, id, kind, status, run_after, requested_at)
    VALUES (${unit.tenantId}::uuid, ${id}::uuid, 'CONSOLIDATION', 'QUEUED', ${at}::timestamptz, ${at}::timestamptz)
    ON CONFLICT (tenant_id) WHERE kind = 'CONSOLIDATION' AND status IN ('QUEUED', 'RUNNING')
      DO UPDATE SET run_after = least(j.run_after, excluded.run_after)
    RETURNING j.id`;
  return (rows[0] as { id: string }).id;
}

/**
 * Asks for a consolidation by itself, where the last one was before `before` and none is open. Whether it is due is
 * looked at after the key has admitted the job: by then what another process has just finished can be seen. Three
 * statements at most.
 * @returns the job's id; null where another process was first
 */
export async function enqueueDueConsolidation(
  unit: Unit,
  id: string,
  before: Date,
  at: Date,
): Promise<string | null> {
  const added = await unit.tx.$executeRaw`
    INSERT INTO job (tenant_id, id, kind, status, run_after, requested_at)
    VALUES (${unit.tenantId}::uuid, ${id}::uuid, 'CONSOLIDATION', 'QUEUED', ${at}::timestamptz, ${at}::timestamptz)
    ON CONFLICT (tenant_id) WHERE kind = 'CONSOLIDATION' AND status IN ('QUEUED', 'RUNNING') DO NOTHING`;
  if (added === 0) return null;
  const rows = await unit.tx.$queryRaw<{ due: boolean }[]>`
    SELECT coalesce(consolidated_at, created_at) < ${before}::timestamptz AS due FROM tenant
    WHERE id = ${unit.tenantId}::uuid`;
  if (rows[0]?.due) return id;
  await unit.tx.$executeRaw`DELETE FROM job WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${id}::uuid`;
  return null;
}

/**
 * Takes an open consolidation, or keeps it, until `until`. Its row stays locked until the transaction ends, so that
 * nobody else takes it meanwhile. One statement.
 * @returns where it stands; null when it is done, or another holds it
 */
export async function claimConsolidation(
  unit: Unit,
  id: string,
  owner: string,
  now: Date,
  until: Date,
): Promise<ConsolidationState | null> {
  const rows = await unit.tx.$queryRaw<
    { position: string | null; positionScope: number | null; report: StoredReport | null }[]
  >`
    UPDATE job SET status = 'RUNNING', started_at = coalesce(started_at, ${now}::timestamptz),
      lease_owner = ${owner}::uuid, lease_until = ${until}::timestamptz
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${id}::uuid AND kind = 'CONSOLIDATION'
      AND status IN ('QUEUED', 'RUNNING')
      AND (lease_until IS NULL OR lease_until < ${now}::timestamptz OR lease_owner = ${owner}::uuid)
    RETURNING position, position_scope AS "positionScope", report`;
  const row = rows[0];
  if (!row) return null;
  const { position, positionScope, report } = row;
  return { step: report?.step ?? 'FACTS', position, positionScope, figures: figuresOf(report) };
}

/** Stores where a consolidation stands; for who holds it. One statement. */
export async function saveConsolidation(unit: Unit, id: string, state: ConsolidationState): Promise<void> {
  const report = JSON.stringify({ step: state.step, ...state.figures });
  await unit.tx.$executeRaw`
    UPDATE job SET position = ${state.position}::uuid, position_scope = ${state.positionScope}::int, report = ${report}::jsonb,
      processed = ${state.figures.refreshed}::int, attempts = 0, error = NULL
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${id}::uuid`;
}

/** Ends a consolidation that is done, and notes the time with its tenant; for who holds it. Two statements. */
export async function finishConsolidation(unit: Unit, id: string, at: Date): Promise<void> {
  await unit.tx.$executeRaw`
    UPDATE job SET status = 'SUCCEEDED', finished_at = ${at}::timestamptz, lease_owner = NULL, lease_until = NULL
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${id}::uuid`;
  await unit.tx
    .$executeRaw`UPDATE tenant SET consolidated_at = ${at}::timestamptz WHERE id = ${unit.tenantId}::uuid`;
}

/**
 * Gives a consolidation back that could not go on: it is due again at `retryAt`, or ends as failed after too many
 * attempts in a row. Only where no other holds it: the claim of a first piece that failed is undone with it. One
 * statement.
 */
export async function postponeConsolidation(
  unit: Unit,
  id: string,
  owner: string,
  failure: {
    readonly error: string;
    readonly at: Date;
    readonly retryAt: Date;
    readonly maxAttempts: number;
  },
): Promise<void> {
  await unit.tx.$executeRaw`
    UPDATE job SET attempts = attempts + 1, error = ${failure.error}::text, run_after = ${failure.retryAt}::timestamptz,
      lease_owner = NULL, lease_until = NULL,
      status = CASE WHEN attempts + 1 >= ${failure.maxAttempts}::int THEN 'FAILED' ELSE status END,
      finished_at = CASE WHEN attempts + 1 >= ${failure.maxAttempts}::int THEN ${failure.at}::timestamptz END
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${id}::uuid AND (lease_owner = ${owner}::uuid OR lease_until IS NULL OR lease_until < ${failure.at}::timestamptz)
      AND status IN ('QUEUED', 'RUNNING')`;
}

/** Gives a consolidation back undone, for whoever takes it up. Only for who holds it. One statement. */
export async function releaseConsolidation(unit: Unit, id: string, owner: string): Promise<void> {
  await unit.tx.$executeRaw`
    UPDATE job SET lease_owner = NULL, lease_until = NULL
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${id}::uuid AND lease_owner = ${owner}::uuid`;
}

export async function consolidationsByIds(unit: Unit, ids: readonly string[]): Promise<ConsolidationRow[]> {
  const rows = await unit.tx.job.findMany({
    where: { tenantId: unit.tenantId, kind: 'CONSOLIDATION', id: { in: [...ids] } },
    select: {
      id: true,
      status: true,
      error: true,
      report: true,
      requestedAt: true,
      startedAt: true,
      finishedAt: true,
    },
  });
  return rows.map(({ report, ...row }) => ({ ...row, ...figuresOf(report as StoredReport | null) }));
}

/** Consolidations of all tenants that are due and that nobody holds; for the platform's role. */
export async function openConsolidations(
  tx: Transaction,
  now: Date,
  limit: number,
): Promise<{ readonly tenantId: string; readonly id: string }[]> {
  return tx.$queryRaw<{ tenantId: string; id: string }[]>`
    SELECT j.tenant_id AS "tenantId", j.id FROM job j JOIN tenant t ON t.id = j.tenant_id AND t.deleted_at IS NULL
    WHERE j.kind = 'CONSOLIDATION' AND j.status IN ('QUEUED', 'RUNNING') AND j.run_after <= ${now}::timestamptz
      AND (j.lease_until IS NULL OR j.lease_until < ${now}::timestamptz)
    ORDER BY j.run_after LIMIT ${limit}::int`;
}
