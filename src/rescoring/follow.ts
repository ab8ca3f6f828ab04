import { inTenant, type JobRow, rescoreJobsByIds } from '../db/index.js';
import { NotFoundError } from '../errors.js';
import { eventRange, PullIterator } from '../events/index.js';
import type { Services } from '../services.js';
import type { TenantActor } from '../tenancy/index.js';

/** Statuses after which nothing more happens to a job. */
const ENDED: ReadonlySet<string> = new Set(['SUCCEEDED', 'FAILED', 'CANCELLED']);

/**
 * Follows a rescoring: as it is now, then anew each time it has done more of its facts, until it has ended. Each is
 * read when it is asked for, so who is slow gets fewer, and never an old one. Its place in the stream is taken before
 * the job is read: an end that comes in between is not missed.
 *
 * The iterator fails as `EventFeed.follow` does, with UNAUTHENTICATED soon after the actor's key was revoked.
 * @throws NotFoundError for a job that the tenant does not have
 */
export async function followRescore(
  { db, feed }: Pick<Services, 'db' | 'feed'>,
  actor: TenantActor,
  jobId: string,
): Promise<AsyncGenerator<JobRow, undefined, undefined>> {
  const read = async () => {
    const [job] = await inTenant(db, actor.tenant, (unit) => rescoreJobsByIds(unit, [jobId]));
    return job;
  };
  const news = await feed.follow(actor, {
    after: null,
    selection: { types: ['RESCORE_PROGRESS', 'RESCORE_FINISHED'], range: eventRange(actor) },
  });
  try {
    if (!(await read())) throw new NotFoundError('RescoreJob', ['jobId']);
  } catch (error) {
    await news.return(undefined);
    throw error;
  }
  let begun = false;
  let over = false;
  return new PullIterator<JobRow>(
    async () => {
      while (!over) {
        const { value: entry, done } = await news.next();
        if (done) return undefined;
        // The feed begins with a checkpoint: the actor may listen, and from here on nothing is missed.
        const concerned = entry.kind === 'event' ? entry.event.subjectId === jobId : !begun;
        if (!concerned) continue;
        begun = true;
        const job = await read();
        over = !job || ENDED.has(job.status);
        return job;
      }
      return undefined;
    },
    () => void news.return(undefined),
  );
}
