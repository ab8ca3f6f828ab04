import {
  appendEvents,
  type Decay,
  type ImportanceChange,
  insertReceipts,
  inTenant,
  lockScopesOfFacts,
  type Reinforcement,
  reinforceFacts,
  strengthenTies,
  type TieRules,
  type Unit,
} from '../db/index.js';
import type { ImportanceCause, NewEvent } from '../events/index.js';
import {
  COACTIVATION_MAX_DEGREE,
  COACTIVATION_MIN_WEIGHT,
  DECAY_VARIANTS,
  decayTie,
  IMPORTANCE_EVENT_DELTA,
  REINFORCEMENT_INTERVAL_MS,
  REINFORCEMENT_MAX,
  REINFORCEMENT_STEP,
  strengthenTie,
} from '../salience/index.js';
import type { Services } from '../services.js';
import { decayVariantOf, type TenantContext } from '../tenancy/index.js';
import type { Batch } from './batch.js';

/** SPEC §6.3, for the database. */
export const TIE_RULES: TieRules = Object.freeze({
  step: strengthenTie(0),
  dailyRemainder: decayTie(1, 1),
  minWeight: COACTIVATION_MIN_WEIGHT,
  maxDegree: COACTIVATION_MAX_DEGREE,
});

/**
 * Rescores those of the facts whose scores are out of date, in the transaction and under the locks of their scopes, and tells the changes (SPEC §7, LAZY).
 * @returns how many importances changed
 */
export type RescoreStale = (
  unit: Unit,
  tenant: TenantContext,
  factIds: readonly string[],
  now: Date,
) => Promise<number>;

/** Rescores a batch's stale facts, in a transaction of its own: what else the batch holds cannot undo it. */
export async function rescoreBatch(
  deps: Pick<Services, 'db'>,
  { tenant, at, staleIds }: Batch,
  rescoreStale?: RescoreStale,
): Promise<void> {
  if (!rescoreStale || staleIds.length === 0) return;
  await inTenant(deps.db, tenant, async (unit) => {
    await lockScopesOfFacts(unit, staleIds);
    await rescoreStale(unit, tenant, staleIds, at);
  });
}

/**
 * Writes what recalls have taught, in one short transaction: the locks of the facts' scopes, reinforcement, ties,
 * events last. The number of statements does not grow with the facts.
 * @returns the facts that were reinforced
 */
export async function writeBatch(
  deps: Pick<Services, 'db'>,
  { tenant, actor, at, factIds, pairs }: Batch,
): Promise<readonly string[]> {
  const locked = new Set([...factIds, ...pairs.flatMap(({ first, second }) => [first, second])]);
  if (locked.size === 0) return [];
  return inTenant(deps.db, tenant, async (unit) => {
    await lockScopesOfFacts(unit, [...locked]);
    const changes = await reinforceFacts(unit, factIds, at, reinforcementOf(tenant));
    await strengthenTies(unit, pairs, at, TIE_RULES);
    appendEvents(unit, eventsOf(changes, 'RECALL'), actor, at);
    return changes.map(({ factId }) => factId);
  });
}

/** Keeps a batch's receipts, in a transaction of its own: they are there whatever becomes of the rest. */
export async function keepReceipts(
  deps: Pick<Services, 'db'>,
  { tenant, receipts }: Pick<Batch, 'tenant' | 'receipts'>,
): Promise<void> {
  if (receipts.length === 0) return;
  await inTenant(deps.db, tenant, (unit) => insertReceipts(unit, receipts));
}

/** The changes that are far enough from what was last told (SPEC §6.4), as events. */
export function eventsOf(changes: readonly ImportanceChange[], cause: ImportanceCause): NewEvent[] {
  return changes
    .filter(({ tell }) => tell)
    .map(({ factId, agentId, userId, told, current }) => ({
      type: 'IMPORTANCE_CHANGED',
      agentId,
      userId,
      subjectId: factId,
      factId,
      cause,
      oldValue: told,
      newValue: current,
    }));
}

/** How fast the tenant's facts fade, for the database. */
export function decayOfTenant(tenant: TenantContext): Decay {
  return DECAY_VARIANTS[decayVariantOf(tenant.settings)];
}

function reinforcementOf(tenant: TenantContext): Reinforcement {
  return {
    step: REINFORCEMENT_STEP,
    max: REINFORCEMENT_MAX,
    intervalMs: REINFORCEMENT_INTERVAL_MS,
    decay: decayOfTenant(tenant),
    delta: IMPORTANCE_EVENT_DELTA,
  };
}
