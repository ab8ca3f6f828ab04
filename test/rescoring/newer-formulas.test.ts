import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createEmbeddingProvider, type EmbeddingProvider } from '../../src/embedding/index.js';
import { type Caller, callersOf, type FactView, TestClock, uuidOf } from '../facts/support.js';
import { seeingClient } from '../facts/tables.js';
import { recall } from '../learning/support.js';
import { profileCallers } from '../profiles/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
/** A model of its own: other tests score by the usual one. */
const MODEL = 'fake-of-newer-formulas';
let plain: EmbeddingProvider;
let salient: TestApp;
let owner: pg.Client;
let tenant: TestTenant;
let admin: Caller;
let fact: FactView;
beforeAll(async () => {
  plain = await createEmbeddingProvider({ kind: 'fake' });
  salient = await started(1);
  owner = await seeingClient();
});
beforeEach(async () => {
  await owner.query('UPDATE embedding_model SET algorithm_version = 1, calibration = NULL WHERE name = $1', [
    MODEL,
  ]);
  await using usual = await started(1);
  expect(usual.logged()).not.toContain(OUTDATED);
  tenant = await salient.tenant();
  ({ admin } = callersOf(salient, tenant));
  fact = await admin.fact('Wards report patient safety');
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
  await plain?.[Symbol.asyncDispose]();
});

const OUTDATED = 'scores of older formulas are out of date now';

/** A server whose code has this version of the formulas, and perhaps another calibration. */
function started(algorithm: number, shift = 0): Promise<TestApp> {
  const knots = plain.similarity.knots.map(([x, y], place, all) => {
    const inner = place > 0 && place < all.length - 1;
    return [x, inner ? y + shift : y] as const;
  });
  const calibrated = (cosine: number) => Math.min(1, Math.max(0, plain.similarity(cosine) + shift));
  const embedding = new Proxy(plain, {
    get: (target, name) => {
      if (name === 'model') return MODEL;
      if (name === 'similarity') return shift ? Object.assign(calibrated, { knots }) : plain.similarity;
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return testApp({ now: clock.now, embedding, algorithm });
}

async function marks(): Promise<{ revision: number; staleBelow: number; profile: number }> {
  const { rows } = await owner.query(
    `SELECT t.salience_revision AS revision, t.stale_below AS "staleBelow", p.stale_below AS profile
     FROM tenant t JOIN salience_profile p ON p.tenant_id = t.id AND p.owner_kind = 'TENANT' WHERE t.id = $1`,
    [uuidOf(tenant.id)],
  );
  return rows[0];
}

async function scoredWith(): Promise<{ fingerprint: string; revision: number }> {
  const { rows } = await owner.query(
    `SELECT encode(fingerprint, 'hex') AS fingerprint, scored_revision AS revision FROM fact_salience WHERE fact_id = $1`,
    [uuidOf(fact.id)],
  );
  return rows[0];
}

test('a server with newer formulas makes older scores stale; the next LEARN recall writes the new ones', async () => {
  const before = await scoredWith();
  await using newer = await started(2);
  expect(newer.logged()).toContain(OUTDATED);
  const { revision, staleBelow, profile } = await marks();
  expect(before.revision).toBeLessThan(staleBelow);
  expect([staleBelow, profile]).toEqual([revision, revision]);
  expect(await scoredWith()).toEqual(before);
  const agent = callersOf(newer, tenant).agent;
  await recall(agent, { query: 'wards', mode: 'LEARN' });
  await newer.app.services.learner.flush();
  const after = await scoredWith();
  expect(after).toEqual({
    fingerprint: (await profileCallers(newer, tenant).admin.effective())['fingerprint'],
    revision,
  });
  expect(after.fingerprint).not.toBe(before.fingerprint);
});

test('once is enough, however many servers start, and an older one undoes nothing', async () => {
  const servers = await Promise.all([started(2), started(2), started(2)]);
  const { revision } = await marks();
  expect(revision).toBeGreaterThan(1);
  for (const server of servers) await server[Symbol.asyncDispose]();
  for (const algorithm of [2, 1, 2]) {
    await using again = await started(algorithm);
    expect(again.logged()).not.toContain(OUTDATED);
  }
  expect((await marks()).revision).toBe(revision);
});

test('another calibration of the same model does the same', async () => {
  {
    await using other = await started(1, 0.01);
    expect(other.logged()).toContain(OUTDATED);
  }
  const { revision, staleBelow } = await marks();
  expect((await scoredWith()).revision).toBeLessThan(staleBelow);
  await using again = await started(1, 0.01);
  expect(again.logged()).not.toContain(OUTDATED);
  expect((await marks()).revision).toBe(revision);
});
