import { factWords, type RescoreSelection, type Unit } from '../db/index.js';
import { type EffectiveProfile, namesIdentity } from '../salience/index.js';

/** Facts whose words are looked at before others get their turn: some milliseconds of the event loop. */
const FACTS_AT_A_TIME = 250;

/**
 * Which facts of a selection name who the profile's owner is (SPEC §4.4.4). Their text is content, which the database
 * cannot read, so the words are compared here. Without identity terms nothing is read.
 */
export async function namedFacts(
  unit: Unit,
  { persona: { identity } }: EffectiveProfile,
  selection: RescoreSelection,
): Promise<string[]> {
  if (identity.length === 0) return [];
  const named: string[] = [];
  const facts = await factWords(unit, selection);
  for (const [place, { id, text, entities }] of facts.entries()) {
    if (place % FACTS_AT_A_TIME === FACTS_AT_A_TIME - 1)
      await new Promise((resolve) => setImmediate(resolve));
    if (identity.some(({ term }) => namesIdentity(term, { text, entities }))) named.push(id);
  }
  return named;
}
