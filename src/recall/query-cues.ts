/** Who a query is about, among those who speak in the conversations (SPEC §8.1). Pure. */
import type { PossibleName, QueryWord } from '../text/index.js';

/** Somebody who speaks in a conversation and is named in the query, once or more often. */
export interface Participant {
  /** The terms of the name as it is written in the query: one a word. */
  readonly terms: readonly string[];
  /** Where it is named, in UTF-16 code units, without a possessive's `'s`. */
  readonly mentions: readonly { readonly start: number; readonly end: number }[];
}

/**
 * The participants that a query names. Words that stand side by side are one name: "Ines Marlow" is one person.
 * @param isSpeaker whether a term is of the name of somebody who speaks
 */
export function participantsIn(
  query: string,
  possible: readonly PossibleName[],
  isSpeaker: (term: string) => boolean,
): Participant[] {
  const names: { terms: string[]; start: number; end: number }[] = [];
  for (const { terms, start, end } of possible) {
    if (!terms.every(isSpeaker)) continue;
    const last = names.at(-1);
    if (last && /^\s+$/.test(query.slice(last.end, start))) {
      last.terms.push(...terms);
      last.end = end;
    } else names.push({ terms: [...terms], start, end });
  }
  const participants = new Map<
    string,
    { terms: readonly string[]; mentions: { start: number; end: number }[] }
  >();
  for (const { terms, start, end } of names) {
    const key = terms.join(' ');
    const known = participants.get(key);
    if (known) known.mentions.push({ start, end });
    else participants.set(key, { terms, mentions: [{ start, end }] });
  }
  return [...participants.values()];
}

/** The words of a query without those of the participants' names; all of them where it has no others. */
export function withoutNames(
  words: readonly QueryWord[],
  participants: readonly Participant[],
): readonly QueryWord[] {
  const names = new Set(participants.flatMap((participant) => participant.terms));
  const others = words.filter(([term]) => !names.has(term));
  return others.length > 0 ? others : words;
}

/**
 * A query as the participants themselves would speak: whoever tells of their own life says "I", and a name would weigh
 * more in an encoder's vector than all the rest. Where one is named, the pronouns of a third person are theirs.
 */
export function inFirstPerson(query: string, participants: readonly Participant[]): string {
  const mentions = participants.flatMap((one) => one.mentions).sort((a, b) => b.start - a.start);
  if (mentions.length === 0) return query;
  let said = query;
  for (const { start, end } of mentions) {
    const possessive = /^['’]s?(?![\p{L}\p{N}])/iu.exec(said.slice(end));
    said = `${said.slice(0, start)}${possessive ? 'my' : 'I'}${said.slice(end + (possessive?.[0].length ?? 0))}`;
  }
  if (participants.length > 1) return said.replace(/\bI and I\b/g, 'we').replace(/\bmy and my\b/g, 'our');
  return said
    .replace(/\b(?:his|her|their)\b/gi, 'my')
    .replace(/\b(?:he|she|they)\b/gi, 'I')
    .replace(/\bhim\b/gi, 'me');
}
