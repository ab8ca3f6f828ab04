// What it costs a writer to tell of what it did: the same small transaction with and without an event.
import pg from 'pg';
import { appendEvents, insertAudit, inTenant, openDatabase } from '../dist/db/index.js';
import { newId } from '../dist/ids.js';
import { createAgent } from '../dist/tenancy/index.js';
import { interleaved } from './support/measure.mjs';
import { newTenant } from './support/salient.mjs';

export const measures =
  'appending an event to a small transaction, for one writer, 16 on 16 tenants and 16 on one tenant, against the same without';

/** What a transaction costs is mostly its commit, which has to reach the disk. */
export const durable = true;

const WRITERS = 16;
const MS = Number(process.env.BENCH_MS ?? 3_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);

export async function run({ databaseUrl, log }) {
  // A connection for each writer, so that none of them stands in line for one.
  const db = await openDatabase({ databaseUrl, poolSize: WRITERS + 4, log: () => {} });
  const owner = new pg.Client({ connectionString: databaseUrl });
  try {
    await owner.connect();
    return await measure({ services: { db, now: () => new Date() }, owner }, log);
  } finally {
    await owner.end();
    await db[Symbol.asyncDispose]();
  }
}

async function measure({ services, owner }, log) {
  const writers = [];
  for (let n = 0; n < WRITERS; n += 1) writers.push(await writerOf(services, `bench-append-${n}`));
  const hot = [];
  const hotAdmin = writers[0].admin;
  for (let n = 0; n < WRITERS; n += 1) hot.push(await rowOf(services, hotAdmin, `Row ${n}`));
  const settings = await serverSettings(owner);
  const figures = [];
  const verdicts = [];
  for (const [what, who, most] of [
    ['one writer', writers.slice(0, 1), 1.1],
    ['16 writers on 16 tenants', writers, 1.3],
    ['16 writers on one tenant', hot, 2.5],
  ]) {
    const times = await interleaved(
      {
        [`${what}, without`]: () => millisecondsEach(services, who, false),
        [`${what}, with an event`]: () => millisecondsEach(services, who, true),
      },
      { rounds: ROUNDS, log },
    );
    for (const [name, time] of Object.entries(times)) figures.push([`${name}, ms a transaction`, time]);
    const [without, withEvent] = Object.values(times);
    verdicts.push({ what: `${what}: with ÷ without`, value: withEvent.median / without.median, most });
  }
  // The same once more for the hot tenant, without the event's reference to its tenant.
  await owner.query('ALTER TABLE event DROP CONSTRAINT event_tenant_id_fkey');
  const bare = await interleaved(
    {
      'without a foreign key: without': () => millisecondsEach(services, hot, false),
      'without a foreign key: with an event': () => millisecondsEach(services, hot, true),
    },
    { rounds: ROUNDS, log },
  );
  for (const [name, time] of Object.entries(bare)) figures.push([`${name}, ms a transaction`, time]);
  const [without, withEvent] = Object.values(bare);
  verdicts.push({
    what: '16 on one tenant, event without its foreign key',
    value: withEvent.median / without.median,
  });
  return { settings: { writers: WRITERS, milliseconds: MS, rounds: ROUNDS, ...settings }, figures, verdicts };
}

/** Transactions for a while by all writers at a time. @returns milliseconds of the clock for each of them */
async function millisecondsEach(services, writers, withEvent) {
  const begin = performance.now();
  let done = 0;
  await Promise.all(
    writers.map(async ({ admin, agentId }) => {
      while (performance.now() - begin < MS) {
        await write(services, admin, agentId, withEvent);
        done += 1;
      }
    }),
  );
  return (performance.now() - begin) / done;
}

/** A change of one row of the writer's own and its audit entry, as a mutation makes them. */
async function write({ db, now }, { tenant }, agentId, withEvent) {
  await inTenant(db, tenant, async (unit) => {
    const at = now();
    await unit.tx.$executeRaw`
      UPDATE agent SET name = ${`Agent ${at.getTime()}`}::text
      WHERE tenant_id = ${unit.tenantId}::uuid AND id = ${agentId}::uuid`;
    const actor = { kind: 'TENANT_ADMIN', id: null };
    const entry = {
      actorKind: actor.kind,
      actorId: null,
      keyId: null,
      operation: 'updateAgent',
      requestId: null,
    };
    await insertAudit(unit, { ...entry, targetIds: [agentId] }, at);
    if (!withEvent) return;
    const event = { type: 'FACT_REAFFIRMED', agentId, userId: null, subjectId: newId() };
    appendEvents(unit, [event], actor, at);
  });
}

async function writerOf(services, slug) {
  const admin = await newTenant(services, slug);
  return rowOf(services, admin, 'Agent');
}

async function rowOf(services, admin, name) {
  const agent = await createAgent(services, admin, { name });
  return { admin, agentId: agent.id };
}

async function serverSettings(owner) {
  const { rows } = await owner.query(
    "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit')",
  );
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}
