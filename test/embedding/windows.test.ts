import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normaliseText } from '../../src/embedding/text.js';
import { cutWindows, MAX_WINDOWS, WINDOW_LENGTH } from '../../src/embedding/windows.js';

const SENTENCE =
  'The committee discussed the annual budget, the new office and the hiring plan for engineers. ';
const word = fc.string({ unit: fc.constantFrom(...'abcdefgh'), minLength: 1, maxLength: 12 });
const prose = fc
  .array(word, { minLength: 1, maxLength: 1_500 })
  .map((words) => words.map((w, i) => (i % 9 === 8 ? `${w}.` : w)).join(' '));

describe('normaliseText', () => {
  it('composes, collapses white space and control characters, and trims', () => {
    expect(normaliseText('  Cafe\u0301 \n\t au\u00a0\u0000 lait \u3000')).toBe('Caf\u00e9 au lait');
  });

  it('keeps surrogate pairs and replaces lone halves', () => {
    expect(normaliseText('a😀b')).toBe('a😀b');
    expect(normaliseText('a\ud83d b')).toBe('a\ufffd b');
  });

  it('gives nothing for blank text', () => {
    expect(normaliseText(' \n\u200a\ufeff')).toBe('');
  });
});

describe('cutWindows', () => {
  it('leaves a short text whole and finds none in an empty one', () => {
    expect(cutWindows('I prefer tabs')).toEqual(['I prefer tabs']);
    expect(cutWindows('x'.repeat(WINDOW_LENGTH))).toHaveLength(1);
    expect(cutWindows('')).toEqual([]);
  });

  it('loses no word of a text that fits, and no window is too long or tiny', () => {
    fc.assert(
      fc.property(prose, (text) => {
        const windows = cutWindows(text);
        expect(windows.length).toBeLessThanOrEqual(MAX_WINDOWS);
        expect(windows.join(' ')).toBe(text);
        for (const window of windows) {
          expect(window.length).toBeLessThanOrEqual(WINDOW_LENGTH);
          if (windows.length > 1) expect(window.length).toBeGreaterThan(WINDOW_LENGTH / 4);
        }
      }),
    );
  });

  it('cuts between sentences', () => {
    const windows = cutWindows(SENTENCE.repeat(30).trim());
    expect(windows.length).toBeGreaterThan(3);
    for (const window of windows) expect(window).toMatch(/^The committee .*engineers\.$/);
  });

  it('cuts unspaced scripts between words and monsters between graphemes', () => {
    const chinese = cutWindows('我们在所有项目中都喜欢用制表符而不是空格'.repeat(40));
    expect(chinese.join('')).toHaveLength(40 * 20);
    const family = '👨‍👩‍👧‍👦';
    for (const window of cutWindows(family.repeat(200))) {
      expect(window.length % family.length).toBe(0);
    }
    expect(cutWindows('x'.repeat(5_000)).join('')).toBe('x'.repeat(5_000));
  });

  it('samples a huge text evenly, its beginning and its end included, always alike', () => {
    const text = Array.from({ length: 40_000 }, (_, i) => `word${i}`).join(' ');
    const windows = cutWindows(text);
    expect(windows).toHaveLength(MAX_WINDOWS);
    expect(windows[0]).toMatch(/^word0 /);
    expect(windows.at(-1)).toMatch(/ word39999$/);
    expect(cutWindows(text)).toEqual(windows);
    const starts = windows.map((window) => Number(/^word(\d+) /.exec(window)?.[1]));
    for (let i = 2; i < starts.length; i++) {
      expect(starts[i]! - starts[i - 1]!).toBeGreaterThan(1_000);
      expect(starts[i]! - starts[i - 1]!).toBeLessThan(1_600);
    }
  });

  it('cuts further what has too many tokens for the encoder, and samples when that makes too many', () => {
    const limit = { maxTokens: 128, countTokens: (text: string) => text.length };
    const windows = cutWindows(SENTENCE.repeat(10).trim(), limit);
    expect(windows.join(' ')).toBe(SENTENCE.repeat(10).trim());
    for (const window of windows) expect(window.length).toBeLessThanOrEqual(128);

    const many = cutWindows(SENTENCE.repeat(150).trim(), limit);
    expect(many).toHaveLength(MAX_WINDOWS);
    expect(many[0]).toMatch(/^The committee/);
    expect(many.at(-1)).toMatch(/engineers\.$/);
  });

  it('ends even when nothing is short enough for the encoder', () => {
    expect(cutWindows('ab', { maxTokens: 1, countTokens: () => 1_000 })).toEqual(['ab']);
  });
});
