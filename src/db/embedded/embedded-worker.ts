import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { DurableNodeFS } from './durable-fs.js';
import type { EmbeddedReport, EmbeddedWorkerData } from './protocol.js';
import { SharedBackend } from './shared-backend.js';

/**
 * The thread that is the embedded PostgreSQL. It is a thread because the WebAssembly runs synchronously and would hold
 * up every request, and because its stack has to be larger than the main thread's. Clients speak the ordinary protocol
 * through the socket; all share one session of one backend, and the socket server lets a transaction finish before it
 * serves the next client.
 */

/** More than the pool, the migration, the maintenance and a few onlookers need together. */
const MAX_CONNECTIONS = 64;

/** Small log segments and caches: the directory starts at about 25 MB and the process stays below 200 MB. */
const INITDB_PARAMETERS = ['--wal-segsize=1'];
const SERVER_SETTINGS = [
  'shared_buffers=32MB',
  'min_wal_size=8MB',
  'max_wal_size=64MB',
  'random_page_cost=1.1',
  'jit=off',
];

const data = workerData as EmbeddedWorkerData;
const port = parentPort!;

function report(message: EmbeddedReport): void {
  port.postMessage(message);
}

function startParameters(durable: boolean): string[] {
  // PGlite passes -F (no fsync) by default.
  const base = durable
    ? PGlite.defaultStartParams.filter((parameter) => parameter !== '-F')
    : PGlite.defaultStartParams;
  const settings = durable ? [...SERVER_SETTINGS, 'wal_sync_method=fsync'] : SERVER_SETTINGS;
  return [...base, ...settings.flatMap((setting) => ['-c', setting])];
}

async function start(): Promise<void> {
  const db = new SharedBackend({
    fs: data.durable ? new DurableNodeFS(data.cluster) : new NodeFS(data.cluster),
    extensions: { vector },
    initDbStartParams: INITDB_PARAMETERS,
    startParams: startParameters(data.durable),
  });
  await db.waitReady;
  if (data.socket === undefined) {
    // Half of what the first migration would take.
    await db.exec('CREATE EXTENSION vector');
    await db.exec('CHECKPOINT');
    await db.close();
    report({ type: 'closed' });
    return;
  }
  const server = new PGLiteSocketServer({ db, path: data.socket, maxConnections: MAX_CONNECTIONS });
  await server.start();
  port.once('message', () => void close(db, server));
  report({ type: 'ready' });
}

async function close(db: PGlite, server: PGLiteSocketServer): Promise<void> {
  try {
    await server.stop();
    // The next start then has no log to replay.
    await db.exec('CHECKPOINT');
    await db.close();
    report({ type: 'closed' });
  } catch (error) {
    report({ type: 'failed', reason: String(error) });
  }
  port.close();
}

start().catch((error: unknown) => {
  report({ type: 'failed', reason: error instanceof Error ? error.message : String(error) });
  port.close();
});
