import type pg from 'pg';
import type { DatabaseLog } from '../log.js';
import { connectClient } from '../server-check.js';

/**
 * What the background processes of a PostgreSQL server do by themselves and the embedded one, a single backend, does
 * not: checkpoints (without them the log grows for ever), vacuum and analyze (without them tables grow and plans age).
 */

/** How often to look whether something is to be done. */
const INTERVAL_MS = 30_000;
/** A checkpoint is due when the log since the last one is longer. */
const CHECKPOINT_BYTES = 16 * 1024 * 1024;
/** PostgreSQL's own thresholds: so many changed rows, and this share of the table. */
const CHANGED_ROWS = 200;
const VACUUM_SHARE = 0.2;
const ANALYZE_SHARE = 0.1;

export interface MaintenanceOptions {
  readonly connection: pg.ClientConfig;
  readonly log: DatabaseLog;
}

export interface Maintenance {
  /** Ends the timer and waits for a run under way. */
  stop(): Promise<void>;
}

/** Looks after the embedded database from now on, twice a minute. */
export function startMaintenance(options: MaintenanceOptions): Maintenance {
  let running: Promise<unknown> = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    running = maintain(options.connection)
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        options.log('warn', 'the maintenance of the embedded database failed', { reason });
      })
      .finally(() => {
        busy = false;
      });
  }, INTERVAL_MS);
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

/** What one run did. */
export interface MaintenanceReport {
  readonly vacuumed: readonly string[];
  readonly analyzed: readonly string[];
  readonly checkpointed: boolean;
}

/** One run: each statement is short, and requests are served between them. */
export async function maintain(connection: pg.ClientConfig): Promise<MaintenanceReport> {
  const client = await connectClient(connection);
  try {
    const due = await dueTables(client);
    for (const { table } of due.vacuum) await client.query(`VACUUM (ANALYZE) ${table}`);
    for (const { table } of due.analyze) await client.query(`ANALYZE ${table}`);
    const checkpointed = (await logBytes(client)) > CHECKPOINT_BYTES;
    if (checkpointed) await client.query('CHECKPOINT');
    return {
      vacuumed: due.vacuum.map(({ table }) => table),
      analyzed: due.analyze.map(({ table }) => table),
      checkpointed,
    };
  } finally {
    await client.end();
  }
}

interface TableActivity {
  /** Quoted and with its schema. */
  readonly table: string;
  readonly vacuum: boolean;
  readonly analyze: boolean;
}

async function dueTables(client: pg.Client): Promise<{ vacuum: TableActivity[]; analyze: TableActivity[] }> {
  await client.query('SELECT pg_stat_force_next_flush()::text');
  const { rows } = await client.query<TableActivity>(
    `SELECT format('%I.%I', s.schemaname, s.relname) AS "table",
            s.n_dead_tup > ${CHANGED_ROWS} + ${VACUUM_SHARE} * greatest(c.reltuples, 0) AS vacuum,
            s.n_mod_since_analyze > ${CHANGED_ROWS} + ${ANALYZE_SHARE} * greatest(c.reltuples, 0) AS analyze
       FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid`,
  );
  return {
    vacuum: rows.filter((row) => row.vacuum),
    analyze: rows.filter((row) => row.analyze && !row.vacuum),
  };
}

/** Bytes of log written since the last checkpoint. */
async function logBytes(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(
    'SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) AS bytes FROM pg_control_checkpoint()',
  );
  return Number(rows[0]?.bytes ?? 0);
}
