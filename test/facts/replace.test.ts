import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type TestApp, testApp } from '../support/app.js';
import { accepted, callersOf, refused, TestClock } from './support.js';
import { seeingClient, snapshot } from './tables.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
beforeAll(async () => {
  salient = await testApp({ now: clock.now });
  owner = await seeingClient();
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

describe('replaceFact (SPEC §2.4)', () => {
  test('CASE 39: retires the old fact, which points at the new one; only that one is live', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const old = await admin.fact('The office is in Lisbon');
    const now = clock.advanceHours(1);
    const next = accepted(await admin.replace({ id: old.id }, 'The office is in Porto'));
    expect(next).toMatchObject({
      text: 'The office is in Porto',
      status: 'LIVE',
      supersedes: { id: old.id },
    });
    expect(await admin.find(old.id)).toMatchObject({
      status: 'RETIRED',
      retireReason: 'ENDED',
      supersededBy: { id: next.id },
      retiredAt: now.toISOString(),
      endedAt: next.validFrom,
    });
    expect(await admin.texts()).toEqual(['The office is in Porto']);
    expect(await admin.texts({ status: 'ALL' })).toHaveLength(2);
  });

  test('a chain is readable from each of its links, newest first', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const cities = ['Lisbon', 'Porto', 'Madrid', 'Paris'];
    const ids = [(await admin.fact(`The office is in ${cities[0]}`)).id];
    for (const city of cities.slice(1)) {
      clock.advanceHours(1);
      ids.push(accepted(await admin.replace({ id: ids.at(-1)! }, `The office is in ${city}`)).id);
    }
    await admin.fact('The warehouse is in Porto');
    for (const id of ids) {
      expect((await admin.history(id)).map((fact) => fact.id)).toEqual([...ids].reverse());
    }
  });

  test('keeps agent, user and tier, and the kind unless another is given', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const scope = { agentId: tenant.agentId, userId: tenant.userId };
    const old = await admin.fact('Prefers tea', { kind: 'PREFERENCE', ...scope });
    const same = accepted(await admin.replace({ id: old.id }, 'Prefers coffee'));
    expect(same).toMatchObject({
      kind: 'PREFERENCE',
      agent: { id: scope.agentId },
      user: { id: scope.userId },
    });
    const other = accepted(await admin.replace({ id: same.id }, 'Drinks coffee', { kind: 'USER_PROFILE' }));
    expect(other).toMatchObject({
      kind: 'USER_PROFILE',
      agent: { id: scope.agentId },
      user: { id: scope.userId },
    });
  });

  test('CASE 47: a pin stays with what is said now', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const old = await admin.fact('Is allergic to nuts');
    await admin.pin(old.id);
    const next = accepted(await admin.replace({ id: old.id }, 'Is allergic to nuts and to soy'));
    expect(next.pinned).toBe(true);
    const known = await admin.fact('Is allergic to soy beans alone');
    expect(accepted(await admin.replace({ id: next.id }, known.text))).toMatchObject({
      id: known.id,
      pinned: true,
    });
  });

  test('a pin set while the replacement is prepared stays as well', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const old = await admin.fact('Is allergic to nuts');
    const { embedding } = salient.app.services;
    const { embed } = embedding;
    // Vectors are computed between finding the target and writing.
    embedding.embed = async (texts) => {
      embedding.embed = embed;
      await admin.pin(old.id);
      return embed.call(embedding, texts);
    };
    const next = accepted(await admin.replace({ id: old.id }, 'Is allergic to nuts and to soy'));
    expect(next.pinned).toBe(true);
  });

  test('one that was retired while the replacement was prepared is not replaced', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const old = await admin.fact('Is allergic to nuts');
    const { embedding } = salient.app.services;
    const { embed } = embedding;
    embedding.embed = async (texts) => {
      embedding.embed = embed;
      await admin.retire({ id: old.id }, 'WRONG');
      return embed.call(embedding, texts);
    };
    const error = refused(await admin.replace({ id: old.id }, 'Is allergic to nuts and to soy'));
    expect(error).toMatchObject({ code: 'CONFLICT', path: ['input', 'target'] });
    expect(await admin.texts()).toEqual([]);
  });

  test('keeps the entities that are in the new text, or has those that are given', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const names = (fact: { entities: { name: string }[] }) => fact.entities.map(({ name }) => name);
    const old = await admin.fact('Alice leads Atlas with Bo', { entities: ['Alice', 'Atlas', 'Bo'] });
    const next = accepted(await admin.replace({ id: old.id }, 'alice leads Boreas'));
    expect(names(next)).toEqual(['Alice']);
    const other = accepted(await admin.replace({ id: next.id }, 'Cem leads Boreas', { entities: ['Cem'] }));
    expect(names(other)).toEqual(['Cem']);
  });

  test('the old fact never ends before it begins', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const validFrom = new Date(clock.now().getTime() + 86_400_000);
    const old = await admin.fact('The office moves to Porto', { validFrom });
    await admin.replace({ id: old.id }, 'The office stays in Lisbon');
    expect(await admin.find(old.id)).toMatchObject({
      retireReason: 'ENDED',
      endedAt: validFrom.toISOString(),
    });
  });

  test.each([
    ['the same text', 'The office is in Lisbon'],
    ['the same but for case and spaces', ' the OFFICE is  in Lisbon '],
  ])('CASE 27: %s changes nothing', async (_name, text) => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const old = await admin.fact('The office is in Lisbon');
    clock.advanceHours(1);
    const before = await snapshot(owner, tenant);
    expect(accepted(await admin.replace({ id: old.id }, text)).id).toBe(old.id);
    expect(await snapshot(owner, tenant)).toEqual(before);
  });

  test('a change of wording alone is a replacement, not a repetition of the target', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const old = await admin.fact('User prefers dark mode in every editor');
    const next = accepted(await admin.replace({ id: old.id }, 'User prefers dark mode in every editor.'));
    expect(next.id).not.toBe(old.id);
    expect(await admin.texts()).toEqual(['User prefers dark mode in every editor.']);
  });

  test('CASE 27: the text of another live fact makes the target point at that one', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const validFrom = new Date('2026-05-01T00:00:00.000Z');
    const known = await admin.fact('The office is in Porto', { validFrom });
    const target = await admin.fact('The office is in Lisbon', {
      validFrom: new Date('2026-01-01T00:00:00.000Z'),
    });
    clock.advanceHours(1);
    const result = accepted(await admin.replace({ id: target.id }, 'the office is in PORTO'));
    expect(result).toMatchObject({
      id: known.id,
      supersedes: { id: target.id },
      lastSeenAt: clock.now().toISOString(),
    });
    // It ended when what replaced it began, whenever that was told.
    expect(await admin.find(target.id)).toMatchObject({
      supersededBy: { id: known.id },
      endedAt: validFrom.toISOString(),
    });
    expect(await admin.texts()).toEqual(['The office is in Porto']);
  });

  test.each([
    ['blank', '  ', ['text']],
    ['too long', 'Office '.repeat(600), ['text']],
    ['over its budget', `Is called ${words(1_400)}`, ['text']],
  ])(
    'CASE 26: a refused replacement (%s) leaves the old fact live and nothing else',
    async (_name, text, path) => {
      const tenant = await salient.tenant();
      const { admin } = callersOf(salient, tenant);
      const old = await admin.fact('Is called Sam', {
        kind: 'USER_PROFILE',
        userId: tenant.userId,
        entities: ['Sam'],
      });
      const before = await snapshot(owner, tenant, ['refusal']);
      const error = refused(await admin.replace({ id: old.id }, text));
      expect(error.path).toEqual(['input', ...path]);
      expect(await snapshot(owner, tenant, ['refusal'])).toEqual(before);
      expect(await admin.find(old.id)).toEqual(old);
    },
  );

  test('a fact that is no longer live cannot be replaced or retired', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const retired = await admin.fact('The office is in Lisbon');
    await admin.replace({ id: retired.id }, 'The office is in Porto');
    const ended = await admin.fact('The lift is out of order', {
      validTo: new Date(clock.now().getTime() + 1_000),
    });
    clock.advance(1_000);
    const before = await snapshot(owner, tenant);
    for (const { id } of [retired, ended]) {
      for (const payload of [
        await admin.replace({ id }, 'Something else'),
        await admin.retire({ id }, 'WRONG'),
      ]) {
        expect(refused(payload)).toMatchObject({ code: 'CONFLICT', path: ['input', 'target'] });
      }
    }
    expect(await snapshot(owner, tenant)).toEqual(before);
  });

  test('CASE 30: no other fact is touched', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const others = [
      await admin.fact('The office is in Lisbon', { kind: 'PROJECT' }),
      await admin.fact('The office is in Lisbon', { userId: tenant.userId }),
      await admin.fact('The office has a garden'),
    ];
    const target = await admin.fact('The office is in Lisbon');
    await admin.replace({ id: target.id }, 'The office is in Porto');
    for (const other of others) expect(await admin.find(other.id)).toEqual(other);
  });
});

describe('retireFact (SPEC §1, §2.4)', () => {
  test.each([
    ['ENDED', true],
    ['WRONG', false],
    ['DUPLICATE', false],
  ])('%s retires it; only ENDED has an end in the world', async (reason, ends) => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const fact = await admin.fact('The office is in Lisbon');
    const now = clock.advanceHours(2).toISOString();
    expect(accepted(await admin.retire({ id: fact.id }, reason))).toMatchObject({
      status: 'RETIRED',
      retireReason: reason,
      retiredAt: now,
      endedAt: ends ? now : null,
      supersededBy: null,
    });
    expect(await admin.texts()).toEqual([]);
  });

  test('endedAt goes with ENDED, and not before the beginning', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const validFrom = new Date('2026-03-01T00:00:00.000Z');
    const fact = await admin.fact('The office is in Lisbon', { validFrom });
    const before = await snapshot(owner, tenant);
    for (const [reason, endedAt] of [
      ['ENDED', '2026-02-28T23:59:59.999Z'],
      ['WRONG', '2026-04-01T00:00:00.000Z'],
    ] as const) {
      const error = refused(await admin.retire({ id: fact.id }, reason, { endedAt }));
      expect(error).toMatchObject({ code: 'BAD_INPUT', path: ['input', 'endedAt'] });
    }
    expect(await snapshot(owner, tenant)).toEqual(before);
    const ended = accepted(await admin.retire({ id: fact.id }, 'ENDED', { endedAt: validFrom }));
    expect(ended.endedAt).toBe(validFrom.toISOString());
  });
});

/** Distinct words, together of at least this many characters. */
function words(characters: number): string {
  let text = '';
  for (let n = 0; text.length < characters; n++) text += `name${n.toString(36)} `;
  return text.trim();
}
