import { BadInputError, type InputPath } from '../errors.js';

/**
 * Refuses JSON nested deeper than `limit`, and numbers that JSON cannot say (a literal 1e309 is infinite). Walks without
 * recursion, so that no depth can hurt.
 * @throws BadInputError naming the limit
 */
export function checkJson(value: unknown, limit: number, path: InputPath): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) throw new BadInputError(`${path.at(-1)} must be at most ${limit} levels deep`, path);
    if (level.some((item) => typeof item === 'number' && !Number.isFinite(item)))
      throw new BadInputError(`${path.at(-1)} must hold finite numbers`, path);
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
  }
}
