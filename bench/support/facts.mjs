// Many facts in little time: the rows that Salient would write, written in batches, with seeded texts and numbers.
import { inTenant, lockScopes, writeFactRows } from '../../dist/db/index.js';
import { newId, shortIdOf } from '../../dist/ids.js';
import { createAgent, createUser } from '../../dist/tenancy/index.js';
import { analyzeDocument } from '../../dist/text/index.js';
import { randomNumbers } from './measure.mjs';

const BATCH = 500;
const WORDS = 4_000;
/** What the benchmarks' profiles are interested in; every fact speaks of one of them. */
export const TOPICS = Object.freeze([
  'cardiology',
  'logistics',
  'payroll',
  'astronomy',
  'gardening',
  'databases',
  'contracts',
  'sailing',
  'ceramics',
  'tariffs',
]);

const SYLLABLES = [
  'ba',
  'do',
  'fi',
  'gu',
  'ka',
  'lo',
  'mi',
  'nu',
  'pe',
  'ra',
  'so',
  'tu',
  've',
  'wi',
  'xa',
  'zo',
];

/** A made-up word of three syllables: the n-th of 4,096. */
export function word(n) {
  return SYLLABLES[n % 16] + SYLLABLES[(n >> 4) % 16] + SYLLABLES[(n >> 8) % 16];
}

/**
 * Stores facts of a topic and three words each, spread evenly over one agent and as many users as there are scopes.
 * Their importances lie far enough from both bounds that every change of a profile shows in each of them.
 * @returns the agent, the users, and the facts' texts
 */
export async function storeFacts(services, actor, { facts, scopes, log }) {
  const owners = await makeOwners(services, actor, scopes);
  const random = randomNumbers(7);
  const texts = [];
  for (let from = 0; from < facts; from += BATCH) {
    if (from % 20_000 === 0) log(`storing facts: ${from} of ${facts}`);
    const batch = Array.from({ length: Math.min(BATCH, facts - from) }, (_, i) => {
      const words = [0, 1, 2].map(() => word(Math.floor(random() * WORDS)));
      return [TOPICS[(from + i) % TOPICS.length], ...words].join(' ');
    });
    texts.push(...batch);
    // A batch is of one scope: ids ascend with time, so that a scope's facts are neighbours, as they come to be.
    const owner = owners[Math.floor((from / facts) * owners.length)];
    await storeBatch(services, actor, owner, batch, random);
  }
  return { agentId: owners[0].agentId, userIds: owners.map(({ userId }) => userId), texts };
}

async function makeOwners(services, actor, count) {
  const agent = await createAgent(services, actor, { name: 'Bench' });
  const owners = [];
  for (let i = 0; i < count; i += 1) {
    const user = await createUser(services, actor, { externalId: `user-${i}-${newId()}` });
    owners.push({ agentId: agent.id, userId: user.id });
  }
  return owners;
}

async function storeBatch({ db, embedding, embeddingModelId, now }, { tenant }, owner, texts, random) {
  const vectors = await embedding.embed(texts);
  await inTenant(db, tenant, async (unit) => {
    const [scope] = await lockScopes(unit, [owner], now());
    const added = texts.map((text, i) =>
      factOf(unit, { ...owner, scopeId: scope.id }, text, vectors[i], random, now()),
    );
    const terms = added.reduce((sum, fact) => sum + fact.length, 0);
    await writeFactRows(unit, {
      added,
      reaffirmed: [],
      sources: [],
      changes: [{ scopeId: scope.id, documents: added.length, terms }],
      modelId: embeddingModelId,
      at: now(),
    });
  });
}

function factOf({ content }, owner, text, embedding, random, now) {
  const id = newId();
  const { terms, length } = analyzeDocument(text);
  const recordedAt = new Date(now.getTime() - random() * 30 * 86_400_000);
  return {
    id,
    shortId: shortIdOf(id),
    ...owner,
    kind: 'FACT',
    tier: 'SEMANTIC',
    text,
    textHash: content.hash('fact-text', text),
    characters: text.length,
    terms: terms.map(({ term, count }) => ({ term: content.term(term), count })),
    length,
    subject: null,
    predicate: null,
    object: null,
    metadata: null,
    confidence: 1,
    extractor: 'RULES',
    sessionId: null,
    runId: null,
    validFrom: recordedAt,
    validTo: null,
    recordedAt,
    embedding,
    salience: salienceOf(random, recordedAt),
  };
}

/** Inputs as ingestion stores them. What follows from them is filled in by the first rescoring. */
function salienceOf(random, at) {
  const spatialZ = random() * 1.7 - 0.5;
  const isFamiliar = random() < 0.2;
  return {
    encoded: 1,
    current: 1,
    pinned: false,
    flashbulb: false,
    lastSeenAt: at,
    distance: 0.6 + random() * 0.6,
    nearestSimilarity: isFamiliar ? 0.8 : 0.4,
    gapHours: isFamiliar ? random() * 1_000 : null,
    baselineN: 100,
    baselineMean: 0.9,
    baselineSigma: 0.2,
    baselineOrigin: 'SCOPE',
    valence: (random() < 0.5 ? -1 : 1) * (0.1 + random() * 0.5),
    valenceSource: 'LEXICON',
    z: spatialZ,
    spatialZ,
    temporalZ: isFamiliar ? random() : null,
    base: 1,
    topicBoost: 1,
    valenceFactor: 1,
    selfRelevanceFactor: 1,
    decayResistance: 1,
    scoredRevision: 0,
  };
}
