import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BadInputError } from '../../src/errors.js';
import { decodeCursor, encodeCursor } from '../../src/events/index.js';

const place = fc.record({
  epoch: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  seq: fc.bigInt({ min: 0n, max: 2n ** 53n }),
});

describe('a cursor', () => {
  it('is the place that it was made of', () => {
    fc.assert(
      fc.property(place, (given) => {
        expect(decodeCursor(encodeCursor(given))).toEqual(given);
      }),
    );
  });

  it('is of characters that need no quoting in URLs and JSON', () => {
    fc.assert(
      fc.property(place, (given) => {
        expect(encodeCursor(given)).toMatch(/^[\w-]{16}$/);
      }),
    );
  });

  it.each([
    '',
    'x',
    'earliest ',
    `${encodeCursor({ epoch: 1, seq: 1n })}A`,
    'AAAAAQAAAAAAAAAB=',
    '________________',
  ])('is not %j', (text) => {
    expect(() => decodeCursor(text)).toThrow(BadInputError);
    expect(() => decodeCursor(text)).toThrow(expect.objectContaining({ inputPath: ['after'] }));
  });
});
