// Many subscribers of one process against a bare WebSocket that sends the same bytes to the same clients.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { createApp } from '../dist/app.js';
import { createConfig } from '../dist/config/index.js';
import { appendEvents, inTenant } from '../dist/db/index.js';
import { createEmbeddingProvider } from '../dist/embedding/index.js';
import { newId } from '../dist/ids.js';
import { createLogger } from '../dist/log.js';
import { createAgent, createApiKey } from '../dist/tenancy/index.js';
import { startClients } from './support/clients.mjs';
import { storeFacts } from './support/facts.mjs';
import { interleaved, loopDelay, residentMemory, summary } from './support/measure.mjs';
import { newTenant } from './support/salient.mjs';

export const measures =
  '1,000 subscribers of one process at 100 events/s, 10 of them for each event, and events for all of them, against a bare WebSocket';

const SUBSCRIBERS = 1_000;
/** Each event is one agent's, and so many subscribers follow each agent. */
const EACH = 10;
const SECONDS = 10;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const PER_SECOND = 100;
/** Events of one transaction: a mutation tells of a few things. */
const TOGETHER = 5;
/** Events that all subscribers get. */
const FOR_ALL = 40;
const FOR_ALL_PER_SECOND = 4;
const MAX_RATIO = 2;

/** What an event holds, and the same with the fact, which is read as it is at the delivery. */
const queryOf = (withFact) => `subscription ($filter: EventFilter) {
  memoryEvents(filter: $filter) {
    __typename cursor ... on MemoryEvent { subjectId type at actor { kind id } ${withFact ? 'fact { id text } ' : ''}}
  }
}`;

/** What went wrong with deliveries, over all rounds. */
const faults = { lost: 0, repeated: 0 };

const now = () => performance.timeOrigin + performance.now();
const globalIdOf = (type, id) => Buffer.from(`${type}:${id}`).toString('base64');

export async function run({ databaseUrl, log }) {
  const embedding = await createEmbeddingProvider({ kind: 'fake', seed: 1, dimensions: 512 });
  const config = createConfig({ databaseUrl, environment: 'production', logLevel: 'warn', port: 0 });
  const app = await createApp(config, { embedding, log: createLogger('warn'), takesUpWork: false });
  const bare = await bareServer();
  const clients = startClients();
  try {
    return await measure({ app, bare, clients }, log);
  } finally {
    clients.stop();
    await bare.close();
    await app[Symbol.asyncDispose]();
    await embedding[Symbol.asyncDispose]();
  }
}

async function measure({ app, bare, clients }, log) {
  const { services } = app;
  const { url } = await app.listen();
  const admin = await newTenant(services, 'bench-fan-out');
  // The bare socket's events are written as well, where nobody follows.
  const quiet = await newTenant(services, 'bench-fan-out-bare');
  const { secret } = await createApiKey(services, admin, { role: 'TENANT_ADMIN', name: 'bench' });
  const { texts } = await storeFacts(services, admin, { facts: 200, scopes: 1, log });
  const facts = await factIdsOf(services, admin);
  const agents = [];
  for (let n = 0; n < SUBSCRIBERS / EACH; n += 1) {
    agents.push((await createAgent(services, admin, { name: `Agent ${n}` })).id);
  }
  log(`${SUBSCRIBERS} subscribers and as many bare sockets connect`);
  await clients.ask('listen', { url: bare.url, count: SUBSCRIBERS });
  const subscribe = async (withFact, filterOf) => {
    await clients.ask('close');
    while (services.feed.stats().followers > 0) await sleep(50);
    await clients.ask('subscribe', {
      from: 0,
      subscriptions: Array.from({ length: SUBSCRIBERS }, (_, n) => ({
        url: `${url.replace('http', 'ws')}/graphql`,
        key: secret,
        query: queryOf(withFact),
        variables: { filter: filterOf(n) },
      })),
    });
  };

  const memory = [];
  const delays = [];
  /** @param toAll whether every event is for all subscribers */
  const contest = ({ toAll, withFact, count, perSecond }) => ({
    bare: () =>
      round(
        { services, admin: quiet, clients, agents, facts, count, perSecond, group: 'bare', toAll },
        (events, from) => {
          for (const [n, event] of events.entries()) {
            const text = messageOf(event, withFact ? texts[0] : undefined);
            if (toAll) bare.send(text, 0, SUBSCRIBERS);
            else bare.send(text, ((from + n) % agents.length) * EACH, EACH);
          }
        },
      ),
    salient: async () => {
      let p95;
      const delay = await loopDelay(async () => {
        p95 = await round(
          { services, admin, clients, agents, facts, count, perSecond, group: 'salient', toAll },
          () => {},
        );
      });
      delays.push(delay);
      globalThis.gc?.();
      memory.push(residentMemory());
      return p95;
    },
  });

  const ofItsAgent = (n) => ({ agentId: globalIdOf('Agent', agents[Math.floor(n / EACH)]) });
  const steady = { toAll: false, count: SECONDS * PER_SECOND, perSecond: PER_SECOND };
  await subscribe(false, ofItsAgent);
  const few = await interleaved(contest({ ...steady, withFact: false }), { rounds: ROUNDS, log });
  await subscribe(true, ofItsAgent);
  const read = await interleaved(contest({ ...steady, withFact: true }), { rounds: ROUNDS, log });
  await subscribe(false, () => null);
  const all = await interleaved(
    contest({ toAll: true, withFact: false, count: FOR_ALL, perSecond: FOR_ALL_PER_SECOND }),
    { rounds: ROUNDS, log },
  );
  return {
    settings: {
      subscribers: SUBSCRIBERS,
      eventsPerSecond: PER_SECOND,
      each: EACH,
      seconds: SECONDS,
      rounds: ROUNDS,
    },
    figures: [
      ['10 of 1,000: bare socket, p95 from commit to client, ms', few.bare],
      ['10 of 1,000: Salient, p95 from commit to client, ms', few.salient],
      ['10 of 1,000, with the fact: bare socket, p95, ms', read.bare],
      ['10 of 1,000, with the fact: Salient, p95, ms', read.salient],
      ['all 1,000: bare socket, p95, ms', all.bare],
      ['all 1,000: Salient, p95, ms', all.salient],
      ['event loop late, p99 of a run, ms', summary(delays.map(({ p99 }) => p99))],
      ['resident memory after a run, MiB', summary(memory)],
    ],
    verdicts: [
      { what: '10 of 1,000: Salient ÷ bare', value: few.salient.median / few.bare.median, most: MAX_RATIO },
      {
        what: '10 of 1,000, with the fact read: Salient ÷ bare',
        value: read.salient.median / read.bare.median,
      },
      { what: 'all 1,000: Salient ÷ bare', value: all.salient.median / all.bare.median, most: MAX_RATIO },
      { what: 'memory after the last run ÷ after the first', value: memory.at(-1) / memory[0], most: 1.1 },
      { what: 'deliveries lost', value: faults.lost, most: 0 },
      { what: 'deliveries repeated', value: faults.repeated, most: 0 },
    ],
  };
}

/** Commits events at a rate; `told` follows each commit. @returns the 95th percentile from commit to client, in ms */
async function round({ services, admin, clients, agents, facts, count, perSecond, group, toAll }, told) {
  await clients.ask('collect');
  const committed = new Map();
  // Both begin with the message that commits: what a process does before its writer goes on counts as well.
  const stop = services.db.onStatement(({ sql }) => {
    if (!sql.includes('append_events(')) return;
    const at = now();
    for (const [, id] of sql.matchAll(/"subjectId":"([0-9a-f-]{36})"/g))
      committed.set(globalIdOf('Fact', id), at);
  });
  const begin = now();
  const writes = [];
  for (let from = 0; from < count; from += TOGETHER) {
    const wait = begin + (from * 1_000) / perSecond - now();
    if (wait > 0) await sleep(wait);
    const events = Array.from({ length: TOGETHER }, (_, n) => ({
      type: 'FACT_REAFFIRMED',
      agentId: agents[(from + n) % agents.length],
      userId: null,
      subjectId: newId(),
      factId: facts[(from + n) % facts.length],
    }));
    writes.push(write(services, admin, events).then(() => told(events, from)));
  }
  await Promise.all(writes);
  stop();
  const expected = count * (toAll ? SUBSCRIBERS : EACH);
  const received = [];
  for (let tries = 0; received.length < expected && tries < 100; tries += 1) {
    await sleep(100);
    received.push(...(await clients.ask('collect')));
  }
  const seen = new Set(received.map(([, index, subject]) => `${index} ${subject}`));
  faults.lost += expected - seen.size;
  faults.repeated += received.length - seen.size;
  if (seen.size === 0 || received.some(([from]) => from !== group))
    throw new Error(`${group}: nothing measured`);
  const latencies = received.map(([, , subject, at]) => at - committed.get(subject)).sort((a, b) => a - b);
  return latencies[Math.floor(latencies.length * 0.95)];
}

/** The small transaction that tells of a few facts. */
async function write({ db, now }, { tenant }, events) {
  const actor = { kind: 'TENANT_ADMIN', id: null };
  await inTenant(db, tenant, async (unit) => appendEvents(unit, events, actor, now()));
}

/** As many bytes as Salient sends for such an event. */
function messageOf({ type, subjectId, factId }, text) {
  return JSON.stringify({
    id: '1',
    type: 'next',
    payload: {
      data: {
        memoryEvents: {
          __typename: 'MemoryEvent',
          cursor: 'AAAAAAAAAAAAAAAA',
          subjectId: globalIdOf('Fact', subjectId),
          type,
          at: new Date().toISOString(),
          actor: { kind: 'TENANT_ADMIN', id: null },
          ...(text !== undefined && { fact: { id: globalIdOf('Fact', factId), text } }),
        },
      },
    },
  });
}

async function factIdsOf({ db }, { tenant }) {
  return inTenant(db, tenant, async ({ tx, tenantId }) => {
    const rows = await tx.$queryRaw`SELECT id FROM fact WHERE tenant_id = ${tenantId}::uuid ORDER BY id`;
    return rows.map(({ id }) => id);
  });
}

async function bareServer() {
  const http = createServer();
  const server = new WebSocketServer({ server: http });
  const sockets = [];
  server.on('connection', (socket, { url }) => {
    sockets[Number(url.slice(2))] = socket;
  });
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `ws://127.0.0.1:${http.address().port}`,
    send(text, from, count) {
      for (let n = from; n < from + count; n += 1) sockets[n].send(text);
    },
    async close() {
      for (const socket of sockets) socket?.terminate();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
