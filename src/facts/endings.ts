import {
  appendEvents,
  entitiesOfFacts,
  type FactRecord,
  factsByIds,
  forgetFactRows,
  inTenant,
  retireFacts,
} from '../db/index.js';
import { BadInputError, ConflictError } from '../errors.js';
import type { NewEvent } from '../events/index.js';
import type { Services } from '../services.js';
import { audit, changerOf, type TenantActor } from '../tenancy/index.js';
import { type FactKind, normalizeFactText } from '../text/index.js';
import { TARGET_GONE } from './plan.js';
import { prepareOne, RefusedInTransaction, storeOne } from './remember.js';
import { type FactTarget, findTarget, lockTarget, requireLive } from './target.js';
import { writeFacts } from './write-facts.js';

type Deps = Pick<Services, 'db' | 'embedding' | 'embeddingModelId' | 'log' | 'now' | 'profiles'>;

export interface ReplaceInput {
  readonly target: FactTarget;
  readonly text: string;
  /** The target's kind when left out. */
  readonly kind?: FactKind | null;
  readonly subject?: string | null;
  readonly predicate?: string | null;
  readonly object?: string | null;
  /** The target's that are in the new text when left out. */
  readonly entities?: readonly string[] | null;
}

/**
 * Supersedes a live fact (SPEC §2.4): it is retired as ENDED and points at its replacement, which keeps its agent,
 * user, tier and pin, and those of its entities that are in the new text. All or nothing: where the replacement is
 * refused, the old fact stays live. The same text again changes nothing; the text of another live fact makes the target
 * point at that one.
 * @throws ConflictError when the target is not live (any more)
 */
export async function replaceFact(deps: Deps, actor: TenantActor, input: ReplaceInput): Promise<FactRecord> {
  const now = deps.now();
  const { old, entities } = await inTenant(deps.db, actor.tenant, async (unit) => {
    const found = await findTarget(unit, actor, input.target, now);
    const named = await entitiesOfFacts(unit, [found.id]);
    return { old: found, entities: (named.get(found.id) ?? []).map(({ name }) => name) };
  });
  requireLive(old, now);
  const kind = input.kind ?? (old.kind as FactKind);
  if (kind === old.kind && normalizeFactText(input.text) === normalizeFactText(old.text)) return old;
  const draft = {
    text: input.text,
    kind,
    agentId: old.agentId,
    userId: old.userId,
    origin: 'CALLER' as const,
    saidAt: now,
    tier: old.tier as never,
    subject: input.subject,
    predicate: input.predicate,
    object: input.object,
    entities: input.entities ?? entities.filter((name) => mentions(input.text, name)),
    replaces: { id: old.id },
  };
  const prepared = await prepareOne(deps, actor, draft, 'REPLACE');
  return storeOne(deps, actor, prepared, 'REPLACE', () =>
    inTenant(deps.db, actor.tenant, async (unit) => {
      const result = await writeFacts(unit, deps, actor.tenant, [prepared], now);
      const outcome = result.outcomes[0];
      if (!outcome) throw new Error('a write without an outcome');
      if (outcome.outcome === 'REFUSED') {
        if (outcome.refusal.category === TARGET_GONE)
          throw new ConflictError('the fact was retired meanwhile', ['target']);
        throw new RefusedInTransaction(outcome.refusal);
      }
      const [fact] = await factsByIds(unit, [outcome.factId]);
      await audit(unit, actor, 'replaceFact', [old.id, outcome.factId], now);
      appendEvents(unit, result.events, changerOf(actor), now);
      return fact as FactRecord;
    }),
  );
}

/** Whether a name is in a text as whole words, however it is written. */
function mentions(text: string, name: string): boolean {
  const parts = normalizeFactText(text).split(normalizeFactText(name));
  return parts.some((before, index) => {
    const after = parts[index + 1];
    return after !== undefined && !/[\p{L}\p{N}]$/u.test(before) && !/^[\p{L}\p{N}]/u.test(after);
  });
}

export interface RetireInput {
  readonly target: FactTarget;
  readonly reason: 'ENDED' | 'WRONG' | 'DUPLICATE';
  /** World time of its end, with ENDED: now when left out, not before the fact's validFrom. */
  readonly endedAt?: Date | null;
}

/** Retires a live fact: it leaves recall and lists of live facts, and stays readable as what was known. */
export async function retireFact(deps: Deps, actor: TenantActor, input: RetireInput): Promise<FactRecord> {
  if (input.endedAt && input.reason !== 'ENDED')
    throw new BadInputError('endedAt goes with the reason ENDED only', ['endedAt']);
  const now = deps.now();
  return inTenant(deps.db, actor.tenant, async (unit) => {
    const fact = await lockTarget(unit, actor, input.target, now);
    requireLive(fact, now);
    if (input.endedAt && input.endedAt < fact.validFrom)
      throw new BadInputError("endedAt must not be before the fact's validFrom", ['endedAt']);
    const endedAt = input.reason === 'ENDED' ? (input.endedAt ?? now) : null;
    const ids = await retireFacts(
      unit,
      [{ factId: fact.id, reason: input.reason, endedAt, supersededBy: null }],
      now,
    );
    if (ids.length === 0) throw new ConflictError('the fact is retired already', ['target']);
    const [after] = await factsByIds(unit, [fact.id]);
    await audit(unit, actor, 'retireFact', [fact.id], now);
    appendEvents(unit, [eventOf('FACT_RETIRED', fact, fact.id)], changerOf(actor), now);
    return after as FactRecord;
  });
}

export interface ForgetInput {
  readonly target: FactTarget;
  /** What becomes of the messages it was learned from: REDACT empties them. */
  readonly sources: 'KEEP' | 'REDACT';
}

/**
 * Removes a fact for good with all that hangs on it, live or retired, and keeps it from being learned again (SPEC §9).
 * @returns its id, which finds nothing any more
 */
export async function forgetFact(deps: Deps, actor: TenantActor, input: ForgetInput): Promise<string> {
  const now = deps.now();
  return inTenant(deps.db, actor.tenant, async (unit) => {
    const withSources = input.sources === 'REDACT';
    const fact = await lockTarget(unit, actor, input.target, now, { withSources });
    await forgetFactRows(unit, [fact], withSources, now);
    await audit(unit, actor, 'forgetFact', [fact.id], now);
    appendEvents(unit, [eventOf('FACT_FORGOTTEN', fact)], changerOf(actor), now);
    return fact.id;
  });
}

/** A forgotten fact's event names its id as the subject and shows no fact. */
export function eventOf(type: NewEvent['type'], fact: FactRecord, factId?: string): NewEvent {
  return {
    type,
    agentId: fact.agentId,
    userId: fact.userId,
    subjectId: fact.id,
    ...(factId ? { factId } : {}),
  };
}
