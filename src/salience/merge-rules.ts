import type {
  BlockedSetting,
  BlockReason,
  MergePolicy,
  ProfileHierarchy,
  ProfileSetting,
  ProfileSettings,
  Sourced,
} from './effective.js';
import type { ProfileOrigin } from './topics.js';

/** One profile of a hierarchy and whose it is. */
export interface Layer {
  readonly origin: ProfileOrigin;
  readonly settings: ProfileSettings;
}

/** The profiles that the hierarchy has, ancestors first. */
export function layersOf({ tenant, agent, user }: ProfileHierarchy): readonly Layer[] {
  const layers: Layer[] = [{ origin: 'TENANT', settings: tenant }];
  if (agent !== null) layers.push({ origin: 'AGENT', settings: agent });
  if (user !== null) layers.push({ origin: 'USER', settings: user });
  return layers;
}

/** A value that a profile has set. */
export interface Claim<T> {
  readonly origin: ProfileOrigin;
  readonly value: T;
}

/** Which claim holds, and whose have no effect. A claim that a descendant replaced is not blocked. */
export interface Decision<T> {
  /** Null where nobody has set anything that counts. */
  readonly chosen: Claim<T> | null;
  readonly blocked: readonly { readonly origin: ProfileOrigin; readonly reason: BlockReason }[];
}

/** Decides between claims, ancestors first. Unset values are not among them (SPEC §5). */
type Rule = <T>(claims: readonly Claim<T>[]) => Decision<T>;
type NumberRule = (claims: readonly Claim<number>[]) => Decision<number>;

/** A column of the table of SPEC §5.1, but for its lists. */
interface Rules {
  readonly icnuWeights: Rule;
  /** α and β. */
  readonly surpriseWeights: Rule;
  readonly flashbulbThreshold: NumberRule;
  readonly similarityThreshold: NumberRule;
  readonly personaTrait: Rule;
}

/** The tenant's claim or none, whatever the others say. */
function tenants(reason: BlockReason): Rule {
  return (claims) => ({
    chosen: claims.find((claim) => claim.origin === 'TENANT') ?? null,
    blocked: claims
      .filter((claim) => claim.origin !== 'TENANT')
      .map((claim) => ({ origin: claim.origin, reason })),
  });
}

/** The farthest ancestor that says anything is heard: children fill what it left open. */
const farthest: Rule = (claims) => ({
  chosen: claims[0] ?? null,
  blocked: claims.slice(1).map((claim) => ({ origin: claim.origin, reason: 'ANCESTOR_TRAIT' })),
});

/** The nearest one that says anything is heard. */
const nearest: Rule = (claims) => ({ chosen: claims.at(-1) ?? null, blocked: [] });

/** The strictest claim; among equals the ancestor's, so that its origin tells who is to be asked. */
function strictest(isStricter: (value: number, than: number) => boolean): NumberRule {
  return (claims) => {
    let chosen: Claim<number> | null = null;
    const blocked: { origin: ProfileOrigin; reason: BlockReason }[] = [];
    for (const claim of claims) {
      if (chosen === null || isStricter(claim.value, chosen.value)) chosen = claim;
      else blocked.push({ origin: claim.origin, reason: 'NOT_STRICTER' });
    }
    return { chosen, blocked };
  };
}

const lowest = strictest((value, than) => value < than);
const highest = strictest((value, than) => value > than);
const tenantOnly = tenants('TENANT_ONLY');
const tenantSetsIt = tenants('TENANT_SETS_IT');

/** The table of SPEC §5.1. */
export const MERGE_RULES: Readonly<Record<MergePolicy, Rules>> = Object.freeze({
  TENANT_ONLY: {
    icnuWeights: tenantOnly,
    surpriseWeights: tenantOnly,
    flashbulbThreshold: tenantOnly,
    similarityThreshold: tenantOnly,
    personaTrait: tenantOnly,
  },
  ADDITIVE_TOPICS: {
    icnuWeights: tenantSetsIt,
    surpriseWeights: tenantSetsIt,
    flashbulbThreshold: tenantSetsIt,
    similarityThreshold: highest,
    personaTrait: farthest,
  },
  FULL_OVERRIDE: {
    icnuWeights: nearest,
    surpriseWeights: nearest,
    flashbulbThreshold: lowest,
    similarityThreshold: highest,
    personaTrait: nearest,
  },
});

/** What the layers have set, ancestors first; null is unset and no claim. */
export function claimsOf<T>(
  layers: readonly Layer[],
  read: (settings: ProfileSettings) => T | null,
): readonly Claim<T>[] {
  return layers.flatMap(({ origin, settings }) => {
    const value = read(settings);
    return value === null ? [] : [{ origin, value }];
  });
}

/** The decided value, or the default where nothing was chosen; what had no effect is added to `blocked`. */
export function settle<T, D>(
  setting: ProfileSetting,
  decision: Decision<T>,
  fallback: D,
  blocked: BlockedSetting[],
): Sourced<T | D> {
  for (const { origin, reason } of decision.blocked) {
    blocked.push({ origin, setting, topic: null, level: null, reason });
  }
  return decision.chosen ?? { origin: 'DEFAULT', value: fallback };
}
