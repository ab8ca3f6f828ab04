import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { callersOf, uuidOf } from '../facts/support.js';
import { seeingClient } from '../facts/tables.js';
import { type TestApp, testApp } from '../support/app.js';
import { isPostgres } from '../support/database.js';
import { LineExtractor, until } from './line-extractor.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const extractor = new LineExtractor();
let salient: TestApp;
let owner: pg.Client;
beforeAll(async () => {
  salient = await testApp({ extractor });
  owner = await seeingClient();
});
beforeEach(() => {
  extractor.before = () => {};
  extractor.calls.length = 0;
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

async function conversation() {
  const tenant = await salient.tenant();
  const { agent, admin } = callersOf(salient, tenant);
  const session = { create: { userId: tenant.userId, externalId: 's1' } };
  return { tenant, agent, admin, session };
}

describe('windows (SPEC §2.2): at most 50 messages and 24,000 characters', () => {
  test('120 messages are three windows', async () => {
    const { agent, session } = await conversation();
    const payload = await agent.say(
      Array.from({ length: 120 }, (_, n) => `FACT: The page in question is number ${n}`),
      { session },
    );
    expect(extractor.calls.map((call) => call.messages.length)).toEqual([50, 50, 20]);
    expect(extractor.seen).toEqual(payload.messages!.map((message) => uuidOf(message.id)));
    expect(payload.extraction!.facts).toHaveLength(120);
    expect(payload.session).toMatchObject({ messageCount: 120, minedCount: 120 });
  });

  test('60,000 characters are as many windows as they need', async () => {
    const { agent, session } = await conversation();
    const contents = Array.from({ length: 12 }, (_, n) =>
      `FACT: Page ${n} is done\n${'word '.repeat(1_000)}`.slice(0, 5_000),
    );
    const payload = await agent.say(contents, { session });
    const sizes = extractor.calls.map((call) =>
      call.messages.reduce((sum, one) => sum + one.content.length, 0),
    );
    expect(sizes).toEqual([20_000, 20_000, 20_000]);
    expect(payload.extraction!.facts).toHaveLength(12);
  });

  test('a message that is longer alone is a window of its own', async () => {
    const { agent, session } = await conversation();
    const long = `FACT: The long page is done\n${'word '.repeat(5_500)}`;
    const payload = await agent.say(['FACT: One page is done', long, 'FACT: Another page is done'], {
      session,
    });
    expect(extractor.calls.map((call) => call.messages.length)).toEqual([1, 1, 1]);
    expect(payload.extraction!.facts).toHaveLength(3);
  });

  test('a window of chatter is skipped, the others are mined', async () => {
    const { agent, session } = await conversation();
    const contents = [...Array<string>(50).fill('ok thanks'), 'FACT: The office is in Lisbon'];
    const payload = await agent.say(contents, { session });
    expect(extractor.calls.map((call) => call.messages.length)).toEqual([1]);
    expect(payload.extraction).toMatchObject({
      status: 'EXTRACTED',
      facts: [{ text: 'The office is in Lisbon' }],
    });
    expect(payload.session!.minedCount).toBe(51);
  });

  test('a backlog beyond one round of 500 is mined to its end, and each run gets its own', async () => {
    const { agent, session, admin } = await conversation();
    let release = () => {};
    extractor.before = () => new Promise((resolve) => (release = resolve));
    const slow = agent.say('FACT: The first page is done', { session });
    await until(() => extractor.calls.length === 1);
    const size = 190;
    const batches = [0, 1, 2].map((batch) =>
      Array.from({ length: size }, (_, n) => `FACT: The page in question is number ${batch * size + n}`),
    );
    // While the first is held up the others pile up: three runs, of which the last straddles a round.
    const waiting = [];
    for (const contents of batches) {
      waiting.push(await agent.say(contents, { session, extract: 'LATER' }));
    }
    extractor.before = () => {};
    release();
    // The first may be answered PENDING: on a busy machine the others take longer than it waits.
    for (const [place, { extraction }] of [await slow, ...waiting].entries()) {
      const read = async () =>
        (
          await admin.query<{ node: { status: string; facts: unknown[] } }>(
            'query ($id: ID!) { node(id: $id) { ... on Extraction { status facts { id } } } }',
            { id: extraction!.id },
          )
        ).node;
      await until(async () => (await read()).status !== 'PENDING');
      expect(await read()).toMatchObject({ status: 'EXTRACTED', facts: { length: place === 0 ? 1 : size } });
    }
    expect(new Set(extractor.seen).size).toBe(extractor.seen.length);
    expect((await admin.facts()).totalCount).toBe(1 + 3 * size);
  }, 120_000);
});

describe('appends to one session at once', () => {
  test('never overlap, never lose: any batches, in any mode, at once', async () => {
    const batch = fc.record({
      size: fc.integer({ min: 1, max: 12 }),
      extract: fc.constantFrom('NOW', 'LATER', 'NEVER'),
      chatter: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { minLength: 2, maxLength: 6 }), async (batches) => {
        const { tenant, agent, session, admin } = await conversation();
        extractor.calls.length = 0;
        const payloads = await Promise.all(
          batches.map(({ size, extract, chatter }, index) =>
            agent.say(
              Array.from({ length: size }, (_, n) =>
                chatter ? 'thanks' : `FACT: The page in question is number ${index}x${n}`,
              ),
              { session, extract },
            ),
          ),
        );
        const sessions = new Set(payloads.map((payload) => payload.session!.id));
        expect(sessions.size).toBe(1);
        const total = batches.reduce((sum, { size }) => sum + size, 0);
        const seqs = await owner.query<{ seq: number; id: string }>(
          'SELECT seq, id FROM message WHERE tenant_id = $1 ORDER BY seq',
          [uuidOf(tenant.id)],
        );
        expect(seqs.rows.map((row) => row.seq)).toEqual(Array.from({ length: total }, (_, n) => n + 1));
        // A batch stays together and in its order.
        for (const payload of payloads) {
          const ids = payload.messages!.map((message) => uuidOf(message.id));
          const at = seqs.rows.findIndex((row) => row.id === ids[0]);
          expect(seqs.rows.slice(at, at + ids.length).map((row) => row.id)).toEqual(ids);
        }
        await until(async () => {
          const { rows } = await owner.query(
            `SELECT 1 FROM extraction_run WHERE tenant_id = $1 AND status = 'PENDING'`,
            [uuidOf(tenant.id)],
          );
          return rows.length === 0;
        });
        const mined = batches.flatMap(({ extract, chatter }, index) =>
          extract === 'NEVER' || chatter
            ? []
            : payloads[index]!.messages!.map((message) => uuidOf(message.id)),
        );
        const seen = extractor.seen;
        expect(new Set(seen).size, 'no message is mined twice').toBe(seen.length);
        for (const id of mined) expect(seen, 'none is left out').toContain(id);
        const facts = batches.reduce(
          (sum, { size, extract, chatter }) => sum + (extract === 'NEVER' || chatter ? 0 : size),
          0,
        );
        expect((await admin.facts()).totalCount).toBe(facts);
      }),
      { numRuns: isPostgres ? 12 : 8 },
    );
  }, 180_000);
});
