import type { JobRow } from '../db/index.js';
import { cancelRescore, followRescore, startRescore } from '../rescoring/index.js';
import { ADMINS, builder, OVERSEERS, type SchemaTypes } from './builder.js';
import { tenantActorOf } from './context.js';
import { assertCost } from './events.js';
import { idOf, optionalIdOf } from './global-id.js';
import { defineMutation, type Payload } from './mutation.js';
import { RescoreJob } from './rescore-jobs.js';

type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>;

const jobField = (t: PothosSchemaTypes.ObjectFieldBuilder<Types, Payload<{ job: JobRow }>>) => ({
  job: t.field({
    type: RescoreJob,
    nullable: true,
    description: 'The job.',
    resolve: (payload) => payload.job ?? null,
  }),
});

const StartRescoreInput = builder.inputType('StartRescoreInput', {
  description:
    'Whose facts to rescore: those of the agent, of the user, or, with both, those they share. All of the tenant where neither is given.',
  fields: (t) => ({
    agentId: t.id({ description: "Facts in this agent's memory." }),
    userId: t.id({ description: 'Facts about this user.' }),
  }),
});

const CancelRescoreInput = builder.inputType('CancelRescoreInput', {
  description: 'Which rescoring to end.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The job.' }) }),
});

defineMutation<{ job: JobRow }, typeof StartRescoreInput.$inferInput>('startRescore', {
  description:
    'Has stored facts rescored in the background by what matters now, also those whose profiles have not changed. One job runs at a time; what is asked for meanwhile becomes one more, which is then the answer.',
  roles: ADMINS,
  input: StartRescoreInput,
  fields: jobField,
  resolve: async ({ agentId, userId }, context) => ({
    job: await startRescore(context.services, tenantActorOf(context), {
      agentId: optionalIdOf('Agent', agentId, ['agentId']),
      userId: optionalIdOf('User', userId, ['userId']),
    }),
  }),
});

defineMutation<{ job: JobRow }, typeof CancelRescoreInput.$inferInput>('cancelRescore', {
  description:
    'Ends a rescoring that waits or runs. What it has done stays; a job that is over already gives CONFLICT.',
  roles: ADMINS,
  input: CancelRescoreInput,
  fields: jobField,
  resolve: async ({ id }, context) => ({
    job: await cancelRescore(context.services, tenantActorOf(context), idOf('RescoreJob', id, ['id'])),
  }),
});

builder.subscriptionField('rescoreProgress', (t) =>
  t.field({
    type: RescoreJob,
    description:
      'A rescoring as it is now, then each time it has done more of its facts; ends with the state in which it ended. For administrators and auditors.',
    authScopes: { roles: OVERSEERS },
    args: { jobId: t.arg.id({ required: true, description: 'The job.' }) },
    subscribe: async (_root, { jobId }, context, info) => {
      assertCost(context, info);
      return followRescore(
        context.services,
        tenantActorOf(context),
        idOf('RescoreJob', jobId, ['jobId']),
      ) as never;
    },
    resolve: (job) => job as JobRow,
  }),
);
