import { BadInputError } from '../errors.js';

/** Longest names and external ids, in characters. */
export const NAME_LIMIT = 200;

/**
 * A name or external id, trimmed and NFC.
 * @throws BadInputError naming the field when it is blank, longer than `limit` or holds control characters
 */
export function checkName(value: string, field: string, limit = NAME_LIMIT): string {
  const text = value.normalize('NFC').trim();
  if (text === '') throw new BadInputError(`${field} must not be blank`, [field]);
  if (text.length > limit)
    throw new BadInputError(`${field} must have at most ${limit} characters, not ${text.length}`, [field]);
  if (/\p{Cc}/u.test(text) || !text.isWellFormed()) {
    throw new BadInputError(`${field} must not hold control characters or broken Unicode`, [field]);
  }
  return text;
}

/** `checkName` for optional fields. */
export function checkOptionalName(
  value: string | null | undefined,
  field: string,
  limit = NAME_LIMIT,
): string | null {
  return value == null ? null : checkName(value, field, limit);
}

/**
 * A tenant's slug: 1 to 63 lower-case letters, digits and inner hyphens.
 * @throws BadInputError
 */
export function checkSlug(value: string): string {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(value)) {
    throw new BadInputError('slug must be 1 to 63 lower-case letters, digits or inner hyphens', ['slug']);
  }
  return value;
}
