import { describe, expect, it } from 'vitest';
import { phrase } from '../../src/embedding/use-lite-phrase.js';
import { UseLiteReader } from '../../src/embedding/use-lite-reader.js';

const reader = new UseLiteReader([
  '▁the',
  'abcdefghijklmnopqrstuvwxyz',
  'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
  '▁Ünïö',
  '.,\'"-+',
  '0123',
  'о',
  'ا',
]);

describe('UseLiteReader', () => {
  it('reads Latin letters, and digits where the vocabulary has them', () => {
    expect(reader.read('Node 20, the rest')).toEqual({ text: 'Node 20, the rest', unreadShare: 0 });
    expect(reader.read('789')).toEqual({ text: '', unreadShare: 1 });
  });

  it('reads accented letters, as the plain letter where the vocabulary has no other', () => {
    expect(reader.read('Übung, čeština, việt')).toEqual({ text: 'Übung, cestina, viet', unreadShare: 0 });
  });

  it('writes typographic quotes and dashes plainly, and full-width forms', () => {
    expect(reader.read('I’m “here” – ｏｋ').text).toBe('I\'m "here" - ok');
  });

  it('leaves out what it cannot read and says how much that is', () => {
    expect(reader.read('深色 mode')).toEqual({ text: 'mode', unreadShare: 2 / 6 });
    expect(reader.read('我喜欢深色模式')).toEqual({ text: '', unreadShare: 1 });
  });

  it('does not count single letters of other scripts as read', () => {
    expect(reader.read('оборона')).toEqual({ text: '', unreadShare: 1 });
    expect(reader.read('اا')).toEqual({ text: '', unreadShare: 1 });
  });

  it('does not count emoji and punctuation', () => {
    expect(reader.read('great 🎉🎉🎉!')).toEqual({ text: 'great', unreadShare: 0 });
    expect(reader.read('😀, ...').unreadShare).toBe(1);
  });

  it('counts digits only where there are no letters', () => {
    expect(reader.read('我的电话是 1230').unreadShare).toBe(1);
    expect(reader.read('+1230').unreadShare).toBe(0);
  });
});

describe('phrase', () => {
  it('puts topics and names into sentences, whatever they end with', () => {
    expect(phrase('patient safety')).toHaveLength(3);
    expect(phrase('patient safety')[0]).toBe('patient safety');
    expect(phrase('patient safety!')).toEqual(phrase('patient safety'));
    expect(phrase('the patient safety report')).toEqual(['the patient safety report.']);
  });

  it('ends a statement with one full stop', () => {
    const spellings = ['', '.', '!', '...', ' !!'].map((end) => `I prefer tabs over spaces${end}`);
    expect(new Set(spellings.flatMap(phrase))).toEqual(new Set(['I prefer tabs over spaces.']));
  });

  it('leaves questions and code as they are', () => {
    expect(phrase('What does Anna like to eat?')).toEqual(['What does Anna like to eat?']);
    expect(phrase('const x = foo();')).toEqual(['const x = foo();']);
    expect(phrase(`https://example.com/${'a'.repeat(80)}`)).toHaveLength(1);
  });
});
