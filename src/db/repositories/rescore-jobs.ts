import type { JobRow } from './jobs.js';
import type { ScopeOwner } from './scopes.js';
import type { Unit } from './unit.js';

/** Which facts a rescoring is for: those of this agent, of this user, or of both together; null: all of the tenant. */
export type RescoreTarget = ScopeOwner | null;

/** Most targets that a job lists; more become all of the tenant. */
const MAX_TARGETS = 100;

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
    RETURNING j.id, j.kind, j.status, j.strategy, j.total, j.processed, j.changed, j.failed, j.error,
      j.requested_at AS "requestedAt", j.started_at AS "startedAt", j.finished_at AS "finishedAt"`;
  return rows[0] as JobRow;
}
