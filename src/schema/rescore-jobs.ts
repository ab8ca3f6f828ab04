import { type JobRow, listRescoreJobs, rescoreJobsByIds, type ScopeOwner } from '../db/index.js';
import { builder, OVERSEERS } from './builder.js';
import { actorOf, type GraphQLContext, readTenant } from './context.js';
import { Agent, loadAgent, loadUser, User } from './members.js';
import { connectionOf, idPageOf, type PageArguments, pageOf } from './page.js';
import { RescoreStrategy } from './profile-enums.js';

export const RescoreStatus = builder.enumType('RescoreStatus', {
  description: 'How far a rescoring job is.',
  values: {
    QUEUED: { description: 'Waits for its turn.' },
    RUNNING: { description: 'Is under way.' },
    SUCCEEDED: { description: 'Is done; every fact was rescored.' },
    FAILED: {
      description:
        'Ended with facts that could not be rescored, which `failed` counts, or could not go on; `error` says which.',
    },
    CANCELLED: { description: 'Was stopped on request.' },
  },
});

const RescoreTarget = builder.objectRef<ScopeOwner>('RescoreTarget').implement({
  description: 'Facts that a rescoring is for: those that belong to all that it names.',
  fields: (t) => ({
    agent: t.field({
      type: Agent,
      nullable: true,
      description: "Facts in this agent's memory; null: whatever their agent.",
      resolve: ({ agentId }, _args, context) => (agentId === null ? null : loadAgent(context, agentId)),
    }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'Facts about this user; null: whatever their user.',
      resolve: ({ userId }, _args, context) => (userId === null ? null : loadUser(context, userId)),
    }),
  }),
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
    strategy: t.field({
      type: RescoreStrategy,
      description: 'How it came to be; at present always BACKGROUND.',
      resolve: (job) => (job.strategy ?? 'BACKGROUND') as never,
    }),
    scope: t.field({
      type: [RescoreTarget],
      nullable: true,
      description: 'Which facts it is for, the union of all; null: every fact of the tenant.',
      resolve: ({ targets }) => (targets === null ? null : [...targets]),
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
    description:
      "The tenant's rescoring jobs, in the order of their request. For administrators and auditors.",
    authScopes: { roles: OVERSEERS },
    args: { status: t.arg({ type: [RescoreStatus], description: 'Only jobs of these statuses.' }) },
    resolve: (_root, args, context) => rescoreJobsPage(context, args),
  }),
);
