import {
  appendEvents,
  type ConsolidationState,
  claimConsolidation,
  type Duplicate,
  deleteUnusedTopics,
  type FadedFact,
  findDuplicates,
  findFaded,
  findTenant,
  finishConsolidation,
  inheritFromDuplicates,
  inTenant,
  lockScopesOfFacts,
  nextFacts,
  pruneTies,
  refreshImportance,
  retireFacts,
  saveConsolidation,
  scoringOfFacts,
  type Unit,
} from '../db/index.js';
import type { NewEvent } from '../events/index.js';
import { judgeOlderFacts } from '../quality/index.js';
import { rescoreStale } from '../rescoring/index.js';
import { IMPORTANCE_EVENT_DELTA } from '../salience/index.js';
import type { Services } from '../services.js';
import { SYSTEM_ACTOR, type TenantContext, toTenantContext } from '../tenancy/index.js';
import { decayOfTenant, eventsOf, TIE_RULES } from './write-batch.js';

/** How long a consolidation is held without a sign of life, in milliseconds. */
const LEASE_MS = 30_000;
/** Facts of one transaction: a write to one of their scopes waits for it. */
const FACTS_AT_A_TIME = 500;
/** How long topics are kept at least after they have left their profile, in milliseconds. */
const TOPICS_KEPT_MS = 24 * 60 * 60_000;
/** Most of them that one consolidation deletes. */
const TOPICS_AT_A_TIME = 10_000;

/** DONE with all of it, MORE to do, or LOST to another process or to its end. */
export type StepOutcome = 'DONE' | 'MORE' | 'LOST';

type Deps = Pick<Services, 'db' | 'embedding' | 'embeddingModelId' | 'now' | 'profiles'>;

/**
 * Does the next piece of a consolidation (SPEC §6.5), in one short transaction that also moves the place where it
 * stands: whoever goes on, in whatever process, every piece is done once. First all live facts, a stretch at a time:
 * those whose scores are out of date are rescored, so that nothing fades by a profile of yesterday; duplicates are retired, snapshots of importance renewed, and faded facts retired where the tenant wants that; then
 * the ties that have become too weak are removed, and topics that left a profile and that no fact names. Events come last, told as the system's own doing.
 * What the tenant wants is read with each piece: a run may be older than that.
 *
 * @param owner names the process
 * @param factsAtATime how many facts, or facts with ties, one piece covers
 */
export async function consolidateStep(
  deps: Deps,
  keys: Pick<TenantContext, 'id' | 'hashKey'>,
  jobId: string,
  owner: string,
  factsAtATime: number = FACTS_AT_A_TIME,
): Promise<StepOutcome> {
  return inTenant(deps.db, keys, async (unit) => {
    const now = deps.now();
    const until = new Date(now.getTime() + LEASE_MS);
    const state = await claimConsolidation(unit, jobId, owner, now, until);
    const row = state && (await findTenant(unit.tx, { id: keys.id }));
    if (!row) return 'LOST';
    const piece =
      state.step === 'FACTS'
        ? await doFacts(unit, deps, toTenantContext(row), state, factsAtATime, now)
        : await doTies(unit, state, factsAtATime, now);
    if (piece.next) await saveConsolidation(unit, jobId, piece.next);
    else await finishConsolidation(unit, jobId, now);
    const finished: NewEvent[] = piece.next
      ? []
      : [{ type: 'CONSOLIDATION_FINISHED', agentId: null, userId: null, subjectId: jobId }];
    appendEvents(unit, [...piece.events, ...finished], SYSTEM_ACTOR, now);
    return piece.next ? 'MORE' : 'DONE';
  });
}

/** What a piece of work came to. */
interface Piece {
  /** Where the consolidation stands after it; null at the end. */
  readonly next: ConsolidationState | null;
  readonly events: readonly NewEvent[];
}

async function doFacts(
  unit: Unit,
  deps: Deps,
  tenant: TenantContext,
  state: ConsolidationState,
  limit: number,
  now: Date,
): Promise<Piece> {
  const { position, positionScope, figures } = state;
  const after =
    position === null || positionScope === null ? null : { scopeId: positionScope, factId: position };
  const stretch = await nextFacts(unit, after, limit, now);
  if (!stretch) {
    return { next: { step: 'TIES', position: null, positionScope: null, figures }, events: [] };
  }
  await lockScopesOfFacts(unit, stretch.factIds);
  await judgeOlderFacts(unit, stretch.factIds);
  await rescoreStale(unit, deps, tenant, await perhapsStale(unit, tenant, stretch.factIds), now);
  const duplicates = await retireDuplicates(unit, stretch.factIds, now);
  // What a fact has inherited shows in its importance, wherever in the order it stands.
  const renewed = [...new Set([...stretch.factIds, ...duplicates.map(({ keptId }) => keptId)])];
  const { refreshed, told } = await refreshImportance(
    unit,
    renewed,
    decayOfTenant(tenant),
    IMPORTANCE_EVENT_DELTA,
    now,
  );
  const faded = await retireFaded(unit, tenant, stretch.factIds, now);
  return {
    next: {
      step: 'FACTS',
      position: stretch.factId,
      positionScope: stretch.scopeId,
      figures: {
        ...figures,
        refreshed: figures.refreshed + refreshed,
        merged: figures.merged + duplicates.length,
        retired: figures.retired + faded.length,
      },
    },
    events: [...eventsOf(told, 'DECAY'), ...[...duplicates, ...faded].map(retiredEvent)],
  };
}

/** Facts scored before the last change that made any of the tenant's stale: none at most times. One statement. */
async function perhapsStale(
  unit: Unit,
  tenant: TenantContext,
  factIds: readonly string[],
): Promise<string[]> {
  const facts = await scoringOfFacts(unit, factIds);
  return facts.filter(({ scoredRevision }) => scoredRevision < tenant.staleBelow).map(({ id }) => id);
}

async function retireDuplicates(unit: Unit, factIds: readonly string[], now: Date): Promise<Duplicate[]> {
  const duplicates = await findDuplicates(unit, factIds, now);
  await retireFacts(
    unit,
    duplicates.map(({ factId, keptId }) => ({
      factId,
      reason: 'DUPLICATE',
      endedAt: null,
      supersededBy: keptId,
    })),
    now,
  );
  await inheritFromDuplicates(unit, duplicates, now);
  return duplicates;
}

async function retireFaded(
  unit: Unit,
  tenant: TenantContext,
  factIds: readonly string[],
  now: Date,
): Promise<FadedFact[]> {
  const below = tenant.settings.retention?.fadeBelow;
  if (below === undefined) return [];
  const faded = await findFaded(unit, factIds, below, now);
  await retireFacts(
    unit,
    faded.map(({ factId }) => ({ factId, reason: 'FADED', endedAt: null, supersededBy: null })),
    now,
  );
  return faded;
}

async function doTies(unit: Unit, state: ConsolidationState, limit: number, now: Date): Promise<Piece> {
  const { through, removed } = await pruneTies(unit, state.position, limit, now, TIE_RULES);
  if (through === null) {
    await deleteUnusedTopics(unit, new Date(now.getTime() - TOPICS_KEPT_MS), TOPICS_AT_A_TIME);
    return { next: null, events: [] };
  }
  const figures = { ...state.figures, edgesRemoved: state.figures.edgesRemoved + removed };
  return { next: { ...state, position: through, figures }, events: [] };
}

function retiredEvent({ factId, agentId, userId }: FadedFact): NewEvent {
  return { type: 'FACT_RETIRED', agentId, userId, subjectId: factId, factId };
}
