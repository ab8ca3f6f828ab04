import { type MemoryContext as Context, readMemoryContext } from '../facts/index.js';
import { builder, EVERYONE } from './builder.js';
import { tenantActorOf } from './context.js';
import { optionalIdOf } from './global-id.js';

const MemoryContext = builder.objectRef<Context>('MemoryContext').implement({
  description: 'What an agent puts into its prompt before a conversation begins.',
  fields: (t) => ({
    userProfile: t.exposeString('userProfile', {
      nullable: true,
      description:
        "Live USER_PROFILE facts, a line each, newest first, cut at the tenant's budget (1,375 characters by default); null where there is none or the tenant switched it off.",
    }),
    projectContext: t.exposeString('projectContext', {
      nullable: true,
      description:
        'The newest 10 PROJECT and ENV facts, a line each; null where there is none or the tenant switched it off.',
    }),
  }),
});

builder.queryField('memoryContext', (t) =>
  t.field({
    type: MemoryContext,
    description:
      'The standing memory of an agent with a user: what is visible to both, those of no agent and no user included. An unknown agent or user is an error.',
    authScopes: { roles: EVERYONE },
    args: {
      agentId: t.arg.id({ description: 'The agent; an agent is always its own.' }),
      userId: t.arg.id({ description: 'The user; a user is always its own.' }),
    },
    resolve: (_root, args, context) =>
      readMemoryContext(context.services, tenantActorOf(context), {
        agentId: optionalIdOf('Agent', args.agentId, ['agentId']),
        userId: optionalIdOf('User', args.userId, ['userId']),
      }),
  }),
);
