import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { inTenant, readScores, rescoreFacts } from '../../src/db/index.js';
import { namedFacts } from '../../src/rescoring/named-facts.js';
import { scoringMeans, scoringProfile } from '../../src/rescoring/scoring-profile.js';
import {
  currentImportance,
  decay,
  type EffectiveProfile,
  type EncodeInputs,
  encodeImportance,
  hoursUnseen,
  type IdentityTerm,
  meetProfile,
  mergeProfiles,
  NEUTRAL_PROFILE,
  NO_HINTS,
  namesIdentity,
  type ProfileHierarchy,
  type ProfileSettings,
  type TopicSetting,
} from '../../src/salience/index.js';
import { SYSTEM_ACTOR } from '../../src/tenancy/index.js';
import { callersOf, type FactView, TestClock, uuidOf } from '../facts/support.js';
import { seeingClient } from '../facts/tables.js';
import { anyInputs, inputs as someInputs } from '../salience/builders.js';
import { anyHierarchy, anyPolicy, settings } from '../salience/profiles.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { contextOf } from './support.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

/** They share words with the topics that the profiles are made of; the last two have no vector, and an entity. */
const TEXTS = [
  'Patient safety comes first in every ward',
  'patient safety',
  'The billing of the clinic is late',
  'Billing',
  'A cardiology ward of the Straße',
  'Quarterly invoices are printed on paper',
  'The patient pays by card',
  'Nothing of the kind was ever seen near the harbour',
  '?! …',
  '→ ∞',
];
const TOPICS = ['patient safety', 'billing', 'straße', 'cardiology', '心臓病学'];

const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
let tenant: TestTenant;
let facts: FactView[];
const vectors = new Map<string, Float32Array>();
const refs = new Map<string, { id: string; number: number }>();

beforeAll(async () => {
  salient = await testApp({ now: clock.now });
  owner = await seeingClient();
  tenant = await salient.tenant();
  const { admin } = callersOf(salient, tenant);
  facts = [];
  for (const [place, text] of TEXTS.entries())
    facts.push(await admin.fact(text, place === 8 ? { entities: ['Billing'] } : {}));
  const embedded = await salient.app.services.embedding.embed(TOPICS);
  for (const [number, topic] of TOPICS.entries()) {
    const ref = { id: `00000000-0000-4000-8000-00000000000${number}`, number: 1_000_000 + number };
    refs.set(keyOf(topic), ref);
    // The last has not been embedded by this model yet.
    if (number < TOPICS.length - 1) vectors.set(ref.id, embedded[number] as Float32Array);
  }
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

function keyOf(topic: string): string {
  return topic.replaceAll(/\s+/g, ' ').trim().toUpperCase();
}

/** The same profiles with the topics' own ids. */
function placed(hierarchy: ProfileHierarchy): ProfileHierarchy {
  const refOf = (topic: string) => refs.get(keyOf(topic)) as { id: string; number: number };
  const topics = (list: readonly TopicSetting[]) => list.map((one) => ({ ...one, ref: refOf(one.topic) }));
  const terms = (list: readonly IdentityTerm[]) => list.map((one) => ({ ...one, ref: refOf(one.term) }));
  const of = (profile: ProfileSettings): ProfileSettings => ({
    ...profile,
    interests: topics(profile.interests),
    disinterests: topics(profile.disinterests),
    persona: { ...profile.persona, identity: terms(profile.persona.identity) },
  });
  const { tenant: above, agent, user } = hierarchy;
  return { tenant: of(above), agent: agent && of(agent), user: user && of(user) };
}

/** What is stored of a fact besides what its profile decides. */
interface Stored {
  readonly inputs: EncodeInputs;
  readonly reinforcement: number;
  readonly pinned: boolean;
  /** Hours before now. */
  readonly recorded: number;
  readonly seen: number;
  readonly reinforced: number | null;
}

const hours = fc.oneof(fc.constant(0), fc.double({ min: -10, max: 100_000, noNaN: true }));
const share = fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: null });
const anyStored: fc.Arbitrary<Stored> = fc.record({
  inputs: fc
    .record({
      inputs: anyInputs,
      interest: fc.option(share, { nil: null, freq: 1 }),
      challenge: fc.option(share, { nil: null, freq: 1 }),
      urgency: share,
      valence: fc.option(fc.double({ min: -1, max: 1, noNaN: true }), { nil: null }),
      arousal: share,
      flashbulb: fc.boolean(),
    })
    .map(({ inputs, flashbulb, ...hints }) => ({ ...inputs, hints, flashbulb })),
  reinforcement: fc.double({ min: 1, max: 2, noNaN: true }),
  pinned: fc.boolean(),
  recorded: hours,
  seen: hours,
  reinforced: fc.option(hours, { nil: null }),
});

function before(hoursAgo: number): Date {
  return new Date(Math.round(clock.now().getTime() - hoursAgo * 3_600_000));
}

/** Stores inputs, with the stages that no profile bears on, as ingestion would have. */
async function store(all: readonly Stored[]): Promise<void> {
  const rows = all.map(({ inputs, ...rest }, place) => {
    const { spatialZ, temporalZ, base } = encodeImportance(inputs, NEUTRAL_PROFILE);
    return {
      fact_id: uuidOf(facts[place]!.id),
      ...inputs.hints,
      spatial_z: spatialZ,
      temporal_z: temporalZ,
      base,
      reinforcement: rest.reinforcement,
      pinned: rest.pinned,
      flashbulb: inputs.flashbulb,
      recorded_at: before(rest.recorded),
      last_seen_at: before(rest.seen),
      reinforced_at: rest.reinforced === null ? null : before(rest.reinforced),
    };
  });
  await owner.query(
    `UPDATE fact_salience s SET interest = r.interest, challenge = r.challenge, urgency = r.urgency,
       valence = r.valence, arousal = r.arousal, spatial_z = r.spatial_z, temporal_z = r.temporal_z, base = r.base,
       reinforcement = r.reinforcement, pinned = r.pinned, flashbulb = r.flashbulb, recorded_at = r.recorded_at,
       last_seen_at = r.last_seen_at, reinforced_at = r.reinforced_at
     FROM jsonb_populate_recordset(NULL::fact_salience, $1::jsonb) r
     WHERE s.tenant_id = $2 AND s.fact_id = r.fact_id`,
    [JSON.stringify(rows), uuidOf(tenant.id)],
  );
}

/** The cosine of each fact and each topic as the database has it, by fact and topic. */
async function cosines(): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const [topic, vector] of vectors) {
    const { rows } = await owner.query<{ fact_id: string; cosine: number }>(
      'SELECT fact_id, -(embedding <#> $1::halfvec) AS cosine FROM fact_embedding WHERE tenant_id = $2 AND model_id = $3',
      [`[${vector.join(',')}]`, uuidOf(tenant.id), salient.app.services.embeddingModelId],
    );
    for (const { fact_id, cosine } of rows) found.set(`${fact_id} ${topic}`, Number(cosine));
  }
  return found;
}

/** By the rules as TypeScript has them. */
function expected(
  fact: FactView,
  stored: Stored,
  effective: EffectiveProfile,
  known: ReadonlyMap<string, number>,
) {
  const similarity = (id: string) => {
    const cosine = known.get(`${uuidOf(fact.id)} ${id}`);
    return cosine === undefined ? null : salient.app.services.embedding.similarity(cosine);
  };
  const words = { text: fact.text, entities: fact.entities.map(({ name }) => name) };
  const encoded = encodeImportance(
    stored.inputs,
    meetProfile(effective, {
      topicSimilarity: ({ ref }) => similarity(ref.id),
      identity: ({ term, ref }) => ({ named: namesIdentity(term, words), similarity: similarity(ref.id) }),
    }),
  );
  const unseen = hoursUnseen(clock.now(), {
    recordedAt: before(stored.recorded),
    lastSeenAt: before(stored.seen),
    reinforcedAt: stored.reinforced === null ? null : before(stored.reinforced),
  });
  const current = currentImportance({
    encoded: encoded.encoded,
    reinforcement: stored.reinforcement,
    decay: decay(unseen, encoded.decayResistance, 'STANDARD'),
    pinned: stored.pinned,
    flashbulb: encoded.flashbulb,
  });
  return { ...encoded, current };
}

let revision = 10;

/** Scores all facts in the database, first without and then with storing it, and holds each to the rules. */
async function compare(all: readonly Stored[], effective: EffectiveProfile): Promise<void> {
  await store(all);
  const known = await cosines();
  const context = await contextOf(owner, tenant);
  const { services } = salient.app;
  const factIds = facts.map(({ id }) => uuidOf(id));
  const fingerprint = (revision++).toString(16).padStart(32, '0');
  const { read, rescored } = await inTenant(services.db, context, async (unit) => {
    const profile = scoringProfile({ effective, fingerprint, revision }, vectors);
    const means = scoringMeans(services, context, clock.now());
    const named = await namedFacts(unit, effective, { factIds });
    const scores = await readScores(unit, means, [{ profile, factIds, named }]);
    return {
      read: new Map(scores.map((score) => [score.factId, score])),
      rescored: await rescoreFacts(unit, means, [{ profile, selection: { factIds }, named }], SYSTEM_ACTOR),
    };
  });
  expect(rescored.processed).toBe(facts.length);
  const { rows } = await owner.query(
    `SELECT fact_id, encoded, current, z, base, topic_boost, valence_factor, self_relevance_factor, decay_resistance,
       matched_topics, matched_similarities, encode(fingerprint, 'hex') AS fingerprint
     FROM fact_salience WHERE tenant_id = $1`,
    [uuidOf(tenant.id)],
  );
  for (const [place, fact] of facts.entries()) {
    const rules = expected(fact, all[place]!, effective, known);
    const score = read.get(uuidOf(fact.id))!;
    const row = rows.find(({ fact_id }) => fact_id === uuidOf(fact.id));
    expect(row.fingerprint).toBe(fingerprint);
    const numbers = {
      base: [rules.base, score.base, row.base],
      topicBoost: [rules.topicBoost, score.topicBoost, row.topic_boost],
      valenceFactor: [rules.valenceFactor, score.valenceFactor, row.valence_factor],
      selfRelevanceFactor: [rules.selfRelevanceFactor, score.selfRelevanceFactor, row.self_relevance_factor],
      decayResistance: [rules.decayResistance, score.decayResistance, row.decay_resistance],
      encoded: [rules.encoded, score.encoded, row.encoded],
    };
    for (const [name, [wanted, seen, kept]] of Object.entries(numbers)) {
      const told = `${name} of "${fact.text}"`;
      expect(Math.abs(seen - wanted!), told).toBeLessThan(1e-9);
      expect(Math.abs(kept - wanted!), told).toBeLessThan(1e-9);
    }
    expect(Math.abs(score.current - rules.current), `current of "${fact.text}"`).toBeLessThan(1e-9);
    expect(score.z === null, 'z').toBe(rules.z === null);
    if (rules.z !== null)
      expect(Math.abs(score.z! - rules.z)).toBeLessThan(1e-9 * Math.max(1, Math.abs(rules.z)));
    const matched = rules.matchedTopics.map(({ ref }) => ref.number);
    expect(score.matchedTopics ?? []).toEqual(matched);
    expect(row.matched_topics ?? []).toEqual(matched);
    rules.matchedTopics.forEach(({ similarity }, at) => {
      expect(Math.abs(score.matchedSimilarities![at]! - similarity)).toBeLessThan(1e-6);
    });
  }
}

const plain: Stored = {
  inputs: { ...someInputs(), flashbulb: false },
  reinforcement: 1,
  pinned: false,
  recorded: 24,
  seen: 24,
  reinforced: null,
};

describe('scores in the database', () => {
  test('are those of the rules, for any stored inputs and any profiles', async () => {
    const example = fc.record({
      policy: anyPolicy,
      hierarchy: anyHierarchy,
      stored: fc.array(anyStored, { minLength: TEXTS.length, maxLength: TEXTS.length }),
    });
    await fc.assert(
      fc.asyncProperty(example, ({ policy, hierarchy, stored }) =>
        compare(stored, mergeProfiles(policy, placed(hierarchy))),
      ),
      { numRuns: 80 },
    );
  });

  test.each([0, 1])('hold thresholds of %d as the rules do', async (similarityThreshold) => {
    const topics = (level: 'CRITICAL' | 'IGNORE', names: readonly string[]) =>
      names.map((topic) => ({ topic, level, ref: refs.get(keyOf(topic))! }));
    const profile = settings({
      interests: topics('CRITICAL', ['patient safety', 'cardiology']),
      disinterests: topics('IGNORE', ['billing']),
      similarityThreshold,
      persona: {
        selfRelevanceBoost: 1.7,
        identity: [{ term: 'straße', ref: refs.get('STRASSE')! }],
      },
    });
    const effective = mergeProfiles('FULL_OVERRIDE', { tenant: profile, agent: null, user: null });
    await compare(
      facts.map(() => plain),
      effective,
    );
  });

  test('do not fail at extreme surprises', async () => {
    const extremes = [-1, 0, 2].flatMap((distance) =>
      [0, 1, 2].map((mean) => ({
        ...plain,
        inputs: {
          ...plain.inputs,
          distance: Math.max(0, distance),
          baseline: { n: 20, mean, sigma: 2e-9, origin: 'SCOPE' as const },
          gapHours: 1e9,
          nearestSimilarity: mean === 1 ? 1 : 0,
          ...NO_HINTS,
        },
      })),
    );
    await compare(
      [...extremes, plain],
      mergeProfiles('ADDITIVE_TOPICS', { tenant: settings(), agent: null, user: null }),
    );
  });
});
