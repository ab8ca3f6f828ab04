import { randomBytes, randomInt } from 'node:crypto';
import {
  appendEvents,
  bumpSalienceRevision,
  enqueueRescore,
  findTenant,
  insertEmptyProfile,
  insertTenant,
  inTenant,
  type JobRow,
  listTenants,
  lockTenant,
  markTenantStale,
  policyAtVersion,
  type Unit,
  updateTenant as updateTenantRow,
  violates,
} from '../db/index.js';
import { BadInputError, ConflictError, NotFoundError } from '../errors.js';
import { newId } from '../ids.js';
import type { Services } from '../services.js';
import type { Actor, OverridePolicy, TenantActor, TenantContext } from './actor.js';
import { audit, changerOf } from './audit.js';
import { checkName, checkSlug } from './input-checks.js';
import { keepFresh } from './keep-fresh.js';
import { toTenantContext } from './tenant-context.js';
import { type TenantSettings, tenantSettingsSchema } from './tenant-settings.js';

type Deps = Pick<Services, 'db' | 'now'>;

/** What becomes of stored scores when what matters has changed (SPEC §7). */
export const RESCORE_STRATEGIES = ['RECALL_ONLY', 'LAZY', 'BACKGROUND'] as const;
export type RescoreStrategy = (typeof RESCORE_STRATEGIES)[number];

/**
 * Creates a tenant with its event stream and an empty salience profile.
 * @throws ConflictError when the slug is taken
 */
export async function createTenant(
  deps: Deps,
  actor: Actor,
  input: { slug: string; name: string; overridePolicy?: OverridePolicy | null },
): Promise<TenantContext> {
  const now = deps.now();
  const tenant = {
    id: newId(),
    slug: checkSlug(input.slug),
    name: checkName(input.name, 'name'),
    overridePolicy: input.overridePolicy ?? 'ADDITIVE_TOPICS',
    settings: {},
    hashKey: new Uint8Array(randomBytes(32)),
    version: 1,
    staleBelow: 0,
    createdAt: now,
    updatedAt: now,
  };
  try {
    await inTenant(deps.db, tenant, async (unit) => {
      await insertTenant(unit.tx, tenant, randomInt(1, 2 ** 31 - 1), changerOf(actor));
      await insertEmptyProfile(unit, newId(), { agentId: null, userId: null }, now);
      await audit(unit, actor, 'createTenant', [tenant.id], now);
    });
  } catch (error) {
    if (violates(error, 'tenant_slug_key')) throw new ConflictError(`slug ${tenant.slug} is taken`, ['slug']);
    throw error;
  }
  return toTenantContext(tenant);
}

/** A group of settings to change: what is left out stays, null unsets. */
type Changes<T> = { readonly [K in keyof T]?: T[K] | null };

export interface UpdateTenantInput {
  readonly id: string;
  readonly name?: string | null;
  readonly overridePolicy?: OverridePolicy | null;
  readonly budgets?: Changes<NonNullable<TenantSettings['budgets']>> | null;
  readonly memoryContext?: Changes<NonNullable<TenantSettings['memoryContext']>> | null;
  readonly gate?: Changes<NonNullable<TenantSettings['gate']>> | null;
  readonly retention?: Changes<NonNullable<TenantSettings['retention']>> | null;
  readonly expectedVersion?: number | null;
  /** What becomes of stored scores where the override policy changes; BACKGROUND when left out. */
  readonly rescore?: RescoreStrategy | null;
}

export interface SetTenantLimitsInput {
  readonly id: string;
  readonly limits: Changes<NonNullable<TenantSettings['limits']>>;
  readonly expectedVersion?: number | null;
}

export interface RestoreOverridePolicyInput {
  readonly id: string;
  /** The tenant's version whose policy is wanted. */
  readonly version: number;
  readonly expectedVersion?: number | null;
  /** What becomes of stored scores; BACKGROUND when left out. */
  readonly rescore?: RescoreStrategy | null;
}

/** A tenant as it is after a change. */
export interface ChangedTenant {
  readonly tenant: TenantContext;
  /** The job that rescores, where the change asks for one. */
  readonly rescoreJob: JobRow | null;
}

type ChangeDeps = Deps & Pick<Services, 'feed' | 'profiles' | 'rescorer'>;

/**
 * Changes what is given of a tenant; a field left out stays. Every change makes a new version. A change of the
 * override policy makes every stored score stale, unless it is for recall only.
 * @returns the tenant, and the job that rescores where the change asks for one
 * @throws ConflictError when `expectedVersion` is not the stored one
 */
export async function updateTenant(
  deps: ChangeDeps,
  actor: TenantActor,
  input: UpdateTenantInput,
): Promise<ChangedTenant> {
  return change(deps, actor, input, 'updateTenant', async (_unit, stored) => ({
    name: input.name == null ? stored.name : checkName(input.name, 'name'),
    overridePolicy: input.overridePolicy ?? stored.overridePolicy,
    settings: mergeSettings(stored.settings, input),
  }));
}

/**
 * Sets what the platform lets a tenant use; a limit left out stays, null brings the configuration's back.
 * @throws ConflictError as `updateTenant`; BadInputError for a limit out of its range
 */
export async function setTenantLimits(
  deps: ChangeDeps,
  actor: TenantActor,
  input: SetTenantLimitsInput,
): Promise<ChangedTenant> {
  return change(deps, actor, input, 'setTenantLimits', async (_unit, stored) => ({
    settings: mergeSettings(stored.settings, input),
  }));
}

/**
 * Brings back the override policy of an earlier version, as a new one; the tenant's name and settings stay. Where that
 * is the policy already, nothing changes. What it does to stored scores is as with `updateTenant`.
 * @throws NotFoundError where the tenant never had this version; ConflictError as `updateTenant`
 */
export async function restoreOverridePolicy(
  deps: ChangeDeps,
  actor: TenantActor,
  input: RestoreOverridePolicyInput,
): Promise<ChangedTenant> {
  return change(deps, actor, input, 'restoreOverridePolicy', async (unit, stored) => {
    // Another number than these is none that the database can compare with.
    const isPast = input.version >= 1 && input.version <= stored.version;
    const policy = isPast ? await policyAtVersion(unit, input.version) : null;
    if (policy === null) throw new NotFoundError('Version', ['version']);
    return policy === stored.overridePolicy ? null : { overridePolicy: policy as OverridePolicy };
  });
}

/** @param changesOf what of the tenant is to be otherwise; null: nothing, and no version is made */
async function change(
  deps: ChangeDeps,
  actor: TenantActor,
  input: Pick<UpdateTenantInput, 'id' | 'expectedVersion' | 'rescore'>,
  operation: string,
  changesOf: (
    unit: Unit,
    stored: TenantContext,
  ) => Promise<Partial<Pick<TenantContext, 'name' | 'overridePolicy' | 'settings'>> | null>,
): Promise<ChangedTenant> {
  if (input.id !== actor.tenant.id) throw new NotFoundError('Tenant', ['id']);
  const result = await inTenant(deps.db, actor.tenant, async (unit) => {
    await lockTenant(unit.tx, input.id);
    const row = await findTenant(unit.tx, { id: input.id });
    if (!row) throw new NotFoundError('Tenant', ['id']);
    const stored = toTenantContext(row);
    if (input.expectedVersion != null && input.expectedVersion !== stored.version) {
      throw new ConflictError(`the tenant is at version ${stored.version}, not ${input.expectedVersion}`, [
        'expectedVersion',
      ]);
    }
    const now = deps.now();
    const changes = await changesOf(unit, stored);
    if (!changes) return { tenant: stored, rescoreJob: null };
    const changed: TenantContext = { ...stored, ...changes, version: stored.version + 1, updatedAt: now };
    const isScored = changed.overridePolicy !== stored.overridePolicy;
    const strategy = input.rescore ?? 'BACKGROUND';
    // Before the policy is another: it looks at what applied until now.
    const revision = isScored ? await countPolicyChange(unit, deps, strategy) : 0;
    if (!(await updateTenantRow(unit.tx, changed, stored.version, changerOf(actor)))) {
      throw new ConflictError('the tenant was changed by someone else meanwhile', ['expectedVersion']);
    }
    await audit(unit, actor, operation, [stored.id], now);
    if (!isScored) return { tenant: changed, rescoreJob: null };
    if (strategy !== 'RECALL_ONLY') await markTenantStale(unit, revision);
    const rescoreJob = strategy === 'BACKGROUND' ? await enqueueRescore(unit, newId(), null, now) : null;
    const event = { type: 'POLICY_CHANGED', agentId: null, userId: null, subjectId: stored.id } as const;
    appendEvents(unit, [event], changerOf(actor), now);
    return { tenant: changed, rescoreJob };
  });
  deps.feed.wake(result.tenant.id);
  if (result.rescoreJob) deps.rescorer.wake(result.tenant);
  return result;
}

/** Every effective profile of the tenant may be another one from now on. @returns the new revision */
async function countPolicyChange(unit: Unit, deps: ChangeDeps, strategy: RescoreStrategy): Promise<number> {
  const stale = strategy !== 'RECALL_ONLY';
  const revision = await bumpSalienceRevision(unit, stale);
  if (!stale) await keepFresh(unit, deps, null, revision);
  return revision;
}

/** Groups of settings that are given are merged key by key; null unsets the key. */
function mergeSettings(
  stored: TenantSettings,
  input: Partial<UpdateTenantInput & SetTenantLimitsInput>,
): TenantSettings {
  const merged: Record<string, unknown> = { ...stored };
  for (const group of ['budgets', 'memoryContext', 'gate', 'retention', 'limits'] as const) {
    const given = input[group];
    if (given) merged[group] = { ...stored[group], ...given };
  }
  const withoutNulls = JSON.parse(JSON.stringify(merged), (_key, value) => value ?? undefined);
  const result = tenantSettingsSchema.safeParse(withoutNulls);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = issue?.path.map((part) => (typeof part === 'symbol' ? String(part) : part)) ?? [];
  throw new BadInputError(`${path.join('.')}: ${issue?.message}`, path);
}

/** The tenant with this id or slug, if the actor may see it: administrators of the platform all, others their own. */
export async function readTenantBy(
  deps: Deps,
  actor: Actor,
  by: { slug: string } | { id: string },
): Promise<TenantContext | null> {
  if (actor.kind !== 'PLATFORM_ADMIN') {
    const own = actor.tenant;
    return own && ('id' in by ? by.id === own.id : by.slug === own.slug) ? own : null;
  }
  const row = await deps.db.withPlatform((tx) => findTenant(tx, by));
  return row && toTenantContext(row);
}

/** Tenants in the order of their creation: all for the platform, one's own for everyone else. */
export async function pageOfTenants(
  deps: Deps,
  actor: Actor,
  page: { limit: number; after: string | null; before: string | null; backward: boolean },
): Promise<TenantContext[]> {
  if (actor.kind !== 'PLATFORM_ADMIN') {
    // Not looked for among all: how many others there are would decide whether a page holds it.
    const { tenant } = actor;
    const within = (id: string) => (!page.after || id > page.after) && (!page.before || id < page.before);
    return tenant && within(tenant.id) ? [tenant] : [];
  }
  const rows = await deps.db.withPlatform((tx) => listTenants(tx, page));
  return rows.map(toTenantContext);
}
