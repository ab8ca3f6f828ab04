import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { topicKey } from '../../src/salience/index.js';

describe('topicKey', () => {
  it.each([
    ['a soft hyphen', 'food aller\u00adgies'],
    ['a soft hyphen alone between spaces', 'food \u00ad allergies'],
    ['a soft hyphen at the end', 'food allergies \u00ad'],
    ['the first variation selector', 'food\ufe00 allergies'],
    ['the sixteenth', 'food allergies\ufe0f'],
    ['one of the supplement', 'food allergies\u{e0100}'],
    ['capitals and white space besides', ' FOOD\u00ad \t Allergies\ufe0e '],
  ])('does not count %s', (_what, spelling) => {
    expect(topicKey(spelling)).toBe('food allergies');
  });

  it('takes an emoji and its coloured form for one', () => {
    expect(topicKey('\u2764\ufe0f health')).toBe(topicKey('\u2764 health'));
  });

  it.each([
    ['re-sign', 'resign'],
    [
      '\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
      '\u0646\u0645\u06cc\u062e\u0648\u0627\u0647\u0645',
    ],
  ])('tells %o and %o apart, which are read differently', (one, other) => {
    expect(topicKey(one)).not.toBe(topicKey(other));
  });

  it('of a key is the key itself', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u00ad', '\ufe0f', ' ', 'e', '\u0301', '\u1e9e', '\u03a3'),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const key = topicKey(parts.join(''));
        expect(topicKey(key)).toBe(key);
      }),
    );
  });
});
