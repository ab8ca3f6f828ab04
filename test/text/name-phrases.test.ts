import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { namePhrases } from '../../src/text/index.js';

describe('namePhrases', () => {
  it.each([
    ["Where does Ada Lovelace's aunt live?", 'ada lovelace'],
    ['the United Kingdom of Great Britain, then', 'united kingdom of great britain'],
    ['is “St. Mary’s Hospital” open', 'st. mary’s hospital'],
    ['who writes C++?', 'c++'],
    ['we use C#, and node.js.', 'c#'],
    ['we use C#, and node.js.', 'node.js'],
    ['東京タワーはどこ', '東京タワー'],
    ['STRASSE', 'strasse'],
    ['Ada\n  Lovelace', 'ada lovelace'],
  ])('%j holds %j', (text, name) => {
    expect(namePhrases(text)).toContain(name);
  });

  it('takes any text, each phrase once, and not endlessly many', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 5_000 }), (text) => {
        const phrases = namePhrases(text);
        expect(new Set(phrases).size).toBe(phrases.length);
        expect(phrases.length).toBeLessThanOrEqual(2 * (48 * 6 + 48));
        expect(phrases).not.toContain('');
      }),
    );
  });
});
