import pg from 'pg';
import type { TestTenant } from '../support/app.js';
import { databaseOn, isPostgres, ownerClient, sharedConnection } from '../support/database.js';
import { uuidOf } from './support.js';

/**
 * A connection that sees the rows of all tenants. Row-level security is forced on owners too: on a server it is that of
 * the superuser, where the tests are given one.
 */
export async function seeingClient(): Promise<pg.Client> {
  const superuser = process.env['SALIENT_TEST_SUPERUSER_URL'];
  const connection = sharedConnection();
  if (!isPostgres || superuser === undefined || connection.connectionString === undefined)
    return ownerClient();
  const database = new URL(connection.connectionString).pathname.slice(1);
  const client = new pg.Client({ connectionString: databaseOn(superuser, database) });
  await client.connect();
  return client;
}

/** Names of the tables that have rows of tenants. */
export async function tenantTables(owner: pg.Client): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(`
    SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
    WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace ORDER BY 1`);
  return rows.map((row) => row.name);
}

/** All rows of a tenant in a table, each as the text of all its columns. */
export async function rowsOf(owner: pg.Client, tenant: TestTenant, table: string): Promise<string[]> {
  const { rows } = await owner.query<{ row: string }>(
    `SELECT t::text AS row FROM ${table} t WHERE tenant_id = $1 ORDER BY 1`,
    [uuidOf(tenant.id)],
  );
  return rows.map((row) => row.row);
}

/** When a key was last used is noted by every request, refused ones too. */
const NOTED_BY_READS = ['api_key'];

/** Every row of a tenant by table; two are equal when nothing changed. */
export async function snapshot(
  owner: pg.Client,
  tenant: TestTenant,
  except: readonly string[] = [],
): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  for (const table of await tenantTables(owner)) {
    if (![...NOTED_BY_READS, ...except].includes(table)) all[table] = await rowsOf(owner, tenant, table);
  }
  return all;
}

/** The tables with a row that holds this text in any column, bytes or not. */
export async function tablesHolding(owner: pg.Client, tenant: TestTenant, text: string): Promise<string[]> {
  const needles = [text.toLowerCase(), Buffer.from(text).toString('hex')];
  const found: string[] = [];
  for (const [table, rows] of Object.entries(await snapshot(owner, tenant))) {
    if (rows.some((row) => needles.some((needle) => row.toLowerCase().includes(needle)))) found.push(table);
  }
  return found;
}

export interface EventView {
  readonly seq: number;
  readonly type: string;
  readonly agentId: string | null;
  readonly userId: string | null;
  readonly subjectId: string;
  readonly factId: string | null;
  readonly cause: string | null;
  readonly oldValue: number | null;
  readonly newValue: number | null;
  readonly actorKind: string;
}

/** The events of a tenant in order. */
export async function eventsOf(owner: pg.Client, tenant: TestTenant, after = 0): Promise<EventView[]> {
  const { rows } = await owner.query<EventView>(
    `SELECT seq::int AS seq, type, agent_id AS "agentId", user_id AS "userId", subject_id AS "subjectId",
            fact_id AS "factId", cause, old_value AS "oldValue", new_value AS "newValue", actor_kind AS "actorKind"
     FROM event WHERE tenant_id = $1 AND seq > $2 ORDER BY event.seq`,
    [uuidOf(tenant.id), after],
  );
  return rows;
}

/** The totals of a tenant's scopes as stored, beside a recount of what is searchable. */
export async function scopeTotals(
  owner: pg.Client,
  tenant: TestTenant,
): Promise<{ stored: ScopeTotal[]; recounted: ScopeTotal[] }> {
  const id = [uuidOf(tenant.id)];
  const stored = await owner.query<ScopeTotal>(
    `SELECT scope_id AS scope, documents::int, document_terms::int AS terms FROM scope_state
     WHERE tenant_id = $1 ORDER BY 1`,
    id,
  );
  const recounted = await owner.query<ScopeTotal>(
    `WITH document AS (
       SELECT scope_id, id FROM fact WHERE tenant_id = $1 AND retired_at IS NULL
       UNION ALL
       SELECT scope_id, id FROM message WHERE tenant_id = $1 AND redacted_at IS NULL)
     SELECT s.scope_id AS scope, count(d.id)::int AS documents, coalesce(sum(p.terms), 0)::int AS terms
     FROM scope_state s
     LEFT JOIN document d ON d.scope_id = s.scope_id
     LEFT JOIN LATERAL (
       SELECT sum(frequency) AS terms FROM posting WHERE tenant_id = $1 AND document_id = d.id AND live) p ON true
     WHERE s.tenant_id = $1 GROUP BY s.scope_id ORDER BY 1`,
    id,
  );
  return { stored: stored.rows, recounted: recounted.rows };
}

export interface ScopeTotal {
  readonly scope: number;
  readonly documents: number;
  readonly terms: number;
}
