/**
 * Statements without a telling phrase (SPEC §2.3): what happened to the speaker, and what someone named does
 * or did. They are read from the tags of the NLP library.
 */

import type { TaggedWord } from './rules-entities.js';

/** A statement as read from the tags. */
export interface TaggedStatement {
  /** `I` and `we` are the author; otherwise the words of the subject. */
  subject: 'AUTHOR' | { words: string };
  predicate: string;
  object: string;
  past: boolean;
  confidence: number;
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

/** Verbs of talk, thought and perception: they tell of the conversation more often than of a life. */
const WEAK_VERBS = words(
  'said say says told tell tells asked ask asks meant mean means knew know knows thought think thinks saw see sees heard hear hears ' +
    'noticed notice wondered wonder forgot forget tried try tries looked look looks felt feel feels understood guess guessed hoped hope ' +
    'wanted want wants needed need needs liked seemed seem seems mentioned mention shared appreciated agree agreed believe believed ' +
    'assumed figured expected remember remembered realised realized',
);
/** Verbs that say something only with a telling object. */
const LIGHT_VERBS = words(
  'had have has got get gets did do does made make makes took take takes was were is are been put kept went gave',
);
const VAGUE = words(
  'time times thing things lot lots bit fun day days way ways idea something anything everything stuff one ones kind sort moment part ' +
    'look chance blast luck problem trouble sense point case while today tonight yesterday tomorrow morning evening afternoon week ' +
    'weekend month year years god wow lol haha mess ride breath break it that this there here us me myself great good nice',
);
const BEGINS_AUTHOR = /^(?:i|we)$/i;
const CONTRACTED_AUTHOR = /^(?:i|we)'(?:ve|d|m|re|ll)$/i;
/** What stops working is news of the hour, whoever owns it. */
const GADGET =
  /^(?:code|test|tests|build|function|script|query|error|page|screen|internet|wifi|connection|program|loop|request|bug|terminal|browser|pr|branch|commit)$/i;

/**
 * The statement that a tagged sentence makes, or null for one that makes none: no subject that can be named, a
 * weak verb, or nothing told of it.
 *
 * @param entities the sentence's names
 */
export function taggedStatement(
  tagged: readonly TaggedWord[],
  entities: readonly string[],
): TaggedStatement | null {
  const start = subjectStart(tagged, entities);
  if (!start) return null;
  const { subject, next } = start;
  const verbAt = mainVerb(tagged, next);
  if (verbAt < 0) return null;
  const verb = tagged[verbAt]!;
  const word = verb.text.toLowerCase();
  const past = verb.tags.has('PastTense') || verb.tags.has('Participle');
  const perfect = tagged
    .slice(next - 1, verbAt)
    .some(({ text }) => /(?:^(?:have|has|had)$|'ve$|'d$)/i.test(text));
  if (WEAK_VERBS.has(word)) return null;
  if (subject === 'AUTHOR' && !past) return null;
  if (subject !== 'AUTHOR' && subject.own && GADGET.test(subject.words.split(' ').at(-1)!)) return null;
  if (!past && (verb.tags.has('Gerund') || verb.tags.has('Imperative'))) return null;
  const rest = tagged.slice(verbAt + 1);
  const told = contentOf(rest, entities);
  const needed = LIGHT_VERBS.has(word) ? 2 : 1;
  const copula = verb.tags.has('Copula') || /^(?:is|are|was|were)$/.test(word);
  if (told < needed && !(told > 0 && entities.some((name) => containsName(rest, name)))) return null;
  if (copula && !rest.some(({ tags }) => tags.has('Noun') && !tags.has('Pronoun') && !tags.has('Date')))
    return null;
  if (tagged.length < (entities.length > 0 ? 3 : 4)) return null;
  return {
    subject: subject === 'AUTHOR' ? 'AUTHOR' : { words: subject.words },
    predicate: textOf(tagged.slice(next, verbAt + 1)),
    object: textOf(rest),
    past: past || perfect,
    confidence: 0.55 + (entities.length > 0 ? 0.05 : 0) + (told > 2 ? 0.05 : 0),
  };
}

interface SubjectStart {
  subject: 'AUTHOR' | { words: string; own: boolean };
  /** The index of the first word after the subject. */
  next: number;
}

function subjectStart(tagged: readonly TaggedWord[], entities: readonly string[]): SubjectStart | null {
  const first = tagged[0];
  if (!first) return null;
  // "Lost my job yesterday": the author is left out.
  if (first.tags.has('PastTense') && first.tags.has('Verb') && tagged.length > 3)
    return { subject: 'AUTHOR', next: 0 };
  const name = entities.find((entity) => startsWithName(tagged, entity));
  if (name) {
    const length = name.split(/\s+/).length;
    if (!first.text.endsWith("'s") && !tagged[length - 1]?.text.endsWith("'s"))
      return { subject: { words: name, own: false }, next: length };
  }
  // "Yesterday, after work, I …": the author comes within a few words.
  for (let at = 0; at < Math.min(tagged.length, 9); at += 1) {
    const text = tagged[at]!.text;
    if (BEGINS_AUTHOR.test(text) || CONTRACTED_AUTHOR.test(text)) return { subject: 'AUTHOR', next: at + 1 };
    if (/^(?:my|our)$/i.test(text)) return possessed(tagged, at);
    if (tagged[at]!.tags.has('Verb') && at > 0 && !tagged[at]!.tags.has('Gerund')) return null;
  }
  return null;
}

/** "my little sister Ann": up to the last word before the verb. */
function possessed(tagged: readonly TaggedWord[], at: number): SubjectStart | null {
  let end = at + 1;
  while (
    end < tagged.length &&
    end < at + 6 &&
    !isVerb(tagged[end]!) &&
    !tagged[end]!.tags.has('Preposition')
  )
    end += 1;
  if (end === at + 1 || end >= tagged.length) return null;
  return { subject: { words: textOf(tagged.slice(at, end)).replace(/[,;]$/, ''), own: true }, next: end };
}

function isVerb({ tags }: TaggedWord): boolean {
  return tags.has('Verb') || tags.has('Auxiliary') || tags.has('Copula');
}

/** The first verb after the subject that is no auxiliary; adverbs and negations may stand between. */
function mainVerb(tagged: readonly TaggedWord[], from: number): number {
  for (let at = from; at < Math.min(tagged.length, from + 6); at += 1) {
    const word = tagged[at]!;
    if (word.text === '') continue;
    if (isVerb(word)) {
      const followedByVerb = tagged
        .slice(at + 1, at + 4)
        .find((next) => next.text !== '' && !next.tags.has('Adverb') && !next.tags.has('Negative'));
      if (word.tags.has('Auxiliary') && followedByVerb && isVerb(followedByVerb)) continue;
      if (
        /^(?:have|has|had|been|will|would|can|could|should|might|may|must|do|does|did)$/i.test(word.text) &&
        followedByVerb &&
        isVerb(followedByVerb)
      ) {
        if (/^(?:will|would|can|could|should|might|may|must)$/i.test(word.text)) return -1;
        continue;
      }
      return at;
    }
    if (
      !word.tags.has('Adverb') &&
      !word.tags.has('Negative') &&
      !/^(?:both|all|also|just|never|not)$/i.test(word.text)
    )
      return -1;
  }
  return -1;
}

function contentOf(rest: readonly TaggedWord[], entities: readonly string[]): number {
  const named = new Set(entities.flatMap((name) => name.toLowerCase().split(/\s+/)));
  return rest.filter(({ text, tags }) => {
    const word = text.toLowerCase();
    if (word === '' || VAGUE.has(word) || tags.has('Pronoun')) return false;
    return tags.has('Noun') || tags.has('Value') || tags.has('Gerund') || named.has(word);
  }).length;
}

function containsName(rest: readonly TaggedWord[], name: string): boolean {
  return rest.some(
    ({ text }) => text !== '' && name.toLowerCase().includes(text.toLowerCase().replace(/'s$/, '')),
  );
}

function startsWithName(tagged: readonly TaggedWord[], name: string): boolean {
  return name
    .split(/\s+/)
    .every(
      (part, index) =>
        tagged[index]?.text.replace(/(?:'s|')$/, '').toLowerCase() === part.replace(/\.$/, '').toLowerCase(),
    );
}

function textOf(tagged: readonly TaggedWord[]): string {
  return tagged
    .map(({ before, text, after }) => before + text + after)
    .join('')
    .trim()
    .replace(/[.,;!?]+$/, '');
}
