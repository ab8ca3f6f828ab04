import { fold } from './identity.js';

/** What only says how a word is broken or drawn: soft hyphens and variation selectors. */
const UNSEEN = /\u00ad|\p{Variation_Selector}/gu;

/**
 * What makes two topics, or two identity terms, the same one: NFKC, trimmed, white space collapsed, case folded
 * (SPEC §5.1), and soft hyphens and variation selectors left out, which nobody sees. For comparing and indexing only;
 * shown is the owner's spelling, and vectors and fingerprints are those of that.
 * @returns '' for a text that shows nothing; the key of a key is the key itself
 */
export function topicKey(text: string): string {
  // Before it is folded: white space on both sides of one becomes one space.
  return fold(text.replace(UNSEEN, ''));
}
