import { agentByExternalId, ownersExist, sessionByExternalId, userByExternalId } from '../db/index.js';
import { BadInputError, NotFoundError } from '../errors.js';
import { checkName, mayRead, resolveContext } from '../tenancy/index.js';
import { builder, EVERYONE } from './builder.js';
import { readTenant, tenantActorOf } from './context.js';
import { optionalIdOf } from './global-id.js';
import { Agent, loadAgent, loadUser, User } from './members.js';
import { loadSession, Session } from './sessions.js';

const ID = 'Global id.';

/**
 * Which of the two ways a look-up goes.
 * @throws BadInputError unless exactly one of them is given, and for a blank externalId
 */
function wayOf(
  id: string | null,
  externalId: string | null | undefined,
): { id: string } | { externalId: string } {
  if (id !== null && externalId != null)
    throw new BadInputError('give id or externalId, not both', ['externalId']);
  if (id !== null) return { id };
  if (externalId == null) throw new BadInputError('give id or externalId', ['externalId']);
  return { externalId: checkName(externalId, 'externalId') };
}

/** An id in an argument that leads to null where it is none, exactly like one that does not exist. */
function idOrNone(type: 'Agent' | 'User' | 'Session', id: string | null | undefined): string | null {
  try {
    return optionalIdOf(type, id);
  } catch {
    return NO_ID;
  }
}

/** An id of nothing. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

builder.queryFields((t) => ({
  agent: t.field({
    type: Agent,
    nullable: true,
    description:
      "An agent by id or by the host application's own id, one of the two. Null where there is none that the caller may know of: an agent knows of itself alone.",
    authScopes: { roles: EVERYONE },
    args: {
      id: t.arg.id({ description: ID }),
      externalId: t.arg.string({ description: "The host application's id." }),
    },
    resolve: async (_root, args, context) => {
      const way = wayOf(idOrNone('Agent', args.id), args.externalId);
      if ('id' in way) return loadAgent(context, way.id);
      const actor = tenantActorOf(context);
      const found = await readTenant(context, (unit) => agentByExternalId(unit, way.externalId));
      return found && (actor.kind !== 'AGENT' || found.id === actor.agentId) ? found : null;
    },
  }),
  user: t.field({
    type: User,
    nullable: true,
    description:
      "A user by id or by the host application's own id, one of the two. Null where there is none that the caller may know of: a user knows of itself alone.",
    authScopes: { roles: EVERYONE },
    args: {
      id: t.arg.id({ description: ID }),
      externalId: t.arg.string({ description: "The host application's id." }),
    },
    resolve: async (_root, args, context) => {
      const way = wayOf(idOrNone('User', args.id), args.externalId);
      if ('id' in way) return loadUser(context, way.id);
      const actor = tenantActorOf(context);
      const found = await readTenant(context, (unit) => userByExternalId(unit, way.externalId));
      return found && (actor.kind !== 'USER' || found.id === actor.userId) ? found : null;
    },
  }),
  session: t.field({
    type: Session,
    nullable: true,
    description:
      "A conversation by id, or by the host application's own id, which is unique for its agent and user: the same three as in `appendMessages`. Null where there is none that the caller may see. An unknown agent or user is an error.",
    authScopes: { roles: EVERYONE },
    args: {
      id: t.arg.id({ description: ID }),
      externalId: t.arg.string({ description: "The host application's id." }),
      agentId: t.arg.id({
        description: 'With externalId: the agent in it, none when left out; an agent is always its own.',
      }),
      userId: t.arg.id({
        description: 'With externalId: the user in it, none when left out; a user is always its own.',
      }),
    },
    resolve: async (_root, args, context) => {
      const actor = tenantActorOf(context);
      const owner = resolveContext(actor, {
        agentId: optionalIdOf('Agent', args.agentId, ['agentId']),
        userId: optionalIdOf('User', args.userId, ['userId']),
      });
      const found = await readTenant(context, async (unit) => {
        const known = await ownersExist(unit, owner);
        if (!known.agent) throw new NotFoundError('Agent', ['agentId']);
        if (!known.user) throw new NotFoundError('User', ['userId']);
        const way = wayOf(idOrNone('Session', args.id), args.externalId);
        return 'id' in way ? way : sessionByExternalId(unit, owner, way.externalId);
      });
      if (found && 'scopeId' in found) return mayRead(actor, found) ? found : null;
      return found && loadSession(context, found.id);
    },
  }),
}));
