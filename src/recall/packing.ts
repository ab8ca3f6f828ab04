/** What of a ranked list is returned: at most `k` items within the character budget (SPEC §8.4). */
export interface Packed<T> {
  readonly taken: readonly T[];
  /** Items passed over because they did not fit, before `k` were found or the list ended; in rank order. */
  readonly skipped: readonly T[];
  /** Characters of what was taken, in code points. */
  readonly charactersUsed: number;
}

/**
 * Takes items in rank order. One that does not fit into what is left of the budget is skipped and counted, and the
 * next that fits is taken, so an over-long first hit cannot empty the result.
 * @param charBudget characters for all together, in code points; null for no limit
 */
export function pack<T>(
  ranked: readonly T[],
  charactersOf: (item: T) => number,
  k: number,
  charBudget: number | null,
): Packed<T> {
  const taken: T[] = [];
  const skipped: T[] = [];
  let charactersUsed = 0;
  for (const item of ranked) {
    if (taken.length === k) break;
    const characters = charactersOf(item);
    if (charBudget !== null && charactersUsed + characters > charBudget) {
      skipped.push(item);
      continue;
    }
    taken.push(item);
    charactersUsed += characters;
  }
  return { taken, skipped, charactersUsed };
}
