/** Words that select nothing (SPEC §8.1). All of them are dropped from a query that has other words. */

const words = (...lists: readonly string[]): string[] => lists.flatMap((list) => list.split(/\s+/));

/**
 * The words of nearly every English sentence. Two of five words of a conversation are among them, so they are
 * not even indexed, unless a text has nothing else.
 */
export const UBIQUITOUS_WORDS: ReadonlySet<string> = new Set(
  words(
    'the a an and or but of to in on at for from with by as is are was were be been being am',
    'i you my your me we it its that this these those so have has had he she they them his her their',
  ),
);

/** The rest of closed-class English: indexed, since a query may be made of them alone ("who are you"). */
export const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  words(
    'do does did doing done how what where when which who whom whose why having',
    'mine myself yours yourself him himself hers herself us our ours ourselves theirs themselves itself',
    'will would shall should can could may might must into about than then if because while there here',
    'not no nor only just too very also any some such',
    // Contractions typed without their apostrophe.
    'im ive youre youve hes shes theyre weve dont doesnt didnt isnt arent wasnt werent cant',
  ),
);

/** Content words that say nothing in a memory about users and projects. */
export const COMMON_SUBJECT_WORDS: ReadonlySet<string> = new Set(
  words('use uses used user users project projects right now'),
);
