import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../src/db/log.js';
import { applyMigrations } from '../../src/db/migrate.js';
import { databaseOn, isPostgres, onServer } from '../support/database.js';

describe.runIf(isPostgres)('migrations by who may not make roles', () => {
  it('take the roles that were made beforehand', async () => {
    const server = process.env['SALIENT_TEST_DATABASE_URL'] as string;
    const name = `salient_plain_${process.pid}_${Date.now()}`;
    const password = randomBytes(12).toString('hex');
    const url = new URL(databaseOn(server, name));
    url.username = name;
    url.password = password;
    // The suite's own database has been migrated: both roles exist on this server.
    await onServer(server, `CREATE ROLE ${name} LOGIN NOCREATEROLE PASSWORD '${password}'`);
    try {
      await onServer(server, `GRANT salient_app, salient_platform TO ${name}`);
      await onServer(server, `GRANT ${name} TO CURRENT_USER`);
      await onServer(server, `CREATE DATABASE ${name} OWNER ${name}`);
      expect(await applyMigrations({ connection: { connectionString: url.href }, log: silentLog })).toContain(
        '0001_initial',
      );
      const client = new pg.Client({ connectionString: url.href });
      await client.connect();
      try {
        await client.query('SET ROLE salient_app');
        expect((await client.query('SELECT count(*)::int AS tenants FROM tenant')).rows).toEqual([
          { tenants: 0 },
        ]);
      } finally {
        await client.end();
      }
    } finally {
      await onServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await onServer(server, `DROP ROLE ${name}`);
    }
  });
});
