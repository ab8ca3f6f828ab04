import {
  type AgentRow,
  type ApiKeyRow,
  type IdPage,
  type JobRow,
  listAgents,
  listApiKeys,
  listSessions,
  listUsers,
  type SessionRow,
  type Unit,
  type UserRow,
} from '../db/index.js';
import { BadInputError, ForbiddenError } from '../errors.js';
import { DEFAULT_KEPT_DAYS } from '../events/index.js';
import type { DecayVariant } from '../salience/index.js';
import {
  type ActorKind,
  createTenant,
  type OverridePolicy as Policy,
  pageOfTenants,
  type ReadRange,
  readRange,
  readTenantBy,
  type TenantContext,
  type UpdateTenantInput,
  updateTenant,
} from '../tenancy/index.js';
import { ApiKey } from './api-keys.js';
import { ADMINS, builder, EVERYONE, OVERSEERS, PLATFORM } from './builder.js';
import { actorOf, type GraphQLContext, readTenant, tenantActorOf } from './context.js';
import { OverridePolicy } from './enums.js';
import { FactFilter, FactOrder, factsPage, TOTAL_COUNT } from './fact-lists.js';
import { Fact } from './facts.js';
import { idOf } from './global-id.js';
import { Agent, User } from './members.js';
import { defineMutation } from './mutation.js';
import { connectionOf, idPageOf, type PageArguments, pageOf } from './page.js';
import { RescoreStrategy } from './profile-enums.js';
import { TenantVersion, tenantVersionsPage } from './profile-versions.js';
import { profileOfTenant, SalienceProfile } from './profiles.js';
import { RescoreJob, RescoreStatus, rescoreJobsPage } from './rescore-jobs.js';
import { Session } from './sessions.js';

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
      description: 'How facts fade, and how long events are kept.',
      resolve: (tenant) => tenant.settings.retention ?? {},
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

const MemoryContextSettings = builder
  .objectRef<NonNullable<TenantContext['settings']['memoryContext']>>('MemoryContextSettings')
  .implement({
    description: 'What `memoryContext` gives.',
    fields: (t) => ({
      userProfile: t.boolean({
        description: 'Whether it gives the user profile.',
        resolve: (settings) => settings.userProfile ?? true,
      }),
      projectContext: t.boolean({
        description: 'Whether it gives the project context.',
        resolve: (settings) => settings.projectContext ?? true,
      }),
    }),
  });

const GateSettings = builder
  .objectRef<NonNullable<TenantContext['settings']['gate']>>('GateSettings')
  .implement({
    description: 'What the gate takes for worth an extraction, beyond its own words.',
    fields: (t) => ({
      extraSignals: t.stringList({
        description: 'Phrases that make a turn worth it.',
        resolve: (settings) => settings.extraSignals ?? [],
      }),
      extraTrivialWords: t.stringList({
        description: 'Words that say nothing.',
        resolve: (settings) => settings.extraTrivialWords ?? [],
      }),
    }),
  });

const FadingSpeed = builder.enumType('FadingSpeed', {
  description: 'How fast facts fade that are neither recalled nor said again.',
  values: {
    SLOW: { description: '(1 + h)^(−0.08 / R), h in hours; never below 15% of what was encoded.' },
    STANDARD: { description: '(1 + h)^(−0.15 / R); never below 10%. The default.' },
    FAST: { description: '(1 + h)^(−0.30 / R); never below 5%.' },
  } satisfies Record<DecayVariant, object>,
});

const RetentionSettings = builder
  .objectRef<NonNullable<TenantContext['settings']['retention']>>('RetentionSettings')
  .implement({
    description: 'How facts fade, and how long events are kept.',
    fields: (t) => ({
      decay: t.field({
        type: FadingSpeed,
        description: 'How fast.',
        resolve: (settings) => settings.decay ?? 'STANDARD',
      }),
      fadeBelow: t.float({
        nullable: true,
        description:
          'Importance below which consolidation retires facts that were never recalled and are not pinned; null: never.',
        resolve: (settings) => settings.fadeBelow ?? null,
      }),
      eventDays: t.int({
        description: 'Days that events are kept.',
        resolve: (settings) => settings.eventDays ?? DEFAULT_KEPT_DAYS,
      }),
    }),
  });

const TenantBudgets = builder
  .objectRef<NonNullable<TenantContext['settings']['budgets']>>('TenantBudgets')
  .implement({
    description: 'Figures in characters; null where the default applies.',
    fields: (t) => ({
      factCharacters: t.int({
        nullable: true,
        description: 'Longest text of a fact; 4,000 by default.',
        resolve: (budgets) => budgets.factCharacters ?? null,
      }),
      userProfileCharacters: t.int({
        nullable: true,
        description: 'Live USER_PROFILE facts of one agent and user together; 1,375 by default.',
        resolve: (budgets) => budgets.userProfileCharacters ?? null,
      }),
      recallCharacters: t.int({
        nullable: true,
        description: 'What one recall returns when it names no `charBudget`; no limit by default.',
        resolve: (budgets) => budgets.recallCharacters ?? null,
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

type CreateInput = { slug: string; name: string; overridePolicy?: Policy | null };

defineMutation<{ tenant: TenantContext }, CreateInput>('createTenant', {
  description: 'Creates a tenant. For the platform.',
  roles: PLATFORM,
  input: builder.inputType('CreateTenantInput', {
    description: 'A new tenant.',
    fields: (t) => ({
      slug: t.string({
        required: true,
        description: '1 to 63 lower-case letters, digits or inner hyphens; unique, for good.',
      }),
      name: t.string({ required: true, description: 'Name for people, at most 200 characters.' }),
      overridePolicy: t.field({ type: OverridePolicy, description: 'ADDITIVE_TOPICS when left out.' }),
    }),
  }),
  fields: (t) => ({
    tenant: t.field({
      type: Tenant,
      nullable: true,
      description: 'The new tenant.',
      resolve: (payload) => payload.tenant ?? null,
    }),
  }),
  resolve: async (input, context) => ({
    tenant: await createTenant(context.services, actorOf(context), input),
  }),
});

const TenantBudgetsInput = builder.inputType('TenantBudgetsInput', {
  description: 'Figures in characters. A figure left out stays; null brings the default back.',
  fields: (t) => ({
    factCharacters: t.int({ description: 'Longest text of a fact: 100 to 16,000.' }),
    userProfileCharacters: t.int({
      description: 'Live USER_PROFILE facts of one agent and user together: 100 to 100,000.',
    }),
    recallCharacters: t.int({
      description: 'What one recall returns when it names no `charBudget`: 100 to 1,000,000.',
    }),
  }),
});

const MemoryContextSettingsInput = builder.inputType('MemoryContextSettingsInput', {
  description: 'What `memoryContext` gives. A switch left out stays.',
  fields: (t) => ({
    userProfile: t.boolean({ description: 'Whether it gives the user profile; true by default.' }),
    projectContext: t.boolean({ description: 'Whether it gives the project context; true by default.' }),
  }),
});

const GateSettingsInput = builder.inputType('GateSettingsInput', {
  description: 'What the salience gate takes for worth an extraction, beyond its own words. Lists replace.',
  fields: (t) => ({
    extraSignals: t.stringList({ description: 'Phrases that make a turn worth it, at most 100.' }),
    extraTrivialWords: t.stringList({ description: 'Words that say nothing, at most 100.' }),
  }),
});

const RetentionSettingsInput = builder.inputType('RetentionSettingsInput', {
  description:
    'How facts fade, and how long events are kept. A setting left out stays; null brings the default back.',
  fields: (t) => ({
    decay: t.field({ type: FadingSpeed, description: 'How fast; STANDARD by default.' }),
    eventDays: t.int({
      description: `Days that events are kept, 1 to 3,650; ${DEFAULT_KEPT_DAYS} by default.`,
    }),
    fadeBelow: t.float({
      description:
        'Importance, 0.05 to 10, below which consolidation retires facts that were never recalled and are not pinned; never by default.',
    }),
  }),
});

type RescoreJobPayload = { tenant: TenantContext; rescoreJob: JobRow | null };

defineMutation<RescoreJobPayload, UpdateTenantInput>('updateTenant', {
  description: 'Changes a tenant. A field left out stays; every change makes a new version.',
  roles: ADMINS,
  input: builder.inputType('UpdateTenantInput', {
    description: 'What to change.',
    fields: (t) => ({
      id: t.id({ required: true, description: 'The tenant: the one the caller works in.' }),
      name: t.string({ description: 'Name for people, at most 200 characters.' }),
      overridePolicy: t.field({
        type: OverridePolicy,
        description: 'How far agents and users may change what the tenant says.',
      }),
      budgets: t.field({ type: TenantBudgetsInput, description: 'How much may be stored and returned.' }),
      memoryContext: t.field({
        type: MemoryContextSettingsInput,
        description: 'What `memoryContext` gives.',
      }),
      gate: t.field({ type: GateSettingsInput, description: 'What is worth an extraction.' }),
      retention: t.field({
        type: RetentionSettingsInput,
        description: 'How facts fade, and how long events are kept.',
      }),
      expectedVersion: t.int({
        description: 'The version that the change is based on; another one stored gives CONFLICT.',
      }),
      rescore: t.field({
        type: RescoreStrategy,
        description:
          'What becomes of stored scores where `overridePolicy` changes; BACKGROUND when left out.',
      }),
    }),
  }),
  fields: (t) => ({
    tenant: t.field({
      type: Tenant,
      nullable: true,
      description: 'The tenant as it is now.',
      resolve: (payload) => payload.tenant ?? null,
    }),
    rescoreJob: t.field({
      type: RescoreJob,
      nullable: true,
      description: 'The job that rescores facts after the change; null when the change asks for none.',
      resolve: (payload) => payload.rescoreJob ?? null,
    }),
  }),
  resolve: (input, context) =>
    updateTenant(context.services, tenantActorOf(context), {
      ...input,
      id: idOf('Tenant', input.id, ['id']),
    }),
});
