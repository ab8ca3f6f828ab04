import type { IcnuWeights, ProfileSetting } from '../salience/index.js';
import type { PersonaValues, ProfileValues, TopicValue } from './values.js';

/** What differs between two states of a profile. */
export interface ProfileChange {
  readonly setting: ProfileSetting;
  /** The interest, disinterest or identity term; null for the other settings. */
  readonly topic: string | null;
  /**
   * As text: a number, a name, a topic's level, `importance 0.3, coactivation 0.2, novelty 0.3, urgency 0.2`; of an
   * identity term the term itself. Null where it was, or is, unset.
   */
  readonly before: string | null;
  readonly after: string | null;
}

/**
 * Settings that stored scores do not depend on: recall alone looks at them (SPEC §8.2), facts are judged by them once,
 * when they are taken in (§4.5), or nobody looks.
 */
const UNSCORED: ReadonlySet<ProfileSetting> = new Set([
  'ICNU_WEIGHTS',
  'FLASHBULB_THRESHOLD',
  'PERSONA_NAME',
]);

/**
 * What changed from one state of a profile to another, in the order of the settings. A topic that is spelled
 * differently is another topic here; the order of topics is no difference.
 */
export function profileChanges(before: ProfileValues, after: ProfileValues): ProfileChange[] {
  const single = (setting: ProfileSetting, read: (values: ProfileValues) => string | null) => {
    const [was, is] = [read(before), read(after)];
    return was === is ? [] : [{ setting, topic: null, before: was, after: is }];
  };
  const trait = (setting: ProfileSetting, name: Exclude<keyof PersonaValues, 'identity'>) =>
    single(setting, ({ persona }) => textOf(persona[name]));
  return [
    ...listChanges('INTEREST', levels(before.interests), levels(after.interests)),
    ...listChanges('DISINTEREST', levels(before.disinterests), levels(after.disinterests)),
    ...single('ICNU_WEIGHTS', ({ icnuWeights }) => weightsText(icnuWeights)),
    ...single('ALPHA', ({ alpha }) => textOf(alpha)),
    ...single('BETA', ({ beta }) => textOf(beta)),
    ...single('FLASHBULB_THRESHOLD', ({ flashbulbThreshold }) => textOf(flashbulbThreshold)),
    ...single('SIMILARITY_THRESHOLD', ({ similarityThreshold }) => textOf(similarityThreshold)),
    ...trait('PERSONA_NAME', 'name'),
    ...trait('VALENCE_BIAS', 'valenceBias'),
    ...trait('AROUSAL_SENSITIVITY', 'arousalSensitivity'),
    ...trait('SELF_RELEVANCE_BOOST', 'selfRelevanceBoost'),
    ...listChanges('IDENTITY', terms(before.persona.identity), terms(after.persona.identity)),
  ];
}

/** Whether stored scores depend on anything that changed; ICNU weights, the flashbulb threshold and the name are in none. */
export function changesScores(changes: readonly ProfileChange[]): boolean {
  return changes.some(({ setting }) => !UNSCORED.has(setting));
}

type Entries = ReadonlyMap<string, string>;

const levels = (topics: readonly TopicValue[]): Entries =>
  new Map(topics.map(({ topic, level }) => [topic, level]));
const terms = (identity: readonly string[]): Entries => new Map(identity.map((term) => [term, term]));

/** What left or changed, in the old order, then what came, in the new one. */
function listChanges(setting: ProfileSetting, before: Entries, after: Entries): ProfileChange[] {
  const changes: ProfileChange[] = [];
  for (const [topic, was] of before) {
    const is = after.get(topic) ?? null;
    if (was !== is) changes.push({ setting, topic, before: was, after: is });
  }
  for (const [topic, is] of after) {
    if (!before.has(topic)) changes.push({ setting, topic, before: null, after: is });
  }
  return changes;
}

function textOf(value: number | string | null): string | null {
  return value === null ? null : String(value);
}

function weightsText(weights: IcnuWeights | null): string | null {
  if (weights === null) return null;
  const { importance, coactivation, novelty, urgency } = weights;
  return `importance ${importance}, coactivation ${coactivation}, novelty ${novelty}, urgency ${urgency}`;
}
