import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CliError } from '../../src/cli/cli-error.js';
import type { DatabaseErrorCode } from '../../src/db/index.js';
import type { EmbeddingErrorCode } from '../../src/embedding/index.js';
import { API_ERRORS, errorsPage, OPERATOR_ERRORS } from '../../src/error-codes.js';
import type { ExtractorErrorCode } from '../../src/extraction/extractor.js';
import type { SalienceInputError } from '../../src/salience/errors.js';

const root = new URL('../../', import.meta.url).pathname;
const known = new Set([...Object.keys(API_ERRORS), ...Object.keys(OPERATOR_ERRORS)]);

// Does not compile when a code of one of these is not in the table.
type Tabled = keyof typeof OPERATOR_ERRORS;
const tabled: (
  code:
    | DatabaseErrorCode
    | EmbeddingErrorCode
    | ExtractorErrorCode
    | CliError['code']
    | SalienceInputError['code'],
) => Tabled = (code) => code;

/** Codes as source texts give them to errors: `super('X'`, `code: 'X'`, `code = 'X'`, `new SalientError('X'`, `error = 'X'`. */
const GIVEN =
  /(?:super\(\s*|\bcode:\s*|\bcode\s*=\s*|SalientError\(\s*|\berror\s*=\s*|fail\()'([A-Z][A-Z_]{2,})'/g;

function sources(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    const own = entry.isFile() && path.endsWith('.ts') && !path.includes('/generated/');
    return own && !path.endsWith('/error-codes.ts') ? [path] : [];
  });
}

test('every code that is given to an error anywhere is in the table', () => {
  const found = new Map<string, string>();
  for (const path of sources(join(root, 'src'))) {
    for (const match of readFileSync(path, 'utf8').matchAll(GIVEN)) found.set(match[1] as string, path);
  }
  expect(found.size).toBeGreaterThan(20);
  expect([...found].filter(([code]) => !known.has(code))).toEqual([]);
  expect(tabled('USAGE')).toBe('USAGE');
});

test('every code of the table is given somewhere', () => {
  const texts = sources(join(root, 'src')).map((path) => readFileSync(path, 'utf8'));
  // Those that the libraries give by themselves.
  const foreign = new Set(['GRAPHQL_VALIDATION_FAILED', 'OPERATION_RESOLUTION_FAILURE']);
  const unused = [...known].filter(
    (code) => !foreign.has(code) && !texts.some((text) => text.includes(`'${code}'`)),
  );
  expect(unused).toEqual([]);
});

test('docs/errors.md is the table', () => {
  expect(readFileSync(join(root, 'docs/errors.md'), 'utf8')).toBe(errorsPage());
  expect(errorsPage()).toContain('| `UNAVAILABLE` | answer | 503 | yes |');
});
