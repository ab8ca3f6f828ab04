import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqlState } from '../../src/db/index.js';
import { SHARED_TABLES, type Table, tenantColumn, tenantTables } from './catalogue.js';
import type { World } from './owners.js';
import { fillEmptyTables } from './synthetic-rows.js';

/** Tables that the platform's role reads; none of them has a column with content. */
const PLATFORM_TABLES = ['api_key', 'job', 'tenant', 'tenant_stream'];
/** Bytes that are no content. */
const NO_CONTENT = /_hash$|_key$/;

/** Tests of the database itself: what it shows and takes where a statement has no condition on the tenant. */
export function testRowLevelSecurity(world: () => World): void {
  let tables: Table[];
  let statements = 0;

  beforeAll(async () => {
    tables = tenantTables(world().tables);
    for (const tenant of [world().a, world().b]) {
      const filled = await fillEmptyTables(world().client, world().tables, tenant.id);
      console.log(`leak suite: made rows for ${filled.join(', ')}`);
    }
  });
  afterAll(() => {
    console.log(`leak suite: ${statements} statements as the application over ${tables.length} tables`);
  });

  /** Runs one statement as the application in tenant a, and undoes it. @returns its rows, or its SQLSTATE and message */
  async function asApplication(
    sql: string,
    tenantId = world().a.id,
  ): Promise<Record<string, unknown>[] | Refusal> {
    statements++;
    const undo = new Error('undo');
    let rows: Record<string, unknown>[] = [];
    try {
      await world().test.app.services.db.withTenant(tenantId, async (tx) => {
        rows = await tx.$queryRawUnsafe<Record<string, unknown>[]>(sql);
        throw undo;
      });
    } catch (error) {
      if (error === undo) return rows;
      return { state: sqlState(error) ?? 'none', message: String((error as Error).message) };
    }
    return rows;
  }

  async function mayDo(role: string, table: Table, privilege: string): Promise<boolean> {
    const { rows } = await world().client.query('SELECT has_table_privilege($1, $2, $3) AS may', [
      role,
      `"${table.name}"`,
      privilege,
    ]);
    return rows[0].may;
  }

  describe('the application in a tenant, with no condition on the tenant', () => {
    it('has rows of both tenants to tell apart, in every table', async () => {
      for (const table of tables) {
        const { rows } = await world().client.query(
          `SELECT DISTINCT ${tenantColumn(table)} AS id FROM "${table.name}" WHERE ${tenantColumn(table)} IN ($1, $2)`,
          [world().a.id, world().b.id],
        );
        expect(rows, table.name).toHaveLength(2);
      }
    });

    it('reads no row of another one', async () => {
      for (const table of tables) {
        const rows = await asApplication(`SELECT DISTINCT ${tenantColumn(table)} AS id FROM "${table.name}"`);
        expect(rows, table.name).toEqual([{ id: world().a.id }]);
      }
    });

    it('changes no row of another one', async () => {
      for (const table of tables) {
        const column = tenantColumn(table);
        const rows = await asApplication(
          `UPDATE "${table.name}" SET ${column} = ${column} RETURNING ${column} AS id`,
        );
        if (!(await mayDo('salient_app', table, 'UPDATE')))
          expect(rows, table.name).toMatchObject({ state: '42501' });
        else expect(ids(rows), table.name).toEqual([world().a.id]);
      }
    });

    it('removes no row of another one', async () => {
      for (const table of tables) {
        const rows = await asApplication(
          `DELETE FROM "${table.name}" RETURNING ${tenantColumn(table)} AS id`,
        );
        if (!(await mayDo('salient_app', table, 'DELETE')))
          expect(rows, table.name).toMatchObject({ state: '42501' });
        else expect(ids(rows), table.name).toEqual([world().a.id]);
      }
    });

    it('gives no row to another one', async () => {
      for (const table of tables) {
        const rows = await asApplication(
          `UPDATE "${table.name}" SET ${tenantColumn(table)} = '${world().b.id}'`,
        );
        const may = await mayDo('salient_app', table, 'UPDATE');
        expect(rows, table.name).toEqual({
          state: '42501',
          message: expect.stringContaining(may ? 'row-level security' : 'permission denied'),
        });
      }
    });

    it('adds no row to another one', async () => {
      for (const table of tables) {
        const copyFor = (tenantId: string) =>
          `INSERT INTO "${table.name}"
         SELECT (jsonb_populate_record(NULL::"${table.name}", to_jsonb(r) || '{"${tenantColumn(table)}": "${tenantId}"}')).*
         FROM "${table.name}" r LIMIT 1`;
        expect(await asApplication(copyFor(world().b.id)), table.name).toEqual({
          state: '42501',
          message: expect.stringContaining('row-level security'),
        });
        // The same for its own tenant gets as far as the primary key.
        expect(await asApplication(copyFor(world().a.id)), table.name).toMatchObject({ state: '23505' });
      }
    });
  });

  describe('a connection', () => {
    const countAll = () =>
      `SELECT ${tables.map((table) => `(SELECT count(*) FROM "${table.name}")`).join(' + ')} AS count`;

    /** Runs a statement with these settings in a transaction of its own, over a plain connection. */
    async function raw(settings: string, sql: string): Promise<Record<string, unknown>> {
      const results = (await world().client.query(
        `BEGIN; ${settings}; ${sql}; ROLLBACK`,
      )) as unknown as pg.QueryResult[];
      return results.find((result) => result.command === 'SELECT')?.rows[0];
    }

    it('shows the application nothing at all as long as no tenant is set', async () => {
      expect(await raw('SELECT 1', countAll())).not.toEqual({ count: '0' });
      expect(await raw('SET LOCAL ROLE salient_app', countAll())).toEqual({ count: '0' });
      expect(await raw(`SET LOCAL ROLE salient_app; SET LOCAL app.tenant = ''`, countAll())).toEqual({
        count: '0',
      });
    });

    it('forgets its tenant and role with the transaction, saved or not', async () => {
      const { db } = world().test.app.services;
      const settings = `SELECT current_user::text AS role, current_setting('app.tenant', true) AS tenant`;
      const failing = db.withTenant(world().a.id, (tx) => tx.$queryRawUnsafe('SELECT 1 / 0'));
      await expect(failing).rejects.toThrow();
      for (let time = 0; time < 3; time++) {
        await db.withTenant(world().a.id, (tx) => tx.$queryRawUnsafe('SELECT 1'));
        const platform = await db.withPlatform((tx) => tx.$queryRawUnsafe(settings));
        expect(platform).toEqual([{ role: 'salient_platform', tenant: '' }]);
      }
      // The embedded database has one backend for all connections: what one leaves behind, all have.
      const [{ tenant }] = (
        await world().client.query(`SELECT current_setting('app.tenant', true) AS tenant`)
      ).rows;
      expect(tenant || null).toBeNull();
      const other = await asApplication(`SELECT DISTINCT tenant_id AS id FROM fact`, world().b.id);
      expect(other).toEqual([{ id: world().b.id }]);
    });
  });

  describe('the platform', () => {
    it('reads tenants, keys, jobs and streams of all, and no other table of theirs', async () => {
      const { db } = world().test.app.services;
      const readable: string[] = [];
      for (const table of tables) {
        const read = db.withPlatform((tx) =>
          tx.$queryRawUnsafe(`SELECT DISTINCT ${tenantColumn(table)} AS id FROM "${table.name}"`),
        );
        const found = await read.then(ids, (error) => sqlState(error));
        if (found === '42501') continue;
        readable.push(table.name);
        expect(found).toEqual(expect.arrayContaining([world().a.id, world().b.id]));
      }
      expect(readable.sort()).toEqual(PLATFORM_TABLES);
    });

    it('has no column with content before it, and changes nothing', async () => {
      for (const table of tables.filter(({ name }) => PLATFORM_TABLES.includes(name))) {
        const bytes = table.columns.filter((column) => column.type === 'bytea').map((column) => column.name);
        expect(
          bytes.filter((name) => !NO_CONTENT.test(name)),
          table.name,
        ).toEqual([]);
        for (const privilege of ['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'])
          expect(await mayDo('salient_platform', table, privilege), `${privilege} ${table.name}`).toBe(false);
      }
    });
  });

  describe('the catalogue', () => {
    it('has no table outside of a tenant but those that are known', () => {
      const outside = world().tables.filter(
        (table) => table.name !== 'tenant' && !table.columns.some((column) => column.name === 'tenant_id'),
      );
      expect(outside.map((table) => table.name).sort()).toEqual([...SHARED_TABLES].sort());
    });

    it('has row-level security enabled, forced and checked on writes in every table of tenants', async () => {
      const { rows } = await world().client.query<{ name: string; enabled: boolean; forced: boolean }>(`
      SELECT relname AS name, relrowsecurity AS enabled, relforcerowsecurity AS forced
      FROM pg_class WHERE relnamespace = current_schema()::regnamespace`);
      const { rows: policies } = await world().client.query<Policy>(`
      SELECT tablename AS name, permissive, roles::text[], cmd, qual, with_check AS check
      FROM pg_policies WHERE schemaname = current_schema()`);
      for (const table of tables) {
        expect(
          rows.find((row) => row.name === table.name),
          table.name,
        ).toMatchObject({ enabled: true, forced: true });
        const own = policies.filter(
          (policy) => policy.name === table.name && !policy.roles.includes('salient_platform'),
        );
        const condition = expect.stringMatching(
          new RegExp(
            `^\\(${tenantColumn(table)} = \\( SELECT \\(NULLIF\\(current_setting\\('app\\.tenant'::text, true\\), ''::text\\)\\)::uuid`,
          ),
        );
        expect(own, table.name).toEqual([
          {
            name: table.name,
            permissive: 'PERMISSIVE',
            roles: ['salient_app'],
            cmd: 'ALL',
            qual: condition,
            check: condition,
          },
        ]);
        const platform = policies.filter(
          (policy) => policy.name === table.name && policy.roles.includes('salient_platform'),
        );
        expect(
          platform.map(({ cmd, roles }) => ({ cmd, roles })),
          table.name,
        ).toEqual(
          PLATFORM_TABLES.includes(table.name) ? [{ cmd: 'SELECT', roles: ['salient_platform'] }] : [],
        );
      }
    });

    it('has no view and no function by which the roles could get around it', async () => {
      const { rows } = await world().client.query(`
      SELECT relname AS name FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('v', 'm', 'f')
      UNION ALL
      SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND prosecdef`);
      expect(rows).toEqual([]);
    });
  });
}

interface Refusal {
  readonly state: string;
  readonly message: string;
}

interface Policy {
  readonly name: string;
  readonly permissive: string;
  readonly roles: string[];
  readonly cmd: string;
  readonly qual: string;
  readonly check: string;
}

/** The distinct ids of rows that came back. */
function ids(rows: unknown): unknown[] {
  return Array.isArray(rows) ? [...new Set(rows.map((row: { id: string }) => row.id))] : [rows];
}
