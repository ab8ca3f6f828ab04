import type { NewFact, SalienceValues, ScopeChange } from '../db/index.js';
import { newId, shortIdOf } from '../ids.js';
import type { ScopeProfile } from '../profiles/index.js';
import { standingOf } from '../quality/index.js';
import {
  currentImportance,
  type DecayVariant,
  decay,
  FLASHBULB_TIER,
  hoursUnseen,
  type MatchedTopic,
  type ScoredCandidate,
} from '../salience/index.js';
import type { PreparedFact } from './draft.js';
import type { PlacedFact } from './plan.js';

/** The profile that facts are scored with, as they remember it. */
export type ScoredBy = Pick<ScopeProfile, 'fingerprint' | 'revision'>;

/** Since when a draft holds in the world: as stated, else since it was said (SPEC §1). */
export function validFromOf(draft: PreparedFact['draft']): Date {
  return draft.validFrom ?? draft.saidAt;
}

/** The rows of a fact that is new. */
export function newFact(fact: PlacedFact, scored: ScoredCandidate, by: ScoredBy, now: Date): NewFact {
  const { prepared, scopeId } = fact;
  const { draft } = prepared;
  const id = newId();
  const pinned = scored.pin || (fact.replaced?.pinned ?? false);
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
    conclusion: standingOf({ ...draft, text: prepared.text }),
    reaffirmations: 0,
    salience: valuesOf(scored, by, { current, pinned, lastSeenAt: draft.saidAt }),
  };
}

/** The numbers of a reaffirmed fact: encoded anew, seen now; pin and reinforcement stay, a replaced fact's pin too. */
export function renewed(
  fact: PlacedFact,
  scored: ScoredCandidate,
  by: ScoredBy,
  variant: DecayVariant,
  now: Date,
): SalienceValues {
  const stored = fact.duplicate;
  if (!stored) throw new Error('a reaffirmation without the fact it reaffirms');
  const { saidAt } = fact.prepared.draft;
  const pinned = stored.pinned || (fact.replaced?.pinned ?? false);
  const lastSeenAt = new Date(Math.max(saidAt.getTime(), stored.lastSeenAt.getTime()));
  const hours = hoursUnseen(now, {
    recordedAt: stored.recordedAt,
    reinforcedAt: stored.reinforcedAt,
    lastSeenAt,
  });
  const current = currentImportance({
    encoded: scored.breakdown.encoded,
    reinforcement: stored.reinforcement,
    decay: decay(hours, scored.breakdown.decayResistance, variant),
    pinned,
    flashbulb: stored.flashbulb,
  });
  return valuesOf(scored, by, { current, pinned, lastSeenAt });
}

function valuesOf(
  scored: ScoredCandidate,
  by: ScoredBy,
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
    fingerprint: by.fingerprint,
    scoredRevision: by.revision,
    ...matchesOf(breakdown.matchedTopics),
  };
}

/** The topics that matched as a fact keeps them. */
function matchesOf(
  matched: readonly MatchedTopic[],
): Pick<SalienceValues, 'matchedTopics' | 'matchedSimilarities'> {
  if (matched.length === 0) return { matchedTopics: null, matchedSimilarities: null };
  return {
    matchedTopics: matched.map(({ ref }) => ref.number),
    matchedSimilarities: matched.map(({ similarity }) => similarity),
  };
}

/** What a write adds to its scopes: documents, their terms, and the new baselines. */
export function scopeChanges(
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
