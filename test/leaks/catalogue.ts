import type pg from 'pg';

/** A table as PostgreSQL's catalogue has it. Everything here is read from there, so a new table is covered at once. */
export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly foreignKeys: readonly ForeignKey[];
  /** Texts of its CHECK constraints. */
  readonly checks: readonly string[];
}

export interface Column {
  readonly name: string;
  /** Such as `uuid` or `text[]`. */
  readonly type: string;
  readonly nullable: boolean;
  readonly hasDefault: boolean;
}

/** The columns in `columns` refer to those in `parentColumns`, in order. */
export interface ForeignKey {
  readonly parent: string;
  readonly columns: readonly string[];
  readonly parentColumns: readonly string[];
}

/** Tables that belong to no tenant. A table without tenant_id that is not named here fails the suite. */
export const SHARED_TABLES = ['embedding_model', '_prisma_migrations'] as const;

/** The column that names a row's tenant. */
export function tenantColumn(table: Pick<Table, 'name'>): 'id' | 'tenant_id' {
  return table.name === 'tenant' ? 'id' : 'tenant_id';
}

/** Every table (of any sort, partitions included) of the schema that Salient's tables are in. */
export async function readTables(client: pg.Client): Promise<Table[]> {
  const { rows: columns } = await client.query<{ table: string } & Column>(`
    SELECT c.relname AS "table", a.attname AS name, format_type(a.atttypid, NULL) AS type,
           NOT a.attnotnull AS nullable, a.atthasdef OR a.attidentity <> '' AS "hasDefault"
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
    ORDER BY c.relname, a.attnum`);
  const { rows: keys } = await client.query<{ table: string } & ForeignKey>(`
    SELECT c.relname AS "table", p.relname AS parent,
           array(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS u(num, place)
                 JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.num ORDER BY u.place) AS columns,
           array(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS u(num, place)
                 JOIN pg_attribute a ON a.attrelid = p.oid AND a.attnum = u.num ORDER BY u.place) AS "parentColumns"
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class p ON p.oid = k.confrelid
    WHERE k.contype = 'f' AND c.relnamespace = current_schema()::regnamespace`);
  const { rows: checks } = await client.query<{ table: string; text: string }>(`
    SELECT c.relname AS "table", pg_get_constraintdef(k.oid) AS text
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
    WHERE k.contype = 'c' AND c.relnamespace = current_schema()::regnamespace`);
  return [...new Set(columns.map((column) => column.table))].map((name) => ({
    name,
    columns: columns.filter((column) => column.table === name),
    foreignKeys: keys.filter((key) => key.table === name),
    checks: checks.filter((check) => check.table === name).map((check) => check.text),
  }));
}

/** The tables that hold rows of tenants. */
export function tenantTables(tables: readonly Table[]): Table[] {
  return tables.filter((table) => !(SHARED_TABLES as readonly string[]).includes(table.name));
}

/**
 * Which rows of a table belong to owners that a condition on `agent_id` and `user_id` selects: by those columns where
 * the table has them, else by the rows that it refers to. Null where nothing ties the table to an agent or a user.
 */
export function ownedBy(
  tables: readonly Table[],
  table: Table,
  condition: string,
  seen: readonly string[] = [],
): string | null {
  const has = (name: string) => table.columns.some((column) => column.name === name);
  if (has('agent_id') && has('user_id')) return `(${condition})`;
  const parents = table.foreignKeys.flatMap((key) => {
    const parent = tables.find((one) => one.name === key.parent);
    if (!parent || parent.name === 'tenant' || [...seen, table.name].includes(parent.name)) return [];
    const owned = ownedBy(tables, parent, condition, [...seen, table.name]);
    if (owned === null) return [];
    return [
      `(${key.columns.join(', ')}) IN (SELECT ${key.parentColumns.join(', ')} FROM "${parent.name}" WHERE ${owned})`,
    ];
  });
  return parents.length === 0 ? null : `(${parents.join(' OR ')})`;
}

/** A hash per table over the rows that a condition selects; tables for which it is null are left out. */
export async function checksums(
  client: pg.Client,
  tables: readonly Table[],
  conditionOf: (table: Table) => string | null,
): Promise<Record<string, string>> {
  const queries = tables.flatMap((table) => {
    const condition = conditionOf(table);
    if (condition === null) return [];
    return [
      `SELECT '${table.name}' AS name, count(*) || ' rows, ' || md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) AS sum
       FROM (SELECT * FROM "${table.name}" WHERE ${condition}) t`,
    ];
  });
  const { rows } = await client.query<{ name: string; sum: string }>(queries.join(' UNION ALL '));
  return Object.fromEntries(rows.map((row) => [row.name, row.sum]));
}

/** Hashes of all that a tenant has. */
export function tenantChecksums(
  client: pg.Client,
  tables: readonly Table[],
  tenantId: string,
): Promise<Record<string, string>> {
  return checksums(client, tenantTables(tables), (table) => `${tenantColumn(table)} = '${tenantId}'`);
}
