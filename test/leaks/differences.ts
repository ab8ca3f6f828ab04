/** Paths at which two JSON values differ, such as `.data.facts.totalCount`; places in lists are left out. */
export function differences(one: unknown, other: unknown, path = ''): string[] {
  if (Array.isArray(one) && Array.isArray(other)) {
    if (one.length !== other.length) return [`${path}.length`];
    return [...new Set(one.flatMap((value, index) => differences(value, other[index], path)))];
  }
  if (isObject(one) && isObject(other)) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...keys].flatMap((key) => differences(one[key], other[key], `${path}.${key}`));
  }
  return Object.is(one, other) ? [] : [path];
}

/** The paths that did not change by themselves too. */
export function maskNoise(paths: readonly string[], noise: readonly string[]): string[] {
  return paths.filter((path) => !noise.some((noisy) => path === noisy || path.startsWith(`${noisy}.`)));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
