import pg from 'pg';
import { databaseOn, isPostgres, ownerClient, sharedConnection } from '../support/database.js';

/**
 * A plain connection to the shared database as a superuser: on a server the tables' owner is none, and what row-level
 * security keeps from it could not be compared with what the API shows.
 */
export async function superuserClient(): Promise<pg.Client> {
  if (!isPostgres) return ownerClient();
  const server = process.env['SALIENT_TEST_SUPERUSER_URL'];
  if (!server)
    throw new Error('On PostgreSQL the leak suite needs SALIENT_TEST_SUPERUSER_URL; see scripts/postgres.sh');
  const { connectionString } = sharedConnection();
  const client = new pg.Client({
    connectionString: databaseOn(server, new URL(connectionString ?? '').pathname.slice(1)),
  });
  await client.connect();
  return client;
}
