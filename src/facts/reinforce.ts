import {
  appendEvents,
  type FactRecord,
  factsByIds,
  inTenant,
  type StoredReinforcement,
  setReinforced,
  type Unit,
} from '../db/index.js';
import { NotFoundError } from '../errors.js';
import type { NewEvent } from '../events/index.js';
import type { RescoringDeps } from '../rescoring/index.js';
import { currentImportance, reinforce } from '../salience/index.js';
import type { Services } from '../services.js';
import {
  audit,
  changerOf,
  idempotencyKeyOf,
  once,
  repeatedReply,
  retryOnSameKey,
  type TenantActor,
} from '../tenancy/index.js';
import { eventOf } from './endings.js';
import { lockLive, upToDate } from './target.js';

type Deps = Pick<Services, 'db' | 'feed' | 'now'> & RescoringDeps;

export interface ReinforceInput {
  readonly id: string;
  /** The same key with the same fact again reinforces no second time. */
  readonly idempotencyKey?: string | null;
}

/** A type, not an interface: it is stored as a reply. */
type Reinforced = { factId: string };

/**
 * Reinforces a live fact as one LEARN recall would (SPEC §6.2): r ← min(2, r + 0.05·(2 − r)), and its decay begins anew.
 * At once and each time it is asked, for the five minutes keep recalls from counting a conversation twice, and this is
 * somebody's word. A recall within five minutes after it does not reinforce again; it counts as no recall, and is no
 * evidence that the fact is true: when it was last seen stays. A change of importance is told with the cause MANUAL,
 * however small it is. One whose score is out of date is rescored first, as such a recall does, and that is told too.
 * @throws NotFoundError for a fact that the actor may not change; ConflictError for one that is not live
 */
export async function reinforceFact(
  deps: Deps,
  actor: TenantActor,
  { id, idempotencyKey }: ReinforceInput,
): Promise<FactRecord> {
  const now = deps.now();
  const key = idempotencyKeyOf(actor, 'reinforceFact', idempotencyKey, { id });
  const repeated = await repeatedReply<Reinforced>(deps, actor.tenant, key);
  if (repeated) return inTenant(deps.db, actor.tenant, (unit) => factOf(unit, repeated));
  const result = await retryOnSameKey((again) =>
    inTenant(deps.db, actor.tenant, async (unit) => {
      const reply = await once<Reinforced>(unit, key, now, again, async () => {
        const fact = await upToDate(unit, deps, actor, await lockLive(unit, actor, id, now), now);
        const change = reinforced(fact, now);
        await setReinforced(unit, fact.id, change);
        return {
          reply: { factId: fact.id },
          finish: async () => {
            await audit(unit, actor, 'reinforceFact', [fact.id], now);
            appendEvents(unit, eventsOf(fact, change), changerOf(actor), now);
          },
        };
      });
      return factOf(unit, reply);
    }),
  );
  deps.feed.wake(actor.tenant.id);
  return result;
}

/** Nothing has decayed of a fact at the moment it is reinforced. */
function reinforced({ salience }: FactRecord, now: Date): StoredReinforcement {
  const reinforcement = reinforce(salience.reinforcement);
  const { encoded, pinned, flashbulb } = salience;
  const current = currentImportance({ encoded, reinforcement, decay: 1, pinned, flashbulb });
  // Clocks of two servers differ: it never goes back.
  const at = Math.max(now.getTime(), salience.reinforcedAt?.getTime() ?? 0);
  return { reinforcement, reinforcedAt: new Date(at), current };
}

function eventsOf(fact: FactRecord, { current }: StoredReinforcement): NewEvent[] {
  const { told } = fact.salience;
  if (current === told) return [];
  const change = { cause: 'MANUAL', oldValue: told, newValue: current } as const;
  return [{ ...eventOf('IMPORTANCE_CHANGED', fact, fact.id), ...change }];
}

async function factOf(unit: Unit, { factId }: Reinforced): Promise<FactRecord> {
  const [fact] = await factsByIds(unit, [factId]);
  if (!fact) throw new NotFoundError('The fact of this idempotencyKey', ['idempotencyKey']);
  return fact;
}
