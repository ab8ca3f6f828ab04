// What a recall costs beyond the search that the database does for it.
import pg from 'pg';
import { withApi } from './support/api.mjs';
import { storeFacts, TOPICS, word } from './support/facts.mjs';
import { interleaved, randomNumbers, timed } from './support/measure.mjs';
import { PROFILES, rescoreAll, saveProfile } from './support/rescoring.mjs';
import { statementsOf } from './support/statements.mjs';

export const measures = 'recall through the API, 2,000 facts, against the bare SQL of its arms';

const FACTS = 2_000;
const QUERIES = 25;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const MAX_RATIO = 1.5;
const RECALL = `query ($input: RecallInput!) { recall(input: $input) { items {
  rank score node { ... on Fact { id text kind importance } } } } }`;

export function run({ databaseUrl, log }) {
  return withApi({ settings: { databaseUrl } }, async ({ api, services }) => {
    const owner = new pg.Client({ connectionString: databaseUrl });
    await owner.connect();
    try {
      return await measure(api, services, owner, log);
    } finally {
      await owner.end();
    }
  });
}

async function measure(api, services, owner, log) {
  const tenant = await api.tenant('bench-recall-overhead');
  const admin = await administrator(services, tenant.id);
  const { agentId, userIds } = await storeFacts(services, admin, { facts: FACTS, scopes: 1, log });
  await saveProfile(services, admin, PROFILES[0]);
  await rescoreAll(services, admin);
  await owner.query('VACUUM ANALYZE');
  const global = (type, id) => Buffer.from(`${type}:${id}`).toString('base64');
  const context = { agentId: global('Agent', agentId), userId: global('User', userIds[0]) };
  const random = randomNumbers(3);
  const some = (count) => Math.floor(random() * count);
  const queries = Array.from({ length: QUERIES }, () => {
    return `${TOPICS[some(TOPICS.length)]} ${word(some(4_000))} ${word(some(4_000))}`;
  });
  const ask = async (query) => {
    const { recall } = await tenant.ask(RECALL, { input: { ...context, query, k: 20, mode: 'OBSERVE' } });
    if (recall.items.length !== 20) throw new Error(`${recall.items.length} items`);
  };
  // What a recall sends is what is compared with: nothing is written by hand that might ask for less.
  const sent = [];
  for (const query of queries) {
    await ask(query);
    sent.push((await statementsOf(() => ask(query))).filter(({ text }) => !/^\s*(BEGIN|COMMIT)/i.test(text)));
  }
  const arms = sent.map((statements) => statements.filter(({ text }) => /posting|signature/.test(text)));
  if (arms.some((each) => each.length === 0)) throw new Error('a recall without a search');
  const replay = async (statements) => {
    for (const { text, values } of statements) {
      await owner.query('BEGIN');
      await owner.query("SELECT set_config('app.tenant', $1, true), set_config('jit', 'off', true)", [
        tenant.id,
      ]);
      await owner.query({ text, values, rowMode: 'array' });
      await owner.query('COMMIT');
    }
  };
  const perQuery = (work, of) => () =>
    timed(async () => {
      for (const one of of) await work(one);
    }).then((time) => time / of.length);
  const times = await interleaved(
    {
      'recall through the API': perQuery(ask, queries),
      'the SQL of its arms': perQuery(replay, arms),
    },
    { rounds: ROUNDS, warmUps: 2, log },
  );
  return {
    settings: {
      facts: FACTS,
      k: 20,
      queries: QUERIES,
      rounds: ROUNDS,
      statements: sent[0].length,
      ofArms: arms[0].length,
    },
    figures: Object.entries(times).map(([name, time]) => [`${name}, ms`, time]),
    verdicts: [
      {
        what: 'recall ÷ its arms',
        value: times['recall through the API'].median / times['the SQL of its arms'].median,
        most: MAX_RATIO,
      },
    ],
  };
}

async function administrator(services, tenantId) {
  const { findTenant } = await import('../dist/db/index.js');
  const { toTenantContext } = await import('../dist/tenancy/index.js');
  const tenant = toTenantContext(await services.db.withPlatform((tx) => findTenant(tx, { id: tenantId })));
  return { kind: 'TENANT_ADMIN', id: null, keyId: null, tenant, agentId: null, userId: null };
}
