// A database of the benchmarks' own, so that no figure depends on what else is stored and nothing stored is touched.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const script = fileURLToPath(new URL('../../scripts/postgres.sh', import.meta.url));

/**
 * Runs `work` with an empty database, and drops it: on the server that DATABASE_URL names, whose role must be allowed to
 * and whose template must have pgvector; without it on a server of its own, which ends with it.
 * @param durable whether a server of its own commits to disk, as production does; else it is without fsync
 */
export async function withDatabase({ durable = false }, work) {
  const given = process.env.DATABASE_URL;
  const server = given ? { url: given, stop: () => {} } : startServer(durable);
  const name = `salient_bench_${process.pid}_${Date.now()}`;
  try {
    await onServer(server.url, `CREATE DATABASE ${name}`);
    try {
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      const own = `a server of its own, ${durable ? 'with' : 'without'} fsync`;
      const where = given ? 'the server of DATABASE_URL' : own;
      return await work({ url: url.href, where });
    } finally {
      await onServer(server.url, `DROP DATABASE ${name} WITH (FORCE)`);
    }
  } finally {
    server.stop();
  }
}

function startServer(durable) {
  if (durable) process.env.SALIENT_POSTGRES_FSYNC = 'on';
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
