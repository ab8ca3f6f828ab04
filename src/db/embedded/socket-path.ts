import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The longest path of a Unix socket, in bytes, that both Linux (107) and macOS (103) take. Longer ones are cut off
 * silently by the system, so that two directories might share one socket.
 */
export const MAX_SOCKET_PATH_BYTES = 103;

/** PostgreSQL clients find the socket of a server by this name inside the directory given as its host. */
export const POSTGRES_SOCKET_NAME = '.s.PGSQL.5432';

/** A directory (0700) that holds one server's socket; `remove` deletes it with all that is in it. */
export interface SocketDirectory {
  readonly path: string;
  remove(): void;
}

/** True where a socket named `name` in `directory` has a path short enough to be bound. */
export function fitsSocketPath(directory: string, name: string): boolean {
  return Buffer.byteLength(join(directory, name)) <= MAX_SOCKET_PATH_BYTES;
}

/**
 * Makes the private directory for the server's socket: `<dataDirectory>/run`, or, where that path is too long for a
 * Unix socket, a fresh directory below the system's temporary one. Call it only while holding the directory's lock:
 * what an earlier process left there is removed.
 */
export async function makeSocketDirectory(dataDirectory: string): Promise<SocketDirectory> {
  const inside = join(dataDirectory, 'run');
  await rm(inside, { recursive: true, force: true });
  if (fitsSocketPath(inside, POSTGRES_SOCKET_NAME)) {
    await mkdir(inside, { mode: 0o700 });
    return { path: inside, remove: () => rmSync(inside, { recursive: true, force: true }) };
  }
  const outside = mkdtempSync(join(tmpdir(), 'salient-'));
  return { path: outside, remove: () => rmSync(outside, { recursive: true, force: true }) };
}
