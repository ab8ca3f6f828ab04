import {
  agentsByIds,
  appendEvents,
  cancelRescore as cancelJob,
  enqueueRescore,
  inTenant,
  type JobRow,
  rescoreJobsByIds,
  type Unit,
  usersByIds,
} from '../db/index.js';
import { ConflictError, NotFoundError } from '../errors.js';
import { newId } from '../ids.js';
import type { Services } from '../services.js';
import { audit, changerOf, type TenantActor } from '../tenancy/index.js';

/** Whose facts to rescore: an agent's, a user's, those of both together; all of the tenant where neither is given. */
export interface RescoreRequest {
  readonly agentId?: string | null;
  readonly userId?: string | null;
}

type Deps = Pick<Services, 'db' | 'now' | 'rescorer'>;

/**
 * Has a job rescore facts by the profiles as they are then (SPEC §7), also those whose profiles have not changed: a
 * score that is right already stays as it is, and is told to nobody. A job that waits already takes these facts in.
 * @throws NotFoundError for an agent or a user that the tenant does not have
 */
export async function startRescore(
  deps: Deps,
  actor: TenantActor,
  request: RescoreRequest = {},
): Promise<JobRow> {
  const target = { agentId: request.agentId ?? null, userId: request.userId ?? null };
  const job = await inTenant(deps.db, actor.tenant, async (unit) => {
    await requireOwners(unit, target);
    const at = deps.now();
    const queued = await enqueueRescore(unit, newId(), target, at);
    await audit(unit, actor, 'startRescore', [queued.id], at);
    return queued;
  });
  deps.rescorer.wake(actor.tenant);
  return job;
}

/**
 * Ends a rescoring that waits or runs. What it has done stays done; it does nothing more once this has answered.
 * @throws NotFoundError for a job that the tenant does not have
 * @throws ConflictError for one that is over already
 */
export async function cancelRescore(deps: Deps, actor: TenantActor, id: string): Promise<JobRow> {
  const job = await inTenant(deps.db, actor.tenant, async (unit) => {
    const at = deps.now();
    const cancelled = await cancelJob(unit, id, at);
    const [row] = await rescoreJobsByIds(unit, [id]);
    if (!row) throw new NotFoundError('RescoreJob', ['id']);
    if (!cancelled) throw new ConflictError(`the job is over already: ${row.status}`, ['id']);
    await audit(unit, actor, 'cancelRescore', [id], at);
    const finished = { type: 'RESCORE_FINISHED', agentId: null, userId: null, subjectId: id };
    appendEvents(unit, [finished], changerOf(actor), at);
    return row;
  });
  // What was asked for while the cancelled one ran is waiting for its turn.
  deps.rescorer.wake(actor.tenant);
  return job;
}

async function requireOwners(
  unit: Unit,
  { agentId, userId }: { agentId: string | null; userId: string | null },
): Promise<void> {
  if (agentId !== null && (await agentsByIds(unit, [agentId])).length === 0)
    throw new NotFoundError('Agent', ['agentId']);
  if (userId !== null && (await usersByIds(unit, [userId])).length === 0)
    throw new NotFoundError('User', ['userId']);
}
