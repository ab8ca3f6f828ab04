// What one tenant notices of another that asks twenty times as often as its rate allows.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createApp } from '../dist/app.js';
import { createConfig } from '../dist/config/index.js';
import { createEmbeddingProvider } from '../dist/embedding/index.js';
import { createLogger } from '../dist/log.js';
import { createApiKey, setTenantLimits } from '../dist/tenancy/index.js';
import { storeFacts } from './support/facts.mjs';
import { interleaved, summary } from './support/measure.mjs';
import { newTenant } from './support/salient.mjs';

export const measures =
  "a tenant's recalls over HTTP, alone and beside a tenant that sends twenty times what its rate allows";

const FACTS = Number(process.env.BENCH_FACTS ?? 5_000);
const RECALLS = Number(process.env.BENCH_RECALLS ?? 150);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
/** The loud tenant may ask so often, in operations a second, and asks so many times as often. */
const ALLOWED = 10;
const TIMES = 20;
const MAX_RATIO = 1.5;

const QUERY =
  'query ($query: String!) { recall(input: { query: $query, k: 10, mode: OBSERVE }) { items { rank score node { ... on Fact { id text } } } } }';

export async function run({ databaseUrl, log }) {
  const embedding = await createEmbeddingProvider({ kind: 'fake', seed: 1, dimensions: 512 });
  const config = createConfig({ databaseUrl, environment: 'production', logLevel: 'warn', port: 0 });
  const app = await createApp(config, { embedding, log: createLogger('warn'), takesUpWork: false });
  const noise = fork(fileURLToPath(new URL('./support/noise.mjs', import.meta.url)));
  try {
    return await measure(app, noise, log);
  } finally {
    noise.disconnect();
    await app[Symbol.asyncDispose]();
    await embedding[Symbol.asyncDispose]();
  }
}

async function measure(app, noise, log) {
  const { services } = app;
  const url = `${(await app.listen()).url}/graphql`;
  const quiet = await tenantWithFacts(services, 'bench-quiet', log);
  const loud = await tenantWithFacts(services, 'bench-loud', log);
  const { extensions } = await ask(url, loud.key, loud.texts[0]);
  const price = extensions.cost.actual;
  const pointsPerMinute = Math.max(10_000, price * ALLOWED * 60);
  await setTenantLimits(services, loud.admin, { id: loud.admin.tenant.id, limits: { pointsPerMinute } });
  const perSecond = (pointsPerMinute / price / 60) * TIMES;
  log(`an operation costs ${price} points; the loud tenant sends ${Math.round(perSecond)} a second`);

  const p95 = { alone: [], beside: [] };
  const counts = { sent: 0, refused: 0, other: 0 };
  const recalls = async (name, round) => {
    const times = [];
    for (let n = 0; n < RECALLS; n += 1) {
      const begin = performance.now();
      const { errors } = await ask(url, quiet.key, quiet.texts[(n * 37) % quiet.texts.length]);
      if (errors) throw new Error(`the quiet tenant was refused: ${JSON.stringify(errors)}`);
      times.push(performance.now() - begin);
    }
    times.sort((a, b) => a - b);
    if (round >= 0) p95[name].push(times[Math.floor(times.length * 0.95)]);
    return summary(times).median;
  };
  const medians = await interleaved(
    {
      alone: (round) => recalls('alone', round),
      beside: async (round) => {
        const body = JSON.stringify({ query: QUERY, variables: { query: loud.texts[1] } });
        noise.send({ go: { url, key: loud.key, body, perSecond } });
        const median = await recalls('beside', round);
        noise.send({ stop: true });
        const [told] = await once(noise, 'message');
        Object.assign(counts, told.counts);
        return median;
      },
    },
    { rounds: ROUNDS, log },
  );
  const tail = { alone: summary(p95.alone), beside: summary(p95.beside) };
  return {
    settings: { facts: FACTS, recalls: RECALLS, rounds: ROUNDS, pointsPerMinute, times: TIMES },
    figures: [
      ['alone, median ms', medians.alone],
      ['beside the loud tenant, median ms', medians.beside],
      ['alone, p95 ms', tail.alone],
      ['beside the loud tenant, p95 ms', tail.beside],
    ],
    verdicts: [
      {
        what: 'median: beside ÷ alone',
        value: medians.beside.median / medians.alone.median,
        most: MAX_RATIO,
      },
      { what: 'p95: beside ÷ alone', value: tail.beside.median / tail.alone.median },
      { what: "share of the loud tenant's requests that was refused", value: counts.refused / counts.sent },
      { what: 'of them failed otherwise', value: counts.other, most: 0 },
    ],
  };
}

async function tenantWithFacts(services, slug, log) {
  const admin = await newTenant(services, slug);
  const { texts } = await storeFacts(services, admin, { facts: FACTS, scopes: 5, log });
  const { secret } = await createApiKey(services, admin, { role: 'TENANT_ADMIN', name: slug });
  return { admin, texts, key: secret };
}

async function ask(url, key, query) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ query: QUERY, variables: { query } }),
  });
  return response.json();
}
