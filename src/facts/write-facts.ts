import {
  clearTombstones,
  type FactEntities,
  lockScopes,
  lookUpFacts,
  type NewFact,
  ownersExist,
  type Retirement,
  retireFacts,
  type SalienceValues,
  type ScopeChange,
  type ScopeOwner,
  type ScopeRow,
  type Unit,
  writeFactRows,
  writeGraphApart,
} from '../db/index.js';
import { BadInputError, ConflictError, NotFoundError } from '../errors.js';
import type { ImportanceCause, NewEvent } from '../events/index.js';
import { newId, shortIdOf } from '../ids.js';
import {
  currentImportance,
  decay,
  FLASHBULB_TIER,
  hoursUnseen,
  type ScoredCandidate,
} from '../salience/index.js';
import type { Services } from '../services.js';
import { type TenantContext, userProfileBudget } from '../tenancy/index.js';
import type { DraftRefusal, PreparedFact } from './draft.js';
import { type Decision, type PlacedFact, placeFact, planWrite } from './plan.js';

/** What became of one statement, in the order given. */
export type WriteOutcome =
  | { readonly outcome: 'ADDED' | 'REAFFIRMED'; readonly factId: string }
  | { readonly outcome: 'REFUSED'; readonly refusal: DraftRefusal };

export interface WriteResult {
  readonly outcomes: readonly WriteOutcome[];
  /** To be appended as the last statement of the transaction, with whatever else happened in it. */
  readonly events: readonly NewEvent[];
}

type Deps = Pick<Services, 'embedding' | 'embeddingModelId' | 'log'>;

/**
 * The one way by which facts enter the store: `remember`, replacements and extraction all come here (SPEC §2.4). In
 * the caller's transaction: locks the scopes, compares with what they hold, scores, stores facts, numbers, vectors,
 * postings, sources and graph, retires what is replaced. The number of statements does not grow with the facts.
 *
 * @throws NotFoundError when a draft names an agent or user that is not of this tenant
 * @throws ConflictError when a fact to replace is not live any more
 */
export async function writeFacts(
  unit: Unit,
  deps: Deps,
  tenant: TenantContext,
  facts: readonly PreparedFact[],
  now: Date,
): Promise<WriteResult> {
  if (facts.length === 0) return { outcomes: [], events: [] };
  const scopes = await lockScopesOf(unit, facts, now);
  const scopeIdOf = (prepared: PreparedFact) => scopes.get(ownerKey(prepared.draft)) as number;
  const found = await lookUpFacts(
    unit,
    facts.map((prepared) => ({
      scopeId: scopeIdOf(prepared),
      kind: prepared.draft.kind,
      textHash: prepared.textHash,
      embedding: prepared.embedding,
      terms: prepared.terms.map(({ term }) => term),
      replaces: prepared.draft.replaces?.id ?? null,
    })),
    deps.embeddingModelId,
    now,
  );
  const placed = facts.map((prepared, place) => {
    const result = found.results[place];
    if (!result) throw new Error('a statement that was not looked up');
    return placeFact(prepared, scopeIdOf(prepared), result);
  });
  const plan = planWrite(
    placed,
    found,
    (cosine) => deps.embedding.similarity(cosine),
    userProfileBudget(tenant.settings),
  );

  const written = collect(placed, plan.decisions, now);
  await writeFactRows(unit, {
    ...written,
    changes: scopeChanges(written.added, plan.baselines),
    modelId: deps.embeddingModelId,
    at: now,
  });
  await clearTombstones(unit, written.recalled);
  const retired = await retireFacts(unit, written.retirements, now);
  if (retired.length < written.retirements.length)
    throw new ConflictError('the fact to replace was retired meanwhile', ['target']);
  await writeGraphApart(unit, written.graph, now, (code) =>
    deps.log.error(
      { tenantId: unit.tenantId, code },
      'indexing facts in the graph failed; the facts are kept',
    ),
  );
  return { outcomes: written.outcomes, events: written.events };
}

async function lockScopesOf(
  unit: Unit,
  facts: readonly PreparedFact[],
  now: Date,
): Promise<Map<string, number>> {
  const owners = new Map(
    facts.map(({ draft }) => [ownerKey(draft), { agentId: draft.agentId, userId: draft.userId }]),
  );
  const rows = await lockScopes(unit, [...owners.values()], now);
  const ids = new Map(rows.map((row: ScopeRow) => [ownerKey(row), row.id]));
  for (const [key, owner] of owners) {
    if (ids.has(key)) continue;
    const known = await ownersExist(unit, owner);
    throw known.agent ? new NotFoundError('User', ['userId']) : new NotFoundError('Agent', ['agentId']);
  }
  return ids;
}

function ownerKey(owner: ScopeOwner): string {
  return `${owner.agentId}/${owner.userId}`;
}

interface Collected {
  readonly outcomes: WriteOutcome[];
  readonly added: (Omit<NewFact, 'salience'> & { salience: SalienceValues })[];
  readonly reaffirmed: { readonly factId: string; salience: SalienceValues }[];
  readonly sources: { factId: string; messageId: string }[];
  readonly graph: FactEntities[];
  readonly retirements: Retirement[];
  readonly events: NewEvent[];
  /** What a caller states although it was forgotten: it may be learned again (SPEC §9). */
  readonly recalled: { scopeId: number; textHash: Uint8Array }[];
}

/** Turns decisions into rows and events. */
function collect(placed: readonly PlacedFact[], decisions: readonly Decision[], now: Date): Collected {
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
    const outcome = apply(all, fact, decision, now);
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

function apply(all: Collected, fact: PlacedFact, decision: Decision, now: Date): WriteOutcome {
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
      const salience = renewed(fact, decision.scored, now);
      const { factId } = decision;
      all.reaffirmed.push({ factId, salience });
      all.events.push({ type: 'FACT_REAFFIRMED', ...owner, subjectId: factId, factId });
      const before = fact.duplicate?.current;
      if (before !== salience.current)
        all.events.push(changed(owner, factId, 'REAFFIRM', before, salience.current));
      if (salience.pinned && !fact.duplicate?.pinned) all.events.push(pinned(owner, factId));
      return { outcome: 'REAFFIRMED', factId };
    }
    case 'ADD': {
      const added = newFact(fact, decision.scored, now);
      all.added.push(added);
      all.graph.push({
        factId: added.id,
        scopeId: fact.scopeId,
        entities: fact.prepared.entities,
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

/** The same write says it again: it was seen when that was said, if that was later. */
function seenAgain(all: Collected, factId: string, saidAt: Date): void {
  for (const entry of [
    ...all.added.filter((fact) => fact.id === factId),
    ...all.reaffirmed.filter((fact) => fact.factId === factId),
  ]) {
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

function validFromOf(draft: PreparedFact['draft']): Date {
  return draft.validFrom ?? draft.saidAt;
}

function newFact(fact: PlacedFact, scored: ScoredCandidate, now: Date): NewFact {
  const { prepared, scopeId } = fact;
  const { draft } = prepared;
  const id = newId();
  const pinned = scored.pin || (draft.replaces?.pinned ?? false);
  const current = currentImportance({
    encoded: scored.breakdown.encoded,
    reinforcement: 1,
    decay: 1,
    pinned,
    flashbulb: scored.breakdown.flashbulb,
  });
  return {
    id,
    shortId: shortIdOf(id),
    scopeId,
    agentId: draft.agentId,
    userId: draft.userId,
    kind: draft.kind,
    tier: scored.breakdown.flashbulb ? FLASHBULB_TIER : (draft.tier ?? 'SEMANTIC'),
    text: prepared.text,
    textHash: prepared.textHash,
    characters: prepared.characters,
    terms: prepared.terms,
    length: prepared.length,
    subject: draft.subject ?? null,
    predicate: draft.predicate ?? null,
    object: draft.object ?? null,
    metadata: draft.metadata ?? null,
    confidence: draft.confidence ?? 1,
    extractor: draft.origin === 'CALLER' ? null : draft.origin,
    sessionId: draft.sessionId ?? null,
    runId: draft.runId ?? null,
    validFrom: validFromOf(draft),
    validTo: draft.validTo ?? null,
    recordedAt: now,
    embedding: prepared.embedding,
    salience: valuesOf(scored, { current, pinned, lastSeenAt: draft.saidAt }),
  };
}

/** The numbers of a reaffirmed fact: encoded anew, seen now; pin and reinforcement stay, a replaced fact's pin too. */
function renewed(fact: PlacedFact, scored: ScoredCandidate, now: Date): SalienceValues {
  const stored = fact.duplicate;
  if (!stored) throw new Error('a reaffirmation without the fact it reaffirms');
  const { saidAt, replaces } = fact.prepared.draft;
  const pinned = stored.pinned || (replaces?.pinned ?? false);
  const lastSeenAt = new Date(Math.max(saidAt.getTime(), stored.lastSeenAt.getTime()));
  const hours = hoursUnseen(now, {
    recordedAt: stored.recordedAt,
    reinforcedAt: stored.reinforcedAt,
    lastSeenAt,
  });
  const current = currentImportance({
    encoded: scored.breakdown.encoded,
    reinforcement: stored.reinforcement,
    decay: decay(hours, scored.breakdown.decayResistance),
    pinned,
    flashbulb: stored.flashbulb,
  });
  return valuesOf(scored, { current, pinned, lastSeenAt });
}

function valuesOf(
  scored: ScoredCandidate,
  state: { current: number; pinned: boolean; lastSeenAt: Date },
): SalienceValues {
  const { inputs, breakdown } = scored;
  return {
    ...state,
    ...inputs.hints,
    encoded: breakdown.encoded,
    flashbulb: breakdown.flashbulb,
    distance: inputs.distance,
    nearestSimilarity: inputs.nearestSimilarity,
    gapHours: inputs.gapHours,
    baselineN: inputs.baseline?.n ?? null,
    baselineMean: inputs.baseline?.mean ?? null,
    baselineSigma: inputs.baseline?.sigma ?? null,
    baselineOrigin: inputs.baseline?.origin ?? null,
    reaffirmed: inputs.reaffirmed,
    urgencySource: inputs.hintSources.urgency,
    valenceSource: inputs.hintSources.valence,
    arousalSource: inputs.hintSources.arousal,
    z: breakdown.z,
    spatialZ: breakdown.spatialZ,
    temporalZ: breakdown.temporalZ,
    base: breakdown.base,
    topicBoost: breakdown.topicBoost,
    valenceFactor: breakdown.valenceFactor,
    selfRelevanceFactor: breakdown.selfRelevanceFactor,
    decayResistance: breakdown.decayResistance,
  };
}

function scopeChanges(
  added: readonly Pick<NewFact, 'scopeId' | 'length'>[],
  baselines: ReadonlyMap<number, ScopeChange['baseline']>,
): ScopeChange[] {
  const changes = new Map<
    number,
    { scopeId: number; documents: number; terms: number; baseline?: ScopeChange['baseline'] }
  >();
  const of = (scopeId: number) => {
    const change = changes.get(scopeId) ?? { scopeId, documents: 0, terms: 0 };
    changes.set(scopeId, change);
    return change;
  };
  for (const fact of added) {
    const change = of(fact.scopeId);
    change.documents += 1;
    change.terms += fact.length;
  }
  for (const [scopeId, baseline] of baselines) of(scopeId).baseline = baseline;
  return [...changes.values()] as ScopeChange[];
}

/** A draft's world times. @throws BadInputError when it ends before it begins */
export function checkValidity(validFrom: Date | null | undefined, validTo: Date | null | undefined): void {
  if (validFrom && validTo && validTo <= validFrom)
    throw new BadInputError('validTo must be after validFrom', ['validTo']);
}
