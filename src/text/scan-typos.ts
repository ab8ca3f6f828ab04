/**
 * Misspelled words of threats, put right for the scan (SPEC §2.5): a model reads "ignroe yuor instrctions" as it is
 * meant. Only slips inside a word count (two letters exchanged, one left out or doubled), so that the real words that
 * differ by their first or last letter (selling, masking) stay what they are.
 */

/** Words without which the patterns find nothing. */
const VOCABULARY: readonly string[] = (
  'ignore disregard forget neglect discard override bypass previous previously prior preceding earlier existing initial original ' +
  'system developer hidden default instruction instructions prompt prompts directive directives guideline guidelines guidance orders ' +
  'command commands rules constraints restrictions policies policy training programming guardrails safeguards limitations ' +
  'everything anything whatever always automatically whenever every henceforth forward execute delete erase destroy upload ' +
  'approve approved preapproved authorized without asking telling informing notifying mentioning waiting confirmation permission ' +
  'approval consent knowledge silently secretly covertly quietly never assistant request requests actions ' +
  'database databases backups tables files memories production history evidence your about'
).split(' ');

const KNOWN = new Set(VOCABULARY);

/** Shortest words that are put right. */
const SHORTEST = 4;
const LONGEST = 16;

/** The same for all words with the same first, last and inner letters. */
const innerLetters = (word: string) => `${word[0]}${[...word.slice(1, -1)].sort().join('')}${word.at(-1)}`;

/** A word without one of its inner letters, for each of them. */
function* shortened(word: string): Generator<string> {
  for (let at = 1; at < word.length - 1; at += 1) yield word.slice(0, at) + word.slice(at + 1);
}

const EXCHANGED = new Map(VOCABULARY.map((word) => [innerLetters(word), word]));
const LEFT_OUT = new Map(
  VOCABULARY.flatMap((word) =>
    word.length > SHORTEST ? [...shortened(word)].map((typed) => [typed, word] as const) : [],
  ),
);

/** Real words that a slip of another would give. */
const REAL = new Set(
  'ease fled files form from fore rues ales aery very tales flies fries deceive evidence untied adore poling'.split(
    ' ',
  ),
);

/** A word of threats for its misspelling; any other word as it is. */
export function repaired(word: string): string {
  if (word.length < SHORTEST || word.length > LONGEST || KNOWN.has(word) || REAL.has(word)) return word;
  if (!/^[a-z]+$/.test(word)) return word;
  const found = EXCHANGED.get(innerLetters(word)) ?? LEFT_OUT.get(word);
  if (found) return found;
  // A letter too many is a slip where it doubles its neighbour.
  const single = word.replace(/(?<=^.+)(.)\1(?=.)/g, '$1');
  if (single !== word && KNOWN.has(single)) return single;
  return word;
}
