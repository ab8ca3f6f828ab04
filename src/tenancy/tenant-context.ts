import type { TenantRow } from '../db/index.js';
import type { OverridePolicy, TenantContext } from './actor.js';
import { tenantSettingsSchema } from './tenant-settings.js';

/** A stored tenant as requests know it. */
export function toTenantContext(row: TenantRow): TenantContext {
  return {
    ...row,
    overridePolicy: row.overridePolicy as OverridePolicy,
    settings: tenantSettingsSchema.parse(row.settings),
  };
}
