import type { IcnuWeights, ProfileSettings, TopicLevel } from '../salience/index.js';

/** A topic as its owner states it. */
export interface TopicValue {
  readonly topic: string;
  readonly level: TopicLevel;
}

/** What a profile says, apart from how it is stored; null is unset (SPEC §5). */
export interface ProfileValues {
  readonly interests: readonly TopicValue[];
  readonly disinterests: readonly TopicValue[];
  readonly icnuWeights: IcnuWeights | null;
  readonly alpha: number | null;
  readonly beta: number | null;
  readonly flashbulbThreshold: number | null;
  readonly similarityThreshold: number | null;
  readonly persona: PersonaValues;
}

export interface PersonaValues {
  readonly name: string | null;
  readonly valenceBias: number | null;
  readonly arousalSensitivity: number | null;
  readonly selfRelevanceBoost: number | null;
  readonly identity: readonly string[];
}

/** Of a profile in which everything is unset, as every owner's is at first. */
export const UNSET_VALUES: ProfileValues = Object.freeze({
  interests: Object.freeze([]),
  disinterests: Object.freeze([]),
  icnuWeights: null,
  alpha: null,
  beta: null,
  flashbulbThreshold: null,
  similarityThreshold: null,
  persona: Object.freeze({
    name: null,
    valenceBias: null,
    arousalSensitivity: null,
    selfRelevanceBoost: null,
    identity: Object.freeze([]),
  }),
});

export function valuesOf(settings: ProfileSettings): ProfileValues {
  const plain = ({ topic, level }: TopicValue): TopicValue => ({ topic, level });
  return {
    ...settings,
    interests: settings.interests.map(plain),
    disinterests: settings.disinterests.map(plain),
    persona: { ...settings.persona, identity: settings.persona.identity.map(({ term }) => term) },
  };
}

/** The text that a version keeps. */
export function toSnapshot(values: ProfileValues): string {
  return JSON.stringify(values);
}

/** Reads a version's text; null is the version that a profile came with. */
export function fromSnapshot(snapshot: string | null): ProfileValues {
  return snapshot === null ? UNSET_VALUES : (JSON.parse(snapshot) as ProfileValues);
}
