import { mkdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseError, DataDirectoryUnusableError } from '../errors.js';
import type { DatabaseLog } from '../log.js';
import { ensureCluster } from './cluster.js';
import { type DirectoryLock, lockDirectory } from './directory-lock.js';
import { makeSocketDirectory, POSTGRES_SOCKET_NAME, type SocketDirectory } from './socket-path.js';
import { type EmbeddedThread, startEmbeddedThread } from './worker-thread.js';

/** A thread that ends by itself is started again, unless it did so this often within {@link RESTART_WINDOW_MS}. */
const MAX_RESTARTS = 5;
const RESTART_WINDOW_MS = 60_000;

export interface EmbeddedServerOptions {
  /** Made where it does not exist, readable by its owner alone. */
  readonly dataDirectory: string;
  /** Whether commits survive a power cut (default), or only the end of the process. */
  readonly durable: boolean;
  readonly log: DatabaseLog;
}

/** The embedded PostgreSQL of one data directory: lock, thread and socket. */
export class EmbeddedServer implements AsyncDisposable {
  readonly #restarts: number[] = [];
  #closing: Promise<void> | undefined;

  private constructor(
    /** The directory that holds the server's socket: the `host` for PostgreSQL clients on this machine. */
    readonly host: string,
    private readonly cluster: string,
    private readonly lock: DirectoryLock,
    private readonly sockets: SocketDirectory,
    private readonly options: EmbeddedServerOptions,
    private thread: EmbeddedThread,
  ) {
    this.#watch(thread);
  }

  /**
   * @throws DataDirectoryInUseError
   * @throws DataDirectoryUnusableError
   */
  static async start(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
    const directory = await makeDataDirectory(options.dataDirectory);
    const lock = await lockDirectory(directory);
    let sockets: SocketDirectory | undefined;
    try {
      const cluster = await ensureCluster(directory);
      sockets = await makeSocketDirectory(directory);
      const thread = await startThread(cluster, sockets, options);
      return new EmbeddedServer(sockets.path, cluster, lock, sockets, options, thread);
    } catch (error) {
      sockets?.remove();
      await lock.release();
      if (error instanceof DatabaseError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new DataDirectoryUnusableError(options.dataDirectory, reason, { cause: error });
    }
  }

  /** Writes everything to the data files, ends the thread, frees the directory. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await this.thread.close();
    } finally {
      this.sockets.remove();
      await this.lock.release();
    }
  }

  /** Ends the database's thread as a crash would, to prove that it comes back. */
  async crash(): Promise<void> {
    await this.thread.kill();
  }

  #watch(thread: EmbeddedThread): void {
    void thread.ended.then(async (reason) => {
      if (this.#closing !== undefined) return;
      this.options.log('error', 'the embedded database ended unexpectedly', { reason });
      const now = Date.now();
      const recent = this.#restarts.filter((time) => time > now - RESTART_WINDOW_MS);
      this.#restarts.splice(0, Infinity, ...recent, now);
      if (recent.length >= MAX_RESTARTS) {
        this.options.log('error', 'the embedded database is not started again', { restarts: recent.length });
        return;
      }
      await this.#restart();
    });
  }

  async #restart(): Promise<void> {
    try {
      const thread = await startThread(this.cluster, this.sockets, this.options);
      if (this.#closing !== undefined) return void (await thread.close());
      this.thread = thread;
      this.#watch(thread);
      this.options.log('warn', 'the embedded database is running again', {});
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.options.log('error', 'the embedded database cannot be started again', { reason });
    }
  }
}

async function makeDataDirectory(path: string): Promise<string> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    return await realpath(path);
  } catch (error) {
    throw new DataDirectoryUnusableError(path, error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
}

async function startThread(
  cluster: string,
  sockets: SocketDirectory,
  options: EmbeddedServerOptions,
): Promise<EmbeddedThread> {
  const socket = join(sockets.path, POSTGRES_SOCKET_NAME);
  // A thread that crashed leaves its socket behind.
  await rm(socket, { force: true });
  return startEmbeddedThread({ cluster, socket, durable: options.durable });
}
