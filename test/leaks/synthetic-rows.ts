import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { newId } from '../../src/ids.js';
import { type Column, type Table, tenantColumn, tenantTables } from './catalogue.js';

/**
 * Values that the rules below cannot find, as SQL, by `table.column`. Add one when the suite says that it could not
 * make a row of a table.
 */
const VALUES: Readonly<Record<string, string>> = {
  'co_activation.first_id': `'00000000-0000-7000-8000-000000000001'`,
  'co_activation.second_id': `'00000000-0000-7000-8000-000000000002'`,
  // One event, far behind the head: it is part of no stream.
  'event_batch.first_seq': '1000000000',
  'event_batch.last_seq': '1000000000',
  'event_batch.fact_ids': `'{00000000-0000-7000-8000-000000000001}'`,
  'event_batch.old_values': `'{1}'`,
  'event_batch.new_values': `'{2}'`,
  // An open one would be worked on.
  'job.status': `'CANCELLED'`,
};

/**
 * Gives a tenant a row in every table where it has none, made from the catalogue, so that no question about a table is
 * answered by its emptiness. Foreign keys are not looked at: nothing reads these rows but the questions.
 * @returns the tables that were filled
 * @throws when a row cannot be made, saying what to do
 */
export async function fillEmptyTables(
  client: pg.Client,
  tables: readonly Table[],
  tenantId: string,
): Promise<string[]> {
  const filled: string[] = [];
  for (const table of tenantTables(tables)) {
    if (table.name === 'tenant') continue;
    const { rows } = await client.query(`SELECT 1 FROM "${table.name}" WHERE tenant_id = $1 LIMIT 1`, [
      tenantId,
    ]);
    if (rows.length > 0) continue;
    const columns = table.columns.filter(
      (column) => (!column.nullable && !column.hasDefault) || `${table.name}.${column.name}` in VALUES,
    );
    const values = columns.map((column) => sqlValue(table, column, tenantId));
    // In one message, so that the setting is gone with its transaction.
    await client
      .query(
        `BEGIN; SET LOCAL session_replication_role = replica;
         INSERT INTO "${table.name}" (${columns.map(({ name }) => `"${name}"`).join(', ')}) VALUES (${values.join(', ')});
         COMMIT`,
      )
      .catch(async (error: Error) => {
        await client.query('ROLLBACK');
        throw new Error(
          `No row could be made for the table ${table.name} (${error.message}). Fill it through the API in test/leaks/owners.ts, or add values for it to VALUES in test/leaks/synthetic-rows.ts.`,
        );
      });
    filled.push(table.name);
  }
  return filled;
}

function sqlValue(table: Table, column: Column, tenantId: string): string {
  const given = VALUES[`${table.name}.${column.name}`];
  if (given !== undefined) return given;
  if (column.name === tenantColumn(table)) return `'${tenantId}'`;
  const listed = table.checks
    .map((check) => new RegExp(`\\(${column.name} = ANY \\(ARRAY\\['([^']+)'`).exec(check)?.[1])
    .find((value) => value !== undefined);
  if (listed !== undefined) return `'${listed}'`;
  switch (column.type) {
    case 'uuid':
      return `'${newId()}'`;
    case 'text':
      return `'${randomBytes(8).toString('hex')}'`;
    case 'bytea':
      return `'\\x00${randomBytes(16).toString('hex')}'`;
    case 'jsonb':
      return `'{}'`;
    case 'boolean':
      return 'false';
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'real':
    case 'double precision':
      return '1';
    case 'halfvec':
    case 'vector':
      return `'[0,1]'`;
    case 'bit varying':
      return `B'01'`;
    case 'uuid[]':
    case 'text[]':
    case 'integer[]':
    case 'real[]':
    case 'double precision[]':
      return `'{}'`;
    default:
      if (column.type.startsWith('timestamp')) return `'2026-01-01T00:00:00Z'`;
      throw new Error(
        `test/leaks/synthetic-rows.ts knows no value of the type ${column.type} (${table.name}.${column.name}): add a case to sqlValue`,
      );
  }
}
