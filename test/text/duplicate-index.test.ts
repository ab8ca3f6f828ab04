import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DuplicateIndex, isNearDuplicate } from '../../src/text/index.js';

const WORDS =
  'Alice Bob manages the Straße STRASSE office 15 16 not in Lisbon, every day of week at noon !!'.split(' ');
const text = fc
  .array(fc.constantFrom(...WORDS), { minLength: 0, maxLength: 9 })
  .map((words) => words.join(' '));

test('finds what a comparison with each one would find first', () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 30 }), text, fc.nat(3), (held, asked, skipped) => {
      // Changes of one word are what it is about; chance seldom makes them.
      const all = [...held, `${asked} 15`, asked.replace('not ', ''), asked.toUpperCase()];
      const index = new DuplicateIndex<number>();
      for (const [place, one] of all.entries()) index.add(one, place);
      const fits = (place: number) => place % 4 !== skipped;
      const first = all.findIndex((one, place) => fits(place) && isNearDuplicate(one, asked));
      expect(index.first(asked, fits)).toBe(first === -1 ? undefined : first);
    }),
    { numRuns: 500 },
  );
});
