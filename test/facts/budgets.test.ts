import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LineExtractor } from '../extraction/line-extractor.js';
import { type TestApp, testApp } from '../support/app.js';
import { accepted, callersOf, refused, TestClock } from './support.js';
import { seeingClient, snapshot } from './tables.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
let salient: TestApp;
let owner: pg.Client;
beforeAll(async () => {
  salient = await testApp({ now: clock.now, extractor: new LineExtractor() });
  owner = await seeingClient();
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

/** A statement of exactly this many characters that shares hardly a word with one of another seed. */
function statement(seed: string, characters: number): string {
  let text = '';
  for (let n = 0; text.length < characters; n++) text += `${seed}${n.toString(36)} `;
  return text
    .slice(0, characters - 1)
    .trimEnd()
    .padEnd(characters, 'x');
}

async function userWithProfile() {
  const tenant = await salient.tenant();
  const callers = callersOf(salient, tenant);
  const scope = { kind: 'USER_PROFILE', userId: tenant.userId };
  return { tenant, ...callers, scope };
}

const FULL = { group: 'USER_PROFILE', limit: 1_375 };

describe('the budget of USER_PROFILE (SPEC §2.5): 1,375 characters of live facts', () => {
  test('the last character fits, one more does not, and the error has the figures', async () => {
    const { tenant, admin, scope } = await userWithProfile();
    await admin.fact(statement('a', 1_000), scope);
    const before = await snapshot(owner, tenant, ['refusal']);
    const error = refused(await admin.remember({ text: statement('b', 376), ...scope }));
    expect(error).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      path: ['input', 'text'],
      ...FULL,
      current: 1_000,
      requested: 376,
    });
    expect(error.message).toContain('1000 of 1375');
    expect(await snapshot(owner, tenant, ['refusal'])).toEqual(before);
    await admin.fact(statement('b', 375), scope);
    const full = refused(await admin.remember({ text: 'z', ...scope }));
    expect(full).toMatchObject({ ...FULL, current: 1_375, requested: 1 });
  });

  test('characters are code points', async () => {
    const { admin, scope } = await userWithProfile();
    await admin.fact(`${'😀'.repeat(300)} ${statement('a', 1_074)}`, scope);
    expect(refused(await admin.remember({ text: 'z', ...scope }))).toMatchObject({ current: 1_375 });
  });

  test('a repetition takes no room', async () => {
    const { admin, scope } = await userWithProfile();
    const full = await admin.fact(statement('a', 1_375), scope);
    expect(await admin.remember({ text: full.text, ...scope })).toMatchObject({
      reaffirmed: true,
      fact: { id: full.id },
    });
  });

  test('CASE 26: a replacement of the same size fits a full budget, a longer one leaves the old fact', async () => {
    const { tenant, admin, scope } = await userWithProfile();
    await admin.fact(statement('a', 1_000), scope);
    const old = await admin.fact(statement('b', 375), scope);
    const before = await snapshot(owner, tenant, ['refusal']);
    const error = refused(await admin.replace({ id: old.id }, statement('c', 376)));
    expect(error).toMatchObject({ code: 'BUDGET_EXCEEDED', ...FULL, current: 1_000, requested: 376 });
    expect(await snapshot(owner, tenant, ['refusal'])).toEqual(before);
    accepted(await admin.replace({ id: old.id }, statement('c', 375)));
    expect(refused(await admin.remember({ text: 'z', ...scope }))).toMatchObject({ current: 1_375 });
  });

  test('a replacement that becomes USER_PROFILE needs all of its room', async () => {
    const { admin, scope, tenant } = await userWithProfile();
    await admin.fact(statement('a', 1_000), scope);
    const old = await admin.fact(statement('b', 376), { userId: tenant.userId });
    const error = refused(await admin.replace({ id: old.id }, statement('c', 376), { kind: 'USER_PROFILE' }));
    expect(error).toMatchObject({ ...FULL, current: 1_000, requested: 376 });
  });

  test('room comes back when a fact is retired, forgotten or past its end', async () => {
    const { admin, scope } = await userWithProfile();
    const text = statement('a', 1_375);
    const retired = await admin.fact(text, scope);
    await admin.retire({ id: retired.id }, 'WRONG');
    const forgotten = await admin.fact(text, scope);
    await admin.forget({ id: forgotten.id });
    await admin.fact(text, { ...scope, validTo: new Date(clock.now().getTime() + 1_000) });
    expect(refused(await admin.remember({ text: 'z', ...scope })).code).toBe('BUDGET_EXCEEDED');
    clock.advance(1_000);
    await admin.fact('z', scope);
  });

  test('each agent and user has a budget of its own; other kinds have none', async () => {
    const { admin, scope, tenant } = await userWithProfile();
    await admin.fact(statement('a', 1_375), scope);
    await admin.fact(statement('a', 1_375), { ...scope, agentId: tenant.agentId });
    await admin.fact(statement('a', 1_375), { kind: 'USER_PROFILE' });
    for (const kind of ['PREFERENCE', 'PROJECT', 'ENV', 'FACT', 'DECISION', 'CONVENTION']) {
      await admin.fact(statement('a', 2_000), { kind, userId: tenant.userId });
      await admin.fact(statement('b', 2_000), { kind, userId: tenant.userId });
    }
  });

  test('a tenant may set its own', async () => {
    const { admin, scope, tenant } = await userWithProfile();
    await admin.query(
      `mutation ($id: ID!) { updateTenant(input: { id: $id, budgets: { userProfileCharacters: 100 } }) { errors { code } } }`,
      { id: tenant.id },
    );
    await admin.fact(statement('a', 100), scope);
    expect(refused(await admin.remember({ text: 'z', ...scope }))).toMatchObject({
      limit: 100,
      current: 100,
      requested: 1,
    });
  });

  test('an extracted fact that does not fit is refused as such; the others of its batch are kept', async () => {
    const { agent, admin, scope, tenant } = await userWithProfile();
    await admin.fact(statement('a', 1_300), scope);
    const long = statement('b', 80);
    const { extraction } = await agent.say(
      [`USER_PROFILE: ${statement('c', 60)}\nUSER_PROFILE: ${long}\nUSER_PROFILE: ${statement('d', 15)}`],
      { session: { create: { userId: tenant.userId } } },
    );
    expect(extraction).toMatchObject({
      status: 'EXTRACTED',
      facts: [{ text: statement('c', 60) }, { text: statement('d', 15) }],
      refused: [{ text: long, category: 'BUDGET' }],
    });
  });
});
