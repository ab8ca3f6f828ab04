/**
 * Which known fact a new statement replaces (SPEC §2.3, §2.4). Only what has one value at a time: a name, a
 * home, an age, a favourite of one sort, a contact; and what the author says that they left for another.
 */

import { isNearDuplicate } from '../text/index.js';
import type { KnownFact } from './extractor.js';
import { type Judgement, judge } from './rules-judge.js';

const LEFT_FOR = [
  /\b(?:switched|moved|migrated|changed|went|converted)(?: over| away)? from (?<old>[\w.+#/ -]{2,40}?) (?:to|over to) (?<new>.+)/i,
  /\breplaced (?<old>[\w.+#/ -]{2,40}?) (?:with|by) (?<new>.+)/i,
  /\b(?:now |currently )(?:use|uses|using|prefer|prefers|run|runs) (?<new>.+?) (?:instead of|rather than) (?<old>[\w.+#/ -]{2,40})/i,
];
const USES =
  /\b(?:use|uses|using|used|run|runs|running|on|with|prefer|prefers|chose|deploy|host|hosted|written in|is|editor|shell)\b/i;

/** What a one-valued statement is about, and its value; null for any other. */
function slotOf(
  { kind, predicate, object, entities, subject }: Judgement,
  text: string,
): { slot: string; value: string } | null {
  if (!object) return null;
  if (subject !== 'AUTHOR') {
    // My editor, my phone: spoken of as the only one.
    const own = kind === 'ENV' && predicate === 'is' && subject && /^my /i.test(subject.words);
    return own ? { slot: subject.words.toLowerCase(), value: object } : null;
  }
  if (predicate === 'is named' || predicate === 'is aged') return { slot: predicate, value: object };
  // An address, a favourite band; hobbies and favourites may be several.
  const several = /^has favourite (?:favou?rites|hobb|passion|interests)/.test(predicate);
  if (/^has ./.test(predicate) && !several) return { slot: predicate, value: object };
  if (/^(?:lives|moved|am living)$/.test(predicate) && !/^from\b/i.test(object)) {
    const place = entities.find((name) => object.includes(name));
    return place ? { slot: 'home', value: place } : null;
  }
  if (predicate === 'works') {
    const employer = /^(?:at|for) (?:the )?(.+)/i.exec(object)?.[1];
    const name = employer && entities.find((entity) => employer.startsWith(entity));
    return name && !/\bworked\b/i.test(text) ? { slot: 'employer', value: name } : null;
  }
  return null;
}

/**
 * The label of the known fact that the statement replaces; undefined if there is none or more than one.
 *
 * @param text the statement without its speaker
 * @param known the author's own known facts, without their speaker
 */
export function replacedBy(
  judgement: Judgement,
  text: string,
  known: readonly KnownFact[],
): string | undefined {
  const candidates = [...bySlot(judgement, text, known), ...byLeaving(text, known)].filter(
    ({ text: old }) => !isNearDuplicate(old, text),
  );
  const labels = new Set(candidates.map(({ label }) => label));
  return labels.size === 1 ? [...labels][0] : undefined;
}

/** Known facts are judged once, however many statements are compared with them. */
const knownSlots = new WeakMap<KnownFact, ReturnType<typeof slotOf>>();

function knownSlotOf(fact: KnownFact): ReturnType<typeof slotOf> {
  const held = knownSlots.get(fact);
  if (held !== undefined) return held;
  const judgement = judge(fact.text, 'en', false);
  const slot = judgement && slotOf(judgement, fact.text);
  knownSlots.set(fact, slot);
  return slot;
}

function bySlot(judgement: Judgement, text: string, known: readonly KnownFact[]): KnownFact[] {
  const slot = slotOf(judgement, text);
  if (!slot) return [];
  return known.filter((fact) => {
    const oldSlot = knownSlotOf(fact);
    return oldSlot?.slot === slot.slot && !sameValue(oldSlot.value, slot.value);
  });
}

function sameValue(a: string, b: string): boolean {
  const plain = (value: string) =>
    value
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim();
  return plain(a) === plain(b);
}

function byLeaving(text: string, known: readonly KnownFact[]): KnownFact[] {
  const groups = LEFT_FOR.map((pattern) => pattern.exec(text)?.groups).find(Boolean);
  if (!groups) return [];
  const old = groups['old']!.trim().toLowerCase();
  const whole = (within: string) =>
    ` ${within
      .toLowerCase()
      .replace(/[^\p{L}\p{N}+#./-]+/gu, ' ')
      .replace(/[.,](?= |$)/g, '')} `.includes(` ${old} `);
  return known.filter(
    (fact) =>
      USES.test(fact.text) && whole(fact.text) && !LEFT_FOR.some((pattern) => pattern.test(fact.text)),
  );
}
