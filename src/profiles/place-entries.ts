import type { NewTopic } from '../db/index.js';
import { newId } from '../ids.js';
import { type ProfileSettings, type TopicLevel, type TopicRef, topicKey } from '../salience/index.js';
import type { ProfileValues } from './values.js';

/** Which rows a profile's lists have, keep and lose. */
export interface PlacedEntries {
  /** The profile as it would be: entries that stay have the refs that they are stored with, new ones an id of their own and a number below 0. */
  readonly after: ProfileSettings;
  /** Ids of the topics and terms that leave. */
  readonly removed: readonly string[];
  /** Those that stay, with their places in their lists. */
  readonly kept: readonly { readonly id: string; readonly position: number }[];
  readonly added: readonly NewTopic[];
}

/**
 * Finds for every entry the row that it has. One that differs in anything from what is stored, be it the level or the
 * spelling, gets a row of its own: facts go on to name the old one, with which they were scored.
 */
export function placeEntries(before: ProfileSettings, values: ProfileValues): PlacedEntries {
  const rows = new Map<string, TopicRef>([
    ...before.interests.map(({ topic, level, ref }) => [entryKey('INTEREST', topic, level), ref] as const),
    ...before.disinterests.map(
      ({ topic, level, ref }) => [entryKey('DISINTEREST', topic, level), ref] as const,
    ),
    ...before.persona.identity.map(({ term, ref }) => [entryKey('IDENTITY', term, null), ref] as const),
  ]);
  const kept: { id: string; position: number }[] = [];
  const added: NewTopic[] = [];
  const refOf = (
    list: NewTopic['list'],
    topic: string,
    level: TopicLevel | null,
    position: number,
  ): TopicRef => {
    const key = entryKey(list, topic, level);
    const row = rows.get(key);
    if (row) {
      rows.delete(key);
      kept.push({ id: row.id, position });
      return row;
    }
    const ref = { id: newId(), number: -1 - added.length };
    added.push({ id: ref.id, list, position, topic, key: topicKey(topic), level });
    return ref;
  };
  const after: ProfileSettings = {
    ...values,
    interests: values.interests.map((entry, place) => ({
      ...entry,
      ref: refOf('INTEREST', entry.topic, entry.level, place),
    })),
    disinterests: values.disinterests.map((entry, place) => ({
      ...entry,
      ref: refOf('DISINTEREST', entry.topic, entry.level, place),
    })),
    persona: {
      ...values.persona,
      identity: values.persona.identity.map((term, place) => ({
        term,
        ref: refOf('IDENTITY', term, null, place),
      })),
    },
  };
  return { after, kept, added, removed: [...rows.values()].map(({ id }) => id) };
}

function entryKey(list: NewTopic['list'], topic: string, level: TopicLevel | null): string {
  return `${list} ${level} ${topic}`;
}
