import type { IdPage } from '../db/index.js';
import { BadInputError } from '../errors.js';
import { isUuid } from '../ids.js';

/** Rows in a page when the client says nothing, and at most. */
export const DEFAULT_PAGE = 20;
export const MAX_PAGE = 100;
/** Greatest number that a row's place can have: PostgreSQL's integer. */
const MAX_SEQUENCE = 2 ** 31 - 1;

/** The arguments of a Relay connection. */
export interface PageArguments {
  readonly first?: number | null;
  readonly after?: string | null;
  readonly last?: number | null;
  readonly before?: string | null;
}

/** A row's place in the list's total order: sort values, the id last. */
export type SortKey = readonly (string | number | null)[];

/** What a list query is asked for: `limit` rows beyond `after` (or before `before`, nearest first, when backward). */
export interface Page {
  readonly limit: number;
  readonly after: SortKey | null;
  readonly before: SortKey | null;
  readonly backward: boolean;
}

export interface Connection<T> {
  readonly edges: { readonly cursor: string; readonly node: T }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
}

/**
 * Checks a connection's arguments.
 * @param keyLength how many values a cursor of this list has
 * @throws BadInputError naming the argument and its range
 */
export function pageOf(args: PageArguments, keyLength: number): Page {
  if (args.first != null && args.last != null)
    throw new BadInputError('first and last exclude each other', ['last']);
  const backward = args.last != null;
  const size = args.last ?? args.first ?? DEFAULT_PAGE;
  if (size < 1 || size > MAX_PAGE) {
    throw new BadInputError(`${backward ? 'last' : 'first'} must be from 1 to ${MAX_PAGE}, not ${size}`, [
      backward ? 'last' : 'first',
    ]);
  }
  return {
    limit: size,
    after: decodeCursor(args.after, 'after', keyLength),
    before: decodeCursor(args.before, 'before', keyLength),
    backward,
  };
}

/**
 * A page of a list in the order of ids.
 * @throws BadInputError for a cursor of a list in another order
 */
export function idPageOf(page: Page): IdPage {
  const idAt = (name: 'after' | 'before') => {
    const id = page[name]?.[0];
    if (id === undefined) return null;
    if (typeof id !== 'string' || !isUuid(id)) throw notOfThisList(name);
    return id.toLowerCase();
  };
  return { ...page, after: idAt('after'), before: idAt('before') };
}

/**
 * A page of a list in the order of a number.
 * @throws BadInputError for a cursor of a list in another order
 */
export function numberPageOf(
  page: Page,
): Omit<Page, 'after' | 'before'> & { readonly after: number | null; readonly before: number | null } {
  const numberAt = (name: 'after' | 'before') => {
    const value = page[name]?.[0];
    if (value === undefined) return null;
    if (!Number.isInteger(value) || Math.abs(value as number) > MAX_SEQUENCE) throw notOfThisList(name);
    return value as number;
  };
  return { ...page, after: numberAt('after'), before: numberAt('before') };
}

/**
 * A page as a Relay connection.
 * @param rows up to `limit + 1` rows in the order of the page's direction
 */
export function connectionOf<T>(page: Page, rows: readonly T[], keyOf: (row: T) => SortKey): Connection<T> {
  const more = rows.length > page.limit;
  const shown = rows.slice(0, page.limit);
  if (page.backward) shown.reverse();
  const edges = shown.map((node) => ({ cursor: encodeCursor(keyOf(node)), node }));
  return {
    edges,
    pageInfo: {
      hasNextPage: page.backward ? page.before !== null : more,
      hasPreviousPage: page.backward ? more : page.after !== null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

function encodeCursor(key: SortKey): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

function decodeCursor(cursor: string | null | undefined, name: string, keyLength: number): SortKey | null {
  if (cursor == null) return null;
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(key) && key.length === keyLength && key.every(isSortValue)) return key;
  } catch {
    // Falls through to the error below: whatever the text is, it is not a cursor.
  }
  throw notOfThisList(name);
}

function notOfThisList(name: string): BadInputError {
  return new BadInputError(`${name} is not a cursor of this list`, [name]);
}

function isSortValue(value: unknown): value is string | number | null {
  return value === null || typeof value === 'string' || typeof value === 'number';
}
