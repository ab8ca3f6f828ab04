import {
  type BlockReason,
  type EffectiveProfile,
  type ProfileOrigin,
  type ProfileSetting,
  type ProfileSettings,
  protectsTenantInterests,
  TOPIC_MULTIPLIERS,
} from '../salience/index.js';

/**
 * What of a profile does nothing, or other than its words suggest (SPEC §5, §5.2), in sentences for its owner:
 * - an interest whose multiplier is at most 1 (NORMAL, LOW, IGNORE): a boost is the greater of 1 and
 *   multiplier × similarity, so it never raises; of the tenant it still shields, unless the policy is FULL_OVERRIDE;
 * - a disinterest whose multiplier is above 1 (CRITICAL, HIGH): multiplier × similarity is below 1 for distant facts
 *   only, so it does not lower what it describes best;
 * - a similarity threshold of 1, which no similarity exceeds;
 * - a self-relevance boost where nobody has an identity;
 * - whatever the tenant's policy blocks at present.
 *
 * @param effective what applies to the owner, with no agent where the owner is a user
 */
export function profileWarnings(
  origin: ProfileOrigin,
  settings: ProfileSettings,
  effective: EffectiveProfile,
): string[] {
  const shields = origin === 'TENANT' && protectsTenantInterests(effective.policy);
  return [
    ...settings.interests.flatMap(({ topic, level }) =>
      TOPIC_MULTIPLIERS[level] > 1
        ? []
        : [
            `Interest "${topic}": ${level} never raises importance${shields ? '; it only keeps agents and users from lowering it' : ''}.`,
          ],
    ),
    ...settings.disinterests.flatMap(({ topic, level }) => {
      const multiplier = TOPIC_MULTIPLIERS[level];
      return multiplier <= 1
        ? []
        : [
            `Disinterest "${topic}": ${level} lowers importance only where the similarity is below ${(1 / multiplier).toFixed(2)}, not where a fact is about it.`,
          ];
    }),
    ...(settings.similarityThreshold === 1
      ? ['similarityThreshold 1 lets no topic match: a similarity must be above it.']
      : []),
    ...(settings.persona.selfRelevanceBoost !== null && effective.persona.identity.length === 0
      ? ['selfRelevanceBoost has no effect without identity terms.']
      : []),
    ...effective.blocked
      .filter((entry) => entry.origin === origin)
      .map(
        ({ setting, topic, reason }) =>
          `${SETTING_NAMES[setting]}${topic === null ? '' : ` "${topic}"`} has no effect at present: ${REASONS[reason]}.`,
      ),
  ];
}

const SETTING_NAMES: Readonly<Record<ProfileSetting, string>> = {
  INTEREST: 'Interest',
  DISINTEREST: 'Disinterest',
  ICNU_WEIGHTS: 'icnuWeights',
  ALPHA: 'alpha',
  BETA: 'beta',
  FLASHBULB_THRESHOLD: 'flashbulbThreshold',
  SIMILARITY_THRESHOLD: 'similarityThreshold',
  PERSONA_NAME: 'persona.name',
  VALENCE_BIAS: 'persona.valenceBias',
  AROUSAL_SENSITIVITY: 'persona.arousalSensitivity',
  SELF_RELEVANCE_BOOST: 'persona.selfRelevanceBoost',
  IDENTITY: 'Identity term',
};

const REASONS: Readonly<Record<BlockReason, string>> = {
  TENANT_ONLY: "the tenant's policy is TENANT_ONLY",
  ANCESTOR_TOPIC: 'a profile above has the same topic',
  OPPOSITE_TOPIC: 'a profile above has the topic in its other list',
  TENANT_SETS_IT: "the tenant's policy leaves it to the tenant",
  ANCESTOR_TRAIT: 'a profile above has set it',
  NOT_STRICTER: 'a threshold above is at least as strict',
};
