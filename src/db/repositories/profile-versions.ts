import { Prisma } from '../generated/client.js';
import type { Changer } from './tenants.js';
import type { Unit } from './unit.js';

/** A version of a profile or of a policy: who made it, and when. */
interface VersionRow {
  readonly version: number;
  readonly changedAt: Date;
  /** Null for a profile's first version, which came with its owner. */
  readonly actor: Changer | null;
}

/** A version of a profile, as text; null is a profile in which everything is unset. */
export interface ProfileVersionRow extends VersionRow {
  readonly profileId: string;
  readonly snapshot: string | null;
  /** That of the version before. */
  readonly previous: string | null;
}

/** A version of a tenant's name and policy. */
export interface TenantVersionRow extends VersionRow {
  readonly name: string;
  readonly overridePolicy: string;
  /** Those of the version before; null for the first. */
  readonly previousName: string | null;
  readonly previousPolicy: string | null;
}

/** A page of versions, newest first; one row more than the limit tells whether there is more. */
export interface VersionPage {
  readonly limit: number;
  readonly after: number | null;
  readonly before: number | null;
  readonly backward: boolean;
}

/** The condition, order and limit of a page over the column `v.version`. */
function versionPage({ limit, after, before, backward }: VersionPage): Prisma.Sql {
  return Prisma.sql`(${after}::int IS NULL OR v.version < ${after}::int)
      AND (${before}::int IS NULL OR v.version > ${before}::int)
    ORDER BY v.version ${backward ? Prisma.sql`ASC` : Prisma.sql`DESC`} LIMIT ${limit + 1}::int`;
}

type Changed<T> = T & { actorKind: string | null; actorId: string | null };

function withActor<T>({ actorKind, actorId, ...row }: Changed<T>) {
  return { ...row, actor: actorKind === null ? null : { kind: actorKind, id: actorId } };
}

/**
 * The same page of versions of several profiles. Version 1 is not stored: it is the one that every profile came with.
 * One statement.
 */
export async function versionsOfProfiles(
  unit: Unit,
  profileIds: readonly string[],
  page: VersionPage,
): Promise<ReadonlyMap<string, ProfileVersionRow[]>> {
  type Row = Changed<{
    profileId: string;
    version: number;
    changedAt: Date;
    snapshot: Uint8Array | null;
    previous: Uint8Array | null;
  }>;
  const rows = await unit.tx.$queryRaw<Row[]>`
    SELECT p.id AS "profileId", v.version, v.changed_at AS "changedAt", v.actor_kind AS "actorKind",
           v.actor_id AS "actorId", v.snapshot, b.snapshot AS previous
    FROM salience_profile p
    CROSS JOIN LATERAL (
      SELECT * FROM (
        SELECT pv.version, pv.changed_at, pv.actor_kind, pv.actor_id, pv.snapshot FROM profile_version pv
        WHERE pv.tenant_id = ${unit.tenantId}::uuid AND pv.profile_id = p.id
        UNION ALL SELECT 1, p.created_at, NULL, NULL, NULL
      ) v WHERE ${versionPage(page)}
    ) v
    LEFT JOIN profile_version b
      ON b.tenant_id = ${unit.tenantId}::uuid AND b.profile_id = p.id AND b.version = v.version - 1
    WHERE p.tenant_id = ${unit.tenantId}::uuid AND p.id = ANY(${[...profileIds]}::uuid[])
    ORDER BY v.version ${page.backward ? Prisma.sql`ASC` : Prisma.sql`DESC`}`;
  const versions = new Map<string, ProfileVersionRow[]>(profileIds.map((id) => [id, []]));
  for (const row of rows) {
    const { snapshot, previous, ...rest } = withActor(row);
    versions.get(row.profileId)?.push({
      ...rest,
      snapshot: unit.content.openOptional(snapshot),
      previous: unit.content.openOptional(previous),
    });
  }
  return versions;
}

/** The text of a stored version of a profile; null where there is none, as of version 1. */
export async function profileSnapshot(
  unit: Unit,
  profileId: string,
  version: number,
): Promise<string | null> {
  const row = await unit.tx.profileVersion.findFirst({
    where: { tenantId: unit.tenantId, profileId, version },
    select: { snapshot: true },
  });
  return row && unit.content.open(row.snapshot);
}

/** A page of the versions of the tenant itself. One statement. */
export async function tenantVersions(unit: Unit, page: VersionPage): Promise<TenantVersionRow[]> {
  const rows = await unit.tx.$queryRaw<Changed<Omit<TenantVersionRow, 'actor'>>[]>`
    SELECT v.version, v.name, v.override_policy AS "overridePolicy", v.changed_at AS "changedAt",
           v.actor_kind AS "actorKind", v.actor_id AS "actorId", b.name AS "previousName",
           b.override_policy AS "previousPolicy"
    FROM tenant_version v
    LEFT JOIN tenant_version b ON b.tenant_id = ${unit.tenantId}::uuid AND b.version = v.version - 1
    WHERE v.tenant_id = ${unit.tenantId}::uuid AND ${versionPage(page)}`;
  return rows.map(withActor);
}

/** The tenant's override policy at a version; null where it never had that version. One statement. */
export async function policyAtVersion(unit: Unit, version: number): Promise<string | null> {
  const rows = await unit.tx.$queryRaw<{ policy: string }[]>`
    SELECT override_policy AS policy FROM tenant_version
    WHERE tenant_id = ${unit.tenantId}::uuid AND version = ${version}::int`;
  return rows[0]?.policy ?? null;
}
