import {
  bumpSalienceRevision,
  type IdPage,
  inTenant,
  listTenants,
  markTenantStale,
  type ScoringVersion,
  scoresWithModel,
  scoringVersion,
  setScoringVersion,
  type TenantRow,
} from '../db/index.js';
import type { Services } from '../services.js';

/** Tenants read at once. */
const TENANTS_AT_A_TIME = 200;

/**
 * Makes what was scored by older formulas, or with another calibration of the same model, stale as a LAZY change does
 * (SPEC §5.1, §7): each fact is recomputed on its next read, the others by the next rescoring. For a server that starts,
 * before it answers; tenants whose facts have another model's vectors are left alone. Where the stored version is its own, or newer, nothing is done but to read it, so that an older
 * server that starts again beside newer ones does not undo their work. Several may do this at the same time, and who is
 * killed in between has it done again: twice is as good as once.
 *
 * What an older server writes while it still runs keeps its scores until the next change of a profile.
 * @returns how many tenants were made stale
 */
export async function adoptScoring(
  { db }: Pick<Services, 'db'>,
  modelId: number,
  own: ScoringVersion & { readonly calibration: string },
): Promise<number> {
  const stored = await db.withPlatform((tx) => scoringVersion(tx, modelId));
  if (stored.algorithm > own.algorithm) return 0;
  const isOther =
    stored.algorithm < own.algorithm ||
    // Not known: of a database that came before this was kept.
    (stored.calibration !== null && stored.calibration !== own.calibration);
  if (!isOther && stored.calibration === own.calibration) return 0;
  const tenants = isOther ? await makeAllStale(db, modelId) : 0;
  // Last, so that nobody believes it before it is so.
  await db.withPlatform((tx) => setScoringVersion(tx, modelId, own));
  return tenants;
}

async function makeAllStale(db: Services['db'], modelId: number): Promise<number> {
  let count = 0;
  let after: string | null = null;
  for (;;) {
    const page: IdPage = { limit: TENANTS_AT_A_TIME, after, before: null, backward: false };
    const tenants: TenantRow[] = await db.withPlatform((tx) => listTenants(tx, page));
    for (const tenant of tenants.slice(0, TENANTS_AT_A_TIME)) {
      after = tenant.id;
      const made = await inTenant(db, tenant, async (unit) => {
        if (!(await scoresWithModel(unit, modelId))) return false;
        await markTenantStale(unit, await bumpSalienceRevision(unit, true));
        return true;
      });
      if (made) count++;
    }
    // One row more than was asked for tells that there are more.
    if (tenants.length <= TENANTS_AT_A_TIME) return count;
  }
}
