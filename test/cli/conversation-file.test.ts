import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lineOf } from '../../src/cli/json-position.js';
import { meanRecall, recallByCategory, sharesFound } from '../../src/cli/recall-metric.js';
import { sessionTime } from '../../src/cli/session-time.js';

describe('the time of a session', () => {
  test.each([
    ['1:56 pm on 8 May, 2023', '2023-05-08T13:56:00.000Z'],
    ['12:05 am on 1 January, 2024', '2024-01-01T00:05:00.000Z'],
    ['12:30 pm on 29 February, 2024', '2024-02-29T12:30:00.000Z'],
    ['2023-05-08T13:56:00+02:00', '2023-05-08T11:56:00.000Z'],
    ['2023-05-08 13:56', '2023-05-08T13:56:00.000Z'],
    ['2023-05-08', '2023-05-08T00:00:00.000Z'],
  ])('%s', (text, expected) => {
    expect(sessionTime(text)?.toISOString()).toBe(expected);
  });

  test.each([
    '',
    'yesterday',
    '13:00 pm on 8 May, 2023',
    '1:00 pm on 31 June, 2023',
    '2023-02-30',
    '1:00 pm on 8 Mai, 2023',
  ])('is none: "%s"', (text) => {
    expect(sessionTime(text)).toBeNull();
  });
});

test('the line of any value of a JSON text is found', () => {
  const key = fc.stringMatching(/^[a-z"\\{[,:]{1,4}$/);
  const json = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.integer(),
      fc.string(),
      fc.boolean(),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4 }),
    ),
  })).value;
  fc.assert(
    fc.property(json, (value) => {
      const marked: (string | number)[][] = [];
      const walk = (at: unknown, path: (string | number)[]) => {
        marked.push(path);
        if (Array.isArray(at)) {
          for (const [i, each] of at.entries()) walk(each, [...path, i]);
        }
        if (typeof at === 'object' && at !== null && !Array.isArray(at))
          for (const [name, each] of Object.entries(at)) walk(each, [...path, name]);
      };
      walk(value, []);
      // Each value is where a mark in its place is.
      for (const path of marked) {
        const text = JSON.stringify(value, null, 1);
        const copy = structuredClone({ root: value }) as Record<string, unknown>;
        let parent: Record<string | number, unknown> = copy;
        let name: string | number = 'root';
        for (const step of path) {
          parent = parent[name] as Record<string | number, unknown>;
          name = step;
        }
        parent[name] = '\u2603mark';
        const before = JSON.stringify(copy['root'], null, 1).split('\u2603mark')[0] ?? '';
        expect(lineOf(text, path)).toBe(before.split('\n').length);
      }
    }),
    { numRuns: 200 },
  );
});

describe('R@k', () => {
  test('is the share of the evidence within the first k ids, repeats dropped', () => {
    const many = Array.from({ length: 9 }, (_, i) => [`x${i}`]);
    expect(sharesFound(['a', 'b'], [['a'], ['a', 'x'], ...many, ['b']])).toEqual([0.5, 0.5, 1, 1]);
    expect(sharesFound(['a', 'a'], [['a']])).toEqual([1, 1, 1, 1]);
    expect(sharesFound(['a'], [])).toEqual([0, 0, 0, 0]);
    expect(sharesFound([], [['a']])).toBeNull();
  });

  test('is a mean over questions, of all and of each category', () => {
    const answered = [
      { category: 4, shares: [0, 1, 1, 1] },
      { category: 1, shares: [0, 0, 0.5, 1] },
      { category: 4, shares: [1, 1, 1, 1] },
      { category: 4, shares: [1, 1, 1, 1] },
    ];
    expect(meanRecall(answered)).toEqual({ questions: 4, at: [50, 75, 87.5, 100] });
    expect([...recallByCategory(answered)].map(([category, { questions }]) => [category, questions])).toEqual(
      [
        [1, 1],
        [4, 3],
      ],
    );
  });
});
