import type { Unit } from './unit.js';

/** Whose profile it is; both null: the tenant's. */
export interface ProfileOwner {
  readonly agentId: string | null;
  readonly userId: string | null;
}

/** A salience profile's identity and version (SPEC §5). */
export interface ProfileRow extends ProfileOwner {
  readonly id: string;
  readonly ownerKind: string;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const COLUMNS = {
  id: true,
  ownerKind: true,
  agentId: true,
  userId: true,
  version: true,
  createdAt: true,
  updatedAt: true,
} as const;

/**
 * Makes all who change a profile or the policy of the tenant wait until the transaction ends, as counting such a change
 * does: what is read from here on is what a change is made on top of. First of the locks that a change takes.
 */
export async function lockProfiles(unit: Unit): Promise<void> {
  await unit.tx.$executeRaw`SELECT FROM tenant WHERE id = ${unit.tenantId}::uuid FOR NO KEY UPDATE`;
}

/** Every owner has one profile from its creation on, in which everything is unset. */
export async function insertEmptyProfile(
  unit: Unit,
  id: string,
  owner: ProfileOwner,
  at: Date,
): Promise<void> {
  const ownerKind = owner.agentId ? 'AGENT' : owner.userId ? 'USER' : 'TENANT';
  await unit.tx.salienceProfile.create({
    data: { tenantId: unit.tenantId, id, ownerKind, ...owner, createdAt: at, updatedAt: at },
  });
}

export async function profilesByIds(unit: Unit, ids: readonly string[]): Promise<ProfileRow[]> {
  return unit.tx.salienceProfile.findMany({
    where: { tenantId: unit.tenantId, id: { in: [...ids] } },
    select: COLUMNS,
  });
}

/** The profiles of these agents or users. */
export async function profilesByOwners(
  unit: Unit,
  kind: 'AGENT' | 'USER',
  ids: readonly string[],
): Promise<ProfileRow[]> {
  const owner = kind === 'AGENT' ? { agentId: { in: [...ids] } } : { userId: { in: [...ids] } };
  return unit.tx.salienceProfile.findMany({ where: { tenantId: unit.tenantId, ...owner }, select: COLUMNS });
}

export async function tenantProfile(unit: Unit): Promise<ProfileRow | null> {
  return unit.tx.salienceProfile.findFirst({
    where: { tenantId: unit.tenantId, ownerKind: 'TENANT' },
    select: COLUMNS,
  });
}
