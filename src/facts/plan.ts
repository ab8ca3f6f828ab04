import type { LookupCandidate, LookupResult, SalienceRecord, ScopeFigures } from '../db/index.js';
import { cosineOfDistance } from '../embedding/index.js';
import {
  type EncodeInputs,
  type EncodeProfile,
  type Observation,
  type ScoredCandidate,
  type SequenceCandidate,
  scoreSequence,
} from '../salience/index.js';
import { isNearDuplicate } from '../text/index.js';
import { AcceptedFacts } from './accepted-facts.js';
import type { DraftRefusal, PreparedFact } from './draft.js';

/** A prepared fact in its scope, with what the scope holds of it. */
export interface PlacedFact {
  readonly prepared: PreparedFact;
  readonly scopeId: number;
  readonly found: Pick<LookupResult, 'nearest' | 'forgotten' | 'cosines'>;
  /** The live fact that says the same. */
  readonly duplicate: LookupCandidate | null;
  /** What it replaces; null where that is not live, not of this scope, or where it replaces nothing. */
  readonly replaced: ReplacedFact | null;
}

/** A live fact as its replacement takes over from it. */
export interface ReplacedFact {
  readonly id: string;
  readonly scopeId: number;
  readonly kind: string;
  readonly characters: number;
  readonly pinned: boolean;
}

/** A prepared fact with what was looked up for it: of what is alike, the first that says the same (SPEC §2.4). */
export function placeFact(
  prepared: PreparedFact,
  scopeId: number,
  found: LookupResult,
  replaced: ReplacedFact | null,
): PlacedFact {
  const duplicate = found.candidates.find(({ exact, text }) => exact || isNearDuplicate(text, prepared.text));
  return { prepared, scopeId, found, duplicate: duplicate ?? null, replaced };
}

/** What becomes of one statement. `REPEATED` says the same as an earlier statement of the same write. */
export type Decision =
  | { readonly outcome: 'ADD'; readonly scored: ScoredCandidate }
  | { readonly outcome: 'REAFFIRM'; readonly factId: string; readonly scored: ScoredCandidate }
  | { readonly outcome: 'REPEATED'; readonly of: number }
  | { readonly outcome: 'REFUSE'; readonly refusal: DraftRefusal };

export interface Plan {
  /** One for each placed fact, in order. */
  readonly decisions: readonly Decision[];
  /** New baselines of the scopes whose baseline got samples. */
  readonly baselines: ReadonlyMap<number, ScopeFigures['baseline']>;
}

const HOUR_MS = 3_600_000;
const NO_SAMPLES: ScopeFigures['baseline'] = { n: 0, mean: 0, m2: 0 };

/**
 * Decides what a write does, statement by statement in the order given, each seeing the ones before it: repeat,
 * refuse or add; and scores them (SPEC §2.4, §2.5, §4). Pure: everything read from the database is in the arguments.
 *
 * @param profileOf the effective profile as a statement meets it; where it repeats a fact, as that fact does
 * @param similarity the model's calibration: cosine to similarity (SPEC §3)
 * @param userProfileLimit characters of live USER_PROFILE facts that a scope may hold
 */
export function planWrite(
  facts: readonly PlacedFact[],
  figures: { readonly scopes: readonly ScopeFigures[]; readonly tenantBaseline: ScopeFigures['baseline'] },
  profileOf: (fact: PlacedFact) => EncodeProfile,
  similarity: (cosine: number) => number,
  userProfileLimit: number,
): Plan {
  const decisions: (Decision | null)[] = facts.map(() => null);
  const candidates: { place: number; scopeId: number; candidate: SequenceCandidate }[] = [];
  const accepted = new AcceptedFacts();
  const replaced = new Set<string>();
  const profileCharacters = new Map(
    figures.scopes.map((scope) => [scope.scopeId, scope.userProfileCharacters]),
  );

  facts.forEach((fact, place) => {
    const { prepared, scopeId, duplicate } = fact;
    if (prepared.draft.replaces) {
      if (!fact.replaced || replaced.has(fact.replaced.id)) {
        decisions[place] = { outcome: 'REFUSE', refusal: targetGone };
        return;
      }
    }
    const earlier = accepted.firstLike(fact);
    if (earlier !== undefined) {
      decisions[place] = { outcome: 'REPEATED', of: earlier };
      if (fact.replaced) replaced.add(fact.replaced.id);
      return;
    }
    const refusal = duplicate ? null : refuse(fact, profileCharacters.get(scopeId) ?? 0, userProfileLimit);
    if (refusal) {
      decisions[place] = { outcome: 'REFUSE', refusal };
      return;
    }
    const candidate = duplicate
      ? { observation: repetition(fact, duplicate), reaffirms: inputsOf(duplicate) }
      : { observation: observe(fact, accepted, similarity) };
    accepted.add(fact, place);
    if (fact.replaced) replaced.add(fact.replaced.id);
    candidates.push({
      place,
      scopeId,
      candidate: { ...candidate, profile: profileOf(fact), hints: prepared.hints },
    });
    if (duplicate) return;
    if (prepared.draft.kind === 'USER_PROFILE') {
      profileCharacters.set(scopeId, (profileCharacters.get(scopeId) ?? 0) + prepared.characters);
    }
  });

  const starts = new Map(figures.scopes.map(({ scopeId, baseline }) => [scopeId, baseline]));
  const baselines = new Map<number, ScopeFigures['baseline']>();
  let tenant = figures.tenantBaseline;
  // In the order given, whatever the scopes: a sample of one counts for the tenant's baseline before the next is scored.
  for (const { place, scopeId, candidate } of candidates) {
    const scope = baselines.get(scopeId) ?? starts.get(scopeId) ?? NO_SAMPLES;
    const result = scoreSequence({ scope, tenant }, [candidate]);
    tenant = result.baselines.tenant;
    if (result.baselines.scope.n > scope.n) baselines.set(scopeId, result.baselines.scope);
    const scored = result.scored[0] as ScoredCandidate;
    const duplicate = facts[place]?.duplicate;
    decisions[place] = duplicate
      ? { outcome: 'REAFFIRM', factId: duplicate.id, scored }
      : { outcome: 'ADD', scored };
  }
  return { decisions: decisions as Decision[], baselines };
}

/** Category of the refusal of a replacement whose target is not live any more, or not of the same scope. */
export const TARGET_GONE = 'TARGET';

const targetGone: DraftRefusal = {
  category: TARGET_GONE,
  reason: 'the fact to replace is not live, or belongs to another agent or user',
  path: ['target'],
};

function refuse(
  { prepared, found, replaced }: PlacedFact,
  profileCharacters: number,
  limit: number,
): DraftRefusal | null {
  if (found.forgotten && prepared.draft.origin !== 'CALLER') {
    return {
      category: 'FORGOTTEN',
      reason: 'this was forgotten on request and is not learned again',
      path: ['text'],
    };
  }
  // Retired first: a replacement of the same size always fits.
  const current = profileCharacters - (replaced?.kind === 'USER_PROFILE' ? replaced.characters : 0);
  if (prepared.draft.kind === 'USER_PROFILE' && current + prepared.characters > limit) {
    const budget = { group: 'USER_PROFILE', limit, current, requested: prepared.characters };
    return {
      category: 'BUDGET',
      reason: `USER_PROFILE holds ${budget.current} of ${limit} characters; ${budget.requested} more do not fit`,
      path: ['text'],
      budget,
    };
  }
  return null;
}

/** A repetition of a stored fact: no distance to it, and the gap since it was last seen. */
function repetition(fact: PlacedFact, duplicate: SalienceRecord): Observation {
  return {
    distance: 0,
    nearestSimilarity: 1,
    gapHours: hoursBetween(duplicate.lastSeenAt, fact.prepared.draft.saidAt),
  };
}

/** The nearest of what the scope holds and of what this write has added before. */
function observe(
  fact: PlacedFact,
  accepted: AcceptedFacts,
  similarity: (cosine: number) => number,
): Observation {
  const { embedding, draft } = fact.prepared;
  const held = fact.found.nearest;
  const added =
    embedding && accepted.nearest(fact.scopeId, embedding, held?.distance ?? Number.POSITIVE_INFINITY);
  const nearest = added ?? held;
  if (!nearest) return { distance: null, nearestSimilarity: null, gapHours: null };
  return {
    distance: nearest.distance,
    nearestSimilarity: similarity(cosineOfDistance(nearest.distance)),
    gapHours: hoursBetween(nearest.lastSeenAt, draft.saidAt),
  };
}

function hoursBetween(earlier: Date, later: Date): number {
  return (later.getTime() - earlier.getTime()) / HOUR_MS;
}

/** The stored inputs of a fact in the form that scoring takes them. */
export function inputsOf(record: SalienceRecord): EncodeInputs {
  const { baselineN, baselineMean, baselineSigma, baselineOrigin } = record;
  const hasBaseline =
    baselineN !== null && baselineMean !== null && baselineSigma !== null && baselineOrigin !== null;
  return {
    distance: record.distance,
    nearestSimilarity: record.nearestSimilarity,
    gapHours: record.gapHours,
    baseline: hasBaseline
      ? {
          n: baselineN,
          mean: baselineMean,
          sigma: baselineSigma,
          origin: baselineOrigin as 'SCOPE' | 'TENANT',
        }
      : null,
    hints: {
      interest: record.interest,
      challenge: record.challenge,
      urgency: record.urgency,
      valence: record.valence,
      arousal: record.arousal,
    },
    hintSources: {
      urgency: record.urgencySource as EncodeInputs['hintSources']['urgency'],
      valence: record.valenceSource as EncodeInputs['hintSources']['valence'],
      arousal: record.arousalSource as EncodeInputs['hintSources']['arousal'],
    },
    reaffirmed: record.reaffirmed,
    flashbulb: record.flashbulb,
  };
}
