/** Whether a sentence states something durable, and what (SPEC §2.3). */

import nlp from 'compromise/two';
import type { FactKind } from '../text/index.js';
import { entitiesOf, type TaggedWord } from './rules-entities.js';
import { taggedStatement } from './rules-events.js';
import {
  ADDRESSED,
  HEDGE,
  HYPOTHETICAL,
  IMPERATIVE,
  MOMENTARY,
  NOW,
  QUESTION,
  REACTION,
  TASK_WORK,
  UNRESOLVED,
} from './rules-filters.js';
import { foreignStatement, type Language } from './rules-languages.js';
import type { StatementRule } from './rules-pattern.js';
import { STATEMENT_RULES } from './rules-statements.js';

/** A durable statement. */
export interface Judgement {
  kind: FactKind;
  /** `AUTHOR` or the words that name the subject. */
  subject: 'AUTHOR' | { words: string } | null;
  predicate: string;
  object: string | undefined;
  entities: string[];
  confidence: number;
  /** It tells of the past, so that a date in it is when it began to be true. */
  past: boolean;
}

/** A sentence longer than this, in characters, is a list or a paste. */
const LONGEST_SENTENCE = 600;
const LONG_SENTENCE = 300;

/**
 * Judges a cleaned sentence.
 *
 * @param asked whether the sentence as written was a question, which cleaning no longer shows
 */
export function judge(sentence: string, language: Language, asked: boolean): Judgement | null {
  if (sentence.length > LONGEST_SENTENCE || asked) return null;
  const judged =
    language === 'en'
      ? judgeEnglish(sentence)
      : // English words happen in any language; the tags would be noise there.
        (judgeForeign(sentence, language) ??
        (QUESTION.test(sentence) ? null : judgeByRule(sentence, withoutQuotes(sentence))));
  if (!judged) return null;
  return { ...judged, confidence: round(judged.confidence - doubtOf(sentence)) };
}

function doubtOf(sentence: string): number {
  return (
    (HEDGE.test(sentence) ? 0.2 : 0) +
    (sentence.length > LONG_SENTENCE ? 0.1 : 0) +
    (UNRESOLVED.test(sentence) && !/\bpronouns\b/i.test(sentence) ? 0.2 : 0) +
    (/["“”]/.test(sentence) ? 0.05 : 0) +
    (/\b(?:e\.g\.|for example|for instance|such as .{0,30}\betc)/i.test(sentence) ? 0.3 : 0)
  );
}

function round(confidence: number): number {
  return Math.round(Math.max(0, Math.min(1, confidence)) * 100) / 100;
}

function judgeForeign(sentence: string, language: Exclude<Language, 'en'>): Judgement | null {
  const statement = foreignStatement(sentence, language);
  if (!statement) return null;
  return {
    ...statement,
    subject:
      statement.kind === 'USER_PROFILE' || statement.kind === 'PREFERENCE' || statement.kind === 'ENV'
        ? 'AUTHOR'
        : null,
    entities: entitiesOf(sentence, tag(sentence)),
    confidence: 0.7,
    past: false,
  };
}

function judgeEnglish(sentence: string): Judgement | null {
  if (QUESTION.test(sentence) || HYPOTHETICAL.test(sentence)) return null;
  const spoken = withoutQuotes(sentence);
  const ruled = judgeByRule(sentence, spoken);
  if (ruled) return ruled;
  return isBlocked(spoken) || TASK_WORK.test(spoken) || MOMENTARY.test(spoken) ? null : judgeTagged(sentence);
}

function judgeByRule(sentence: string, spoken: string): Judgement | null {
  const rule = matchingRule(spoken);
  if (!rule) return null;
  const match = rule.pattern.exec(spoken)!;
  const tagged = tag(sentence);
  if (match.groups?.['imperative'] && !startsWithVerb(tagged)) return null;
  const { subject, verb, topic } = match.groups ?? {};
  return {
    kind: rule.kind,
    subject: subject ? { words: subject } : pronounOf(match[0], rule.kind),
    predicate: predicateOf(rule, verb, topic, /^i\b/i.test(match[0])),
    object: originalObject(sentence, spoken, match),
    entities: entitiesOf(sentence, tagged),
    confidence: rule.confidence,
    past: /decided|moved|born/.test(rule.predicate),
  };
}

function pronounOf(matched: string, kind: FactKind): Judgement['subject'] {
  if (/^(?:i|my|call me)\b/i.test(matched)) return 'AUTHOR';
  const group =
    /^(?:we|(?:the|our|my) (?:team|board|committee|company|management|department|group|council|family))\b/i.exec(
      matched,
    );
  if (group) return { words: group[0].toLowerCase() };
  return kind === 'PREFERENCE' || kind === 'USER_PROFILE' ? 'AUTHOR' : null;
}

const CONTRACTED: Readonly<Record<string, string>> = { "'s": 'is', "'re": 'are', "'m": 'am' };

function predicateOf(
  rule: StatementRule,
  verb: string | undefined,
  topic: string | undefined,
  first: boolean,
): string {
  if (topic) return `has ${rule.kind === 'PREFERENCE' ? 'favourite ' : ''}${topic.toLowerCase()}`;
  const plain = verb?.trim().toLowerCase();
  if (!plain) return rule.predicate;
  return CONTRACTED[plain] ?? (first ? thirdPerson(plain) : plain);
}

/** "I use" is told of a user who uses. */
function thirdPerson(verb: string): string {
  const negated = verb.replace(/^(?:don't|do not) /, 'does not ').replace(/^(?:can't) /, 'cannot ');
  if (
    negated !== verb ||
    /^(?:can|cannot|no longer|never|stopped|quit|gave|been|am|are|have|got|moved|switched|taught|in)\b|^\w+(?:ed|ied)\b/.test(
      verb,
    )
  ) {
    return negated.replace(/^have\b/, 'has');
  }
  return verb.replace(/^\w+/, (word) =>
    /(?:[sxz]|[cs]h)$/.test(word)
      ? `${word}es`
      : /[^aeiou]y$/.test(word)
        ? `${word.slice(0, -1)}ies`
        : `${word}s`,
  );
}

/** "Always use …" orders; "always happy to …" does not. */
function startsWithVerb(tagged: readonly TaggedWord[]): boolean {
  const word = tagged.find(({ text }) => !/^(?:always|never|do|don't|not|ever|)$/i.test(text));
  if (!word) return false;
  if (IMPERATIVE.test(word.text)) return true;
  return (
    word.tags.has('Verb') && !['Gerund', 'PastTense', 'Copula', 'Adjective'].some((tag) => word.tags.has(tag))
  );
}

function isBlocked(sentence: string): boolean {
  return ADDRESSED.test(sentence) || REACTION.test(sentence) || IMPERATIVE.test(sentence);
}

function matchingRule(sentence: string): StatementRule | undefined {
  const blocked = isBlocked(sentence) || MOMENTARY.test(sentence);
  const now = NOW.test(sentence);
  const task = TASK_WORK.test(sentence);
  return STATEMENT_RULES.find((rule) => {
    if (blocked && !rule.order) return false;
    if (now && rule.state) return false;
    if (task && !rule.order && rule.kind !== 'DECISION') return false;
    return rule.pattern.test(sentence);
  });
}

/** Quoted words are blanked, at the same length: they are another's, and no signal may come from them. */
function withoutQuotes(sentence: string): string {
  return sentence.replace(
    /(["“])([^"”]{1,300})(["”])/gu,
    (_, open: string, words: string, close: string) => open + words.replace(/[^\s]/g, 'x') + close,
  );
}

function originalObject(sentence: string, spoken: string, match: RegExpExecArray): string | undefined {
  const object = match.groups?.['object'];
  if (object === undefined) return undefined;
  const at = spoken.indexOf(object, match.index);
  return (
    sentence
      .slice(at, at + object.length)
      .trim()
      .replace(/[.,;!]+$/, '') || undefined
  );
}

function judgeTagged(sentence: string): Judgement | null {
  const tagged = tag(sentence);
  const entities = entitiesOf(sentence, tagged);
  const statement = taggedStatement(tagged, entities);
  if (!statement) return null;
  if (!statement.past && NOW.test(sentence)) return null;
  return { ...statement, kind: 'FACT', entities };
}

/** The words of a sentence with the library's tags. */
export function tag(sentence: string): TaggedWord[] {
  return nlp(sentence).docs.flatMap((terms) =>
    terms.map((term) => ({
      text: term.text,
      tags: new Set(term.tags ?? []),
      before: term.pre,
      after: term.post,
    })),
  );
}
