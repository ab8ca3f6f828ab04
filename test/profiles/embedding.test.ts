import type pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  createEmbeddingProvider,
  EmbeddingError,
  type EmbeddingProvider,
} from '../../src/embedding/index.js';
import { superuserClient } from '../leaks/superuser.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { type Owner, profileCallers, uuidOf } from './support.js';

// It is only that the machine may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const TENANT: Owner = { tenant: true };

/** The seeded encoder, which fails when a test says so; it notes what it was asked for. */
class Encoder implements EmbeddingProvider {
  failing: EmbeddingError | null = null;
  asked: string[] = [];

  constructor(private readonly inner: EmbeddingProvider) {}
  get model() {
    return this.inner.model;
  }
  get dimensions() {
    return this.inner.dimensions;
  }
  get similarity() {
    return this.inner.similarity;
  }
  async embed(texts: readonly string[]) {
    this.asked.push(...texts);
    if (this.failing) throw this.failing;
    return this.inner.embed(texts);
  }
  embedWindows(texts: readonly string[]) {
    return this.inner.embedWindows(texts);
  }
  embedQuery(text: string) {
    return this.inner.embedQuery(text);
  }
  [Symbol.asyncDispose]() {
    return this.inner[Symbol.asyncDispose]();
  }
}

let encoder: Encoder;
let salient: TestApp;
let client: pg.Client;
let tenant: TestTenant;
beforeAll(async () => {
  encoder = new Encoder(await createEmbeddingProvider({ kind: 'fake' }));
  salient = await testApp({ embedding: encoder });
  client = await superuserClient();
  tenant = await salient.tenant();
});
afterAll(async () => {
  await client?.end();
  await salient?.[Symbol.asyncDispose]();
  await encoder?.[Symbol.asyncDispose]();
});

const admin = () => profileCallers(salient, tenant).admin;

/** The tenant's topics with the vectors that are stored of them. */
async function topics() {
  const { rows } = await client.query<{
    id: string;
    list: string;
    topic: Buffer;
    level: string | null;
    position: number;
    removed: boolean;
    vector: string | null;
  }>(
    `SELECT t.id, t.list, t.topic, t.level, t.position, t.removed_at IS NOT NULL AS removed, e.embedding::text AS vector
     FROM profile_topic t
     LEFT JOIN profile_topic_embedding e ON e.tenant_id = t.tenant_id AND e.topic_id = t.id
     WHERE t.tenant_id = $1 ORDER BY t.number`,
    [uuidOf(tenant.id)],
  );
  // An envelope's first byte is its format.
  return rows.map((row) => ({ ...row, topic: row.topic.subarray(1).toString() }));
}

test('topics and identity terms are saved with the vectors of the present model', async () => {
  await admin().saved(TENANT, {
    interests: [{ topic: 'database performance', level: 'CRITICAL' }],
    disinterests: [{ topic: 'meeting notes', level: 'IGNORE' }],
    persona: { identity: ['Acme'] },
  });
  const stored = await topics();
  expect(stored.map(({ list, topic, level }) => [list, topic, level])).toEqual([
    ['INTEREST', 'database performance', 'CRITICAL'],
    ['DISINTEREST', 'meeting notes', 'IGNORE'],
    ['IDENTITY', 'Acme', null],
  ]);
  for (const { topic, vector } of stored) {
    const [expected] = await encoder.embed([topic]);
    const found = JSON.parse(vector ?? 'null') as number[];
    expect(found).toHaveLength(512);
    found.forEach((component, index) => {
      expect(component).toBeCloseTo(expected?.[index] ?? Number.NaN, 3);
    });
  }
});

test('what stays keeps its row; what leaves keeps it and its vector, for who scores by it still; a new level is a new row', async () => {
  const before = await topics();
  encoder.asked = [];
  await admin().saved(TENANT, {
    interests: [
      { topic: 'Kubernetes', level: 'HIGH' },
      { topic: 'database performance', level: 'HIGH' },
    ],
  });
  // What is stored with its vector is not embedded again.
  expect(encoder.asked).toEqual(['Kubernetes', 'database performance']);
  const after = await topics();
  const [performance, notes, acme] = before;
  expect(after).toEqual([
    { ...performance, removed: true },
    notes,
    acme,
    expect.objectContaining({ topic: 'Kubernetes', position: 0, removed: false, vector: expect.any(String) }),
    expect.objectContaining({
      topic: 'database performance',
      level: 'HIGH',
      position: 1,
      vector: performance?.vector,
    }),
  ]);
  // A place alone changes in its row.
  await admin().saved(TENANT, {
    interests: [
      { topic: 'database performance', level: 'HIGH' },
      { topic: 'security', level: 'HIGH' },
    ],
  });
  expect((await topics())[4]).toEqual({ ...after[4], position: 0 });
  await admin().saved(TENANT, { interests: [] });
  expect((await topics()).filter(({ list, removed }) => list === 'INTEREST' && !removed)).toEqual([]);
});

test('CASE 46: a topic that the model cannot read is refused at its place, for it would never match', async () => {
  const before = await topics();
  const answer = await admin().set(TENANT, {
    disinterests: [
      { topic: 'meeting notes', level: 'IGNORE' },
      { topic: '!!!', level: 'LOW' },
    ],
  });
  expect(answer.errors).toEqual([
    {
      code: 'BAD_INPUT',
      message: 'the embedding model cannot read this topic, so it would never match',
      path: ['input', 'disinterests', '1', 'topic'],
    },
  ]);
  expect(await topics()).toEqual(before);
});

test('an identity term that the model cannot read is saved: it is found by its name', async () => {
  const saved = await admin().saved(TENANT, { persona: { identity: ['Acme', '§§'] } });
  expect(saved.persona.identity).toEqual(['Acme', '§§']);
  expect((await topics()).at(-1)).toMatchObject({ list: 'IDENTITY', topic: '§§', vector: null });
});

test('CASE 46: an encoder that fails saves nothing, and the request may be sent again', async () => {
  const before = await topics();
  const { salienceProfile: stored } = await admin().set(TENANT, {});
  encoder.failing = new EmbeddingError('ENCODER_FAILED', 'stopped');
  try {
    const { data, errors } = await admin().send<{ setSalienceProfile: null }>(
      `mutation { setSalienceProfile(input: { owner: { tenant: true }, alpha: 0.9, interests: [{ topic: "weather", level: HIGH }] }) {
         salienceProfile { id } errors { code } } }`,
    );
    expect(data?.setSalienceProfile ?? null).toBeNull();
    expect(errors?.[0]?.extensions?.['code']).toBe('UNAVAILABLE');
    // Without a text there is nothing to embed.
    expect((await admin().set(TENANT, { beta: 0.9 })).errors).toEqual([]);
  } finally {
    encoder.failing = null;
  }
  const { salienceProfile: now } = await admin().set(TENANT, { beta: stored?.beta ?? null });
  expect({ ...now, version: 0 }).toEqual({ ...stored, version: 0 });
  expect(await topics()).toEqual(before);
  const again = await admin().saved(TENANT, { interests: [{ topic: 'weather', level: 'HIGH' }] });
  expect(again.interests).toEqual([{ topic: 'weather', level: 'HIGH' }]);
});

test('topics that an encoder refuses are refused, and others pass', async () => {
  encoder.failing = new EmbeddingError('ENCODER_REFUSED', 'no');
  try {
    const answer = await admin().set(TENANT, { interests: [{ topic: 'refused', level: 'HIGH' }] });
    expect(answer.errors).toMatchObject([{ code: 'BAD_INPUT', path: ['input', 'interests', '0', 'topic'] }]);
  } finally {
    encoder.failing = null;
  }
});

test('a topic without a vector of the present model gets one with the next change', async () => {
  await admin().saved(TENANT, { interests: [{ topic: 'weather', level: 'HIGH' }] });
  await client.query('DELETE FROM profile_topic_embedding WHERE tenant_id = $1', [uuidOf(tenant.id)]);
  await admin().saved(TENANT, { alpha: 0.123 });
  const live = (await topics()).filter(({ removed }) => !removed);
  expect(live.map(({ topic, vector }) => [topic, vector !== null])).toEqual(
    expect.arrayContaining([
      ['weather', true],
      ['meeting notes', true],
      ['Acme', true],
      ['§§', false],
    ]),
  );
});

test('saving what is so already gives vectors to topics that lack them, has facts scored with them, and warns of the rest', async () => {
  const stored = await admin().saved(TENANT, { interests: [{ topic: 'weather', level: 'HIGH' }] });
  const { disinterests } = stored;
  await client.query('DELETE FROM profile_topic_embedding WHERE tenant_id = $1', [uuidOf(tenant.id)]);
  const isEmbedded = async () =>
    (await topics()).find(({ topic, removed }) => topic === 'weather' && !removed)!.vector !== null;
  encoder.failing = new EmbeddingError('ENCODER_FAILED', 'stopped');
  try {
    const answer = await admin().set(TENANT, { disinterests });
    expect(answer.rescoreJob).toBeNull();
    expect(answer.warnings).toContainEqual(expect.stringContaining('"weather" has no vector'));
    expect(answer.warnings).toContainEqual(expect.stringContaining('"meeting notes" has no vector'));
    expect(await isEmbedded()).toBe(false);
  } finally {
    encoder.failing = null;
  }
  const repaired = await admin().set(TENANT, {});
  expect(repaired.salienceProfile).toEqual(stored);
  expect(repaired.rescoreJob).not.toBeNull();
  expect(repaired.warnings?.join() ?? '').not.toContain('has no vector');
  expect(await isEmbedded()).toBe(true);
  // Now there is nothing to do.
  expect(await admin().set(TENANT, {})).toMatchObject({ rescoreJob: null, errors: [] });
});
