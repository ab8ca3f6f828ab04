import { clamp, requireFinite } from './scale.js';

/** What is known about a fact beyond its text and its distance; null means that nobody said. */
export interface Hints {
  /** 0 to 1, how much the caller cares; makes the base importance ICNU (SPEC §4.3). */
  readonly interest: number | null;
  /** 0 to 1, how hard a matter it is; makes the base importance ICNU (SPEC §4.3). */
  readonly challenge: number | null;
  /** 0 to 1; counts in an ICNU base only, and at recall. Alone it does not make the base ICNU. */
  readonly urgency: number | null;
  /** −1 (bad) to 1 (good) (SPEC §4.4.2). */
  readonly valence: number | null;
  /** 0 to 1, how stirring it is (SPEC §4.4.3). */
  readonly arousal: number | null;
}

/** Who said it: the caller, the extractor, or the sentiment library (valence only) (SPEC §4.4). */
export type HintSource = 'CALLER' | 'EXTRACTOR' | 'SENTIMENT';

/** Where urgency, valence and arousal come from; null where the hint is null. Interest and challenge come from callers only. */
export interface HintSources {
  readonly urgency: Exclude<HintSource, 'SENTIMENT'> | null;
  readonly valence: HintSource | null;
  readonly arousal: Exclude<HintSource, 'SENTIMENT'> | null;
}

/** Hints and their sources, as they are stored on a fact. */
export interface ResolvedHints {
  readonly hints: Hints;
  readonly hintSources: HintSources;
}

/** No hint at all. */
export const NO_HINTS: ResolvedHints = Object.freeze({
  hints: Object.freeze({ interest: null, challenge: null, urgency: null, valence: null, arousal: null }),
  hintSources: Object.freeze({ urgency: null, valence: null, arousal: null }),
});

/** Hints as they come in, by who says them. Absent, undefined and null all mean "not given". */
export interface OfferedHints {
  readonly caller?: { readonly [K in keyof Hints]?: number | null | undefined } | null;
  readonly extractor?:
    | { readonly [K in 'urgency' | 'valence' | 'arousal']?: number | null | undefined }
    | null;
  readonly sentiment?: { readonly valence?: number | null | undefined } | null;
}

/** Allowed range of each hint; values outside are clamped (SPEC §4.3, §4.4.2). */
const HINT_RANGE: { readonly [K in keyof Hints]: readonly [min: number, max: number] } = {
  interest: [0, 1],
  challenge: [0, 1],
  urgency: [0, 1],
  valence: [-1, 1],
  arousal: [0, 1],
};

/**
 * One value for each hint, clamped to its range, with its source: the caller outranks the extractor, which
 * outranks the sentiment library (SPEC §4.3, §4.4).
 * @throws SalienceInputError naming the hint (such as `caller.interest`) when a value is not finite
 */
export function resolveHints(offered: OfferedHints): ResolvedHints {
  const { caller, extractor, sentiment } = offered;
  const urgency = pick('urgency', [
    ['CALLER', 'caller', caller?.urgency],
    ['EXTRACTOR', 'extractor', extractor?.urgency],
  ]);
  const valence = pick<HintSource>('valence', [
    ['CALLER', 'caller', caller?.valence],
    ['EXTRACTOR', 'extractor', extractor?.valence],
    ['SENTIMENT', 'sentiment', sentiment?.valence],
  ]);
  const arousal = pick('arousal', [
    ['CALLER', 'caller', caller?.arousal],
    ['EXTRACTOR', 'extractor', extractor?.arousal],
  ]);
  return {
    hints: {
      interest: clampHint('caller', 'interest', caller?.interest),
      challenge: clampHint('caller', 'challenge', caller?.challenge),
      urgency: urgency.value,
      valence: valence.value,
      arousal: arousal.value,
    },
    hintSources: { urgency: urgency.source, valence: valence.source, arousal: arousal.source },
  };
}

const SOURCE_RANK: { readonly [K in HintSource]: number } = { SENTIMENT: 1, EXTRACTOR: 2, CALLER: 3 };

/**
 * The hints of a fact that is stated again: what the new statement gives replaces what is stored, unless the
 * stored value has a better source (a sentiment library never overrules the caller). What it does not give
 * stays.
 */
export function mergeHints(stored: ResolvedHints, given: ResolvedHints): ResolvedHints {
  const takes = (key: keyof HintSources): boolean => {
    const next = given.hintSources[key];
    const kept = stored.hintSources[key];
    if (given.hints[key] === null) return false;
    return stored.hints[key] === null || rank(next) >= rank(kept);
  };
  const from = { urgency: takes('urgency'), valence: takes('valence'), arousal: takes('arousal') };
  return {
    hints: {
      interest: given.hints.interest ?? stored.hints.interest,
      challenge: given.hints.challenge ?? stored.hints.challenge,
      urgency: (from.urgency ? given : stored).hints.urgency,
      valence: (from.valence ? given : stored).hints.valence,
      arousal: (from.arousal ? given : stored).hints.arousal,
    },
    hintSources: {
      urgency: (from.urgency ? given : stored).hintSources.urgency,
      valence: (from.valence ? given : stored).hintSources.valence,
      arousal: (from.arousal ? given : stored).hintSources.arousal,
    },
  };
}

/**
 * The same hints, each clamped to its range.
 * @throws SalienceInputError naming the field (`<path>.interest`, …) when a value is not finite
 */
export function clampHints(path: string, hints: Hints): Hints {
  return {
    interest: clampHint(path, 'interest', hints.interest),
    challenge: clampHint(path, 'challenge', hints.challenge),
    urgency: clampHint(path, 'urgency', hints.urgency),
    valence: clampHint(path, 'valence', hints.valence),
    arousal: clampHint(path, 'arousal', hints.arousal),
  };
}

function clampHint(path: string, name: keyof Hints, value: number | null | undefined): number | null {
  if (value === null || value === undefined) return null;
  const [min, max] = HINT_RANGE[name];
  return clamp(requireFinite(`${path}.${name}`, value), min, max);
}

type Offer<S extends HintSource> = readonly [source: S, path: string, value: number | null | undefined];

function pick<S extends HintSource>(
  name: keyof Hints,
  offers: readonly Offer<S>[],
): { value: number; source: S } | { value: null; source: null } {
  for (const [source, path, offered] of offers) {
    const value = clampHint(path, name, offered);
    if (value !== null) return { value, source };
  }
  return { value: null, source: null };
}

function rank(source: HintSource | null): number {
  return source === null ? 0 : SOURCE_RANK[source];
}
