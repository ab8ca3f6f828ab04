import { v7, validate } from 'uuid';

/** A new UUID v7: its first digits are the time, so that new rows are neighbours in the indexes. */
export function newId(): string {
  return v7();
}

/** True for a UUID in its canonical text form, of any version. */
export function isUuid(value: string): boolean {
  return validate(value);
}

/** The last 12 hexadecimal digits of a UUID (SPEC §1): the first ones are time and equal for all of a minute. */
export function shortIdOf(id: string): string {
  return id.slice(-12).toLowerCase();
}
