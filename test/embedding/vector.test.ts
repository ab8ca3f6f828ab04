import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cosine, cosineOfDistance, isUnit, l2Distance, toVectorLiteral } from '../../src/embedding/index.js';
import { meanDirection, normalise } from '../../src/embedding/vector.js';

const float = fc.float({ noNaN: true, noDefaultInfinity: true });
const unitVector = fc
  .array(fc.float({ noNaN: true, min: -1, max: 1 }), { minLength: 8, maxLength: 8 })
  .map((components) => normalise(components))
  .filter((vector) => vector !== null);

describe('cosine and distance', () => {
  it('know the right angle, the same and the opposite direction', () => {
    const [x, y] = [Float32Array.of(1, 0), Float32Array.of(0, 1)];
    expect(cosine(x, x)).toBe(1);
    expect(cosine(x, y)).toBe(0);
    expect(cosine(x, Float32Array.of(-1, 0))).toBe(-1);
    expect(l2Distance(x, x)).toBe(0);
    expect(l2Distance(x, y)).toBeCloseTo(Math.SQRT2, 12);
    expect(l2Distance(x, Float32Array.of(-1, 0))).toBe(2);
  });

  it('stay in their ranges and agree with each other', () => {
    fc.assert(
      fc.property(unitVector, unitVector, (a, b) => {
        const [c, d] = [cosine(a, b), l2Distance(a, b)];
        expect(c).toBeGreaterThanOrEqual(-1);
        expect(c).toBeLessThanOrEqual(1);
        expect(d).toBeGreaterThanOrEqual(0);
        expect(d).toBeLessThanOrEqual(2);
        expect(cosineOfDistance(d)).toBeCloseTo(c, 5);
      }),
    );
  });

  it('do not need unit length for the cosine, and give 0 without a direction', () => {
    expect(cosine([3, 0], [0.5, 0])).toBe(1);
    expect(cosine([0, 0], [1, 0])).toBe(0);
  });

  it('refuse vectors of two models', () => {
    expect(() => cosine([1, 0], [1, 0, 0])).toThrow(RangeError);
    expect(() => l2Distance([1, 0], [1, 0, 0])).toThrow('2 and 3 dimensions');
  });

  it('tell equal vectors apart from almost equal ones', () => {
    const a = Float32Array.of(1, 0);
    const b = Float32Array.of(1, 1e-6);
    expect(l2Distance(a, b)).toBeCloseTo(1e-6, 10);
  });
});

describe('unit length', () => {
  it('is what normalising gives, and nothing else passes', () => {
    fc.assert(fc.property(unitVector, (vector) => isUnit(vector)));
    expect(isUnit([0.5, 0.5])).toBe(false);
    expect(isUnit([Number.NaN, 1])).toBe(false);
    expect(isUnit([])).toBe(false);
  });

  it('cannot be given to what has no direction', () => {
    expect(normalise([0, 0])).toBeNull();
    expect(normalise([Number.NaN, 1])).toBeNull();
    expect(normalise([Number.POSITIVE_INFINITY, 1])).toBeNull();
  });

  it('holds for the mean of several, which opposite vectors do not have', () => {
    const mean = meanDirection([Float32Array.of(1, 0), Float32Array.of(0, 1)]);
    expect(mean && isUnit(mean)).toBe(true);
    expect(mean?.[0]).toBeCloseTo(Math.SQRT1_2, 6);
    expect(meanDirection([])).toBeNull();
    expect(meanDirection([Float32Array.of(1, 0), Float32Array.of(-1, 0)])).toBeNull();
  });
});

describe('toVectorLiteral', () => {
  it('writes what pgvector reads', () => {
    expect(toVectorLiteral(Float32Array.of(0.1, -0.25, 0, 1))).toBe('[0.1,-0.25,0,1]');
    expect(toVectorLiteral([])).toBe('[]');
  });

  it('gives every float32 back bit by bit', () => {
    fc.assert(
      fc.property(fc.array(float), (components) => {
        const vector = Float32Array.from(components, (component) => component + 0); // no -0
        expect(Float32Array.from(JSON.parse(toVectorLiteral(vector)))).toEqual(vector);
      }),
      { numRuns: 500 },
    );
  });

  it('is shorter than nine digits wherever fewer identify the number', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, min: Math.fround(0.001), max: 1 }), (component) => {
        const [digits = ''] = /[1-9]\d*/.exec(toVectorLiteral([component]).replace('0.', '')) ?? [];
        const shorter = Number(component.toPrecision(Math.max(1, digits.length - 1)));
        expect(digits.length <= 6 || Math.fround(shorter) !== component).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('refuses what the database would', () => {
    expect(() => toVectorLiteral([Number.NaN])).toThrow(RangeError);
    expect(() => toVectorLiteral([Number.POSITIVE_INFINITY])).toThrow(RangeError);
  });
});
