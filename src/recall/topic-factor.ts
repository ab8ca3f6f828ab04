/** What profiles say of a fact's topics, as recall weighs it beside importance. Pure. */

/**
 * An interest at its strongest (a boost of 2) raises a score by 2.9%, about two ranks at the top. 3.5% would let a fact
 * of importance 0.3 that matches a topic pass one of 8.0 that matches none and is three ranks behind it, which SPEC §8.2
 * forbids: by ICNU the 8.0 stands 8.5% higher where both are fresh, and three ranks are worth 4.7%.
 */
export const TOPIC_EXPONENT = 1 / 24;

/** A disinterest lowers no more than an interest can raise: what is asked for by name is still found. */
const MOST = 2;

/**
 * The factor of a fact's relevance: boost^exponent, the boost taken between 1/2 and 2; exactly 1 where no topic matched.
 *
 * Importance holds the boost already, but it is a product in which the base, age and ten as the most leave a usual fact
 * at a tenth of the scale or less: there a boost of 2 is worth less than one rank. As a factor it counts the same for
 * every fact, and nothing at all where nobody has set a profile.
 * @param boost 0.01 to 2 (SPEC §5.2)
 */
export function topicFactor(boost: number, exponent: number = TOPIC_EXPONENT): number {
  return Math.min(MOST, Math.max(1 / MOST, boost)) ** exponent;
}
