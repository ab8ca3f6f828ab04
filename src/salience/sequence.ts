import { addSample, type Baseline, chooseBaseline } from './baseline.js';
import { encodeImportance, type ImportanceBreakdownAtEncoding } from './encode.js';
import type { ResolvedHints } from './hints.js';
import { type EncodeInputs, newFactInputs, type Observation, reaffirmedInputs } from './inputs.js';
import type { EncodeProfile } from './profile.js';

/** Tier of every flashbulb fact, whatever tier was asked for (SPEC §1, §4.4.6). */
export const FLASHBULB_TIER = 'EPISODIC';

/** The baselines that a batch starts or ends with, both for one embedding model (SPEC §4.1). */
export interface BaselinePair {
  /** The scope's own, read under the scope's lock. */
  readonly scope: Baseline;
  /** The tenant's over all its scopes, this one included: `mergeBaselines`. */
  readonly tenant: Baseline;
}

/** One statement of a batch, in its order. */
export interface SequenceCandidate {
  /** Against the live facts of the scope *and* the earlier candidates of the batch. */
  readonly observation: Observation;
  /** The scope's effective profile as this statement meets it. */
  readonly profile: EncodeProfile;
  /** From `resolveHints`; none by default. */
  readonly hints?: ResolvedHints | undefined;
  /** Stored inputs of the live fact that this statement repeats; absent for a new fact. */
  readonly reaffirms?: EncodeInputs | undefined;
}

/** What is to be stored for one candidate. */
export interface ScoredCandidate {
  /** To be stored on the fact; flashbulb is settled in it. */
  readonly inputs: EncodeInputs;
  readonly breakdown: ImportanceBreakdownAtEncoding;
  /** A new flashbulb: pin the fact and put it in FLASHBULB_TIER. A reaffirmation never pins. */
  readonly pin: boolean;
}

/** Result of `scoreSequence`; `scored` is in the order of the candidates. */
export interface SequenceResult {
  readonly scored: readonly ScoredCandidate[];
  /** The scope's is to be stored; the tenant's is derived and needs no storing. */
  readonly baselines: BaselinePair;
}

/**
 * Scores the statements of one scope in order, each against the baseline as the ones before it left it, then
 * adds its sample (SPEC §4.1). The write path calls it under the scope's lock and stores the scope's baseline
 * in the same transaction, so concurrent writers lose no sample.
 *
 * - A new fact with a neighbour adds its distance, to the scope's baseline and to the tenant's, which includes
 *   it: warm-up may end in the middle of a batch.
 * - A new fact without a neighbour adds nothing.
 * - A reaffirmation adds nothing: the baseline tells how far apart the facts of a scope lie, and a repetition
 *   makes no fact. Counted, its distance of about 0 would pull the mean down until ordinary facts looked like
 *   surprises.
 * - A refused candidate is simply left out of the list.
 *
 * @throws SalienceInputError as `encodeImportance` and `addSample`; the batch fails as a whole
 */
export function scoreSequence(start: BaselinePair, candidates: readonly SequenceCandidate[]): SequenceResult {
  let { scope, tenant } = start;
  const scored: ScoredCandidate[] = [];
  for (const { observation, profile, hints, reaffirms } of candidates) {
    const chosen = chooseBaseline(scope, tenant);
    const inputs =
      reaffirms === undefined
        ? newFactInputs(observation, chosen, hints)
        : reaffirmedInputs(reaffirms, observation, chosen, hints);
    const breakdown = encodeImportance(inputs, profile);
    const isNew = reaffirms === undefined;
    scored.push({
      inputs: { ...inputs, flashbulb: breakdown.flashbulb },
      breakdown,
      pin: isNew && breakdown.flashbulb,
    });
    if (isNew && observation.distance !== null) {
      scope = addSample(scope, observation.distance);
      tenant = addSample(tenant, observation.distance);
    }
  }
  return { scored, baselines: { scope, tenant } };
}
