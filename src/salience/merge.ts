import type {
  BlockedSetting,
  EffectiveProfile,
  IcnuWeights,
  MergePolicy,
  PersonaSettings,
  ProfileHierarchy,
  ProfileSetting,
  ProfileSettings,
  Sourced,
} from './effective.js';
import { mergeIdentity, mergeTopics } from './merge-lists.js';
import { type Claim, claimsOf, type Decision, layersOf, MERGE_RULES, settle } from './merge-rules.js';
import { NEUTRAL_PROFILE } from './profile.js';

/** Shares of the signals of recall where nobody has set any: a quarter each (SPEC §8.2). */
export const DEFAULT_ICNU_WEIGHTS: IcnuWeights = Object.freeze({
  importance: 0.25,
  coactivation: 0.25,
  novelty: 0.25,
  urgency: 0.25,
});

/** The boost that stands for "nobody said who they are". */
const NO_SELF_RELEVANCE = 1;

/**
 * What applies to one agent and user: the profiles of tenant, agent and user merged by the tenant's policy, with
 * the origin of every value and all that had no effect and why (SPEC §5.1). The rules are the table
 * `MERGE_RULES`; ancestors are the tenant of the agent, and both of the user.
 *
 * Unset is null and takes no part in any rule; a value that nobody has set is the default, with origin DEFAULT:
 * α 0.6, β 0.4, flashbulb threshold 3, similarity threshold 0.5, ICNU weights a quarter each, valence bias 0,
 * arousal sensitivity 1, self-relevance boost 1.2 once there is an identity term and 1 before.
 *
 * `blocked` lists the agent's settings, then the user's, each in the order of the profile. Deterministic; the
 * arguments are not changed and not checked: profiles are checked when they are saved.
 */
export function mergeProfiles(policy: MergePolicy, hierarchy: ProfileHierarchy): EffectiveProfile {
  const layers = layersOf(hierarchy);
  const rules = MERGE_RULES[policy];
  const fallback = NEUTRAL_PROFILE;
  const blocked: BlockedSetting[] = [];
  const settled = <T, D>(
    setting: ProfileSetting,
    rule: (claims: readonly Claim<T>[]) => Decision<T>,
    read: (settings: ProfileSettings) => T | null,
    otherwise: D,
  ): Sourced<T | D> => settle(setting, rule(claimsOf(layers, read)), otherwise, blocked);
  const trait = <T, D>(setting: ProfileSetting, read: (persona: PersonaSettings) => T | null, otherwise: D) =>
    settled(setting, rules.personaTrait<T>, ({ persona }) => read(persona), otherwise);

  // In the profile's order, which is that of what is blocked.
  const topics = mergeTopics(policy, layers, fallback.similarityThreshold, blocked);
  const icnuWeights = settled(
    'ICNU_WEIGHTS',
    rules.icnuWeights<IcnuWeights>,
    (settings) => settings.icnuWeights,
    DEFAULT_ICNU_WEIGHTS,
  );
  const alpha = settled('ALPHA', rules.surpriseWeights<number>, ({ alpha }) => alpha, fallback.alpha);
  const beta = settled('BETA', rules.surpriseWeights<number>, ({ beta }) => beta, fallback.beta);
  const flashbulbThreshold = settled(
    'FLASHBULB_THRESHOLD',
    rules.flashbulbThreshold,
    (settings) => settings.flashbulbThreshold,
    fallback.flashbulbThreshold,
  );
  const similarityThreshold = settled(
    'SIMILARITY_THRESHOLD',
    rules.similarityThreshold,
    (settings) => settings.similarityThreshold,
    fallback.similarityThreshold,
  );
  const name = trait('PERSONA_NAME', (persona) => persona.name, null);
  const valenceBias = trait('VALENCE_BIAS', (persona) => persona.valenceBias, fallback.persona.valenceBias);
  const arousalSensitivity = trait(
    'AROUSAL_SENSITIVITY',
    (persona) => persona.arousalSensitivity,
    fallback.persona.arousalSensitivity,
  );
  const identityBlocked: BlockedSetting[] = [];
  const identity = mergeIdentity(policy, layers, identityBlocked);
  const selfRelevanceBoost = trait(
    'SELF_RELEVANCE_BOOST',
    (persona) => persona.selfRelevanceBoost,
    identity.length > 0 ? fallback.persona.selfRelevanceBoost : NO_SELF_RELEVANCE,
  );
  blocked.push(...identityBlocked);

  return {
    policy,
    interests: topics.filter((topic) => topic.list === 'INTEREST'),
    disinterests: topics.filter((topic) => topic.list === 'DISINTEREST'),
    icnuWeights,
    alpha,
    beta,
    flashbulbThreshold,
    similarityThreshold,
    persona: { name, valenceBias, arousalSensitivity, selfRelevanceBoost, identity },
    blocked: layers.flatMap(({ origin }) => blocked.filter((entry) => entry.origin === origin)),
  };
}
