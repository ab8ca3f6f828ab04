import { appendEvents, type FactRecord, factsByIds, inTenant, setPinned } from '../db/index.js';
import type { RescoringDeps } from '../rescoring/index.js';
import { currentImportance, type DecayVariant, decay, hoursUnseen } from '../salience/index.js';
import type { Services } from '../services.js';
import { audit, changerOf, decayVariantOf, type TenantActor } from '../tenancy/index.js';
import { eventOf } from './endings.js';
import { lockLive, upToDate } from './target.js';

type Deps = Pick<Services, 'db' | 'now'> & RescoringDeps;

/**
 * Pins a live fact: it does not decay and is not forgotten by itself. A flashbulb shows 10 while pinned (SPEC §4.4.6,
 * §6.1). One whose score is out of date is rescored first.
 * @throws NotFoundError for a fact that the actor may not change; ConflictError for one that is not live: nothing fades
 * of it that a pin would keep
 */
export function pinFact(deps: Deps, actor: TenantActor, id: string): Promise<FactRecord> {
  return setPin(deps, actor, id, true);
}

/**
 * Unpins a live fact: it shows its encoded importance again, decayed by the time since it was last seen. One whose score
 * is out of date is rescored first.
 * @throws NotFoundError for a fact that the actor may not change; ConflictError for one that is not live: what it was
 * when it ended stays readable as it was
 */
export function unpinFact(deps: Deps, actor: TenantActor, id: string): Promise<FactRecord> {
  return setPin(deps, actor, id, false);
}

async function setPin(deps: Deps, actor: TenantActor, id: string, pinned: boolean): Promise<FactRecord> {
  const now = deps.now();
  return inTenant(deps.db, actor.tenant, async (unit) => {
    const stored = await lockLive(unit, actor, id, now);
    if (stored.salience.pinned === pinned) return stored;
    const fact = await upToDate(unit, deps, actor, stored, now);
    const current = exactImportance(fact, now, decayVariantOf(actor.tenant.settings), pinned);
    await setPinned(unit, fact.id, pinned, current);
    const [after] = await factsByIds(unit, [fact.id]);
    await audit(unit, actor, pinned ? 'pinFact' : 'unpinFact', [fact.id], now);
    const events = [eventOf(pinned ? 'FACT_PINNED' : 'FACT_UNPINNED', fact, fact.id)];
    if (current !== fact.salience.told) {
      events.push({
        ...eventOf('IMPORTANCE_CHANGED', fact, fact.id),
        cause: 'PIN',
        oldValue: fact.salience.told,
        newValue: current,
      });
    }
    appendEvents(unit, events, changerOf(actor), now);
    return after as FactRecord;
  });
}

/**
 * A fact's importance at this moment, 0.05–10 (SPEC §6.4); lists show the stored snapshot of it.
 * @param variant the tenant's, see `decayVariantOf`
 */
export function exactImportance(
  fact: FactRecord,
  now: Date,
  variant: DecayVariant,
  pinned = fact.salience.pinned,
): number {
  return currentImportance({
    encoded: fact.salience.encoded,
    reinforcement: fact.salience.reinforcement,
    decay: decayOf(fact, now, variant),
    pinned,
    flashbulb: fact.salience.flashbulb,
  });
}

/** What time has left of it, 0–1, pinned or not (SPEC §6.1). */
export function decayOf(fact: FactRecord, now: Date, variant: DecayVariant): number {
  const { reinforcedAt, lastSeenAt, decayResistance } = fact.salience;
  const hours = hoursUnseen(now, { recordedAt: fact.recordedAt, reinforcedAt, lastSeenAt });
  return decay(hours, decayResistance, variant);
}
