import type { ProfileOrigin, TopicLevel, TopicList, TopicRef } from './topics.js';

/** How far agents and users may change what the tenant says (SPEC §5.1). */
export type MergePolicy = 'TENANT_ONLY' | 'ADDITIVE_TOPICS' | 'FULL_OVERRIDE';

/** Whether the tenant's matching interests are protected from what agents and users want (SPEC §5.1). */
export function protectsTenantInterests(policy: MergePolicy): boolean {
  return policy !== 'FULL_OVERRIDE';
}

/** Shares of the four signals of recall (SPEC §8.2); not negative, with a sum above 0. */
export interface IcnuWeights {
  readonly importance: number;
  readonly coactivation: number;
  readonly novelty: number;
  readonly urgency: number;
}

/** An interest or a disinterest of one profile. */
export interface TopicSetting {
  /** In its owner's spelling. */
  readonly topic: string;
  readonly level: TopicLevel;
  readonly ref: TopicRef;
}

/** A word that tells who the owner is. */
export interface IdentityTerm {
  /** In its owner's spelling. */
  readonly term: string;
  readonly ref: TopicRef;
}

/** Traits of one profile's persona; null is unset (SPEC §5). Ranges: `PROFILE_RANGES`. */
export interface PersonaSettings {
  readonly name: string | null;
  readonly valenceBias: number | null;
  readonly arousalSensitivity: number | null;
  readonly selfRelevanceBoost: number | null;
  readonly identity: readonly IdentityTerm[];
}

/** What one profile says; null is unset, never a default (SPEC §5). Ranges: `PROFILE_RANGES`. */
export interface ProfileSettings {
  readonly interests: readonly TopicSetting[];
  readonly disinterests: readonly TopicSetting[];
  readonly icnuWeights: IcnuWeights | null;
  readonly alpha: number | null;
  readonly beta: number | null;
  readonly flashbulbThreshold: number | null;
  readonly similarityThreshold: number | null;
  readonly persona: PersonaSettings;
}

/** The profiles of a hierarchy; an owner that the context does not name is null. */
export interface ProfileHierarchy {
  readonly tenant: ProfileSettings;
  readonly agent: ProfileSettings | null;
  readonly user: ProfileSettings | null;
}

/** Where a value comes from: the profile that set it, or nobody. */
export type ValueOrigin = ProfileOrigin | 'DEFAULT';

export interface Sourced<T> {
  readonly origin: ValueOrigin;
  readonly value: T;
}

/** An entry of an ancestor that a child's entry took the place of, under FULL_OVERRIDE. */
export interface OverriddenTopic {
  readonly origin: ProfileOrigin;
  readonly list: TopicList;
  readonly level: TopicLevel;
}

export interface EffectiveTopic extends TopicSetting {
  readonly list: TopicList;
  readonly origin: ProfileOrigin;
  /** 0 to 1: that of the level it came from, unless FULL_OVERRIDE (SPEC §5.1). */
  readonly similarityThreshold: number;
  /** What it took the place of, nearest ancestor last; empty unless FULL_OVERRIDE. */
  readonly overrides: readonly OverriddenTopic[];
}

export interface EffectiveIdentity extends IdentityTerm {
  readonly origin: ProfileOrigin;
}

/** What a profile can set. */
export type ProfileSetting =
  | 'INTEREST'
  | 'DISINTEREST'
  | 'ICNU_WEIGHTS'
  | 'ALPHA'
  | 'BETA'
  | 'FLASHBULB_THRESHOLD'
  | 'SIMILARITY_THRESHOLD'
  | 'PERSONA_NAME'
  | 'VALENCE_BIAS'
  | 'AROUSAL_SENSITIVITY'
  | 'SELF_RELEVANCE_BOOST'
  | 'IDENTITY';

/**
 * Why what a child set has no effect:
 * TENANT_ONLY: the policy leaves everything to the tenant; ANCESTOR_TOPIC: an ancestor has the same topic in the same
 * list; OPPOSITE_TOPIC: an ancestor has it in the other list; TENANT_SETS_IT: the policy leaves this setting to the
 * tenant; ANCESTOR_TRAIT: an ancestor has set the trait; NOT_STRICTER: an ancestor's threshold is at least as strict.
 */
export type BlockReason =
  | 'TENANT_ONLY'
  | 'ANCESTOR_TOPIC'
  | 'OPPOSITE_TOPIC'
  | 'TENANT_SETS_IT'
  | 'ANCESTOR_TRAIT'
  | 'NOT_STRICTER';

/** Something a child set that has no effect. */
export interface BlockedSetting {
  /** Whose setting is blocked. */
  readonly origin: ProfileOrigin;
  readonly setting: ProfileSetting;
  /** Of an interest, a disinterest or an identity term; else null. */
  readonly topic: string | null;
  readonly level: TopicLevel | null;
  readonly reason: BlockReason;
}

/** What applies to one agent and user, and where each value comes from (SPEC §5.1). */
export interface EffectiveProfile {
  readonly policy: MergePolicy;
  /** Tenant's first, then the agent's, then the user's, each in its owner's order. */
  readonly interests: readonly EffectiveTopic[];
  readonly disinterests: readonly EffectiveTopic[];
  readonly icnuWeights: Sourced<IcnuWeights>;
  readonly alpha: Sourced<number>;
  readonly beta: Sourced<number>;
  readonly flashbulbThreshold: Sourced<number>;
  readonly similarityThreshold: Sourced<number>;
  readonly persona: {
    readonly name: Sourced<string | null>;
    readonly valenceBias: Sourced<number>;
    readonly arousalSensitivity: Sourced<number>;
    readonly selfRelevanceBoost: Sourced<number>;
    readonly identity: readonly EffectiveIdentity[];
  };
  readonly blocked: readonly BlockedSetting[];
}
