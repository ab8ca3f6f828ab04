/** Where in a JSON text a value is: for messages that name a line. */

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * The line, from 1, on which the value at `path` begins, or of the innermost of its parents that is there.
 * @param text well-formed JSON
 */
export function lineOf(text: string, path: readonly PropertyKey[]): number {
  const open: { readonly array: boolean; key: string | number; readonly matched: boolean }[] = [];
  let found = 0;
  let expectsKey = false;
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(text); token; token = TOKEN.exec(text)) {
    const [word] = token;
    const parent = open.at(-1);
    if (word === '}' || word === ']') {
      open.pop();
      expectsKey = false;
      continue;
    }
    if (word === ',') {
      if (parent?.array) (parent.key as number)++;
      expectsKey = parent !== undefined && !parent.array;
      continue;
    }
    if (word === ':') {
      expectsKey = false;
      continue;
    }
    if (expectsKey && parent && word.startsWith('"')) {
      parent.key = JSON.parse(word) as string;
      continue;
    }
    const matched = parent === undefined || (parent.matched && parent.key === path[open.length - 1]);
    if (matched) found = token.index;
    if (matched && open.length === path.length) break;
    if (word === '{' || word === '[') {
      open.push({ array: word === '[', key: word === '[' ? 0 : '', matched });
      expectsKey = word === '{';
    }
  }
  return lineAt(text, found);
}

/** The line, from 1, of an offset. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}
