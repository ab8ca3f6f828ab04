// A database of the benchmarks' own, so that no figure depends on what else is stored and nothing stored is touched.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const script = fileURLToPath(new URL('../../scripts/postgres.sh', import.meta.url));

/**
 * Runs `work` with an empty database, and drops it: on the server that DATABASE_URL names, whose role must be allowed to
 * and whose template must have pgvector; without it on a server of its own, which ends with it.
 */
export async function withDatabase(work) {
  const given = process.env.DATABASE_URL;
  const server = given ? { url: given, stop: () => {} } : startServer();
  const name = `salient_bench_${process.pid}_${Date.now()}`;
  try {
    await onServer(server.url, `CREATE DATABASE ${name}`);
    try {
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      const where = given ? 'the server of DATABASE_URL' : 'a server of its own, without fsync';
      return await work({ url: url.href, where });
    } finally {
      await onServer(server.url, `DROP DATABASE ${name} WITH (FORCE)`);
    }
  } finally {
    server.stop();
  }
}

function startServer() {
  const output = shell('start');
  const value = (key) => new RegExp(`^${key}=(.*)$`, 'm').exec(output)?.[1];
  const directory = value('SALIENT_POSTGRES_DIR');
  return { url: value('DATABASE_URL'), stop: () => shell('stop', directory) };
}

function shell(...args) {
  const { status, stdout, stderr } = spawnSync('bash', [script, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`scripts/postgres.sh ${args[0]} failed:\n${stderr}`);
  return stdout;
}

async function onServer(url, sql) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
