import { contentOf, type SearchContext } from '../db/index.js';
import { EmbeddingError, toVectorLiteral, WINDOW_LENGTH } from '../embedding/index.js';
import type { Services } from '../services.js';
import type { TenantContext } from '../tenancy/index.js';
import {
  analyzeQuery,
  type PossibleName,
  possibleNames,
  QUESTION_MARK,
  type QueryWord,
  speakerMark,
} from '../text/index.js';
import { inFirstPerson, type Participant, participantsIn, withoutNames } from './query-cues.js';
import { type NamedTime, timesIn } from './query-time.js';
import { type LookedFor, termsToLookFor } from './relevance.js';

/** Most words that are searched for: the first distinct ones. */
export const MAX_QUERY_WORDS = 64;

/** Most terms that are searched for; a word whose language is not plain has several. */
export const MAX_QUERY_TERMS = 192;

/** Most words of a query that are looked up as names: the first. */
export const MAX_QUERY_NAMES = 16;

/** How much of a long query its vector is made from, in UTF-16 code units: the encoder's first four windows. */
const EMBEDDED_QUERY_LENGTH = 4 * WINDOW_LENGTH;

/** A query before anything is known of who speaks. */
export interface ReadQuery {
  readonly text: string;
  /** Distinct words, at most {@link MAX_QUERY_WORDS}; empty where the text has none. */
  readonly words: readonly QueryWord[];
  readonly names: readonly PossibleName[];
  /** The marks of the turns that each possible name would have spoken, as keyed hashes, and of which term each is. */
  readonly marks: readonly bigint[];
  readonly markedTerms: readonly string[];
  readonly times: readonly NamedTime[];
}

/**
 * Reads a query; times are told from `now`.
 * @param withNames whether words of it may be names
 */
export function readQuery(tenant: TenantContext, text: string, now: Date, withNames: boolean): ReadQuery {
  const content = contentOf(tenant.hashKey);
  const names = withNames ? possibleNames(text, MAX_QUERY_NAMES) : [];
  const markedTerms = [...new Set(names.flatMap((name) => name.terms))];
  return {
    text,
    words: analyzeQuery(text).slice(0, MAX_QUERY_WORDS),
    names,
    marks: markedTerms.map((term) => content.term(speakerMark(term))),
    markedTerms,
    times: timesIn(text, now),
  };
}

/** The participants of visible conversations whom a query names. */
export function participantsOf(query: ReadQuery, { marksFound }: SearchContext): Participant[] {
  const spoken = new Set(marksFound.map((place) => query.markedTerms[place]));
  return participantsIn(query.text, query.names, (term) => spoken.has(term));
}

/** What the arms search for, and what is looked for around it, as keyed hashes. */
export interface QueryTerms {
  readonly words: readonly bigint[];
  /** The words, then the marks and names that tell turns and facts apart. */
  readonly all: readonly bigint[];
  readonly lookedFor: LookedFor;
}

/** @param words whether the words of the query are searched for at all */
export function queryTerms(
  tenant: TenantContext,
  query: ReadQuery,
  participants: readonly Participant[],
  words: boolean,
): QueryTerms {
  const content = contentOf(tenant.hashKey);
  const hashes = words
    ? termsOf(withoutNames(query.words, participants)).map((term) => content.term(term))
    : [];
  const { terms, lookedFor } = termsToLookFor(hashes, content.term(QUESTION_MARK), participants, (term) => ({
    mark: content.term(speakerMark(term)),
    word: content.term(term),
  }));
  return { words: hashes, all: terms, lookedFor };
}

/** The distinct terms of words, first of all the first of each; at most {@link MAX_QUERY_TERMS}. */
function termsOf(words: readonly QueryWord[]): string[] {
  const others = words.flatMap(([_, ...rest]) => rest);
  return [...new Set([...words.map(([first]) => first), ...others])].slice(0, MAX_QUERY_TERMS);
}

/**
 * The vector of a query in pgvector's text form, as the participants whom it names would say it. Null where the encoder
 * cannot read it, or fails: then the lexical arm serves alone, which the receipt tells.
 */
export async function embedForSearch(
  { embedding }: Pick<Services, 'embedding'>,
  query: ReadQuery,
  participants: readonly Participant[],
): Promise<string | null> {
  try {
    // A query that is nothing but names is about them, not of what they say.
    const names = new Set(participants.flatMap(({ terms }) => terms));
    const ofThem = query.words.some(([term]) => !names.has(term));
    const said = ofThem ? inFirstPerson(query.text, participants) : query.text;
    const vector = await embedding.embedQuery(said.slice(0, EMBEDDED_QUERY_LENGTH));
    return vector && toVectorLiteral(vector);
  } catch (error) {
    if (!(error instanceof EmbeddingError)) throw error;
    return null;
  }
}
