import { BadInputError, type InputPath } from '../errors.js';
import { type IcnuWeights, PROFILE_RANGES, topicKey } from '../salience/index.js';
import { checkContent, type RefusalCategory } from '../text/index.js';
import type { PersonaValues, ProfileValues, TopicValue } from './values.js';

/** Changes of a profile: what is left out stays, null unsets, a list replaces the one that is stored (SPEC §5). */
export interface ProfileInput {
  readonly interests?: readonly TopicValue[] | null;
  readonly disinterests?: readonly TopicValue[] | null;
  readonly icnuWeights?: IcnuWeights | null;
  readonly alpha?: number | null;
  readonly beta?: number | null;
  readonly flashbulbThreshold?: number | null;
  readonly similarityThreshold?: number | null;
  /** Null unsets the whole persona. */
  readonly persona?: PersonaInput | null;
}

export interface PersonaInput {
  readonly name?: string | null;
  readonly valenceBias?: number | null;
  readonly arousalSensitivity?: number | null;
  readonly selfRelevanceBoost?: number | null;
  readonly identity?: readonly string[] | null;
}

/** Most topics in a list, most identity terms, and longest topic, term or name, in characters (SPEC §2.5, §5). */
export const MAX_TOPICS = 100;
export const MAX_IDENTITY_TERMS = 50;
export const TOPIC_CHARACTERS = 200;

/** Unsets everything. */
export const UNSET_ALL: ProfileInput = Object.freeze({
  interests: null,
  disinterests: null,
  icnuWeights: null,
  alpha: null,
  beta: null,
  flashbulbThreshold: null,
  similarityThreshold: null,
  persona: null,
});

/** A text of the input that may not be stored (SPEC §2.5); the reason never holds it. */
export interface TextRefusal {
  readonly category: RefusalCategory;
  readonly reason: string;
  readonly path: InputPath;
  readonly text: string;
}

/**
 * Checks numbers and lengths of lists.
 * @throws BadInputError naming the field and its limits
 */
export function checkNumbers(input: ProfileInput): void {
  for (const name of ['alpha', 'beta', 'flashbulbThreshold', 'similarityThreshold'] as const)
    checkRange(input[name], PROFILE_RANGES[name], [name]);
  for (const name of ['valenceBias', 'arousalSensitivity', 'selfRelevanceBoost'] as const)
    checkRange(input.persona?.[name], PROFILE_RANGES[name], ['persona', name]);
  if (input.icnuWeights) checkWeights(input.icnuWeights);
  for (const name of ['interests', 'disinterests'] as const) checkLength(input[name], MAX_TOPICS, [name]);
  checkLength(input.persona?.identity, MAX_IDENTITY_TERMS, ['persona', 'identity']);
}

function checkRange(
  value: number | null | undefined,
  [min, max]: readonly [number, number],
  path: InputPath,
): void {
  if (value != null && !(value >= min && value <= max))
    throw new BadInputError(`${path.join('.')} must be from ${min} to ${max}, not ${value}`, path);
}

/** Shares, of which recall takes the proportions; all 0 would leave nothing to order by. */
function checkWeights(weights: IcnuWeights): void {
  const names = ['importance', 'coactivation', 'novelty', 'urgency'] as const;
  for (const name of names) checkRange(weights[name], [0, 1], ['icnuWeights', name]);
  if (names.every((name) => weights[name] === 0))
    throw new BadInputError('icnuWeights must not all be 0', ['icnuWeights']);
}

function checkLength(list: readonly unknown[] | null | undefined, limit: number, path: InputPath): void {
  if (list && list.length > limit)
    throw new BadInputError(`${path.join('.')} must be at most ${limit}, not ${list.length}`, path);
}

/** The first text of the input that may not be stored; call after `checkNumbers`, which bounds how many there are. */
export function refusedText(input: ProfileInput): TextRefusal | null {
  for (const { text, path } of textsOf(input)) {
    const refusal = checkContent(text.trim(), TOPIC_CHARACTERS);
    if (refusal) return { ...refusal, path, text };
  }
  return null;
}

function textsOf(input: ProfileInput): { text: string; path: InputPath }[] {
  const topics = (['interests', 'disinterests'] as const).flatMap((list) =>
    (input[list] ?? []).map(({ topic }, index) => ({ text: topic, path: [list, index, 'topic'] })),
  );
  const terms = (input.persona?.identity ?? []).map((term, index) => ({
    text: term,
    path: ['persona', 'identity', index],
  }));
  const name = input.persona?.name;
  return [...topics, ...terms, ...(name == null ? [] : [{ text: name, path: ['persona', 'name'] }])];
}

/**
 * The profile after the changes. Texts are NFC and trimmed.
 * @throws BadInputError where a topic would stand twice, in one list or in both, or an identity term twice
 */
export function withChanges(stored: ProfileValues, input: ProfileInput): ProfileValues {
  const values: ProfileValues = {
    interests: topicsAfter(stored.interests, input.interests),
    disinterests: topicsAfter(stored.disinterests, input.disinterests),
    icnuWeights: after(stored.icnuWeights, input.icnuWeights),
    alpha: after(stored.alpha, input.alpha),
    beta: after(stored.beta, input.beta),
    flashbulbThreshold: after(stored.flashbulbThreshold, input.flashbulbThreshold),
    similarityThreshold: after(stored.similarityThreshold, input.similarityThreshold),
    persona: personaAfter(stored.persona, input.persona),
  };
  refuseRepeats(values, input);
  return values;
}

function personaAfter(stored: PersonaValues, input: PersonaInput | null | undefined): PersonaValues {
  if (input === undefined) return stored;
  const given: PersonaInput = input ?? {
    name: null,
    valenceBias: null,
    arousalSensitivity: null,
    selfRelevanceBoost: null,
    identity: null,
  };
  const { name, identity } = given;
  return {
    name: after(stored.name, name == null ? name : clean(name)),
    valenceBias: after(stored.valenceBias, given.valenceBias),
    arousalSensitivity: after(stored.arousalSensitivity, given.arousalSensitivity),
    selfRelevanceBoost: after(stored.selfRelevanceBoost, given.selfRelevanceBoost),
    identity: identity === undefined ? stored.identity : (identity ?? []).map(clean),
  };
}

function after<T>(stored: T | null, given: T | null | undefined): T | null {
  return given === undefined ? stored : given;
}

function topicsAfter(
  stored: readonly TopicValue[],
  given: readonly TopicValue[] | null | undefined,
): readonly TopicValue[] {
  if (given === undefined) return stored;
  return (given ?? []).map(({ topic, level }) => ({ topic: clean(topic), level }));
}

function clean(text: string): string {
  return text.normalize('NFC').trim();
}

/**
 * Told of the list that is given; where both are, of the second mention. Lists that are left out are not to blame: what
 * makes two topics one may have been less strict when they were stored.
 */
function refuseRepeats(values: ProfileValues, input: ProfileInput): void {
  if (input.interests !== undefined || input.disinterests !== undefined) refuseRepeatedTopics(values, input);
  if (input.persona?.identity != null) refuseRepeatedTerms(values.persona.identity);
}

function refuseRepeatedTopics(values: ProfileValues, input: ProfileInput): void {
  const seen = new Set<string>();
  const onlyInterestsGiven = input.interests && !input.disinterests;
  const order = onlyInterestsGiven
    ? (['disinterests', 'interests'] as const)
    : (['interests', 'disinterests'] as const);
  for (const list of order) {
    values[list].forEach(({ topic }, index) => {
      const key = topicKey(topic);
      if (seen.has(key)) {
        const path = [list, index, 'topic'];
        throw new BadInputError('a topic may stand once in a profile, in one of its lists', path);
      }
      seen.add(key);
    });
  }
}

function refuseRepeatedTerms(identity: readonly string[]): void {
  const terms = new Set<string>();
  identity.forEach((term, index) => {
    const key = topicKey(term);
    if (terms.has(key))
      throw new BadInputError('an identity term may stand once', ['persona', 'identity', index]);
    terms.add(key);
  });
}
