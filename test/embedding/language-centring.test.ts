import { describe, expect, it } from 'vitest';
import { LANGUAGE_CENTRES } from '../../src/embedding/calibration/language-centres.js';
import { decodeCentre, encodeCentre, LanguageCentring } from '../../src/embedding/language-centring.js';
import { cosine, isUnit, normalise } from '../../src/embedding/vector.js';

const centring = new LanguageCentring([
  { language: 'x', centre: Float32Array.of(0.9, 0, 0, 0) },
  { language: 'y', centre: Float32Array.of(0, 0.9, 0, 0) },
]);
const unit = (...components: number[]) => normalise(components)!;

describe('LanguageCentring', () => {
  it('leaves a vector alone that is far from all centres', () => {
    const vector = unit(0.3, 0, 1, 0.5);
    expect(centring.apply(vector)).toBe(vector);
  });

  it('brings texts of one language apart by what they are about', () => {
    const [a, b] = [unit(0.9, 0, 0.4, 0), unit(0.9, 0, 0, 0.4)];
    expect(cosine(a, b)).toBeGreaterThan(0.8);
    const [a2, b2] = [centring.apply(a), centring.apply(b)];
    expect(cosine(a2, b2)).toBeLessThan(0.1);
    expect(isUnit(a2) && isUnit(b2)).toBe(true);
    expect(cosine(a2, unit(0, 0, 1, 0))).toBeGreaterThan(0.95);
  });

  it('does not jump between a little and very foreign', () => {
    let last = centring.apply(unit(0.4, 0, 1, 0));
    for (let x = 0.41; x < 3; x += 0.01) {
      const next = centring.apply(unit(x, 0, 1, 0));
      expect(cosine(last, next)).toBeGreaterThan(0.97);
      last = next;
    }
  });

  it('reads back the centres it wrote', () => {
    const centre = Float32Array.of(0.25, -0.125, 0, 1);
    decodeCentre(encodeCentre(centre)).forEach((value, i) => {
      expect(value).toBeCloseTo(centre[i]!, 4);
    });
  });

  it('has centres of the right size, none the same', () => {
    expect(LANGUAGE_CENTRES.map(({ language }) => language)).toEqual(
      expect.arrayContaining(['de', 'es', 'fr']),
    );
    for (const { centre } of LANGUAGE_CENTRES) expect(centre).toHaveLength(512);
    for (const [i, a] of LANGUAGE_CENTRES.entries()) {
      for (const b of LANGUAGE_CENTRES.slice(i + 1)) expect(cosine(a.centre, b.centre)).toBeLessThan(0.99);
    }
  });
});
