import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownerClient } from '../support/database.js';

// What the database itself guarantees, read from its catalogue: a table that a later migration forgets fails here.

/** Tables that belong to no tenant. */
const SHARED = ['_prisma_migrations', 'embedding_model'];
/** All that the platform role may do. */
const PLATFORM_PRIVILEGES = [
  'api_key SELECT',
  'embedding_model INSERT',
  'embedding_model SELECT',
  'job SELECT',
  'tenant SELECT',
  'tenant_stream SELECT',
];

let owner: pg.Client;

beforeAll(async () => {
  owner = await ownerClient();
});
afterAll(() => owner.end());

async function column(sql: string): Promise<unknown[]> {
  const { rows } = await owner.query({ text: sql, rowMode: 'array' });
  return rows.map((row: unknown[]) => row[0]);
}

describe('every table of a tenant', () => {
  it('has row-level security, forced, with one policy of the application that checks reads and writes', async () => {
    const { rows } = await owner.query<{
      name: string;
      forced: boolean;
      using: string;
      check: string;
      rest: number;
    }>(
      `SELECT c.relname AS name, c.relrowsecurity AND c.relforcerowsecurity AS forced,
              pg_get_expr(p.polqual, p.polrelid) AS using, pg_get_expr(p.polwithcheck, p.polrelid) AS check,
              (SELECT count(*)::int FROM pg_policy o
                WHERE o.polrelid = c.oid AND o.oid <> p.oid
                  AND o.polroles <> ARRAY['salient_platform'::regrole::oid]) AS rest
         FROM pg_class c
         LEFT JOIN pg_policy p
           ON p.polrelid = c.oid AND p.polcmd = '*' AND p.polroles = ARRAY['salient_app'::regrole::oid]
        WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace AND c.relname <> ALL ($1)
        ORDER BY 1`,
      [SHARED],
    );
    expect(rows.length).toBeGreaterThan(20);
    for (const { name, forced, using, check, rest } of rows) {
      const key = name === 'tenant' ? 'id' : 'tenant_id';
      expect({ name, forced, rest }).toEqual({ name, forced: true, rest: 0 });
      expect(using, name).toMatch(new RegExp(`^\\(${key} = .*current_setting\\('app\\.tenant'`));
      expect(check, name).toBe(using);
    }
  });

  it('is owned by another role than the ones that statements run as', async () => {
    const owned = await column(
      `SELECT relname FROM pg_class
        WHERE relowner IN ('salient_app'::regrole, 'salient_platform'::regrole)`,
    );
    expect(owned).toEqual([]);
  });
});

describe('the roles', () => {
  it('cannot log in, and bypass nothing', async () => {
    const { rows } = await owner.query(
      `SELECT rolname, rolcanlogin, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb
         FROM pg_roles WHERE rolname IN ('salient_app', 'salient_platform') ORDER BY 1`,
    );
    const powers = {
      rolcanlogin: false,
      rolsuper: false,
      rolbypassrls: false,
      rolcreaterole: false,
      rolcreatedb: false,
    };
    expect(rows).toEqual([
      { rolname: 'salient_app', ...powers },
      { rolname: 'salient_platform', ...powers },
    ]);
  });

  it('of the platform may do this, and nothing else', async () => {
    const privileges = await column(
      `SELECT DISTINCT table_name || ' ' || privilege_type AS privilege FROM information_schema.role_table_grants
        WHERE grantee = 'salient_platform' ORDER BY 1`,
    );
    expect(privileges).toEqual(PLATFORM_PRIVILEGES);
  });

  it('of the application may not rewrite history', async () => {
    const rewritable = await column(
      `SELECT t || ' ' || p FROM unnest(ARRAY['audit_entry', 'tenant_version', 'profile_version', 'event']) t,
                                 unnest(ARRAY['UPDATE', 'TRUNCATE']) p
        WHERE has_table_privilege('salient_app', t, p)`,
    );
    expect(rewritable).toEqual([]);
  });
});
