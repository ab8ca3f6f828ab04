import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataDirectoryInUseError, DataDirectoryUnusableError } from '../errors.js';
import { fitsSocketPath } from './socket-path.js';

/** Two processes that start together both step back and try again, after a random wait of up to this. */
const RETRY_WAIT_MS = 250;
/** How often a start steps back before it reports the directory as in use. */
const MAX_ATTEMPTS = 12;
/** How long a socket that took the connection may think about its answer; a busy holder answers late, if ever. */
const ANSWER_WAIT_MS = 1_000;

/** Answers that a candidate's socket gives: it holds the lock, or has not decided yet. */
const HELD = 'H';
const TRYING = 'T';

type Neighbour = 'dead' | 'trying' | 'holder';

/** A held lock. Releasing it twice is harmless. */
export interface DirectoryLock {
  release(): Promise<void>;
}

/**
 * Locks a data directory for this process, so that no second process (nor a second database of this process) opens
 * it: PGlite has no lock of its own, and two writers destroy the data.
 *
 * Each candidate listens on a socket with a name of its own in `<directory>/lock`, and only then looks for others. A
 * socket that refuses the connection belongs to a dead process and is deleted; that is safe because names are never
 * used twice. A socket that accepts is alive even if its process is too busy to answer: the kernel accepts for it. Of
 * two candidates whichever looks last sees the other, so two can never both hold the lock. Nothing goes stale:
 * `kill -9` closes the sockets.
 *
 * @throws DataDirectoryInUseError when another holder is alive
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const place = await openLockPlace(directory);
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const candidate = await Candidate.enter(directory, place.path);
      const neighbours = await Promise.all(
        (await candidate.others()).map((name) => examine(place.path, name)),
      );
      if (neighbours.every((neighbour) => neighbour === 'dead')) {
        candidate.held = true;
        return { release: once(() => candidate.leave().finally(place.close)) };
      }
      await candidate.leave();
      if (neighbours.includes('holder')) break;
      await sleep(Math.random() * RETRY_WAIT_MS);
    }
    throw new DataDirectoryInUseError(directory);
  } catch (error) {
    place.close();
    throw error;
  }
}

class Candidate {
  held = false;

  private constructor(
    private readonly server: Server,
    private readonly place: string,
    private readonly name: string,
  ) {}

  static async enter(directory: string, place: string): Promise<Candidate> {
    const name = `${randomBytes(6).toString('hex')}.sock`;
    const server = createServer();
    const candidate = new Candidate(server, place, name);
    server.on('connection', (socket) => {
      socket.on('error', () => socket.destroy());
      socket.end(candidate.held ? HELD : TRYING, () => socket.destroy());
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(join(place, name), resolve);
    }).catch((error: Error) => {
      throw new DataDirectoryUnusableError(directory, `its lock cannot be made (${error.message})`, {
        cause: error,
      });
    });
    return candidate;
  }

  async others(): Promise<string[]> {
    const names = await readdir(this.place);
    return names.filter((name) => name.endsWith('.sock') && name !== this.name);
  }

  leave(): Promise<void> {
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}

/** Finds out whose socket `name` is, and deletes that of a dead process. */
async function examine(place: string, name: string): Promise<Neighbour> {
  const path = join(place, name);
  const neighbour = await new Promise<Neighbour>((resolve) => {
    const socket = connect(path);
    socket.setTimeout(ANSWER_WAIT_MS, () => finish('holder'));
    socket.once('data', (data) => finish(data.toString() === TRYING ? 'trying' : 'holder'));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      finish(error.code === 'ECONNREFUSED' || error.code === 'ENOENT' ? 'dead' : 'holder'),
    );
    // Accepted and closed without a word: it left between our look and our connection.
    socket.once('close', () => finish('trying'));

    function finish(found: Neighbour): void {
      socket.destroy();
      resolve(found);
    }
  });
  if (neighbour === 'dead') await rm(path, { force: true });
  return neighbour;
}

/**
 * `<directory>/lock`, by a path that is short enough for sockets. On Linux a deep directory is reached through a file
 * descriptor, so the lock is still inside the directory itself and every process meets the others there.
 */
async function openLockPlace(directory: string): Promise<{ path: string; close: () => void }> {
  const inside = join(directory, 'lock');
  await mkdir(inside, { recursive: true, mode: 0o700 });
  const longestName = `${'f'.repeat(12)}.sock`;
  if (fitsSocketPath(inside, longestName)) return { path: inside, close: () => {} };
  if (process.platform === 'linux') {
    const descriptor = openSync(inside, constants.O_RDONLY | constants.O_DIRECTORY);
    return { path: `/proc/self/fd/${descriptor}`, close: once(() => closeSync(descriptor)) };
  }
  throw new DataDirectoryUnusableError(
    directory,
    `its path is too long for a Unix socket; use one of at most ${fitting(longestName)} bytes (${tmpdir()} would do)`,
  );
}

function fitting(name: string): number {
  let length = 1;
  while (fitsSocketPath(`/${'x'.repeat(length)}/lock`, name)) length++;
  return length;
}

function once<T>(action: () => T): () => T {
  let result: { value: T } | undefined;
  return () => {
    result ??= { value: action() };
    return result.value;
  };
}
