import {
  type AgentRow,
  type ApiKeyRow,
  type IdPage,
  listAgents,
  listApiKeys,
  listSessions,
  listUsers,
  type SessionRow,
  type Unit,
  type UserRow,
} from '../db/index.js';
import { BadInputError, ForbiddenError } from '../errors.js';
import {
  type ActorKind,
  pageOfTenants,
  type ReadRange,
  readRange,
  readTenantBy,
  type TenantContext,
} from '../tenancy/index.js';
import { ApiKey } from './api-keys.js';
import { builder, EVERYONE, OVERSEERS } from './builder.js';
import { actorOf, type GraphQLContext, readTenant, tenantActorOf } from './context.js';
import { OverridePolicy } from './enums.js';
import { FactFilter, FactOrder, factsPage, TOTAL_COUNT } from './fact-lists.js';
import { Fact } from './facts.js';
import { idOf } from './global-id.js';
import { Agent, User } from './members.js';
import { connectionOf, idPageOf, type PageArguments, pageOf } from './page.js';
import { TenantVersion, tenantVersionsPage } from './profile-versions.js';
import { profileOfTenant, SalienceProfile } from './profiles.js';
import { RescoreJob, RescoreStatus, rescoreJobsPage } from './rescore-jobs.js';
import { Session } from './sessions.js';
import {
  GateSettings,
  MemoryContextSettings,
  RetentionSettings,
  TenantBudgets,
  TenantLimits,
} from './tenant-settings.js';

export const Tenant = builder.objectRef<TenantContext>('Tenant');

/** A connection over rows in the order of their ids, read in the caller's tenant. */
async function idConnection<T extends { readonly id: string }>(
  context: GraphQLContext,
  args: PageArguments,
  list: (unit: Unit, page: IdPage) => Promise<T[]>,
) {
  const page = pageOf(args, 1);
  return connectionOf(page, await readTenant(context, (unit) => list(unit, idPageOf(page))), (row) => [
    row.id,
  ]);
}

/** What is inside a tenant is for callers that work in it; a platform administrator says so by header, and the tenant's audit log keeps it. */
function inside(tenant: TenantContext, context: GraphQLContext): ReadRange {
  const actor = tenantActorOf(context);
  if (actor.tenant.id !== tenant.id) {
    throw new ForbiddenError('To see inside this tenant name it by the header X-Salient-Tenant: <slug>');
  }
  return readRange(actor);
}

const isOneOf = (kinds: readonly ActorKind[], context: GraphQLContext) =>
  kinds.includes(actorOf(context).kind);

builder.node(Tenant, {
  description: 'An organisation: owns agents, users, facts and what matters to all of them.',
  id: { description: 'Global id.', resolve: (tenant) => tenant.id },
  loadWithoutCache: (id, context) => readTenantBy(context.services, actorOf(context), { id }),
  fields: (t) => ({
    slug: t.exposeString('slug', { description: 'Short name, unique on the platform; never changes.' }),
    name: t.exposeString('name', { description: 'Name for people.' }),
    overridePolicy: t.field({
      type: OverridePolicy,
      description: "How far agents and users may change what the tenant's salience profile says.",
      resolve: (tenant) => tenant.overridePolicy,
    }),
    version: t.exposeInt('version', {
      description: 'Counts the changes of the tenant, from 1; pass it as `expectedVersion`.',
    }),
    budgets: t.field({
      type: TenantBudgets,
      description: 'How much may be stored and returned; unset figures are the defaults.',
      resolve: (tenant) => tenant.settings.budgets ?? {},
    }),
    memoryContext: t.field({
      type: MemoryContextSettings,
      description: 'What `memoryContext` gives.',
      resolve: (tenant) => tenant.settings.memoryContext ?? {},
    }),
    gate: t.field({
      type: GateSettings,
      description: 'What the gate takes for worth an extraction, beyond its own words.',
      resolve: (tenant) => tenant.settings.gate ?? {},
    }),
    retention: t.field({
      type: RetentionSettings,
      description: 'How facts fade, and how long events and receipts are kept.',
      resolve: (tenant) => tenant.settings.retention ?? {},
    }),
    limits: t.field({
      type: TenantLimits,
      description: 'What the platform lets it use.',
      resolve: (tenant) => tenant.settings.limits ?? {},
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    salienceProfile: t.field({
      type: SalienceProfile,
      description: 'What matters to the tenant, hence to all its agents and users.',
      resolve: (tenant, _args, context) => {
        inside(tenant, context);
        return profileOfTenant(context);
      },
    }),
    agents: t.connection({
      type: Agent,
      description: 'Its agents, in the order of their creation; an agent sees itself alone.',
      resolve: (tenant, args, context) => {
        const { agentId } = inside(tenant, context);
        return idConnection<AgentRow>(context, args, (unit, page) => listAgents(unit, page, agentId ?? null));
      },
    }),
    users: t.connection({
      type: User,
      description: 'Its users, in the order of their creation; a user sees itself alone.',
      resolve: (tenant, args, context) => {
        const { userId } = inside(tenant, context);
        return idConnection<UserRow>(context, args, (unit, page) => listUsers(unit, page, userId ?? null));
      },
    }),
    sessions: t.connection({
      type: Session,
      description: 'Its conversations that the caller may see, in the order of their creation.',
      resolve: (tenant, args, context) => {
        const range = inside(tenant, context);
        return idConnection<SessionRow>(context, args, (unit, page) => listSessions(unit, page, range));
      },
    }),
    facts: t.connection(
      {
        type: Fact,
        description: 'Its facts that the caller may see, filtered exactly.',
        args: {
          filter: t.arg({ type: FactFilter, description: 'Which facts; live ones by default.' }),
          orderBy: t.arg({ type: FactOrder, description: 'Most important first by default.' }),
        },
        resolve: (tenant, args, context) => {
          inside(tenant, context);
          return factsPage(context, args);
        },
      },
      { description: 'One page of facts.', fields: (c) => ({ totalCount: c.int(TOTAL_COUNT) }) },
    ),
    apiKeys: t.connection({
      type: ApiKey,
      description:
        'Its keys, in the order of their creation, revoked ones too; for administrators and auditors.',
      resolve: (tenant, args, context) => {
        inside(tenant, context);
        if (!isOneOf(OVERSEERS, context))
          throw new ForbiddenError('Only administrators and auditors see the keys');
        return idConnection<ApiKeyRow>(context, args, listApiKeys);
      },
    }),
    policyVersions: t.connection({
      type: TenantVersion,
      description:
        'Its versions, newest first: who changed it, when, and the override policy since then; for administrators and auditors.',
      resolve: (tenant, args, context) => {
        inside(tenant, context);
        if (!isOneOf(OVERSEERS, context))
          throw new ForbiddenError('Only administrators and auditors see the versions');
        return tenantVersionsPage(context, args);
      },
    }),
    rescoreJobs: t.connection({
      type: RescoreJob,
      description: 'Its rescoring jobs, in the order of their request; for administrators and auditors.',
      args: { status: t.arg({ type: [RescoreStatus], description: 'Only jobs of these statuses.' }) },
      resolve: (tenant, args, context) => {
        inside(tenant, context);
        if (!isOneOf(OVERSEERS, context))
          throw new ForbiddenError('Only administrators and auditors see the jobs');
        return rescoreJobsPage(context, args);
      },
    }),
  }),
});

builder.queryFields((t) => ({
  tenant: t.field({
    type: Tenant,
    nullable: true,
    description:
      "A tenant by id or slug, one of the two; without either the caller's own. Null where the caller may not see it.",
    authScopes: { roles: EVERYONE },
    args: {
      id: t.arg.id({ description: 'Global id.' }),
      slug: t.arg.string({ description: 'Its slug.' }),
    },
    resolve: (_root, { id, slug }, context) => {
      const actor = actorOf(context);
      if (id != null && slug != null) throw new BadInputError('give id or slug, not both', ['slug']);
      if (slug != null) return readTenantBy(context.services, actor, { slug });
      if (id == null) return actor.tenant;
      try {
        return readTenantBy(context.services, actor, { id: idOf('Tenant', id) });
      } catch {
        return null;
      }
    },
  }),
  tenants: t.connection({
    type: Tenant,
    description: 'All tenants in the order of their creation, for the platform; for everyone else their own.',
    authScopes: { roles: EVERYONE },
    resolve: async (_root, args, context) => {
      const page = pageOf(args, 1);
      const tenants = await pageOfTenants(context.services, actorOf(context), idPageOf(page));
      return connectionOf(page, tenants, (tenant) => [tenant.id]);
    },
  }),
}));
