/**
 * The `rules` extractor (SPEC §2.3): no key, no network, deterministic. It keeps the sentences in which the
 * users themselves state something durable, each with a kind, its entities and, where plain to see, subject,
 * predicate and object.
 *
 * What is durable. Kept are: who the user is, what they like, how they want to be answered, decisions,
 * conventions, the project, the environment; what happened to them or to someone named, since an event stays
 * true for ever ("I went to a support group yesterday" is worth knowing in a year, and its date is the
 * message's); plans without an end in sight ("I'm planning to move to Spain"). Dropped are: questions,
 * orders, hypotheses, reactions and politeness, feelings and whereabouts of the moment, the progress of the
 * task at hand ("running the tests now"), plans for today or tomorrow, and statements about "it" or "that",
 * which mean nothing alone. Code, quotations, logs, tables and examples are not the user's statements; what
 * looks like a pasted document counts for less.
 *
 * The words are the user's own, without greetings and fillers ("hi!", "remember that"), and in the person in
 * which they were said: turning "I" into a name changes verbs and pronouns, and a wrong rewrite is a wrong
 * fact. Where several people speak, a statement begins with its speaker ("Ann: I moved to Oslo"), since "I"
 * alone would merge them.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { DuplicateIndex, type FactKind } from '../text/index.js';
import type {
  ExtractedFact,
  ExtractedSupersession,
  Extractor,
  ExtractorInput,
  ExtractorMessage,
  ExtractorOutput,
  KnownFact,
} from './extractor.js';
import { validFromOf } from './rules-dates.js';
import { type Judgement, judge } from './rules-judge.js';
import { type Language, languageOf } from './rules-languages.js';
import { cleanSentence, proseOf, sentencesOf } from './rules-prose.js';
import { replacedBy } from './rules-supersede.js';

/** Statements below this are not proposed. */
const LEAST_CONFIDENCE = 0.4;
/** What a pasted document loses. */
const PASTED_DOUBT = 0.2;
/** A fact grows by following sentences about the same person up to this, in characters. */
const LONGEST_FACT = 400;

/** Facts of one message; more are a list or a paste, whose rest is left to the search for messages. */
const MOST_FACTS = 100;

/** Characters read, and statements compared, before the process gets its turn. */
const TURN_LENGTH = 2_000;
const TURN_STATEMENTS = 20;

/** A statement on its way to a fact. */
interface Statement {
  judgement: Judgement;
  text: string;
  message: ExtractorMessage;
}

/** The extractor that needs nothing but the text. */
export function createRulesExtractor(): Extractor {
  return {
    name: 'RULES',
    async extract(input: ExtractorInput, signal: AbortSignal): Promise<ExtractorOutput> {
      const proposed = new Proposed(input);
      for (const message of input.messages) {
        if (message.role !== 'USER') continue;
        const statements = await statementsOf(message, signal);
        for (const [index, statement] of statements.slice(0, MOST_FACTS).entries()) {
          if (index % TURN_STATEMENTS === 0) await nextTurn();
          signal.throwIfAborted();
          proposed.add(statement);
        }
        if (statements.length > MOST_FACTS)
          proposed.output.notes.push(
            `${statements.length - MOST_FACTS} statements of one message were left out`,
          );
      }
      signal.throwIfAborted();
      return proposed.output;
    },
  };
}

async function statementsOf(message: ExtractorMessage, signal: AbortSignal): Promise<Statement[]> {
  const prose = proseOf(message.content);
  const statements: Statement[] = [];
  let read = TURN_LENGTH;
  for (const paragraph of prose.paragraphs) {
    const language = languageOf(paragraph);
    let previous: Statement | undefined;
    for (const written of sentencesOf(paragraph)) {
      read += written.length;
      if (read > TURN_LENGTH) {
        // A long window must not hold up the process.
        await nextTurn();
        signal.throwIfAborted();
        read = 0;
      }
      previous = nextStatement(written, language, prose.pasted, message, previous);
      if (previous && previous !== statements.at(-1)) statements.push(previous);
    }
  }
  return statements;
}

/** The statement that a sentence makes or goes on with, if any. */
function nextStatement(
  written: string,
  language: Language,
  pasted: boolean,
  message: ExtractorMessage,
  previous: Statement | undefined,
): Statement | undefined {
  const text = cleanSentence(written);
  const judgement = text === '' ? null : judge(text, language, /[?？؟]["')\s]*$/u.test(written));
  const confidence = (judgement?.confidence ?? 0) - (pasted ? PASTED_DOUBT : 0);
  if (judgement && confidence >= LEAST_CONFIDENCE) {
    return { judgement: { ...judgement, confidence: Math.round(confidence * 100) / 100 }, text, message };
  }
  if (!previous || !continues(previous, text)) return undefined;
  previous.text = `${previous.text}. ${text}`;
  return previous;
}

const PERSON =
  /\b(?:wife|husband|partner|girlfriend|boyfriend|mom|mum|mother|dad|father|son|daughter|brother|sister|friend|boss|teacher|colleague|neighbou?r|aunt|uncle|cousin|niece|nephew|dog|cat|puppy|kitten|baby|kids?|parents|team)\b/i;
const CONTINUES =
  /^(?:he|she|they|his|her|their)(?:'s|'re|'ve)? (?!(?:said|says|told|think|thinks|know|knows|look|looks|sound|sounds|seem|seems)\b)\w+ \w+/i;

/** "My sister moved to Rome. She teaches Latin there.": the second sentence means something after the first. */
function continues(previous: Statement, text: string): boolean {
  const about = PERSON.test(previous.text) || previous.judgement.entities.length > 0;
  return about && CONTINUES.test(text) && previous.text.length + text.length < LONGEST_FACT;
}

/** What the statements of one window come to: facts, each once, and what they replace. */
class Proposed {
  readonly output = {
    add: [] as ExtractedFact[],
    supersede: [] as ExtractedSupersession[],
    notes: [] as string[],
  };
  /** Those added, by kind. */
  readonly #added = new Map<FactKind, DuplicateIndex<ExtractedFact>>();
  /** The known facts of each speaker. */
  readonly #known = new Map<string | undefined, KnownFact[]>();

  constructor(private readonly input: ExtractorInput) {}

  add(statement: Statement): void {
    const { judgement, message } = statement;
    const speaker = speakerOf(message);
    const text = speaker ? `${speaker}: ${statement.text}` : statement.text;
    const entities =
      speaker && !judgement.entities.some((name) => sameName(name, speaker))
        ? [...judgement.entities, speaker]
        : judgement.entities;
    const alike = this.#added.get(judgement.kind) ?? new DuplicateIndex<ExtractedFact>();
    this.#added.set(judgement.kind, alike);
    const twin = alike.first(text);
    if (twin) {
      if (!twin.sourceMessageIds.includes(message.id)) twin.sourceMessageIds.push(message.id);
      return;
    }
    const fact = factOf(statement, text, entities, speaker, this.input.referenceTime);
    const label = replacedBy(judgement, statement.text, this.#knownOf(speaker));
    if (label && !this.output.supersede.some((replacement) => replacement.label === label)) {
      this.output.supersede.push({ label, ...fact });
      return;
    }
    alike.add(text, fact);
    this.output.add.push(fact);
  }

  #knownOf(speaker: string | undefined): KnownFact[] {
    const known = this.#known.get(speaker) ?? knownOf(speaker, this.input.known);
    this.#known.set(speaker, known);
    return known;
  }
}

/** Names that would make a line look like a transcript's role. */
const ROLE_NAME = /^(?:user|human|system|assistant|developer|ai|tool|function|model|agent|bot)$/i;

function speakerOf({ speaker }: ExtractorMessage): string | undefined {
  const name = speaker?.replace(/[\s:]+/g, ' ').trim();
  return name && name.length <= 80 && !ROLE_NAME.test(name) ? name : undefined;
}

function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** The author's own facts, their speaker cut off. */
function knownOf(speaker: string | undefined, known: readonly KnownFact[]): KnownFact[] {
  if (!speaker) return known.filter(({ text }) => !/^\p{Lu}[\p{L} .'-]{0,60}: /u.test(text));
  const prefix = `${speaker}: `;
  return known
    .filter(({ text }) => text.startsWith(prefix))
    .map((fact) => ({ ...fact, text: fact.text.slice(prefix.length) }));
}

function factOf(
  { judgement, message }: Statement,
  text: string,
  entities: string[],
  speaker: string | undefined,
  referenceTime: Date,
): ExtractedFact {
  const author = speaker ?? 'user';
  const subject = judgement.subject === 'AUTHOR' ? author : subjectOf(judgement.subject?.words, author);
  const validFrom = validFromOf(text, message.sentAt ?? referenceTime, judgement.past);
  return {
    text,
    kind: judgement.kind,
    ...(subject ? { subject } : {}),
    predicate: predicateOf(judgement),
    ...(judgement.object ? { object: judgement.object } : {}),
    entities,
    ...(validFrom ? { validFrom } : {}),
    confidence: judgement.confidence,
    sourceMessageIds: [message.id],
  };
}

/** "My wife" is the user's, "our backend" the one there is. */
function subjectOf(words: string | undefined, author: string): string | undefined {
  return words?.replace(/^my\b/i, `${author}'s`).replace(/^(?:our|this|the)\b/i, 'the');
}

/** Quality counts decisions and conventions by their predicate (SPEC §10). */
function predicateOf({ kind, predicate }: Judgement): string {
  if (kind === 'DECISION') return 'decision';
  return kind === 'CONVENTION' ? 'convention' : predicate;
}
