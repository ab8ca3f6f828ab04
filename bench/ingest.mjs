// What it costs to append messages and learn from them, against writing the rows that come of it.
import pg from 'pg';
import { withApi } from './support/api.mjs';
import { word } from './support/facts.mjs';
import { interleaved, randomNumbers, timed } from './support/measure.mjs';

export const measures =
  'appendMessages with extraction through the API, 100 messages a call, against a bare multi-row insert of the same rows';

const MESSAGES = 100;
const CALLS = 10;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
/** What an append with its extraction writes. */
const TABLES = [
  'session',
  'message',
  'message_embedding',
  'extraction_run',
  'job',
  'fact',
  'fact_salience',
  'fact_embedding',
  'fact_source',
  'posting',
  'entity',
  'fact_entity',
  'edge',
  'edge_source',
  'event',
  'audit_log',
];

export function run({ databaseUrl, log }) {
  return withApi({ settings: { databaseUrl } }, async ({ api }) => {
    const owner = new pg.Client({ connectionString: databaseUrl });
    await owner.connect();
    try {
      return await measure(api, owner, log);
    } finally {
      await owner.end();
    }
  });
}

async function measure(api, owner, log) {
  const sample = await api.tenant('bench-ingest');
  await ingest(sample, 'sample', 0);
  const { tables, rows } = await copyOfRows(owner, sample.id);
  const facts = rows.get('fact').length;
  if (rows.get('message').length !== CALLS * MESSAGES || facts === 0) throw new Error('nothing was learned');
  let calls = 0;
  const times = await interleaved(
    {
      salient: async (round) => {
        calls += 1;
        const tenant = await api.tenant(`bench-ingest-${calls}`);
        return timed(() => ingest(tenant, 'round', round + 10));
      },
      bare: async () => {
        const time = await timed(() => insert(owner, tables, rows));
        await owner.query(`TRUNCATE ${tables.map((table) => `bare_${table}`).join(', ')}`);
        return time;
      },
    },
    { rounds: ROUNDS, warmUps: 2, log },
  );
  const messages = CALLS * MESSAGES;
  return {
    settings: {
      messages,
      aCall: MESSAGES,
      facts,
      rows: [...rows.values()].reduce((sum, each) => sum + each.length, 0),
      rounds: ROUNDS,
    },
    figures: [
      [`appendMessages, ${messages} messages, ms`, times.salient],
      ['bare insert of the same rows, ms', times.bare],
    ],
    verdicts: [
      { what: 'appendMessages ÷ bare insert', value: times.salient.median / times.bare.median },
      { what: 'messages a second, with their facts', value: (1_000 * messages) / times.salient.median },
    ],
  };
}

/** Conversations of which every third message states something. */
async function ingest({ ask, agentId, userId }, name, seed) {
  const random = randomNumbers(seed + 1);
  const some = () => word(Math.floor(random() * 4_000));
  for (let call = 0; call < CALLS; call += 1) {
    const messages = Array.from({ length: MESSAGES }, (_, n) => ({
      role: 'USER',
      externalId: `${call}-${n}`,
      content:
        n % 3 === 0
          ? `We agreed on plan ${call * MESSAGES + n} for ${some()} and ${some()} because it is cheaper`
          : `Let me see what ${some()} has to say about ${some()}, one moment`,
    }));
    const { appendMessages } = await ask(
      `mutation ($input: AppendMessagesInput!) { appendMessages(input: $input) {
         extraction { status } errors { message } } }`,
      { input: { session: { create: { agentId, userId, externalId: `${name}-${call}` } }, messages } },
    );
    const { status } = appendMessages.extraction;
    if (status !== 'EXTRACTED') throw new Error(`the extraction came to ${status}`);
  }
}

/** Tables of the same columns and indexes, and the rows of a tenant as their texts. */
async function copyOfRows(owner, tenantId) {
  const rows = new Map();
  await owner.query('BEGIN');
  await owner.query("SELECT set_config('app.tenant', $1, true)", [tenantId]);
  for (const table of TABLES) {
    const { rows: found } = await owner.query(`SELECT t::text AS row FROM ${table} t WHERE tenant_id = $1`, [
      tenantId,
    ]);
    if (found.length > 0)
      rows.set(
        table,
        found.map(({ row }) => row),
      );
  }
  await owner.query('COMMIT');
  const tables = [...rows.keys()];
  for (const table of tables) await owner.query(`CREATE TABLE bare_${table} (LIKE ${table} INCLUDING ALL)`);
  return { tables, rows };
}

/** All rows of a table in one statement, all tables in one transaction. */
async function insert(owner, tables, rows) {
  await owner.query('BEGIN');
  for (const table of tables)
    await owner.query(
      `INSERT INTO bare_${table} OVERRIDING SYSTEM VALUE SELECT r.* FROM unnest($1::bare_${table}[]) AS r`,
      [rows.get(table)],
    );
  await owner.query('COMMIT');
}
