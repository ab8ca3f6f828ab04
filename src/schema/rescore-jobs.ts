import { type JobRow, listRescoreJobs, rescoreJobsByIds } from '../db/index.js';
import { builder, OVERSEERS } from './builder.js';
import { actorOf, type GraphQLContext, readTenant } from './context.js';
import { connectionOf, idPageOf, type PageArguments, pageOf } from './page.js';

export const RescoreStatus = builder.enumType('RescoreStatus', {
  description: 'How far a rescoring job is.',
  values: {
    QUEUED: { description: 'Waits for its turn.' },
    RUNNING: { description: 'Is under way.' },
    SUCCEEDED: { description: 'Is done; every fact was rescored.' },
    FAILED: { description: 'Ended with facts that could not be rescored; `failed` counts them.' },
    CANCELLED: { description: 'Was stopped on request.' },
  },
});

export const RescoreJob = builder.objectRef<JobRow>('RescoreJob');

builder.node(RescoreJob, {
  description: 'A rescoring of stored facts after a change of what matters.',
  id: { description: 'Global id.', resolve: (job) => job.id },
  loadManyWithoutCache: async (ids, context) => {
    if (!(OVERSEERS as readonly string[]).includes(actorOf(context).kind)) return ids.map(() => null);
    const rows = await readTenant(context, (unit) => rescoreJobsByIds(unit, ids));
    return ids.map((id) => rows.find((row) => row.id === id) ?? null);
  },
  fields: (t) => ({
    status: t.field({
      type: RescoreStatus,
      description: 'How far it is.',
      resolve: (job) => job.status as never,
    }),
    total: t.exposeInt('total', {
      nullable: true,
      description: 'Facts to rescore; null until they are counted.',
    }),
    processed: t.exposeInt('processed', { description: 'Facts done.' }),
    changed: t.exposeInt('changed', { description: 'Facts whose importance changed.' }),
    failed: t.exposeInt('failed', { description: 'Facts that could not be rescored.' }),
    error: t.exposeString('error', { nullable: true, description: 'Code of what stopped it.' }),
    requestedAt: t.expose('requestedAt', { type: 'DateTime', description: 'When it was asked for.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When it began.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
  }),
});

/** A page of the tenant's jobs in the order of their request. */
export async function rescoreJobsPage(
  context: GraphQLContext,
  args: PageArguments & { status?: readonly string[] | null },
) {
  const page = pageOf(args, 1);
  const rows = await readTenant(context, (unit) =>
    listRescoreJobs(unit, idPageOf(page), args.status ?? null),
  );
  return connectionOf(page, rows, (row) => [row.id]);
}

builder.queryField('rescoreJobs', (t) =>
  t.connection({
    type: RescoreJob,
    description: "The tenant's rescoring jobs, in the order of their request.",
    authScopes: { roles: OVERSEERS },
    args: { status: t.arg({ type: [RescoreStatus], description: 'Only jobs of these statuses.' }) },
    resolve: (_root, args, context) => rescoreJobsPage(context, args),
  }),
);
