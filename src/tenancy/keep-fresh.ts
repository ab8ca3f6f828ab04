import {
  confirmScores,
  lockScopesById,
  type ScopeOwner,
  scopesOfOlderScores,
  type Unit,
} from '../db/index.js';
import type { Services } from '../services.js';

/** Scopes whose profiles are read at once, and which are locked by one statement. */
const SCOPES_AT_A_TIME = 500;

/**
 * Keeps a RECALL_ONLY change from making facts stale (SPEC §7). A fact is stale where it was scored before a change that
 * rescores, and by something else than what applies now; one that an earlier such change left as it was, or that was right
 * again when a change was taken back, would become stale by the next change of any kind. Those are noted as right as of
 * now. What is stale already stays so. In the transaction of the change, after its revision is counted and before
 * anything else is written of it; free where no fact was scored before such a change.
 * @param targets whose facts the change reaches; null: all of the tenant
 * @param revision that of the change
 */
export async function keepFresh(
  unit: Unit,
  { profiles }: Pick<Services, 'profiles'>,
  targets: readonly ScopeOwner[] | null,
  revision: number,
): Promise<void> {
  let after = 0;
  for (;;) {
    const scopes = await scopesOfOlderScores(unit, targets, after, SCOPES_AT_A_TIME);
    if (scopes.length === 0) return;
    const ids = scopes.map(({ scopeId }) => scopeId);
    await lockScopesById(unit, ids);
    const read = await profiles.effectiveOf(unit, scopes);
    const applied = read.map(({ fingerprint, staleBelow }, place) => {
      return { scopeId: ids[place] as number, fingerprint, staleBelow };
    });
    await confirmScores(unit, applied, revision - 1);
    if (scopes.length < SCOPES_AT_A_TIME) return;
    after = ids.at(-1) as number;
  }
}
