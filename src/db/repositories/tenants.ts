import type { Prisma } from '../generated/client.js';
import type { Transaction } from '../index.js';
import { type IdPage, idPage } from './members.js';

/** A tenant's own row. `settings` is as stored: validate it where it is used. */
export interface TenantRow {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly overridePolicy: string;
  readonly settings: unknown;
  readonly hashKey: Uint8Array;
  readonly version: number;
  /** Facts scored from this revision on are up to date, whatever their scope (SPEC §7). */
  readonly staleBelow: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewTenant extends Omit<TenantRow, 'settings'> {
  readonly settings: object;
}

/** Who changed something, as it is kept with versions. */
export interface Changer {
  readonly kind: string;
  readonly id: string | null;
}

const COLUMNS = {
  id: true,
  slug: true,
  name: true,
  overridePolicy: true,
  settings: true,
  hashKey: true,
  version: true,
  staleBelow: true,
  createdAt: true,
  updatedAt: true,
} as const;

/** Adds a tenant with its stream and its first version; `tx` works in the new tenant. Throws on a taken slug. */
export async function insertTenant(
  tx: Transaction,
  tenant: NewTenant,
  epoch: number,
  changer: Changer,
): Promise<void> {
  const { hashKey, ...rest } = tenant;
  await tx.tenant.create({
    data: { ...rest, hashKey: new Uint8Array(hashKey), settings: tenant.settings as Prisma.InputJsonObject },
  });
  await tx.tenantStream.create({ data: { tenantId: tenant.id, epoch } });
  await insertTenantVersion(tx, tenant, changer, tenant.createdAt);
}

/**
 * Replaces name, policy and settings where the stored version is still `expected`.
 * @returns false when it is not
 */
export async function updateTenant(
  tx: Transaction,
  tenant: NewTenant,
  expected: number,
  changer: Changer,
): Promise<boolean> {
  const { name, overridePolicy, version, updatedAt } = tenant;
  const settings = tenant.settings as Prisma.InputJsonObject;
  const { count } = await tx.tenant.updateMany({
    where: { id: tenant.id, version: expected },
    data: { name, overridePolicy, settings, version, updatedAt },
  });
  if (count === 0) return false;
  await insertTenantVersion(tx, tenant, changer, updatedAt);
  return true;
}

async function insertTenantVersion(
  tx: Transaction,
  tenant: NewTenant,
  changer: Changer,
  at: Date,
): Promise<void> {
  await tx.tenantVersion.create({
    data: {
      tenantId: tenant.id,
      version: tenant.version,
      name: tenant.name,
      overridePolicy: tenant.overridePolicy,
      settings: tenant.settings as Prisma.InputJsonObject,
      actorKind: changer.kind,
      actorId: changer.id,
      changedAt: at,
    },
  });
}

/** Makes others who change this tenant wait until the transaction ends. */
export async function lockTenant(tx: Transaction, id: string): Promise<void> {
  await tx.$executeRaw`SELECT FROM tenant WHERE id = ${id}::uuid FOR NO KEY UPDATE`;
}

/** A tenant by slug or id; null when there is none or it was deleted. */
export async function findTenant(
  tx: Transaction,
  by: { slug: string } | { id: string },
): Promise<TenantRow | null> {
  return tx.tenant.findFirst({ where: { ...by, deletedAt: null }, select: COLUMNS });
}

/** Tenants in the order of their ids, which is that of their creation. */
export async function listTenants(tx: Transaction, page: IdPage): Promise<TenantRow[]> {
  const { AND, ...rest } = idPage(page);
  return tx.tenant.findMany({ where: { deletedAt: null, AND }, ...rest, select: COLUMNS });
}

/** An API key with its tenant, for authentication: looked up by the key's id alone, across tenants. */
export interface KeyWithTenant {
  readonly id: string;
  readonly role: string;
  readonly agentId: string | null;
  readonly userId: string | null;
  readonly secretHash: Uint8Array;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly tenant: TenantRow;
}

export async function findKeyWithTenant(tx: Transaction, keyId: string): Promise<KeyWithTenant | null> {
  const rows = await tx.$queryRaw<
    (Omit<KeyWithTenant, 'tenant'> & { tenant: never } & Record<string, unknown>)[]
  >`
    SELECT k.id, k.role, k.agent_id AS "agentId", k.user_id AS "userId", k.secret_hash AS "secretHash",
           k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt", k.last_used_at AS "lastUsedAt",
           t.id AS "t_id", t.slug AS "t_slug", t.name AS "t_name", t.override_policy AS "t_overridePolicy",
           t.settings AS "t_settings", t.hash_key AS "t_hashKey", t.version AS "t_version",
           t.stale_below AS "t_staleBelow", t.created_at AS "t_createdAt", t.updated_at AS "t_updatedAt"
    FROM api_key k JOIN tenant t ON t.id = k.tenant_id AND t.deleted_at IS NULL
    WHERE k.id = ${keyId}::uuid`;
  const row = rows[0];
  if (!row) return null;
  const tenant = Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => (name.startsWith('t_') ? [[name.slice(2), value]] : [])),
  ) as unknown as TenantRow;
  return { ...row, tenant };
}
