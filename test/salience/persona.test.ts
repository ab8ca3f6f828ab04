import { describe, expect, it } from 'vitest';
import {
  arousalOf,
  decayResistance,
  selfRelevanceFactor,
  valenceFactor,
} from '../../src/salience/persona.js';
import { identity } from './builders.js';

describe('valenceFactor', () => {
  it.each([
    [-60, -0.8, 1.48],
    [-60, 0.8, 0.52],
    [60, 0.8, 1.48],
    [0, -1, 1],
    [-60, 0, 1],
    [-100, -1, 1.8],
    [-100, 1, 0.2],
    [100, -1, 0.2],
    [-60, null, 1],
  ])('of bias %s and valence %s is %s', (bias, valence, factor) => {
    expect(valenceFactor(bias, valence)).toBeCloseTo(factor, 12);
  });
});

describe('arousalOf', () => {
  it.each([
    [null, null, null, 0],
    [0.7, null, null, 0.7],
    [0.2, -0.9, null, 0.9],
    [0.2, 0.1, 3, 0.75],
    [null, null, 4, 1],
    [null, null, 400, 1],
    [null, null, -3, 0],
  ])('given %s, valence %s, z %s is %s', (given, valence, z, arousal) => {
    expect(arousalOf(given, valence, z)).toBe(arousal);
  });
});

describe('decayResistance', () => {
  it.each([
    [0, 1, 1],
    [1, 1, 1.65],
    [1, 2, 2.3],
    [1, 0.5, 1.325],
    [0.4, 1.8, 1.468],
  ])('of arousal %s at sensitivity %s is %s', (arousal, sensitivity, resistance) => {
    expect(decayResistance(arousal, sensitivity)).toBeCloseTo(resistance, 12);
  });
});

describe('selfRelevanceFactor', () => {
  it.each([
    ['no identity', [], 1],
    ['a term that is neither named nor near', [identity({ similarity: 0.49 })], 1],
    ['a term that is named', [identity({ named: true })], 1.2],
    ['a term at exactly the threshold', [identity({ similarity: 0.5 })], 1.2],
    ['one of several terms', [identity(), identity({ term: 'audit', named: true })], 1.2],
    ['two terms, not twice', [identity({ named: true }), identity({ named: true })], 1.2],
  ])('with %s', (_, terms, factor) => {
    expect(selfRelevanceFactor(terms, 1.2, 0.5)).toBe(factor);
  });
});
