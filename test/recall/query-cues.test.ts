import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inFirstPerson, participantsIn, withoutNames } from '../../src/recall/query-cues.js';
import { analyzeQuery, possibleNames } from '../../src/text/index.js';
import { analyzeName } from '../../src/text/lexical-analysis.js';

const SPEAKERS = new Set(['Ines', 'Bo', 'Tom', 'Marlow'].flatMap(analyzeName));
const named = (query: string) =>
  participantsIn(query, possibleNames(query, 16), (term) => SPEAKERS.has(term));
const said = (query: string) => inFirstPerson(query, named(query));

describe('participantsIn', () => {
  it('finds those who speak, once each, and nobody else', () => {
    expect(
      named('Did Ines tell Bo what Ines paid in Lisbon?').map(({ terms, mentions }) => [
        terms.length,
        mentions.length,
      ]),
    ).toEqual([
      [1, 2],
      [1, 1],
    ]);
    expect(named('What did Anna pay in Lisbon?')).toEqual([]);
  });

  it('takes words side by side for one name', () => {
    expect(named('When did Tom Marlow move?')).toHaveLength(1);
    expect(named('When did Tom and Ines move?')).toHaveLength(2);
  });
});

describe('withoutNames', () => {
  it('leaves the words that are asked for, or the names where there are no others', () => {
    const query = "What is Ines's boat called?";
    expect(withoutNames(analyzeQuery(query), named(query)).map(([term]) => term)).toEqual(['boat', 'call']);
    expect(withoutNames(analyzeQuery('Ines'), named('Ines'))).toEqual(analyzeQuery('Ines'));
  });
});

describe('inFirstPerson', () => {
  it.each([
    ['When did Ines sell her boat?', 'When did I sell my boat?'],
    [
      "What is Ines's boat called, and why does she like it?",
      'What is my boat called, and why does I like it?',
    ],
    ['Did Bo give him a lift?', 'Did I give me a lift?'],
    ['Where did Ines and Bo meet?', 'Where did we meet?'],
    ["What are Ines' plans?", 'What are my plans?'],
    ['Did Ines tell Bo about her boat?', 'Did I tell I about her boat?'],
    ['When did Anna sell her boat?', 'When did Anna sell her boat?'],
  ])('%s', (query, expected) => {
    expect(said(query)).toBe(expected);
  });

  it('leaves every query alone that names nobody', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (query) => {
        expect(inFirstPerson(query, [])).toBe(query);
      }),
    );
  });

  it('leaves no name of a participant', () => {
    const words = fc.array(
      fc.constantFrom('Ines', 'Bo', "Ines's", 'Tom Marlow', 'boat', 'why', 'and', 'her', '?'),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(words, (parts) => {
        expect(said(`So ${parts.join(' ')}`)).not.toMatch(/Ines|Bo\b|Tom|Marlow/);
      }),
    );
  });
});
