/**
 * Where the compiled file of a worker thread is.
 *
 * Node runs JavaScript only, so a worker started while the program itself runs from TypeScript source (vitest)
 * must be taken from the build: `src/…/x.js` becomes `dist/…/x.js` of the same package. From the build itself the
 * file simply lies beside its caller. `npm test` builds before the first test.
 *
 * @param relative the worker's compiled file, relative to the caller, with its `.js` ending: `./encoder-worker.js`
 * @param base the caller's `import.meta.url`
 */
export function workerUrl(relative: string, base: string): URL {
  const beside = new URL(relative, base);
  const here = new URL('.', import.meta.url).href;
  if (!here.endsWith('/src/') || !beside.href.startsWith(here)) return beside;
  return new URL(`../dist/${beside.href.slice(here.length)}`, here);
}
