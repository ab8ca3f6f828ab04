/**
 * From text to terms, the same way for what is stored and what is asked (SPEC §8.1). Pure; any text is a
 * query and any text can be indexed.
 */

import { stemOf } from './lexical-stems.js';
import { wordsOfChunk } from './lexical-tokens.js';
import { COMMON_SUBJECT_WORDS, FUNCTION_WORDS, UBIQUITOUS_WORDS } from './stop-words.js';

/** A term of a document and how often it is there. */
export interface LexicalTerm {
  term: string;
  /** ≥ 1. */
  count: number;
}

/** How little a word selects: 0 is content, 3 is in nearly every text. */
type Commonness = 0 | 1 | 2 | 3;

interface AnalyzedWord {
  term: string;
  commonness: Commonness;
}

function commonnessOf(word: string): Commonness {
  if (UBIQUITOUS_WORDS.has(word)) return 3;
  if (FUNCTION_WORDS.has(word)) return 2;
  return COMMON_SUBJECT_WORDS.has(word) ? 1 : 0;
}

/** Texts repeat their words; two generations keep the frequent ones without any bookkeeping. */
const CACHE_SIZE = 20_000;
const LONGEST_CACHED_CHUNK = 32;
let recent = new Map<string, readonly AnalyzedWord[]>();
let older = new Map<string, readonly AnalyzedWord[]>();

function analyzeChunk(chunk: string): readonly AnalyzedWord[] {
  const cached = recent.get(chunk);
  if (cached) return cached;
  const words =
    older.get(chunk) ??
    wordsOfChunk(chunk).map((word) => ({ term: stemOf(word), commonness: commonnessOf(word) }));
  if (chunk.length <= LONGEST_CACHED_CHUNK) {
    if (recent.size >= CACHE_SIZE) {
      older = recent;
      recent = new Map();
    }
    recent.set(chunk, words);
  }
  return words;
}

/** A capital inside a sentence makes a name of a common word: Will, May, The Who, IT, US. */
function isNamed(chunk: string, startsSentence: boolean): boolean {
  if (!/^\P{L}*(?!I\P{L}|I$)\p{Lu}/u.test(chunk)) return false;
  return !startsSentence || /\p{Lu}\.?\p{Lu}/u.test(chunk);
}

/** The words of a text in order. */
function analyze(text: string): AnalyzedWord[] {
  const normal = text.normalize('NFKC');
  const capitalsMeanSomething = /\p{Ll}/u.test(normal);
  const found: AnalyzedWord[] = [];
  let startsSentence = true;
  for (const chunk of normal.split(/\s+/)) {
    if (chunk === '') continue;
    for (const word of analyzeChunk(chunk)) {
      const named = word.commonness > 1 && capitalsMeanSomething && isNamed(chunk, startsSentence);
      found.push(named ? { term: word.term, commonness: 0 } : word);
    }
    startsSentence = /[.!?:;"”)*•-]$/.test(chunk);
  }
  return found;
}

/** The words below the lowest of these levels that leaves any. */
function selective(words: readonly AnalyzedWord[], levels: readonly Commonness[]): readonly AnalyzedWord[] {
  for (const level of levels) {
    const kept = words.filter((word) => word.commonness <= level);
    if (kept.length > 0) return kept;
  }
  return [];
}

/**
 * The distinct terms of a text to be stored, with frequencies, in order of first occurrence. All words count
 * but the few that are in nearly every sentence, and those too if the text has no others.
 *
 * @returns `length`: the sum of all frequencies, BM25's document length; 0 for a text without words
 */
export function analyzeDocument(text: string): { terms: LexicalTerm[]; length: number } {
  const words = selective(analyze(text), [2, 3]);
  const counts = new Map<string, number>();
  for (const { term } of words) counts.set(term, (counts.get(term) ?? 0) + 1);
  return { terms: [...counts].map(([term, count]) => ({ term, count })), length: words.length };
}

/**
 * The distinct terms of a query, in order. Stop words are dropped unless nothing else is left; then the least
 * common of them are kept, at the last all.
 */
export function analyzeQuery(text: string): string[] {
  return [...new Set(selective(analyze(text), [0, 1, 2, 3]).map(({ term }) => term))];
}
