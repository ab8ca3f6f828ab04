import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DataDirectoryUnusableError } from '../errors.js';
import { unpackTemplate } from './template.js';
import { runEmbeddedWorker } from './worker-thread.js';

/** The major version of PostgreSQL inside PGlite 0.5; its data is not readable by another. */
const POSTGRES_MAJOR = '18';

/** The cluster's directory inside the data directory. */
function clusterPath(dataDirectory: string): string {
  return join(dataDirectory, 'pg');
}

/**
 * Makes sure that the data directory holds a PostgreSQL cluster and returns its path. A new one is unpacked from the
 * template (0.3 s), or, where there is none, made by initdb (7 s); either way next to its place and then renamed, so that an interrupted first start leaves nothing half made. Call it while holding the directory's lock.
 *
 * @throws DataDirectoryUnusableError when the directory holds something else, or data of another PostgreSQL
 */
export async function ensureCluster(dataDirectory: string): Promise<string> {
  const cluster = clusterPath(dataDirectory);
  await removeUnfinished(dataDirectory);
  if (existsSync(cluster)) {
    await checkVersion(dataDirectory, cluster);
    return cluster;
  }
  const unfinished = join(dataDirectory, `pg.new-${randomBytes(4).toString('hex')}`);
  if (!(await unpackTemplate(unfinished))) await initialiseCluster(unfinished);
  await rename(unfinished, cluster);
  return cluster;
}

/** Makes an empty cluster at `path` by initdb, which takes about 7 s. */
export async function initialiseCluster(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 });
  await runEmbeddedWorker({ cluster: path, socket: undefined, durable: false });
}

async function removeUnfinished(dataDirectory: string): Promise<void> {
  for (const name of await readdir(dataDirectory)) {
    if (name.startsWith('pg.new-')) await rm(join(dataDirectory, name), { recursive: true, force: true });
  }
}

async function checkVersion(dataDirectory: string, cluster: string): Promise<void> {
  const version = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => '');
  if (version.trim() === POSTGRES_MAJOR) return;
  throw new DataDirectoryUnusableError(
    dataDirectory,
    version === ''
      ? `${cluster} is not a PostgreSQL data directory`
      : `it holds data of PostgreSQL ${version.trim()}; this version of Salient reads ${POSTGRES_MAJOR}`,
  );
}
