import {
  type ChangedTenant,
  createTenant,
  type OverridePolicy as Policy,
  type RestoreOverridePolicyInput,
  restoreOverridePolicy,
  type SetTenantLimitsInput,
  setTenantLimits,
  type TenantContext,
  type UpdateTenantInput,
  updateTenant,
} from '../tenancy/index.js';
import { ADMINS, builder, PLATFORM, type SchemaTypes } from './builder.js';
import { actorOf, tenantActorOf } from './context.js';
import { OverridePolicy } from './enums.js';
import { idOf } from './global-id.js';
import { defineMutation, type Payload } from './mutation.js';
import { RescoreStrategy } from './profile-enums.js';
import { RescoreJob } from './rescore-jobs.js';
import {
  GateSettingsInput,
  MemoryContextSettingsInput,
  RetentionSettingsInput,
  TenantBudgetsInput,
  TenantLimitsInput,
} from './tenant-settings.js';
import { Tenant } from './tenants.js';

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

const EXPECTED_VERSION = 'The version that the change is based on; another one stored gives CONFLICT.';

const changedFields = (
  t: PothosSchemaTypes.ObjectFieldBuilder<
    PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>,
    Payload<ChangedTenant>
  >,
) => ({
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
});

defineMutation<ChangedTenant, UpdateTenantInput>('updateTenant', {
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
        description: 'How facts fade, and how long events and receipts are kept.',
      }),
      expectedVersion: t.int({ description: EXPECTED_VERSION }),
      rescore: t.field({
        type: RescoreStrategy,
        description:
          'What becomes of stored scores where `overridePolicy` changes; BACKGROUND when left out.',
      }),
    }),
  }),
  fields: changedFields,
  resolve: (input, context) =>
    updateTenant(context.services, tenantActorOf(context), {
      ...input,
      id: idOf('Tenant', input.id, ['id']),
    }),
});

defineMutation<ChangedTenant, RestoreOverridePolicyInput>('restoreOverridePolicy', {
  description:
    'Brings back the override policy that the tenant had at an earlier version, as a new version; everything else stays. Where it is the policy already, nothing changes.',
  roles: ADMINS,
  input: builder.inputType('RestoreOverridePolicyInput', {
    description: 'Which policy to bring back.',
    fields: (t) => ({
      id: t.id({ required: true, description: 'The tenant: the one the caller works in.' }),
      version: t.int({ required: true, description: "The tenant's version whose policy is wanted." }),
      expectedVersion: t.int({ description: EXPECTED_VERSION }),
      rescore: t.field({
        type: RescoreStrategy,
        description: 'What becomes of stored scores; BACKGROUND when left out.',
      }),
    }),
  }),
  fields: changedFields,
  resolve: (input, context) =>
    restoreOverridePolicy(context.services, tenantActorOf(context), {
      ...input,
      id: idOf('Tenant', input.id, ['id']),
    }),
});

defineMutation<ChangedTenant, SetTenantLimitsInput>('setTenantLimits', {
  description:
    'Sets what the platform lets a tenant use. For the platform; it makes a new version of the tenant.',
  roles: PLATFORM,
  input: builder.inputType('SetTenantLimitsInput', {
    description: 'Whose limits, and which.',
    fields: (t) => ({
      id: t.id({ required: true, description: 'The tenant: the one named by X-Salient-Tenant.' }),
      limits: t.field({ type: TenantLimitsInput, required: true, description: 'The limits.' }),
      expectedVersion: t.int({ description: EXPECTED_VERSION }),
    }),
  }),
  fields: (t) => ({
    tenant: t.field({
      type: Tenant,
      nullable: true,
      description: 'The tenant as it is now.',
      resolve: (payload) => payload.tenant ?? null,
    }),
  }),
  resolve: (input, context) =>
    setTenantLimits(context.services, tenantActorOf(context), {
      ...input,
      id: idOf('Tenant', input.id, ['id']),
    }),
});
