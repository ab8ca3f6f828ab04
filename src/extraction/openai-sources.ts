import { analyzeDocument, analyzeQuery } from '../text/index.js';
import type { ExtractorMessage } from './extractor.js';

/** A message is a source where it has this share of the words that the best one has. */
const ALIKE = 0.75;
/** Most messages that one fact names as its sources. */
const MOST_SOURCES = 3;

/**
 * Which messages a fact was read from: those of users and agents that share most of its words. The model is not asked:
 * what it says would have to be believed, and forgetting a fact redacts its sources. A user's message goes before an
 * agent's that shares as many. Where no message shares a word with it (a fact in another language), the user's newest.
 */
export class SourceFinder {
  readonly #messages: { readonly id: string; readonly user: boolean; readonly terms: ReadonlySet<string> }[];

  constructor(messages: readonly ExtractorMessage[]) {
    this.#messages = messages
      .filter(({ role }) => role === 'USER' || role === 'ASSISTANT')
      .map(({ id, role, speaker, content }) => ({
        id,
        user: role === 'USER',
        terms: termsOf(`${speaker ?? ''} ${content}`),
      }));
  }

  /** Ids of the messages, in their order; none where neither a user nor an agent spoke. */
  sourcesOf(text: string): string[] {
    const wanted = analyzeQuery(text);
    const rated = this.#messages.map((message) => ({
      ...message,
      shared: wanted.filter((word) => word.some((term) => message.terms.has(term))).length,
    }));
    const best = Math.max(0, ...rated.map(({ shared }) => shared));
    if (best === 0) {
      const newest = rated.findLast(({ user }) => user) ?? rated.at(-1);
      return newest ? [newest.id] : [];
    }
    const alike = rated.filter(({ shared }) => shared >= ALIKE * best);
    const users = alike.filter(({ user }) => user);
    return (users.length > 0 ? users : alike)
      .toSorted((one, other) => other.shared - one.shared)
      .slice(0, MOST_SOURCES)
      .map(({ id }) => id);
  }
}

function termsOf(text: string): ReadonlySet<string> {
  return new Set(analyzeDocument(text).terms.map(({ term }) => term));
}
