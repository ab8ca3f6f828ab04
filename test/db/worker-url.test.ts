import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { workerUrl } from '../../src/worker-url.js';

const root = pathToFileURL(`${process.cwd()}/`);

describe('workerUrl', () => {
  it('from a source file is the compiled file at the same place of the build', () => {
    const url = workerUrl('./embedded-worker.js', new URL('src/db/embedded/worker-thread.ts', root).href);
    expect(url.href).toBe(new URL('dist/db/embedded/embedded-worker.js', root).href);
    const up = workerUrl('../x/y.js', new URL('src/a/b.ts', root).href);
    expect(up.href).toBe(new URL('dist/x/y.js', root).href);
  });

  it('from the build is the file beside', async () => {
    const script = `import('./dist/worker-url.js').then((m) =>
      console.log(m.workerUrl('./y.js', '${new URL('dist/x/z.js', root).href}').href))`;
    const { stdout } = await promisify(execFile)('node', ['-e', script]);
    expect(stdout.trim()).toBe(new URL('dist/x/y.js', root).href);
  });
});
