export {
  ACTOR_KINDS,
  type Actor,
  type ActorKind,
  mayRead,
  OVERRIDE_POLICIES,
  type OverridePolicy,
  type ReadRange,
  readRange,
  requireTenant,
  resolveContext,
  SYSTEM_ACTOR,
  type TenantActor,
  type TenantContext,
} from './actor.js';
export { audit, changerOf } from './audit.js';
export { authenticate, type Credentials } from './authenticate.js';
export { idempotencyKeyOf, once, repeatedReply, retryOnSameKey } from './idempotency.js';
export { checkName, checkOptionalName } from './input-checks.js';
export { keepFresh } from './keep-fresh.js';
export { type CreateApiKeyInput, createAgent, createApiKey, createUser, revokeApiKey } from './members.js';
export { assertQuota } from './quotas.js';
export { toTenantContext } from './tenant-context.js';
export {
  DEFAULT_RECEIPT_DAYS,
  decayVariantOf,
  factCharacterLimit,
  keyPointsPerMinute,
  pointsPerMinute,
  receiptDays,
  type TenantSettings,
  userProfileBudget,
} from './tenant-settings.js';
export {
  type ChangedTenant,
  createTenant,
  pageOfTenants,
  RESCORE_STRATEGIES,
  type RescoreStrategy,
  type RestoreOverridePolicyInput,
  readTenantBy,
  restoreOverridePolicy,
  type SetTenantLimitsInput,
  setTenantLimits,
  type UpdateTenantInput,
  updateTenant,
} from './tenants.js';
