import { Prisma } from '../generated/client.js';
import {
  armExpressions,
  passing,
  type SearchArm,
  type SearchArmName,
  type SearchFilter,
} from './search-arms.js';
import type { Unit } from './unit.js';

/** How one document stands in the whole ranking of an arm, however far below the first. */
export interface ArmStanding {
  readonly arm: SearchArmName;
  /** Its score there, higher being better: BM25, cosine, importance; null where the arm does not find it. */
  readonly score: number | null;
  /** Its place among all documents that pass the filter, from 1; null where the arm does not find it. */
  readonly place: number | null;
}

/** Where a document stands in each arm. Counts all that the arms rank, so it is for a look now and then. One statement. */
export async function placesInArms(
  unit: Unit,
  arms: readonly SearchArm[],
  filter: SearchFilter,
  documentId: string,
): Promise<ArmStanding[]> {
  if (arms.length === 0 || filter.scopeIds.length === 0) return [];
  const query = { tenantId: unit.tenantId, filter, limit: 1 };
  const ranked = (name: SearchArmName) => Prisma.raw(`${name.toLowerCase()}_ranked`);
  const standings = arms.map(
    ({ name }) => Prisma.sql`
      SELECT ${name}::text AS arm, own.score::float8 AS score, CASE WHEN own.score IS NULL THEN NULL ELSE 1 + (
        SELECT count(*)::int FROM (${passing(ranked(name), query)}) AS p
        WHERE p.score > own.score OR (p.score = own.score AND p.id > ${documentId}::uuid)) END AS place
      FROM (SELECT (SELECT r.score FROM ${ranked(name)} r WHERE r.id = ${documentId}::uuid) AS score) AS own`,
  );
  return unit.tx.$queryRaw<ArmStanding[]>`
    WITH ${Prisma.join(
      arms.map((arm) => armExpressions(arm, query)),
      ', ',
    )}
    ${Prisma.join(standings, ' UNION ALL ')}`;
}
