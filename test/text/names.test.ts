import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { possibleNames } from '../../src/text/names.js';

const wordsOf = (text: string, most = 16) =>
  possibleNames(text, most).map(({ start, end }) => text.slice(start, end));

describe('possibleNames', () => {
  it.each([
    ['When did Ines go to Lisbon?', ['Ines', 'Lisbon']],
    ["What is Ines's boat called?", ['Ines']],
    ['Will Bo sail?', ['Bo']],
    ['Did you see Will in the harbour?', ['Will']],
    ['Hope likes tea, and I like Hope', ['Hope', 'Hope']],
    ['Where does Anne-Marie live?', ['Anne-Marie']],
    ['what does ines like', ['ines', 'like']],
    ['Где живёт Анна?', ['Где', 'Анна']],
    ['it is what it is', []],
    ['', []],
  ])('%s', (text, expected) => {
    expect(wordsOf(text)).toEqual(expected);
  });

  it('gives the first so many', () => {
    expect(wordsOf('Anna Bo Cleo Dan', 2)).toEqual(['Anna', 'Bo']);
  });

  it('takes any text; each is where it says, one after the other, and has terms', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        let last = 0;
        for (const { terms, start, end } of possibleNames(text, 100)) {
          expect(start).toBeGreaterThanOrEqual(last);
          expect(end).toBeGreaterThan(start);
          expect(terms.length).toBeGreaterThan(0);
          last = end;
        }
      }),
    );
  });
});
