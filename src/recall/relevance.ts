import type { SearchInContext, TermsRow, TurnRow } from '../db/index.js';
import type { Participant } from './query-cues.js';
import { type NamedTime, timeFit } from './query-time.js';
import { type Evidence, scoreSum } from './score-sum.js';
import { type WindowTurn, windowScores } from './session-window.js';
import type { SumWeights } from './sum-parameters.js';

/** Where in the terms of {@link Surroundings} what is: first the query's words, then the rest. */
export interface LookedFor {
  /** How many are words of the query. */
  readonly words: number;
  /** The place of the mark of a turn that asks. */
  readonly question: number;
  /** Of each participant: the places of the marks of their names, and of their names as words. */
  readonly participants: readonly { readonly marks: readonly number[]; readonly words: readonly number[] }[];
}

/** What the relevance of documents is computed from. */
export interface RelevanceQuery {
  readonly lookedFor: LookedFor;
  readonly times: readonly NamedTime[];
  /** Documents of the tenant, and their mean length in terms. */
  readonly documents: number;
  readonly averageLength: number;
  readonly weights: SumWeights;
  /** How far a turn's window reaches. */
  readonly reach: number;
}

const NOTHING: TermsRow = { frequencies: new Map(), length: 0 };

/** The keyed hashes to look for in turns and facts, and where each is. */
export function termsToLookFor(
  words: readonly bigint[],
  question: bigint,
  participants: readonly Participant[],
  hash: (term: string) => { readonly mark: bigint; readonly word: bigint },
): { readonly terms: readonly bigint[]; readonly lookedFor: LookedFor } {
  const terms = [...words, question];
  const place = (term: bigint) => {
    const known = terms.indexOf(term);
    return known >= 0 ? known : terms.push(term) - 1;
  };
  const of = participants.map((participant) => {
    const hashes = participant.terms.map(hash);
    return { marks: hashes.map(({ mark }) => place(mark)), words: hashes.map(({ word }) => place(word)) };
  });
  return { terms, lookedFor: { words: words.length, question: words.length, participants: of } };
}

/** How relevant a candidate is. */
export interface Relevance {
  /** Its {@link scoreSum}. */
  readonly sum: number;
  /** Whether a word of the query is in it, or said around it. */
  readonly worded: boolean;
}

/** How relevant each candidate is, by id. */
export function relevanceOf(found: SearchInContext, query: RelevanceQuery): Map<string, Relevance> {
  const { lookedFor, times, documents, averageLength, weights, reach } = query;
  const rowOf = (id: string) => found.terms.get(id) ?? NOTHING;
  const has = (id: string, places: readonly number[]) =>
    places.every((place) => rowOf(id).frequencies.has(place));
  const asks = (id: string) => has(id, [lookedFor.question]);
  const windows = windowScores(
    found.turns.map((turn) => windowTurn(turn, rowOf(turn.id), asks(turn.id), lookedFor.words)),
    found.termWeights,
    averageLength,
    reach,
  );
  const near = turnsNear(
    found.turns,
    found.turns.filter(({ id }) => lookedFor.participants.some(({ marks }) => has(id, marks))),
    reach,
  );
  const [one, ...others] = lookedFor.participants;
  const named = one && others.length === 0 ? one : null;
  return new Map(
    found.candidates.map(({ id, source, lexical, cosine, toldAt, characters }) => {
      const turn = source === 'MESSAGE' ? { asks: asks(id), characters } : null;
      const ofNamed = named !== null && has(id, turn ? named.marks : named.words);
      const evidence: Evidence = {
        lexical: turn ? (windows.get(id) ?? 0) : (lexical ?? 0),
        cosine,
        ofNamed,
        nearNamed: turn ? near.has(id) : lookedFor.participants.some(({ words }) => has(id, words)),
        time: times.length > 0 ? timeFit(toldAt.getTime(), times) : 0,
        turn,
      };
      return [id, { sum: scoreSum(evidence, documents, weights), worded: evidence.lexical > 0 }];
    }),
  );
}

function windowTurn(
  { id, sessionId, seq }: TurnRow,
  row: TermsRow,
  asks: boolean,
  words: number,
): WindowTurn {
  const frequencies = Array.from({ length: words }, (_, place) => row.frequencies.get(place) ?? 0);
  return { id, sessionId, seq, length: row.length, frequencies, asks };
}

/** The turns within reach of one of `centres`, these among them. */
function turnsNear(turns: readonly TurnRow[], centres: readonly TurnRow[], reach: number): Set<string> {
  const places = new Map(turns.map(({ id, sessionId, seq }) => [`${sessionId} ${seq}`, id]));
  const near = new Set<string>();
  for (const { sessionId, seq } of centres)
    for (let offset = -reach; offset <= reach; offset++) {
      const id = places.get(`${sessionId} ${seq + offset}`);
      if (id !== undefined) near.add(id);
    }
  return near;
}
