import { fold } from './identity.js';

/**
 * What makes two topics, or two identity terms, the same one: NFKC, trimmed, white space collapsed, case folded
 * (SPEC §5.1). For comparing and indexing only; shown is the owner's spelling.
 * @returns '' for a blank text; the key of a key is the key itself
 */
export function topicKey(text: string): string {
  return fold(text);
}
