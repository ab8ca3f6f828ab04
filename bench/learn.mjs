// What learning costs recalls, its writing included.
import { performance } from 'node:perf_hooks';
import { recall } from '../dist/recall/index.js';
import { storeFacts, TOPICS, word } from './support/facts.mjs';
import { interleaved, randomNumbers, summary } from './support/measure.mjs';
import { PROFILES, rescoreAll, saveProfile } from './support/rescoring.mjs';
import { as, newTenant, withSalient } from './support/salient.mjs';

export const measures =
  'recalls a second with LEARN, until all is written, against OBSERVE: 8 callers, 20,000 facts';

const FACTS = 20_000;
const SCOPES = 4;
const CALLERS = 8;
const ROUNDS = 3;
const WINDOW_MS = 10_000;
/** After it, each fact may be reinforced again: every window has as much to learn as the first. */
const BETWEEN_WINDOWS_MS = 6 * 60_000;
const MAX_RATIO = 1.15;

export function run({ databaseUrl, log }) {
  const clock = { offset: 0 };
  const now = () => new Date(Date.now() + clock.offset);
  return withSalient(databaseUrl, (salient) => measure(salient, clock, log), now);
}

async function measure({ services, owner }, clock, log) {
  const admin = await newTenant(services, 'bench-learn');
  const { agentId, userIds } = await storeFacts(services, admin, { facts: FACTS, scopes: SCOPES, log });
  await saveProfile(services, admin, PROFILES[0]);
  await rescoreAll(services, admin);
  await owner.query('VACUUM ANALYZE');
  const agent = as(admin, 'AGENT', { agentId });
  const latencies = { OBSERVE: [], LEARN: [] };
  const flushes = [];
  const contestant = (mode) => async (round) => {
    clock.offset += BETWEEN_WINDOWS_MS;
    // The same queries in both windows of a round, others in each round.
    const result = await window(services, agent, userIds, mode, round + 100);
    if (round >= 0) {
      latencies[mode].push(summary(result.latencies).median);
      if (mode === 'LEARN') flushes.push(result.flush);
    }
    return result.perSecond;
  };
  const rates = await interleaved(
    { OBSERVE: contestant('OBSERVE'), LEARN: contestant('LEARN') },
    { rounds: ROUNDS, log },
  );
  return {
    settings: { facts: FACTS, scopes: SCOPES, callers: CALLERS, windowMs: WINDOW_MS, rounds: ROUNDS, k: 20 },
    figures: [
      ['OBSERVE, recalls a second', rates.OBSERVE],
      ['LEARN, recalls a second', rates.LEARN],
      ['OBSERVE, a recall, ms', summary(latencies.OBSERVE)],
      ['LEARN, a recall, ms', summary(latencies.LEARN)],
      ['the last flush of a window, ms', summary(flushes)],
    ],
    verdicts: [
      { what: 'time of LEARN ÷ OBSERVE', value: rates.OBSERVE.median / rates.LEARN.median, most: MAX_RATIO },
    ],
  };
}

/** All callers recall one query after another; the window ends when what they taught is written. */
async function window(services, agent, userIds, mode, seed) {
  const queries = queriesOf(seed);
  const latencies = [];
  const begin = performance.now();
  const caller = async (place) => {
    while (performance.now() - begin < WINDOW_MS) {
      const asked = performance.now();
      const userId = userIds[(latencies.length + place) % userIds.length];
      const { items } = await recall(services, agent, { query: queries.next().value, userId, mode, k: 20 });
      if (items.length === 0) throw new Error('a recall without an item');
      latencies.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, place) => caller(place)));
  const asked = performance.now();
  await services.learner.flush();
  const end = performance.now();
  return { perSecond: latencies.length / ((end - begin) / 1_000), flush: end - asked, latencies };
}

function* queriesOf(seed) {
  const random = randomNumbers(seed);
  const some = (count) => Math.floor(random() * count);
  for (;;) yield `${TOPICS[some(TOPICS.length)]} ${word(some(4_000))} ${word(some(4_000))}`;
}
