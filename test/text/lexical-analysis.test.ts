import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyzeDocument, analyzeQuery } from '../../src/text/lexical-analysis.js';

const terms = (text: string) => analyzeDocument(text).terms.map(({ term }) => term);
/** The English or only term of each word of a query. */
const asked = (text: string) => analyzeQuery(text).map(([term]) => term);
/** How many words of the query the document has. */
const common = (query: string, document: string) => {
  const stored = new Set(terms(document));
  return analyzeQuery(query).filter((word) => word.some((term) => stored.has(term))).length;
};
const finds = (query: string, document: string) => common(query, document) > 0;

describe('what a query finds (SPEC §8.1)', () => {
  it.each([
    ['prefer', 'Sam preferred tabs'],
    ['allergies', 'Sam has an allergy to nuts'],
    ['swim', 'Ann went swimming'],
    ['go', 'Ann went to Rome'],
    ['child', 'she has three children'],
    ['who bought a colour printer', 'We buy color paper'],
    ['node_modules', 'delete node_modules first'],
    ['modules', 'delete node_modules first'],
    ['node modules', 'delete node_modules first'],
    ['email', 'send an e-mail'],
    ['e-mail', 'send an email'],
    ['wifi', 'the Wi-Fi is slow'],
    ['v18.2.1', 'React 18.2.1 is pinned'],
    ['18.2', 'React v18.2.1 is pinned'],
    ['react 18', 'React v18.2.1 is pinned'],
    ['C++', 'she writes c++, mostly'],
    ['C#', 'a C# service'],
    ['.NET', 'built on .NET.'],
    ['net', 'built on .NET.'],
    ['.env', 'secrets live in .env'],
    ['example.com', 'ann.lee@example.com is her address'],
    ['ann.lee@example.com', 'Write to Ann.Lee@Example.com!'],
    ['lee', 'ann.lee@example.com is her address'],
    ['https://docs.example.com/a_b?x=1', 'see docs.example.com/a_b?x=1'],
    ['docs', 'see https://docs.example.com/a_b?x=1'],
    ['main.ts', 'the entry is src/main.ts'],
    ['effect', 'wrap it in useEffect'],
    ['useeffect', 'wrap it in useEffect'],
    ['sql', 'PostgreSQL 16 in production'],
    ['postgres', 'PostgreSQL 16 in production'],
    ['zoe muller', 'Zoë Müller'],
    ['Łódź', 'she was born in Lodz'],
    ['strasse', 'die lange Straße'],
    ['Alice', 'this is Alice’s bicycle'],
    ["alice's bike", 'Alice owns bikes'],
    ['obrien', 'at O’Brien’s house'],
    ['users', 'The user is happy'],
    ['1000', 'a budget of 1,000 euros'],
    ['2023', 'since 2023-05-07'],
    ['7', 'since 2023-05-07'],
    ['R&D', 'works in r&d'],
    ['u.s.', 'she moved to the US'],
    ['ＡＢＣ', 'abc'],
    ['深色', '我喜欢深色模式'],
    ['喜欢', '我喜欢深色模式'],
    ['色模', '我喜欢深色模式'],
    ['猫', '私は猫が大好きです'],
    ['고양이', '고양이가 귀엽다'],
    ['แมว', 'ฉันชอบแมวมาก'],
    ['Москва', 'живёт в Москве'],
    ['еще', 'ещё'],
    ['"quoted-term" OR (x:*) -- \\', 'a quoted term'],
    ['हिन्दी', 'वह हिन्दी बोलती है'],
  ])('%j finds %j', (query, document) => expect(finds(query, document)).toBe(true));

  it.each([
    ['C++', 'the user likes PHP'],
    ['cat', 'a category'],
    ['node', 'anode'],
    ['猫', '私は犬が好きです'],
    ['what does the user prefer', 'the user does what the team says'],
    ['hell', "she'll come"],
  ])('%j does not find %j', (query, document) => expect(finds(query, document)).toBe(false));

  it.each([
    ['C++', 'she knows C++ well', 'she knows C well'],
    ['node_modules', 'ignore node_modules', 'the node has modules'],
    ['18.2.1', 'at 18.2.1 now', 'the 1st of 18, in 2 rooms'],
    ['ann.lee@example.com', 'ann.lee@example.com', 'Lee and Ann: an example.com account'],
  ])('the whole of %j ranks %j above %j', (query, whole, parts) => {
    expect(common(query, whole)).toBeGreaterThan(common(query, parts));
  });
});

describe('stop words', () => {
  it('are dropped from a query that has others', () => {
    expect(asked('what package manager does the user use right now')).toEqual(['packag', 'manag']);
  });

  it.each([
    ['what does the user use', 'The user uses Vim'],
    ['who are you', 'I know who sent it'],
    ['to be or not to be', 'To be, or not to be'],
    ['the who', 'The Who are a band'],
    ['it is', 'it is'],
    ['the', 'The'],
  ])('alone still find something: %j finds %j', (query, document) => {
    expect(analyzeQuery(query)).not.toEqual([]);
    expect(finds(query, document)).toBe(true);
  });

  it('stay when a capital makes a name of them', () => {
    expect(asked('does Will like tea')).toContain('will');
    expect(asked('will they like tea')).not.toContain('will');
    expect(asked('US visa')).toContain('us');
    expect(asked('Can I get a visa')).not.toContain('can');
    expect(terms('the band The Who')).toContain('the');
    expect(terms('PLEASE CALL THE OFFICE')).not.toContain('the');
  });
});

describe('analyzeDocument', () => {
  it('counts terms, and its length is the sum', () => {
    expect(analyzeDocument('Tabs, tabs and a tab; spaces')).toEqual({
      terms: [
        { term: 'tab', count: 3 },
        { term: 'space', count: 1 },
      ],
      length: 4,
    });
  });

  it.each(['', '   ', '!!! ???', '👍'])('gives nothing for %j', (text) => {
    expect(analyzeDocument(text)).toEqual({ terms: [], length: 0 });
    expect(analyzeQuery(text)).toEqual([]);
  });

  it('analyses any text alike on both sides, deterministically', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc
        .array(
          fc.constantFrom(
            'a',
            'The',
            "'s",
            "n't",
            '.',
            '-',
            '+',
            '#',
            '猫',
            'は',
            'é',
            '1',
            ',000',
            '@',
            '/',
            'เ',
            '\u064b',
            'ـ',
          ),
        )
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        const document = analyzeDocument(text);
        expect(document).toEqual(analyzeDocument(text));
        expect(document.length).toBe(document.terms.reduce((sum, { count }) => sum + count, 0));
        expect(new Set(document.terms.map(({ term }) => term)).size).toBe(document.terms.length);
        expect(document.terms.every(({ term }) => term !== '' && !/\s/u.test(term))).toBe(true);
        const query = analyzeQuery(text);
        expect(new Set(query.map(([term]) => term)).size).toBe(query.length);
        for (const word of query) expect(new Set(word).size).toBe(word.length);
        expect(query.length > 0).toBe(document.length > 0);
        expect(query.every((word) => word.some((term) => terms(text).includes(term)))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('has the letters of every text that has any', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        fc.pre(/\p{L}|\p{N}/u.test(text));
        expect(analyzeDocument(text).length).toBeGreaterThan(0);
      }),
    );
  });

  it('takes a long text without white space', () => {
    const size = 100_000;
    for (const unit of [
      'a',
      '.',
      "'",
      '-',
      "a'",
      'a.',
      'a-',
      'Ab',
      '1,',
      '猫',
      'aé',
      '+',
      '@a',
      '_',
      "n't",
    ]) {
      const text = `x${unit.repeat(size / unit.length)}x`;
      expect(analyzeDocument(text).length).toBeGreaterThan(0);
    }
  }, 120_000);
});
