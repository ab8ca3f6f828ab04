import { z } from 'zod';
import { MAX_ENTITIES } from '../facts/index.js';
import { type FactKind, kindFromLabel } from '../text/index.js';
import type { ExtractedEdge, ExtractedFact, ExtractedSupersession } from './extractor.js';

/** How sure a model's fact is taken to be: it read the words, and may have misread them. */
const CONFIDENCE = 0.8;

/** What a model answered, before sources are known. */
export interface Answer {
  readonly add: Omit<ExtractedFact, 'sourceMessageIds'>[];
  readonly supersede: Omit<ExtractedSupersession, 'sourceMessageIds'>[];
  readonly edges: ExtractedEdge[];
  readonly notes: string[];
}

/** Whatever cannot be read of an optional value is as if it had been left out. */
const text = z.string().trim().min(1).nullish().catch(null);
const number = z
  .union([z.number(), z.string().trim().min(1).transform(Number)])
  .nullish()
  .catch(null);
const name = z.string().trim().min(1);
const names = z.array(z.unknown()).nullish().catch(null);

const factShape = z.object({
  text: name,
  kind: text,
  subject: text,
  predicate: text,
  object: text,
  entities: names,
  validFrom: text,
  valence: number,
  arousal: number,
  urgency: number,
});
const supersessionShape = z.object({ label: name, text: name, kind: text, entities: names });
const edgeShape = z.object({ source: name, relation: name, target: name });

const list = z.array(z.unknown()).nullish();
const answerShape = z
  .object({ add: list, supersede: list, edges: list })
  .refine(({ add, supersede, edges }) => Boolean(add ?? supersede ?? edges));

/**
 * Reads a model's answer (SPEC §2.3): the outermost JSON object, whatever prose, code fence or thoughts stand around it.
 * Items that are none are left out with a remark; where that leaves nothing of an answer that had items, it is none.
 * @returns null where there is no such object, or more than one that says different things: which is meant would be a guess
 */
export function readAnswer(written: string): Answer | null {
  const shaped = outermostObjects(written).flatMap((value) => {
    const result = answerShape.safeParse(value);
    return result.success ? [result.data] : [];
  });
  const [given, ...others] = shaped;
  if (!given || others.some((other) => JSON.stringify(other) !== JSON.stringify(given))) return null;
  const notes = new Notes();
  const add = itemsOf(given.add, factShape, notes).map((fact) => factOf(fact, notes));
  const supersede = itemsOf(given.supersede, supersessionShape, notes).map(({ kind, entities, ...rest }) => ({
    ...rest,
    ...(kind ? { kind: kindOf(kind, notes) } : {}),
    entities: entitiesOf(entities, notes),
  }));
  const edges = itemsOf(given.edges, edgeShape, notes);
  const offered = [given.add, given.supersede, given.edges].some((items) => (items ?? []).length > 0);
  if (offered && add.length + supersede.length + edges.length === 0) return null;
  return { add, supersede, edges, notes: notes.told };
}

/** Counts what was out of order. Remarks are kept with the run: they never hold what the model wrote. */
class Notes {
  malformed = 0;
  unknownKinds = 0;
  datesLeftOut = 0;
  entitiesLeftOut = 0;

  get told(): string[] {
    const all: [number, string][] = [
      [this.malformed, 'malformed items were left out'],
      [this.unknownKinds, 'unknown kinds became FACT'],
      [this.datesLeftOut, 'dates that could not be read were left out'],
      [this.entitiesLeftOut, `entities beyond ${MAX_ENTITIES} of a fact were left out`],
    ];
    return all.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  }
}

function itemsOf<T>(items: unknown[] | null | undefined, shape: z.ZodType<T>, notes: Notes): T[] {
  return (items ?? []).flatMap((item) => {
    const result = shape.safeParse(item);
    if (!result.success) notes.malformed += 1;
    return result.success ? [result.data] : [];
  });
}

function factOf(fact: z.infer<typeof factShape>, notes: Notes): Answer['add'][number] {
  const { subject, predicate, object } = fact;
  const validFrom = fact.validFrom ? timeOf(fact.validFrom, notes) : undefined;
  const valence = within(fact.valence, -1, 1);
  const arousal = within(fact.arousal, 0, 1);
  const urgency = within(fact.urgency, 0, 1);
  return {
    text: fact.text,
    kind: fact.kind ? kindOf(fact.kind, notes) : 'FACT',
    ...(subject ? { subject } : {}),
    ...(predicate ? { predicate } : {}),
    ...(object ? { object } : {}),
    entities: entitiesOf(fact.entities, notes),
    ...(validFrom ? { validFrom } : {}),
    ...(valence === undefined ? {} : { valence }),
    ...(arousal === undefined ? {} : { arousal }),
    ...(urgency === undefined ? {} : { urgency }),
    confidence: CONFIDENCE,
  };
}

function kindOf(label: string, notes: Notes): FactKind {
  const { kind, recognised } = kindFromLabel(label);
  if (!recognised) notes.unknownKinds += 1;
  return kind;
}

function entitiesOf(given: unknown[] | null | undefined, notes: Notes): string[] {
  const read = (given ?? []).flatMap((one) => (typeof one === 'string' && one.trim() ? [one.trim()] : []));
  const distinct = [...new Set(read)];
  notes.entitiesLeftOut += Math.max(0, distinct.length - MAX_ENTITIES);
  return distinct.slice(0, MAX_ENTITIES);
}

/** A day alone is UTC's; a time without a zone is nobody's, and is left out with what is no time at all. */
function timeOf(written: string, notes: Notes): Date | undefined {
  const zoned = /^\d{4}-\d{2}(?:-\d{2})?$|^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:?\d{2})$/i.test(written);
  const time = zoned ? new Date(written) : undefined;
  if (time && !Number.isNaN(time.getTime()) && time.getUTCFullYear() >= 1 && time.getUTCFullYear() <= 9999)
    return time;
  notes.datesLeftOut += 1;
  return undefined;
}

function within(value: number | null | undefined, low: number, high: number): number | undefined {
  if (value == null || Number.isNaN(value)) return undefined;
  return Math.min(high, Math.max(low, value));
}

/** Thoughts that some models write before they answer. */
const THOUGHTS = /<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/gi;
/** Braces in prose are few; an answer with more of them that open nothing is none. */
const MOST_BRACES = 100;

/**
 * The JSON objects of a text that are not inside of another. A brace that is never closed ends the search: what follows
 * it is half an object, and a part of one must not pass for the whole.
 */
function outermostObjects(written: string): unknown[] {
  const spoken = written.replace(THOUGHTS, ' ');
  const found: unknown[] = [];
  let at = spoken.indexOf('{');
  for (let tries = 0; at >= 0 && tries < MOST_BRACES; tries++) {
    const end = endOfObject(spoken, at);
    if (end < 0) return [];
    const value = parsed(spoken.slice(at, end));
    if (value !== undefined) found.push(value);
    at = spoken.indexOf('{', end);
  }
  return at >= 0 ? [] : found;
}

/** Behind the brace that closes the one at `start`, by strings and escapes as JSON has them; −1: there is none. */
function endOfObject(written: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < written.length; at++) {
    const character = written[at];
    if (quoted) {
      if (character === '\\') at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{') depth += 1;
    else if (character === '}' && --depth === 0) return at + 1;
  }
  return -1;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
