import { inTenant, lockSession, reopenRun, runsByIds } from '../db/index.js';
import { BadInputError, NotFoundError } from '../errors.js';
import { newId } from '../ids.js';
import type { Services } from '../services.js';
import { audit, readRange, type TenantActor } from '../tenancy/index.js';
import type { RunOutcome } from './outcomes.js';

/** Outcomes that a retry can change. */
const RETRYABLE = new Set(['FAILED', 'QUARANTINED']);

/**
 * Tries the messages of a run again that failed or were put aside (SPEC §2.2), and waits for
 * the outcome as an append does, 10 s at most. What was mined meanwhile is not mined twice. A run that waits already is
 * only asked for again.
 * @throws NotFoundError when there is no such run, or it is not the actor's to see
 * @throws BadInputError when the run has neither failed nor been quarantined
 */
export async function retryExtraction(
  deps: Pick<Services, 'db' | 'jobs' | 'now'>,
  actor: TenantActor,
  runId: string,
): Promise<RunOutcome & { readonly runId: string }> {
  const now = deps.now();
  const sessionId = await inTenant(deps.db, actor.tenant, async (unit) => {
    const [found] = await runsByIds(unit, [runId]);
    const session = found ? await lockSession(unit, found.sessionId, readRange(actor)) : null;
    if (!session || (actor.kind === 'USER' && session.userId !== actor.userId))
      throw new NotFoundError('Extraction', ['id']);
    // What mines locks the session, too: only now is the status the one that counts.
    const [run] = await runsByIds(unit, [runId]);
    if (!run) throw new NotFoundError('Extraction', ['id']);
    if (run.status !== 'PENDING' && !RETRYABLE.has(run.status)) {
      throw new BadInputError(
        `only an extraction that is FAILED or QUARANTINED can be retried; this one is ${run.status}`,
        ['id'],
      );
    }
    if (run.status !== 'PENDING') await reopenRun(unit, run, newId(), now);
    await audit(unit, actor, 'retryExtraction', [run.id], now);
    return session.id;
  });
  return { runId, ...(await deps.jobs.extract(actor.tenant, sessionId, runId, true)) };
}
