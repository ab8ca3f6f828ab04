import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDirectory } from '../../src/db/embedded/directory-lock.js';
import { DataDirectoryInUseError } from '../../src/db/index.js';
import { isPostgres } from '../support/database.js';

let directory: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salient-lock-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(directory, { recursive: true, force: true });
});

/** Another process that locks the directory and then does what `then` says. Resolves when it holds the lock. */
async function holder(then: string): Promise<ChildProcess> {
  const script = `
    import { lockDirectory } from './dist/db/embedded/directory-lock.js';
    const lock = await lockDirectory(process.argv[1]);
    process.stdout.write('held');
    ${then}`;
  const child = spawn('node', ['--input-type=module', '-e', script, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await new Promise<void>((resolve, reject) => {
    child.stdout!.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`the holder ended with ${code}`)));
  });
  return child;
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

describe.skipIf(isPostgres)('the lock of a data directory', () => {
  it('is held by one at a time, and free after its release', async () => {
    const lock = await lockDirectory(directory);
    await expect(lockDirectory(directory)).rejects.toThrow(DataDirectoryInUseError);
    await lock.release();
    await lock.release();
    await (await lockDirectory(directory)).release();
    expect(await readdir(join(directory, 'lock'))).toEqual([]);
  });

  it('names the directory when it is held by another process', async () => {
    await holder('setInterval(() => {}, 1000);');
    const error = await lockDirectory(directory).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'DATA_DIRECTORY_IN_USE', directory });
    expect((error as Error).message).toContain(directory);
  });

  it('holds while its process is too busy to answer', async () => {
    await holder('for (;;);');
    await expect(lockDirectory(directory)).rejects.toThrow(DataDirectoryInUseError);
  });

  it('is free as soon as its process is killed', async () => {
    const child = await holder('setInterval(() => {}, 1000);');
    const gone = ended(child);
    child.kill('SIGKILL');
    await gone;
    expect(await readdir(join(directory, 'lock'))).toHaveLength(1);
    const lock = await lockDirectory(directory);
    expect(await readdir(join(directory, 'lock'))).toHaveLength(1);
    await lock.release();
  });

  it('goes to at most one of many who ask at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(directory)));
      const held = results.filter((result) => result.status === 'fulfilled');
      expect(held.length).toBeLessThanOrEqual(1);
      for (const { value } of held) await value.release();
    }
  });

  it.runIf(process.platform === 'linux')(
    'works in a directory too deep for the path of a socket',
    async () => {
      const deep = join(directory, 'x'.repeat(120), 'y'.repeat(120));
      await mkdir(deep, { recursive: true });
      const lock = await lockDirectory(deep);
      expect(await readdir(join(deep, 'lock'))).toHaveLength(1);
      await expect(lockDirectory(deep)).rejects.toThrow(DataDirectoryInUseError);
      await lock.release();
      await (await lockDirectory(deep)).release();
      expect(existsSync(join(deep, 'lock'))).toBe(true);
    },
  );
});
