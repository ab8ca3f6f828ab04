/** What profiles say of a fact's topics, as recall weighs it beside importance. Pure. */

/**
 * An interest at its strongest (a boost of 2) raises a score by an eighth: as much as importance, freshness or any
 * other signal of ICNU does at its default weight.
 */
export const TOPIC_EXPONENT = 1 / 6;

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
