/**
 * From text to terms, for what is stored and what is asked (SPEC §8.1). Pure; any text is a query and any text can be
 * indexed.
 *
 * A stored text has one term a word: its stem in the language that the text is in. A query tells its language badly (two
 * words, a name), so it looks for a word under the stems that any of the languages would give it; only where it is
 * plainly English it looks for English ones alone, but for names. English stems are always among them: they are what a
 * text that says too little of its language is stored under.
 */

import {
  type LatinLanguage,
  languageOf,
  stopWordsOf,
  type TextLanguage,
  withoutElision,
} from './languages.js';
import { possibleStems, stemOf } from './lexical-stems.js';
import { foldWord, wordsOfChunk } from './lexical-tokens.js';
import { isScriptStopWord } from './script-stop-words.js';
import { COMMON_SUBJECT_WORDS, FUNCTION_WORDS, UBIQUITOUS_WORDS } from './stop-words.js';
import { TwoGenerationCache } from './two-generation-cache.js';

/** A term of a document and how often it is there. */
export interface LexicalTerm {
  term: string;
  /** ≥ 1. */
  count: number;
}

/** A word of a query: the terms under which texts may have it, distinct, the English one first. */
export type QueryWord = readonly [string, ...string[]];

/** How little a word selects: 0 is content, 3 is in nearly every text. */
type Commonness = 0 | 1 | 2 | 3;

interface AnalyzedWord {
  /** Folded, unstemmed. */
  readonly word: string;
  readonly commonness: Commonness;
  /** A capital makes a name of it. */
  readonly named: boolean;
}

const foldedStopWords = new Map<
  LatinLanguage,
  { common: ReadonlySet<string>; ubiquitous: ReadonlySet<string> }
>();

function stopWords(language: LatinLanguage) {
  let folded = foldedStopWords.get(language);
  if (!folded) {
    const { common, ubiquitous } = stopWordsOf(language);
    folded = {
      common: new Set([...common].map(foldWord)),
      ubiquitous: new Set([...ubiquitous].map(foldWord)),
    };
    foldedStopWords.set(language, folded);
  }
  return folded;
}

function commonnessOf(word: string, language: TextLanguage): Commonness {
  if (isScriptStopWord(word)) return 2;
  if (language !== 'en') {
    const { common, ubiquitous } = stopWords(language);
    if (ubiquitous.has(word)) return 3;
    return common.has(word) ? 2 : 0;
  }
  if (UBIQUITOUS_WORDS.has(word)) return 3;
  if (FUNCTION_WORDS.has(word)) return 2;
  return COMMON_SUBJECT_WORDS.has(word) ? 1 : 0;
}

/** Texts repeat their words. */
const LONGEST_CACHED_CHUNK = 32;
const chunks = new TwoGenerationCache<readonly AnalyzedWord[]>(20_000);

function analyzeChunk(chunk: string, language: TextLanguage): readonly AnalyzedWord[] {
  const read = () =>
    wordsOfChunk(language === 'fr' || language === 'it' ? withoutElision(chunk) : chunk).map((word) => ({
      word,
      commonness: commonnessOf(word, language),
      named: false,
    }));
  return chunk.length > LONGEST_CACHED_CHUNK ? read() : chunks.get(`${language} ${chunk}`, read);
}

/** A capital inside a sentence makes a name of a common word: Will, May, The Who, IT, US. */
function isNamed(chunk: string, startsSentence: boolean): boolean {
  if (!/^\P{L}*(?!I\P{L}|I$)\p{Lu}/u.test(chunk)) return false;
  return !startsSentence || /\p{Lu}\.?\p{Lu}/u.test(chunk);
}

/** The words of a text in order. */
function analyze(text: string, language: TextLanguage): AnalyzedWord[] {
  const normal = text.normalize('NFKC');
  // In other languages every noun has one, or a courteous pronoun.
  const capitalsMeanSomething = language === 'en' && /\p{Ll}/u.test(normal);
  const found: AnalyzedWord[] = [];
  let startsSentence = true;
  for (const chunk of normal.split(/\s+/)) {
    if (chunk === '') continue;
    const named = capitalsMeanSomething && isNamed(chunk, startsSentence);
    for (const word of analyzeChunk(chunk, language))
      found.push(named ? { ...word, named, commonness: word.commonness > 1 ? 0 : word.commonness } : word);
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

function countedTerms(text: string, language: TextLanguage): { terms: LexicalTerm[]; length: number } {
  const words = selective(analyze(text, language), [2, 3]);
  const counts = new Map<string, number>();
  for (const { word } of words) {
    const term = stemOf(word, language);
    counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  return { terms: [...counts].map(([term, count]) => ({ term, count })), length: words.length };
}

/**
 * The distinct terms of a text to be stored, with frequencies, in order of first occurrence. All words count
 * but the few that are in nearly every sentence, and those too if the text has no others.
 *
 * @returns `length`: the sum of all frequencies, BM25's document length; 0 for a text without words
 */
export function analyzeDocument(text: string): { terms: LexicalTerm[]; length: number } {
  return countedTerms(text, languageOf(text) ?? 'en');
}

/** The distinct terms of a name, the same wherever it stands: a name has no language. */
export function analyzeName(name: string): string[] {
  return countedTerms(name, 'en').terms.map(({ term }) => term);
}

/**
 * The distinct words of a query, in order. Stop words are dropped unless nothing else is left; then the least
 * common of them are kept, at the last all.
 */
export function analyzeQuery(text: string): QueryWord[] {
  const language = languageOf(text);
  const words = selective(analyze(text, language ?? 'en'), [0, 1, 2, 3]);
  const found = new Map<string, QueryWord>();
  for (const { word, named } of words) {
    const terms: QueryWord = language === 'en' && !named ? [stemOf(word)] : possibleStems(word);
    if ((found.get(terms[0])?.length ?? 0) < terms.length) found.set(terms[0], terms);
  }
  return [...found.values()];
}

/** Words in scripts whose pairs of characters are indexed beside them. */
const HAS_PAIRS = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]{3,}$/u;

/**
 * The words of a query of which a text must have every one, as a filter asks. Where pairs of characters stand for a
 * longer word, these alone: a dictionary cuts one word differently by what stands around it.
 */
export function analyzeFilter(text: string): QueryWord[] {
  return analyzeQuery(text).filter(([term]) => !HAS_PAIRS.test(term));
}
