import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyzeDocument, analyzeName } from '../../src/text/lexical-analysis.js';
import { endsByAsking, QUESTION_MARK, speakerMark, turnMarks } from '../../src/text/turn-marks.js';

describe('endsByAsking', () => {
  it.each([
    'How are you?',
    'How are you??',
    'Really?!',
    'Nice. "Shall we?"',
    'Where (and when?)',
    'Coffee? ☕️ 👩‍🍳',
    'What is this? [shares a photo of a boat]',
    '何ですか？',
    'Shall we? \n',
  ])('sees that %j asks', (text) => {
    expect(endsByAsking(text)).toBe(true);
  });

  it.each(['How are you? Fine.', 'No.', '', '?x', 'Look [what is this?] here', 'I asked "why?" and left'])(
    'sees that %j does not',
    (text) => {
      expect(endsByAsking(text)).toBe(false);
    },
  );

  it('looks at the end alone, in time linear in the length', () => {
    expect(endsByAsking(`${'? '.repeat(100_000)}x`)).toBe(false);
    expect(endsByAsking(`${' ['.repeat(100_000)}?`)).toBe(true);
  });
});

describe('turnMarks', () => {
  it('has one for each word of the name, and one for asking', () => {
    const marks = turnMarks({ content: 'Shall we?', speaker: 'Ines Marlow' });
    expect(marks).toEqual([...analyzeName('Ines Marlow').map(speakerMark), QUESTION_MARK]);
    expect(turnMarks({ content: 'We shall.', speaker: null })).toEqual([]);
  });

  it('never are what a text has as words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const words = new Set(analyzeDocument(text).terms.map(({ term }) => term));
        for (const mark of turnMarks({ content: text, speaker: text })) expect(words.has(mark)).toBe(false);
        expect(words.has(QUESTION_MARK)).toBe(false);
      }),
    );
  });
});
