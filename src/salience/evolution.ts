import { clampImportance, IMPORTANCE_MAX, IMPORTANCE_MIN, requireFinite, requireRange } from './scale.js';

/** How fast a tenant lets facts fade (SPEC §6.1). */
export type DecayVariant = 'STANDARD' | 'SLOW' | 'FAST';

/** Exponent and floor of each variant (SPEC §6.1). */
export const DECAY_VARIANTS: Readonly<
  Record<DecayVariant, { readonly exponent: number; readonly floor: number }>
> = Object.freeze({
  STANDARD: Object.freeze({ exponent: 0.15, floor: 0.1 }),
  SLOW: Object.freeze({ exponent: 0.08, floor: 0.15 }),
  FAST: Object.freeze({ exponent: 0.3, floor: 0.05 }),
});

/** Reinforcement of a fact never recalled, and the most that recalls can make of it (SPEC §6.2). */
export const REINFORCEMENT_MIN = 1;
export const REINFORCEMENT_MAX = 2;
/** Share of what is left to the maximum that one recall adds. */
export const REINFORCEMENT_STEP = 0.05;
/** A fact is reinforced at most once in this time, in milliseconds: five minutes. */
export const REINFORCEMENT_INTERVAL_MS = 5 * 60 * 1000;

/** A change of current importance smaller than this is not told to subscribers (SPEC §6.4). */
export const IMPORTANCE_EVENT_DELTA = 0.25;

const HOUR_MS = 3_600_000;
/** Absorbs the rounding of a subtraction, so that 5.25 − 5.00 counts as 0.25. */
const ROUNDING = 1e-9;

/** Times that a fact's age counts from; null where it never happened. */
export interface FreshnessTimes {
  readonly recordedAt: Date;
  readonly reinforcedAt: Date | null;
  readonly lastSeenAt: Date | null;
}

/**
 * Hours from the latest of recorded, reinforced and last seen to `now`: the h of decay (SPEC §6.1).
 * @returns 0 or more; a time in the future of `now` (clocks differ) counts as now
 * @throws SalienceInputError when a date is invalid
 */
export function hoursUnseen(now: Date, times: FreshnessTimes): number {
  let latest = requireFinite('times.recordedAt', times.recordedAt.getTime());
  for (const name of ['reinforcedAt', 'lastSeenAt'] as const) {
    const time = times[name];
    if (time !== null) latest = Math.max(latest, requireFinite(`times.${name}`, time.getTime()));
  }
  return Math.max(0, requireFinite('now', now.getTime()) - latest) / HOUR_MS;
}

/**
 * What time has left of a fact's importance: D = max(floor, (1 + h)^(−exponent/R)) (SPEC §6.1). A pinned fact
 * does not decay; `currentImportance` sees to that.
 * @param hours since it was last recorded, reinforced or seen; negative counts as 0
 * @param resistance R of the breakdown, ≥ 1
 * @returns the floor of the variant to 1
 * @throws SalienceInputError when hours is not finite, or the resistance not finite or below 1
 */
export function decay(hours: number, resistance: number, variant: DecayVariant = 'STANDARD'): number {
  const { exponent, floor } = DECAY_VARIANTS[variant];
  const h = Math.max(0, requireFinite('hours', hours));
  const r = requireRange('resistance', resistance, 1, Number.MAX_VALUE);
  return Math.max(floor, (1 + h) ** (-exponent / r));
}

/**
 * Reinforcement after one more LEARN recall: r ← min(2, r + 0.05·(2 − r)) (SPEC §6.2). It rises towards 2 and
 * never falls. Recall raises rank; it never confirms that a fact is true.
 * @param reinforcement 1 (never recalled) to 2
 * @throws SalienceInputError when it is not finite or out of range
 */
export function reinforce(reinforcement: number): number {
  const r = requireReinforcement(reinforcement);
  return Math.min(REINFORCEMENT_MAX, r + REINFORCEMENT_STEP * (REINFORCEMENT_MAX - r));
}

/**
 * Whether a recall at `now` may reinforce again: never reinforced, or five minutes ago or more (SPEC §6.2).
 * @throws SalienceInputError when a date is invalid
 */
export function mayReinforce(now: Date, reinforcedAt: Date | null): boolean {
  const at = requireFinite('now', now.getTime());
  if (reinforcedAt === null) return true;
  return at - requireFinite('reinforcedAt', reinforcedAt.getTime()) >= REINFORCEMENT_INTERVAL_MS;
}

/** What the current importance is made from. */
export interface CurrentParts {
  /** Encoded importance, 0.05 to 10. */
  readonly encoded: number;
  /** r, 1 to 2. */
  readonly reinforcement: number;
  /** D, above 0 and at most 1; ignored for a pinned fact, whose D is 1. */
  readonly decay: number;
  readonly pinned: boolean;
  readonly flashbulb: boolean;
}

/**
 * Importance as of now: clamp(encoded × r × D, 0.05, 10) (SPEC §6.4). A pinned fact has D = 1 (SPEC §6.1); a
 * flashbulb shows 10 while it is pinned and the encoded value again once it is not (SPEC §4.4.6). A fact
 * pinned by hand keeps its own importance: the pin only stops its decay.
 * @throws SalienceInputError naming the part that is not finite or out of range
 */
export function currentImportance(parts: CurrentParts): number {
  const encoded = requireRange('encoded', parts.encoded, IMPORTANCE_MIN, IMPORTANCE_MAX);
  const reinforcement = requireReinforcement(parts.reinforcement);
  const remaining = requireRange('decay', parts.decay, 0, 1);
  if (parts.pinned && parts.flashbulb) return IMPORTANCE_MAX;
  return clampImportance(encoded * reinforcement * (parts.pinned ? 1 : remaining));
}

/**
 * Whether a RECALL or DECAY change is worth an event: 0.25 or more from the value last told (SPEC §6.4).
 * @throws SalienceInputError when a value is not finite
 */
export function isWorthTelling(lastTold: number, current: number): boolean {
  return (
    Math.abs(requireFinite('current', current) - requireFinite('lastTold', lastTold)) >=
    IMPORTANCE_EVENT_DELTA - ROUNDING
  );
}

function requireReinforcement(value: number): number {
  return requireRange('reinforcement', value, REINFORCEMENT_MIN, REINFORCEMENT_MAX);
}
