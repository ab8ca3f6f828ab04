import type { FactEntities, NewFact, Retirement, ScopeOwner } from '../db/index.js';
import type { ImportanceCause, NewEvent } from '../events/index.js';
import type { DecayVariant } from '../salience/index.js';
import type { DraftRefusal } from './draft.js';
import { newFact, renewed, type ScoredBy, validFromOf } from './fact-rows.js';
import type { Decision, PlacedFact } from './plan.js';

/** What became of one statement, in the order given. */
export type WriteOutcome =
  | { readonly outcome: 'ADDED' | 'REAFFIRMED'; readonly factId: string }
  | { readonly outcome: 'REFUSED'; readonly refusal: DraftRefusal };

/** What a later statement of the same write that says the same changes of a fact. */
type Counted = 'salience' | 'reaffirmations';
type NewFactDraft = { -readonly [K in keyof NewFact]: NewFact[K] };

/** What a write stores and tells. */
export interface Collected {
  readonly outcomes: WriteOutcome[];
  readonly added: (Omit<NewFact, Counted> & Pick<NewFactDraft, Counted>)[];
  readonly reaffirmed: ({ readonly factId: string } & Pick<NewFactDraft, Counted>)[];
  readonly sources: { factId: string; messageId: string }[];
  readonly graph: FactEntities[];
  readonly retirements: Retirement[];
  readonly events: NewEvent[];
  /** What a caller states although it was forgotten: it may be learned again (SPEC §9). */
  readonly recalled: { scopeId: number; textHash: Uint8Array }[];
}

/** By what facts are scored and fade. */
export interface CollectBy {
  readonly profileOf: (fact: PlacedFact) => ScoredBy;
  /** How fast the tenant's facts fade. */
  readonly variant: DecayVariant;
}

/** Turns decisions into rows and events. */
export function collect(
  placed: readonly PlacedFact[],
  decisions: readonly Decision[],
  by: CollectBy,
  now: Date,
): Collected {
  const all: Collected = {
    outcomes: [],
    added: [],
    reaffirmed: [],
    sources: [],
    graph: [],
    retirements: [],
    events: [],
    recalled: [],
  };
  placed.forEach((fact, place) => {
    const decision = decisions[place] as Decision;
    const outcome = apply(all, fact, decision, by, now);
    all.outcomes.push(outcome);
    if (outcome.outcome === 'REFUSED') return;
    const { draft } = fact.prepared;
    for (const messageId of draft.sourceMessageIds ?? [])
      all.sources.push({ factId: outcome.factId, messageId });
    if (draft.replaces) supersede(all, fact, draft.replaces.id, outcome.factId);
    if (fact.found.forgotten && draft.origin === 'CALLER')
      all.recalled.push({ scopeId: fact.scopeId, textHash: fact.prepared.textHash });
  });
  return all;
}

function apply(all: Collected, fact: PlacedFact, decision: Decision, by: CollectBy, now: Date): WriteOutcome {
  const { draft } = fact.prepared;
  const owner = { agentId: draft.agentId, userId: draft.userId };
  switch (decision.outcome) {
    case 'REFUSE':
      return { outcome: 'REFUSED', refusal: decision.refusal };
    case 'REPEATED': {
      const first = all.outcomes[decision.of];
      if (first && first.outcome !== 'REFUSED') seenAgain(all, first.factId, draft.saidAt);
      return first?.outcome === 'ADDED'
        ? { outcome: 'REAFFIRMED', factId: first.factId }
        : (first as WriteOutcome);
    }
    case 'REAFFIRM': {
      const salience = renewed(fact, decision.scored, by.profileOf(fact), by.variant, now);
      const { factId } = decision;
      all.reaffirmed.push({ factId, salience, reaffirmations: 1 });
      all.events.push({ type: 'FACT_REAFFIRMED', ...owner, subjectId: factId, factId });
      const before = fact.duplicate?.told;
      if (before !== salience.current)
        all.events.push(changed(owner, factId, 'REAFFIRM', before, salience.current));
      if (salience.pinned && !fact.duplicate?.pinned) all.events.push(pinned(owner, factId));
      return { outcome: 'REAFFIRMED', factId };
    }
    case 'ADD': {
      const added = newFact(fact, decision.scored, by.profileOf(fact), now);
      all.added.push(added);
      all.graph.push({
        factId: added.id,
        scopeId: fact.scopeId,
        entities: fact.prepared.entities,
        relations: fact.prepared.relations ?? [],
        validFrom: added.validFrom,
        validTo: added.validTo,
      });
      all.events.push({ type: 'FACT_REMEMBERED', ...owner, subjectId: added.id, factId: added.id });
      all.events.push(changed(owner, added.id, 'INGEST', undefined, added.salience.current));
      if (decision.scored.pin)
        all.events.push({ type: 'FLASHBULB', ...owner, subjectId: added.id, factId: added.id });
      else if (added.salience.pinned) all.events.push(pinned(owner, added.id));
      return { outcome: 'ADDED', factId: added.id };
    }
  }
}

/** The same write says it again: that counts, and it was seen when that was said, if that was later. */
function seenAgain(all: Collected, factId: string, saidAt: Date): void {
  for (const entry of [
    ...all.added.filter((fact) => fact.id === factId),
    ...all.reaffirmed.filter((fact) => fact.factId === factId),
  ]) {
    entry.reaffirmations += 1;
    if (entry.salience.lastSeenAt < saidAt) entry.salience = { ...entry.salience, lastSeenAt: saidAt };
  }
}

/** The replaced fact ends when its replacement begins (SPEC §1); where another live fact says the same, it points there. */
function supersede(all: Collected, fact: PlacedFact, target: string, replacement: string): void {
  const { draft } = fact.prepared;
  all.retirements.push({
    factId: target,
    reason: 'ENDED',
    endedAt: fact.duplicate?.validFrom ?? validFromOf(draft),
    supersededBy: replacement,
  });
  all.events.push({
    type: 'FACT_SUPERSEDED',
    agentId: draft.agentId,
    userId: draft.userId,
    subjectId: target,
    factId: target,
  });
}

function pinned(owner: ScopeOwner, factId: string): NewEvent {
  return { type: 'FACT_PINNED', ...owner, subjectId: factId, factId };
}

function changed(
  owner: ScopeOwner,
  factId: string,
  cause: ImportanceCause,
  oldValue: number | undefined,
  newValue: number,
): NewEvent {
  return {
    type: 'IMPORTANCE_CHANGED',
    ...owner,
    subjectId: factId,
    factId,
    cause,
    newValue,
    ...(oldValue === undefined ? {} : { oldValue }),
  };
}
