// BACKGROUND rescoring against the least that writing as many values can cost.
import { FACTS_AT_A_TIME } from '../dist/rescoring/index.js';
import { storeFacts } from './support/facts.mjs';
import { interleaved, loopDelay, residentMemory, summary, timed } from './support/measure.mjs';
import { PROFILES, rescoreAll, saveProfile } from './support/rescoring.mjs';
import { newTenant, withSalient } from './support/salient.mjs';

export const measures =
  'a BACKGROUND rescoring of 100,000 facts by 10 interests, every value changed and told, against a bare UPDATE';

const FACTS = 100_000;
const SCOPES = 10;
const ROUNDS = 5;
const MAX_RATIO = 5;
const MAX_DELAY_MS = 50;

export function run({ databaseUrl, log }) {
  return withSalient(databaseUrl, (salient) => measure(salient, log));
}

async function measure({ services, owner }, log) {
  const admin = await newTenant(services, 'bench-rescore');
  await storeFacts(services, admin, { facts: FACTS, scopes: SCOPES, log });
  const chunks = await chunksOf(owner, admin.tenant.id);
  const delays = [];
  const memory = [];
  let saves = 0;
  const times = await interleaved(
    {
      update: async () => {
        await owner.query('VACUUM fact_salience');
        return timed(() => bareUpdate(owner, admin.tenant.id, chunks));
      },
      rescore: async (round) => {
        await saveProfile(services, admin, PROFILES[saves++ % PROFILES.length]);
        await owner.query('VACUUM fact_salience');
        let told = await eventsOf(services, admin);
        let time;
        const delay = await loopDelay(async () => {
          time = await timed(async () => expectAll(await rescoreAll(services, admin)));
        });
        told = (await eventsOf(services, admin)) - told;
        if (told < FACTS) throw new Error(`${told} events of ${FACTS} changes`);
        if (round >= 0) {
          delays.push(delay);
          memory.push(residentMemory());
        }
        return time;
      },
    },
    { rounds: ROUNDS, warmUps: 2, log },
  );
  const ratio = times.rescore.median / times.update.median;
  const p99 = Math.max(...delays.map((delay) => delay.p99));
  return {
    settings: { facts: FACTS, scopes: SCOPES, interests: 10, factsAtATime: FACTS_AT_A_TIME, rounds: ROUNDS },
    figures: [
      ['bare UPDATE, ms', times.update],
      ['rescoring, ms', times.rescore],
      ['event loop late, p99 of a run, ms', summary(delays.map((delay) => delay.p99))],
      ['event loop late, most of a run, ms', summary(delays.map((delay) => delay.max))],
      ['resident memory after a run, MiB', summary(memory)],
    ],
    verdicts: [
      { what: 'rescoring ÷ bare UPDATE', value: ratio, most: MAX_RATIO },
      { what: 'event loop late, p99, ms', value: p99, most: MAX_DELAY_MS },
      { what: 'memory after the last run ÷ after the first', value: memory.at(-1) / memory[0], most: 1.1 },
    ],
  };
}

function expectAll({ processed, changed }) {
  if (processed !== FACTS || changed !== FACTS)
    throw new Error(`${processed} facts done, ${changed} changed`);
}

async function eventsOf({ db }, { tenant }) {
  const { head } = await db.withTenant(tenant.id, (tx) =>
    tx.tenantStream.findUniqueOrThrow({ where: { tenantId: tenant.id } }),
  );
  return Number(head);
}

/** The same stretches that the job walks over, with both their ends. */
export async function chunksOf(owner, tenantId) {
  await owner.query(beginAs(tenantId));
  const { rows } = await owner.query(
    `SELECT scope_id, fact_id FROM (
       SELECT scope_id, fact_id, row_number() OVER (ORDER BY scope_id, fact_id) AS place
       FROM fact_salience WHERE tenant_id = $1::uuid) AS f
     WHERE place % $2::int IN (0, 1) ORDER BY place`,
    [tenantId, FACTS_AT_A_TIME],
  );
  await owner.query('COMMIT');
  return Array.from({ length: rows.length / 2 }, (_, i) => ({ first: rows[2 * i], last: rows[2 * i + 1] }));
}

/** Under the same role and its row-level security, a chunk a transaction: every value another one. */
export async function bareUpdate(owner, tenantId, chunks) {
  for (const { first, last } of chunks) {
    await owner.query(beginAs(tenantId));
    await owner.query(
      `UPDATE fact_salience SET encoded = 10.05::float8 - encoded, current = 10.05::float8 - current, told = 10.05::float8 - current
       WHERE tenant_id = $1::uuid AND (scope_id, fact_id) >= ($2::int, $3::uuid) AND (scope_id, fact_id) <= ($4::int, $5::uuid)`,
      [tenantId, first.scope_id, first.fact_id, last.scope_id, last.fact_id],
    );
    await owner.query('COMMIT');
  }
}

const beginAs = (tenantId) => `BEGIN; SET LOCAL ROLE salient_app; SET LOCAL app.tenant = '${tenantId}'`;
