import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BadInputError } from '../../src/errors.js';
import { connectionOf, type Page, pageOf } from '../../src/schema/page.js';

/** A list in a total order, as a repository would page it. */
function rowsOf(all: readonly number[], page: Page): number[] {
  const after = page.after ? Number(page.after[0]) : Number.NEGATIVE_INFINITY;
  const before = page.before ? Number(page.before[0]) : Number.POSITIVE_INFINITY;
  const within = all.filter((value) => value > after && value < before);
  if (page.backward) within.reverse();
  return within.slice(0, page.limit + 1);
}

const list = fc.uniqueArray(fc.integer(), { maxLength: 60 }).map((values) => values.sort((a, b) => a - b));
const size = fc.integer({ min: 1, max: 20 });

describe('connections', () => {
  test('forward, every row comes once and in order, whatever the page size', () => {
    fc.assert(
      fc.property(list, size, (all, first) => {
        const seen: number[] = [];
        let after: string | null = null;
        for (;;) {
          const page = pageOf({ first, after }, 1);
          const { edges, pageInfo } = connectionOf(page, rowsOf(all, page), (row) => [row]);
          seen.push(...edges.map((edge) => edge.node));
          expect(pageInfo.hasPreviousPage).toBe(after !== null);
          if (!pageInfo.hasNextPage) break;
          after = pageInfo.endCursor;
        }
        expect(seen).toEqual(all);
      }),
    );
  });

  test('backward, the same from the end', () => {
    fc.assert(
      fc.property(list, size, (all, last) => {
        let seen: number[] = [];
        let before: string | null = null;
        for (;;) {
          const page = pageOf({ last, before }, 1);
          const { edges, pageInfo } = connectionOf(page, rowsOf(all, page), (row) => [row]);
          seen = [...edges.map((edge) => edge.node), ...seen];
          if (!pageInfo.hasPreviousPage) break;
          before = pageInfo.startCursor;
        }
        expect(seen).toEqual(all);
      }),
    );
  });

  test.each([
    [{ first: 0 }, /first must be from 1 to 100, not 0/],
    [{ first: 101 }, /first must be from 1 to 100, not 101/],
    [{ last: -1 }, /last must be from 1 to 100, not -1/],
    [{ first: 1, last: 1 }, /exclude each other/],
    [{ after: 'nonsense' }, /after is not a cursor of this list/],
    [{ before: Buffer.from('[1,2]').toString('base64url') }, /before is not a cursor of this list/],
    [{ after: Buffer.from('{"a":1}').toString('base64url') }, /after is not a cursor/],
    [{ after: Buffer.from('[[1]]').toString('base64url') }, /after is not a cursor/],
  ])('%j is refused, not cut to size', (args, message) => {
    expect(() => pageOf(args, 1)).toThrow(BadInputError);
    expect(() => pageOf(args, 1)).toThrow(message);
  });
});
