import pg from 'pg';
import { CONNECT_TIMEOUT_MS } from './connection.js';
import { DatabaseUnreachableError, PgvectorMissingError, PostgresTooOldError } from './errors.js';

const OLDEST_POSTGRES = 150_000;
/** The first pgvector with `halfvec`. */
const OLDEST_PGVECTOR = [0, 7];

/**
 * Opens one connection outside of the pool: for migrations and checks, as the connecting user.
 * @throws DatabaseUnreachableError with the reason, without the password
 */
export async function connectClient(
  connection: pg.ClientConfig,
  connectTimeoutMs: number = CONNECT_TIMEOUT_MS,
): Promise<pg.Client> {
  let client: pg.Client;
  try {
    client = new pg.Client({ ...connection, connectionTimeoutMillis: connectTimeoutMs });
  } catch {
    // The error of the parser holds the URL, and so the password.
    throw new DatabaseUnreachableError('DATABASE_URL', 'it is not a valid URL of a PostgreSQL database');
  }
  // Reported by the query that meets it; without a listener it would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw new DatabaseUnreachableError(addressOf(client), reasonOf(error));
  }
}

/** Host, port and database, as they may be shown. */
function addressOf(client: pg.Client): string {
  const host = client.host.startsWith('/') ? client.host : `${client.host}:${client.port}`;
  return `${host}/${client.database ?? ''}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}

/**
 * Refuses a server that Salient cannot run on.
 * @throws PostgresTooOldError
 * @throws PgvectorMissingError
 */
export async function checkServer(connection: pg.ClientConfig, connectTimeoutMs: number): Promise<void> {
  const client = await connectClient(connection, connectTimeoutMs);
  try {
    const { rows } = await client.query<{ number: number; version: string; pgvector: string | null }>(
      `SELECT current_setting('server_version_num')::int AS number,
              current_setting('server_version') AS version,
              (SELECT coalesce(installed_version, default_version)
                 FROM pg_available_extensions WHERE name = 'vector') AS pgvector`,
    );
    requireVersions(rows[0]!);
  } finally {
    await client.end();
  }
}

/** The rule behind {@link checkServer}. */
export function requireVersions(server: { number: number; version: string; pgvector: string | null }): void {
  if (server.number < OLDEST_POSTGRES) throw new PostgresTooOldError(server.version);
  if (server.pgvector === null || !isAtLeast(server.pgvector, OLDEST_PGVECTOR)) {
    throw new PgvectorMissingError(server.pgvector);
  }
}

function isAtLeast(version: string, oldest: readonly number[]): boolean {
  const parts = version.split('.').map(Number);
  for (const [index, minimum] of oldest.entries()) {
    const part = parts[index] ?? 0;
    if (part !== minimum) return part > minimum;
  }
  return true;
}
