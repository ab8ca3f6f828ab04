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
  type TenantActor,
  type TenantContext,
} from './actor.js';
export { factCharacterLimit, type TenantSettings, userProfileBudget } from './tenant-settings.js';
