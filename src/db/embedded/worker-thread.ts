import { Worker } from 'node:worker_threads';
import { workerUrl } from '../../worker-url.js';
import type { EmbeddedCommand, EmbeddedReport, EmbeddedWorkerData } from './protocol.js';

/** PostgreSQL's recursive functions need more than a thread's usual 4 MB: a deep expression ends the thread else. */
const STACK_SIZE_MB = 64;

/** The embedded database's thread, started and ready. */
export interface EmbeddedThread {
  /** Resolves when the thread has ended, with the reason when that was not asked for. */
  readonly ended: Promise<string | undefined>;
  /** Writes everything to the data files and ends the thread. */
  close(): Promise<void>;
  /** Ends the thread at once, as a crash would; what was committed survives in the log. */
  kill(): Promise<void>;
}

function spawn(data: EmbeddedWorkerData): Worker {
  return new Worker(workerUrl('./embedded-worker.js', import.meta.url), {
    name: 'salient-embedded-postgres',
    workerData: data,
    resourceLimits: { stackSizeMb: STACK_SIZE_MB },
    // Not the flags of the process: some make no sense in a thread and end it.
    execArgv: [],
    // PGlite prints PostgreSQL's log there, statements and their values included.
    stdout: true,
    stderr: true,
  });
}

/** Starts the thread and resolves when it accepts connections; rejects when it cannot open the cluster. */
export function startEmbeddedThread(data: EmbeddedWorkerData & { socket: string }): Promise<EmbeddedThread> {
  const worker = spawn(data);
  discardOutput(worker);
  let closing = false;
  let failure: string | undefined;
  const ended = new Promise<string | undefined>((resolve) => {
    worker.once('exit', (code) =>
      resolve(failure ?? (closing ? undefined : `the thread ended with code ${code}`)),
    );
  });
  worker.on('error', (error) => {
    failure = error.message;
  });
  const thread: EmbeddedThread = {
    ended,
    close: async () => {
      if (!closing) worker.postMessage('close' satisfies EmbeddedCommand);
      closing = true;
      const reason = await ended;
      if (reason !== undefined) throw new Error(reason);
    },
    kill: async () => {
      await worker.terminate();
    },
  };
  return new Promise((resolve, reject) => {
    worker.on('message', (report: EmbeddedReport) => {
      if (report.type === 'ready') resolve(thread);
      if (report.type === 'failed') failure = report.reason;
    });
    void ended.then((reason) => reject(new Error(reason ?? 'the thread ended')));
  });
}

/** Runs a thread that ends by itself, to make a cluster. */
export async function runEmbeddedWorker(data: EmbeddedWorkerData & { socket: undefined }): Promise<void> {
  const worker = spawn(data);
  discardOutput(worker);
  let reason: string | undefined = 'the thread ended early';
  await new Promise<void>((resolve) => {
    worker.on('message', (report: EmbeddedReport) => {
      reason = report.type === 'failed' ? report.reason : undefined;
    });
    worker.on('error', (error) => {
      reason = error.message;
    });
    worker.once('exit', () => resolve());
  });
  if (reason !== undefined) throw new Error(reason);
}

function discardOutput(worker: Worker): void {
  worker.stdout.resume();
  worker.stderr.resume();
}
