/** How much a topic matters (SPEC §5). */
export type TopicLevel = 'CRITICAL' | 'HIGH' | 'NORMAL' | 'LOW' | 'IGNORE';

/** Which list of the profile a topic stands in. */
export type TopicList = 'INTEREST' | 'DISINTEREST';

/** The level of the hierarchy that a profile entry comes from (SPEC §5.1). */
export type ProfileOrigin = 'TENANT' | 'AGENT' | 'USER';

/** How a topic or an identity term is found where it is stored; the salience functions only hand it through. */
export interface TopicRef {
  /** Whose vector it has. */
  readonly id: string;
  /** What facts call it by. */
  readonly number: number;
}

/** What each level multiplies by (SPEC §5). */
export const TOPIC_MULTIPLIERS: Readonly<Record<TopicLevel, number>> = Object.freeze({
  CRITICAL: 2.0,
  HIGH: 1.5,
  NORMAL: 1.0,
  LOW: 0.5,
  IGNORE: 0.1,
});

/** The boost never falls below this, so importance never becomes nothing (SPEC §5.2). */
export const TOPIC_BOOST_MIN = 0.01;

/** One topic of the effective profile, as one fact meets it. */
export interface TopicSimilarity {
  /** The topic in its owner's spelling. */
  readonly topic: string;
  readonly ref: TopicRef;
  readonly level: TopicLevel;
  readonly list: TopicList;
  readonly origin: ProfileOrigin;
  /** The topic's own threshold, 0 to 1: that of the level it came from, unless FULL_OVERRIDE (SPEC §5.1). */
  readonly similarityThreshold: number;
  /** Calibrated similarity of fact and topic, 0 to 1; null when the fact has no vector: then it cannot match. */
  readonly similarity: number | null;
}

/** A topic whose similarity exceeded its threshold, as a breakdown shows it. */
export interface MatchedTopic {
  readonly topic: string;
  readonly ref: TopicRef;
  readonly level: TopicLevel;
  readonly list: TopicList;
  readonly origin: ProfileOrigin;
  readonly similarity: number;
}

/** The boost and the topics that made it, in the profile's order. */
export interface TopicBoost {
  /** 0.01 to 2. */
  readonly boost: number;
  readonly matched: readonly MatchedTopic[];
}

/**
 * Topic boost (SPEC §5.2): starting at 1, each matching interest raises the boost to multiplier × similarity,
 * then each matching disinterest lowers it to that; never below 0.01. A topic matches when its similarity is
 * strictly above its threshold. The order of the topics does not matter.
 *
 * @param protectTenantInterests true unless the tenant's policy is FULL_OVERRIDE: where a tenant interest
 *   matches, the boost is never below that of the tenant's topics alone, so that an agent or a user cannot
 *   silence what the tenant calls important (SPEC §5.1)
 */
export function topicBoost(topics: readonly TopicSimilarity[], protectTenantInterests: boolean): TopicBoost {
  const matched: MatchedTopic[] = [];
  for (const { topic, ref, level, list, origin, similarity, similarityThreshold } of topics) {
    if (similarity !== null && similarity > similarityThreshold) {
      matched.push({ topic, ref, level, list, origin, similarity });
    }
  }
  const boost = boostOf(matched);
  const tenants = matched.filter((entry) => entry.origin === 'TENANT');
  const isProtected = protectTenantInterests && tenants.some((entry) => entry.list === 'INTEREST');
  return { boost: isProtected ? Math.max(boost, boostOf(tenants)) : boost, matched };
}

function boostOf(matched: readonly MatchedTopic[]): number {
  let boost = 1;
  for (const entry of matched) {
    if (entry.list === 'INTEREST') boost = Math.max(boost, TOPIC_MULTIPLIERS[entry.level] * entry.similarity);
  }
  for (const entry of matched) {
    if (entry.list === 'DISINTEREST')
      boost = Math.min(boost, TOPIC_MULTIPLIERS[entry.level] * entry.similarity);
  }
  return Math.max(TOPIC_BOOST_MIN, boost);
}
