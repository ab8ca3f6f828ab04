import { constraintName } from '../errors.js';

/** Whether an error is the violation of this constraint or unique index. */
export function violates(error: unknown, constraint: string): boolean {
  return constraintName(error) === constraint;
}
