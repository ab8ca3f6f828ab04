// A rescoring that everybody follows, and a server's memory while it is subscribed to for minutes.
import { setTimeout as sleep } from 'node:timers/promises';
import { createApp } from '../dist/app.js';
import { createConfig } from '../dist/config/index.js';
import { appendEvents, inTenant } from '../dist/db/index.js';
import { createEmbeddingProvider } from '../dist/embedding/index.js';
import { newId } from '../dist/ids.js';
import { createLogger } from '../dist/log.js';
import { createAgent, createApiKey } from '../dist/tenancy/index.js';
import { startClients } from './support/clients.mjs';
import { storeFacts } from './support/facts.mjs';
import { residentMemory, summary, timed } from './support/measure.mjs';
import { PROFILES, rescoreAll, saveProfile } from './support/rescoring.mjs';
import { newTenant } from './support/salient.mjs';

export const measures =
  'a rescoring of 100,000 facts with 50 subscribers, and memory over minutes with 1,000 of them at 100 events/s';

const FACTS = Number(process.env.BENCH_FACTS ?? 100_000);
const FOLLOWERS = 50;
const SUBSCRIBERS = 1_000;
const EACH = 10;
const PER_SECOND = 100;
const TOGETHER = 5;
const MINUTES = Number(process.env.BENCH_MINUTES ?? 10);
/** How long the followers may take after the rescoring is done, in ms. */
const PATIENCE_MS = 1_800_000;

const CHANGES =
  'subscription { importanceChanged { __typename cursor ... on ImportanceChange { factId cause old new } } }';
const EVENTS = `subscription ($filter: EventFilter) {
  memoryEvents(filter: $filter) { __typename cursor ... on MemoryEvent { subjectId type at actor { kind id } } }
}`;

const globalIdOf = (type, id) => Buffer.from(`${type}:${id}`).toString('base64');

export async function run({ databaseUrl, log }) {
  const embedding = await createEmbeddingProvider({ kind: 'fake', seed: 1, dimensions: 512 });
  const config = createConfig({ databaseUrl, environment: 'production', logLevel: 'warn', port: 0 });
  const app = await createApp(config, { embedding, log: createLogger('warn'), takesUpWork: false });
  const clients = startClients();
  try {
    const { url } = await app.listen();
    const socketUrl = `${url.replace('http', 'ws')}/graphql`;
    const followed = await rescoring({ services: app.services, socketUrl, clients }, log);
    const memory = await minutes({ services: app.services, socketUrl, clients }, log);
    return report(followed, memory);
  } finally {
    clients.stop();
    await app[Symbol.asyncDispose]();
    await embedding[Symbol.asyncDispose]();
  }
}

/** All facts change, and 50 subscribers follow: what each of them got, against what was committed. */
async function rescoring({ services, socketUrl, clients }, log) {
  const admin = await newTenant(services, 'bench-followed');
  const { secret } = await createApiKey(services, admin, { role: 'TENANT_ADMIN', name: 'bench' });
  await storeFacts(services, admin, { facts: FACTS, scopes: 10, log });
  await saveProfile(services, admin, PROFILES[0]);
  const before = residentMemory();
  await clients.ask('subscribe', {
    from: 0,
    subscriptions: Array.from({ length: FOLLOWERS }, () => ({
      url: socketUrl,
      key: secret,
      query: CHANGES,
      variables: {},
      digests: true,
    })),
  });
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, residentMemory());
  }, 250);
  const rescored = await timed(() => rescoreAll(services, admin));
  log(`rescored in ${Math.round(rescored)} ms`);
  let got = [];
  const delivered = await timed(async () => {
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until) {
      await sleep(2_000);
      got = await clients.ask('digests');
      const least = Math.min(...Array.from({ length: FOLLOWERS }, (_, n) => got[n]?.count ?? 0));
      log(`the slowest of ${FOLLOWERS} has ${least} of ${FACTS}`);
      if (least >= FACTS || services.feed.stats().followers < FOLLOWERS) break;
    }
  });
  clearInterval(watch);
  const stillThere = services.feed.stats().followers;
  const sum = await sumOfLog(services, admin);
  const complete = got.filter((of) => of?.count === FACTS && of.sum === sum).length;
  await clients.ask('close');
  while (services.feed.stats().followers > 0) await sleep(50);
  return { rescored, delivered, before, most, stillThere, complete };
}

/** The sum that subscribers.mjs makes, over the log itself. */
async function sumOfLog({ db }, { tenant }) {
  const rows = await inTenant(
    db,
    tenant,
    (unit) => unit.tx.$queryRaw`
      SELECT x.fact_id AS id FROM event_batch b
      CROSS JOIN LATERAL unnest(b.fact_ids) WITH ORDINALITY AS x(fact_id, place)
      WHERE b.tenant_id = ${unit.tenantId}::uuid ORDER BY b.first_seq + x.place`,
  );
  let sum = 0;
  for (const { id } of rows) {
    for (const character of globalIdOf('Fact', id))
      sum = Math.imul(sum ^ character.charCodeAt(0), 0x01000193) >>> 0;
  }
  return sum;
}

/** 1,000 subscribers, each event for 10 of them, for minutes. @returns resident MiB at the end of each minute */
async function minutes({ services, socketUrl, clients }, log) {
  const admin = await newTenant(services, 'bench-minutes');
  const { secret } = await createApiKey(services, admin, { role: 'TENANT_ADMIN', name: 'bench' });
  const agents = [];
  for (let n = 0; n < SUBSCRIBERS / EACH; n += 1) {
    agents.push((await createAgent(services, admin, { name: `Agent ${n}` })).id);
  }
  await clients.ask('subscribe', {
    from: 0,
    subscriptions: Array.from({ length: SUBSCRIBERS }, (_, n) => ({
      url: socketUrl,
      key: secret,
      query: EVENTS,
      variables: { filter: { agentId: globalIdOf('Agent', agents[Math.floor(n / EACH)]) } },
    })),
  });
  const memory = [];
  let lost = 0;
  for (let minute = 0; minute < MINUTES; minute += 1) {
    const expected = await oneMinute(services, admin, agents);
    await sleep(2_000);
    const received = (await clients.ask('collect')).length;
    lost += expected * EACH - received;
    globalThis.gc?.();
    memory.push(residentMemory());
    log(`minute ${minute + 1}: ${expected} events, ${received} deliveries, ${Math.round(memory.at(-1))} MiB`);
  }
  return { memory, lost };
}

async function oneMinute({ db, now }, { tenant }, agents) {
  const actor = { kind: 'TENANT_ADMIN', id: null };
  const begin = performance.now();
  let count = 0;
  for (; count < 60 * PER_SECOND; count += TOGETHER) {
    const wait = begin + (count * 1_000) / PER_SECOND - performance.now();
    if (wait > 0) await sleep(wait);
    const events = Array.from({ length: TOGETHER }, (_, n) => ({
      type: 'FACT_REAFFIRMED',
      agentId: agents[(count + n) % agents.length],
      userId: null,
      subjectId: newId(),
    }));
    await inTenant(db, tenant, async (unit) => appendEvents(unit, events, actor, now()));
  }
  return count;
}

function report({ rescored, delivered, before, most, stillThere, complete }, { memory, lost }) {
  return {
    settings: {
      facts: FACTS,
      followers: FOLLOWERS,
      subscribers: SUBSCRIBERS,
      eventsPerSecond: PER_SECOND,
      minutes: MINUTES,
    },
    figures: [
      ['rescoring with 50 subscribers, ms', summary([rescored])],
      ['from its end until all had every change, ms', summary([delivered])],
      ['resident memory before, MiB', summary([before])],
      ['most of it meanwhile, MiB', summary([most])],
      ['resident memory at the end of a minute, MiB', summary(memory)],
    ],
    verdicts: [
      { what: 'subscribers that lagged out', value: FOLLOWERS - stillThere, most: 0 },
      { what: 'subscribers without every change, in order', value: FOLLOWERS - complete, most: 0 },
      { what: 'most memory while it was told ÷ before', value: most / before, most: 2 },
      { what: 'deliveries lost over the minutes', value: lost, most: 0 },
      {
        what: 'memory after the last minute ÷ after the second',
        value: memory.at(-1) / (memory[1] ?? memory[0]),
        most: 1.1,
      },
    ],
  };
}
