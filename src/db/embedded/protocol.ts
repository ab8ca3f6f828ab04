/** What the main thread tells the database's worker thread when it starts it. */
export interface EmbeddedWorkerData {
  /** The directory of the PostgreSQL cluster; made by initdb where it does not exist. */
  readonly cluster: string;
  /** The Unix socket to listen on; undefined: only make the cluster, then end. */
  readonly socket: string | undefined;
  /** Whether a commit waits until the log is on the disk. */
  readonly durable: boolean;
}

/** Main thread → worker. */
export type EmbeddedCommand = 'close';

/** Worker → main thread. */
export type EmbeddedReport =
  | { readonly type: 'ready' }
  | { readonly type: 'closed' }
  | { readonly type: 'failed'; readonly reason: string };
