import type { Actor } from '../tenancy/index.js';
import { builder, EVERYONE } from './builder.js';
import { actorOf } from './context.js';
import { Role } from './enums.js';
import { Agent, loadAgent, loadUser, User } from './members.js';
import { Tenant } from './tenants.js';

const Viewer = builder.objectRef<Actor>('Viewer').implement({
  description: 'Who is asking.',
  fields: (t) => ({
    role: t.field({ type: Role, description: 'What the caller may be.', resolve: (actor) => actor.kind }),
    tenant: t.field({
      type: Tenant,
      nullable: true,
      description: 'The tenant that the caller works in; null for a platform administrator that named none.',
      resolve: (actor) => actor.tenant,
    }),
    agent: t.field({
      type: Agent,
      nullable: true,
      description: 'The agent that the caller is, if it is one.',
      resolve: (actor, _args, context) => (actor.agentId ? loadAgent(context, actor.agentId) : null),
    }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The user that the caller is, if it is one.',
      resolve: (actor, _args, context) => (actor.userId ? loadUser(context, actor.userId) : null),
    }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    description: 'Who is asking, and as what.',
    authScopes: { roles: EVERYONE },
    resolve: (_root, _args, context) => actorOf(context),
  }),
);
