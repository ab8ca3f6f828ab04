import type { Transaction } from '../index.js';
import type { JobRow } from './jobs.js';
import type { FactPlace } from './rescore-stretch.js';
import type { ScopeOwner } from './scopes.js';
import type { Unit } from './unit.js';

/** Which facts a rescoring is for: those of this agent, of this user, or of both together; null: all of the tenant. */
export type RescoreTarget = ScopeOwner | null;

/**
 * Most targets that a job lists; more become all of the tenant. Exact up to there: a rescoring too large changes nothing
 * that was right already, but takes its time. Each request writes the list anew, some 100 bytes a target, and whoever
 * looks at the job may ask for all of it.
 */
const MAX_TARGETS = 1_000;

/**
 * Asks for a rescoring (SPEC §7). A job that is queued already takes the target in, so that however many ask while one
 * runs, one more follows. One statement.
 * @param id of the job, if there has to be a new one
 * @returns the job that will do it
 */
export async function enqueueRescore(
  unit: Unit,
  id: string,
  target: RescoreTarget,
  at: Date,
): Promise<JobRow> {
  const everything = target === null || (target.agentId === null && target.userId === null);
  const targets = everything ? null : JSON.stringify([{ agentId: target.agentId, userId: target.userId }]);
  const rows = await unit.tx.$queryRaw<JobRow[]>`
    INSERT INTO job AS j (tenant_id, id, kind, status, strategy, targets, run_after, requested_at)
    VALUES (${unit.tenantId}::uuid, ${id}::uuid, 'RESCORE', 'QUEUED', 'BACKGROUND', ${targets}::jsonb,
            ${at}::timestamptz, ${at}::timestamptz)
    ON CONFLICT (tenant_id) WHERE kind = 'RESCORE' AND status = 'QUEUED' DO UPDATE SET targets = CASE
      WHEN j.targets IS NULL OR excluded.targets IS NULL THEN NULL
      WHEN j.targets @> excluded.targets THEN j.targets
      WHEN jsonb_array_length(j.targets) >= ${MAX_TARGETS}::int THEN NULL
      ELSE j.targets || excluded.targets END
    RETURNING j.id, j.kind, j.status, j.strategy, j.targets, j.total, j.processed, j.changed, j.failed, j.error,
      j.requested_at AS "requestedAt", j.started_at AS "startedAt", j.finished_at AS "finishedAt"`;
  return rows[0] as JobRow;
}

/** Where a rescoring stands. */
export interface RescoreState {
  /** Which facts it is for; null: all of the tenant. */
  readonly targets: readonly ScopeOwner[] | null;
  /** The last fact done; null at the beginning. */
  readonly position: FactPlace | null;
  /** Facts to do; null before they are counted. Never less than `processed`, and at the end the same. */
  readonly total: number | null;
  /** Facts done, those that failed among them. */
  readonly processed: number;
  readonly changed: number;
  readonly failed: number;
}

/**
 * Begins the tenant's queued rescoring, unless one runs: there is one at a time (SPEC §7), which an index sees to.
 * One statement.
 * @returns the job that runs now, whoever holds it; null where there is none
 */
export async function beginRescore(unit: Unit, at: Date): Promise<string | null> {
  const rows = await unit.tx.$queryRaw<{ id: string }[]>`
    WITH running AS (
      SELECT id FROM job WHERE tenant_id = ${unit.tenantId}::uuid AND kind = 'RESCORE' AND status = 'RUNNING'
    ), begun AS (
      UPDATE job SET status = 'RUNNING', started_at = ${at}::timestamptz
      WHERE tenant_id = ${unit.tenantId}::uuid AND kind = 'RESCORE' AND status = 'QUEUED'
        AND run_after <= ${at}::timestamptz AND NOT EXISTS (SELECT FROM running)
      RETURNING id
    )
    SELECT id FROM running UNION ALL SELECT id FROM begun`;
  return rows[0]?.id ?? null;
}

/** The constraint that two processes violate which begin a tenant's rescoring at the same time. */
export const RUNNING_RESCORE_CONSTRAINT = 'job_running_rescore_key';

/**
 * Takes a running rescoring, or keeps it, until `until`; its row stays locked until the transaction ends. One statement.
 * @returns where it stands; null when it is over, or another holds it
 */
export async function claimRescore(
  unit: Unit,
  id: string,
  owner: string,
  now: Date,
  until: Date,
): Promise<RescoreState | null> {
  const rows = await unit.tx.$queryRaw<
    (Omit<RescoreState, 'position'> & { factId: string | null; scopeId: number | null })[]
  >`
    UPDATE job SET lease_owner = ${owner}::uuid, lease_until = ${until}::timestamptz
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${id}::uuid AND kind = 'RESCORE' AND status = 'RUNNING'
      AND (lease_until IS NULL OR lease_until < ${now}::timestamptz OR lease_owner = ${owner}::uuid)
    RETURNING targets, position AS "factId", position_scope AS "scopeId", total, processed, changed, failed`;
  const row = rows[0];
  if (!row) return null;
  const { factId, scopeId, ...state } = row;
  return { ...state, position: factId !== null && scopeId !== null ? { factId, scopeId } : null };
}

/** Stores how far a rescoring is; for who holds it. One statement. */
export async function saveRescore(unit: Unit, id: string, state: RescoreState): Promise<void> {
  await unit.tx.$executeRaw`
    UPDATE job SET position = ${state.position?.factId ?? null}::uuid,
      position_scope = ${state.position?.scopeId ?? null}::int, total = ${state.total}::int,
      processed = ${state.processed}::int, changed = ${state.changed}::int, failed = ${state.failed}::int
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${id}::uuid`;
}

/** Ends a rescoring: as failed where a fact could not be rescored (CASES 49). For who holds it. One statement. */
export async function finishRescore(unit: Unit, id: string, state: RescoreState, at: Date): Promise<void> {
  await unit.tx.$executeRaw`
    UPDATE job SET status = CASE WHEN ${state.failed}::int > 0 THEN 'FAILED' ELSE 'SUCCEEDED' END,
      error = CASE WHEN ${state.failed}::int > 0 THEN 'FACTS_FAILED' END, total = ${state.total}::int,
      processed = ${state.processed}::int, changed = ${state.changed}::int, failed = ${state.failed}::int,
      finished_at = ${at}::timestamptz, lease_owner = NULL, lease_until = NULL
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${id}::uuid`;
}

/**
 * Ends a rescoring that cannot go on, if this process holds it or nobody does, such as one that is gone. One statement.
 * @returns whether it was ended
 */
export async function abandonRescore(
  unit: Unit,
  id: string,
  owner: string,
  error: string,
  at: Date,
): Promise<boolean> {
  const ended = await unit.tx.$executeRaw`
    UPDATE job SET status = 'FAILED', error = ${error}::text, finished_at = ${at}::timestamptz, lease_owner = NULL,
      lease_until = NULL
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${id}::uuid AND kind = 'RESCORE' AND status = 'RUNNING'
      AND (lease_owner IS NULL OR lease_owner = ${owner}::uuid OR lease_until < ${at}::timestamptz)`;
  return ended > 0;
}

/** Gives up a lease, so that another process goes on at once. One statement. */
export async function releaseRescore(unit: Unit, id: string, owner: string): Promise<void> {
  await unit.tx.$executeRaw`
    UPDATE job SET lease_owner = NULL, lease_until = NULL
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${id}::uuid AND lease_owner = ${owner}::uuid AND status = 'RUNNING'`;
}

/**
 * Cancels a rescoring that waits or runs; what it has done stays. It waits for the stretch under way. One statement.
 * @returns whether there was anything to cancel
 */
export async function cancelRescore(unit: Unit, id: string, at: Date): Promise<boolean> {
  const cancelled = await unit.tx.$executeRaw`
    UPDATE job SET status = 'CANCELLED', finished_at = ${at}::timestamptz, lease_owner = NULL, lease_until = NULL
    WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${id}::uuid AND kind = 'RESCORE'
      AND status IN ('QUEUED', 'RUNNING')`;
  return cancelled > 0;
}

/** Tenants with a rescoring that nobody works at: it waits, or who held it is gone. For the platform's role. */
export async function tenantsToRescore(tx: Transaction, at: Date, limit: number): Promise<string[]> {
  const rows = await tx.$queryRaw<{ tenantId: string }[]>`
    SELECT j.tenant_id AS "tenantId" FROM job j JOIN tenant t ON t.id = j.tenant_id AND t.deleted_at IS NULL
    WHERE j.kind = 'RESCORE' AND j.run_after <= ${at}::timestamptz
      AND (j.status = 'QUEUED' OR (j.status = 'RUNNING' AND (j.lease_until IS NULL OR j.lease_until < ${at}::timestamptz)))
    GROUP BY 1 ORDER BY min(j.run_after), 1 LIMIT ${limit}::int`;
  return rows.map(({ tenantId }) => tenantId);
}
