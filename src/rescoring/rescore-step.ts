import {
  appendEvents,
  claimRescore,
  countRescoreFacts,
  finishRescore,
  inTenant,
  lockScopesById,
  nextStretch,
  type RescoreState,
  saveRescore,
  type Unit,
} from '../db/index.js';
import type { NewEvent } from '../events/index.js';
import type { Services } from '../services.js';
import { SYSTEM_ACTOR, type TenantContext } from '../tenancy/index.js';
import { type RescoringDeps, rescoreStretch } from './rescore-scopes.js';

/** How long a rescoring is held without a sign of life, in milliseconds. */
export const RESCORE_LEASE_MS = 30_000;
/** Most facts of one transaction: who writes to one of their scopes waits for it. */
export const FACTS_AT_A_TIME = 5_000;

/** DONE with all of it, MORE to do, or LOST to another process, to its end or to a cancellation. */
export type StepOutcome = 'DONE' | 'MORE' | 'LOST';

type Deps = RescoringDeps & Pick<Services, 'db' | 'now'>;

/**
 * Rescores the next stretch of a job's facts (SPEC §7) in one transaction that also moves the place where the job
 * stands: whoever goes on, in whatever process, every fact is done once. Each fact is scored by the profile of its own
 * scope as it is at that moment, so a job that others have overtaken already works for them.
 *
 * @param owner names the process
 * @param limit most facts of the stretch; fewer where they have too many different profiles
 */
export async function rescoreStep(
  deps: Deps,
  tenant: TenantContext,
  jobId: string,
  owner: string,
  limit: number = FACTS_AT_A_TIME,
): Promise<StepOutcome> {
  return step(deps, tenant, jobId, owner, async (unit, state, now) => {
    const stretch = await nextStretch(unit, state.targets, state.position, limit);
    await lockScopesById(
      unit,
      stretch.scopes.map(({ scopeId }) => scopeId),
    );
    const { through, ...done } = await rescoreStretch(unit, deps, tenant, stretch, state.position, now);
    return { ...done, failed: 0, position: through };
  });
}

/** Passes over the next fact, which cannot be rescored, and counts it as failed. */
export async function skipFact(
  deps: Deps,
  tenant: TenantContext,
  jobId: string,
  owner: string,
): Promise<StepOutcome> {
  return step(deps, tenant, jobId, owner, async (unit, state) => {
    const { through } = await nextStretch(unit, state.targets, state.position, 1);
    const skipped = through === null ? 0 : 1;
    return { processed: skipped, changed: 0, failed: skipped, position: through };
  });
}

type Progress = Pick<RescoreState, 'processed' | 'changed' | 'failed' | 'position'>;

async function step(
  deps: Deps,
  tenant: TenantContext,
  jobId: string,
  owner: string,
  work: (unit: Unit, state: RescoreState, now: Date) => Promise<Progress>,
): Promise<StepOutcome> {
  const outcome = await inTenant(deps.db, tenant, async (unit) => {
    const now = deps.now();
    const state = await claimRescore(unit, jobId, owner, now, new Date(now.getTime() + RESCORE_LEASE_MS));
    if (!state) return 'LOST';
    const total = state.total ?? (await countRescoreFacts(unit, state.targets));
    const done = await work(unit, state, now);
    const processed = state.processed + done.processed;
    const next = {
      ...state,
      // Facts come and go after they were counted, and the scopes are locked later than that: what was done is no less
      // than what there was to do, and at the end it is all of it.
      total: done.position ? Math.max(total, processed) : processed,
      processed,
      changed: state.changed + done.changed,
      failed: state.failed + done.failed,
      position: done.position,
    };
    if (next.position) await saveRescore(unit, jobId, next);
    else await finishRescore(unit, jobId, next, now);
    const type = next.position ? 'RESCORE_PROGRESS' : 'RESCORE_FINISHED';
    const event: NewEvent = { type, agentId: null, userId: null, subjectId: jobId };
    appendEvents(unit, [event], SYSTEM_ACTOR, now);
    return next.position ? 'MORE' : 'DONE';
  });
  return outcome;
}
