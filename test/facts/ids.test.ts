import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { type Caller, callersOf, type FactView, refused, uuidOf } from './support.js';
import { seeingClient, snapshot } from './tables.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let salient: TestApp;
let owner: pg.Client;
beforeAll(async () => {
  salient = await testApp();
  owner = await seeingClient();
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

/** Two facts of one tenant whose shortIds share their first `common` characters. */
async function factsAlike(
  tenant: TestTenant,
  admin: Caller,
  common: number,
  owners: readonly [Record<string, unknown>, Record<string, unknown>] = [{}, {}],
): Promise<[FactView, FactView]> {
  const first = await admin.fact('The office is in Lisbon', owners[0]);
  const second = await admin.fact('The warehouse is in Porto', owners[1]);
  const differing = ((Number.parseInt(first.shortId[common]!, 16) + 1) % 16).toString(16);
  const alike = first.shortId.slice(0, common) + differing + second.shortId.slice(common + 1);
  // Chance does not make such a pair: the second gets a shortId of our choice.
  await owner.query('UPDATE fact SET short_id = $3 WHERE tenant_id = $1 AND id = $2', [
    uuidOf(tenant.id),
    uuidOf(second.id),
    alike,
  ]);
  return [first, (await admin.find(second.id))!];
}

describe('a fact by id (SPEC §1)', () => {
  test('is found by global id, UUID, shortId and a prefix of 8 of it, in any case and with blanks around', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const fact = await admin.fact('The office is in Lisbon');
    expect(fact.shortId).toBe(uuidOf(fact.id).slice(-12));
    const names = [
      fact.id,
      uuidOf(fact.id),
      uuidOf(fact.id).toUpperCase(),
      fact.shortId,
      fact.shortId.slice(0, 8),
      ` ${fact.shortId.slice(0, 9).toUpperCase()} `,
    ];
    for (const name of names) expect((await admin.find(name))?.id, name).toBe(fact.id);
  });

  test('CASE 2: a prefix shorter than 8, a LIKE pattern, another type or nonsense finds nothing', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const fact = await admin.fact('The office is in Lisbon');
    const asAgent = Buffer.from(`Agent:${uuidOf(fact.id)}`).toString('base64');
    const names = [
      fact.shortId.slice(0, 1),
      fact.shortId.slice(0, 7),
      fact.shortId.slice(-8),
      `${fact.shortId.slice(0, 8)}%`,
      `${fact.shortId.slice(0, 7)}_`,
      '%%%%%%%%',
      `${fact.shortId}0`,
      uuidOf(fact.id).slice(0, 8),
      asAgent,
      tenant.agentId,
      '',
      '   ',
      '\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000',
    ];
    for (const name of names) expect(await admin.find(name), JSON.stringify(name)).toBeNull();
  });

  test('CASE 2: a prefix that fits two facts is refused, a longer one names each', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const [first, second] = await factsAlike(tenant, admin, 9);
    await expect(admin.find(first.shortId.slice(0, 8))).rejects.toThrow('AMBIGUOUS_MATCH');
    expect((await admin.find(first.shortId.slice(0, 10)))?.id).toBe(first.id);
    expect((await admin.find(second.shortId.slice(0, 10)))?.id).toBe(second.id);
  });

  test('a prefix is ambiguous only among what the caller may see', async () => {
    const tenant = await salient.tenant();
    const { admin, user } = callersOf(salient, tenant);
    const other = await admin.query<{ createUser: { user: { id: string } } }>(
      'mutation { createUser(input: { externalId: "user-2" }) { user { id } } }',
    );
    const [first] = await factsAlike(tenant, admin, 9, [
      { userId: tenant.userId },
      { userId: other.createUser.user.id },
    ]);
    expect((await user.find(first.shortId.slice(0, 8)))?.id).toBe(first.id);
  });
});

describe('a mutation by id', () => {
  const operations = [
    [
      'replaceFact',
      (caller: Caller, id: string) => caller.replace({ id }, 'The office is in Madrid'),
      ['target', 'id'],
    ],
    ['retireFact', (caller: Caller, id: string) => caller.retire({ id }, 'WRONG'), ['target', 'id']],
    ['forgetFact', (caller: Caller, id: string) => caller.forget({ id }), ['target', 'id']],
    ['pinFact', (caller: Caller, id: string) => caller.pin(id), ['id']],
    ['unpinFact', (caller: Caller, id: string) => caller.unpin(id), ['id']],
    ['reinforceFact', (caller: Caller, id: string) => caller.reinforce(id), ['id']],
  ] as const;

  test.each(operations)('CASE 1: a blank id changes nothing: %s', async (_name, run, path) => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    await admin.fact('The office is in Lisbon');
    await admin.fact('The warehouse is in Porto');
    const before = await snapshot(owner, tenant);
    for (const blank of ['', ' ', '\t\n']) {
      expect(refused(await run(admin, blank))).toMatchObject({ code: 'BAD_INPUT', path: ['input', ...path] });
    }
    expect(await snapshot(owner, tenant)).toEqual(before);
  });

  test.each(operations)(
    'CASE 2: a short or ambiguous prefix changes nothing: %s',
    async (_name, run, path) => {
      const tenant = await salient.tenant();
      const { admin } = callersOf(salient, tenant);
      const [first] = await factsAlike(tenant, admin, 9);
      const before = await snapshot(owner, tenant);
      for (const length of [1, 7]) {
        const error = refused(await run(admin, first.shortId.slice(0, length)));
        expect(error).toMatchObject({ code: 'NOT_FOUND', path: ['input', ...path] });
      }
      const error = refused(await run(admin, first.shortId.slice(0, 8)));
      expect(error).toMatchObject({ code: 'AMBIGUOUS_MATCH', path: ['input', ...path] });
      expect(await snapshot(owner, tenant)).toEqual(before);
    },
  );

  test.each(operations)(
    "CASE 10: another user's, another agent's and another tenant's fact answer like a missing one: %s",
    async (_name, run, path) => {
      const [tenant, stranger] = [await salient.tenant(), await salient.tenant()];
      const { admin, user, agent } = callersOf(salient, tenant);
      const made = await admin.query<{
        createUser: { user: { id: string } };
        createAgent: { agent: { id: string } };
      }>(
        `mutation { createUser(input: { externalId: "user-2" }) { user { id } }
                    createAgent(input: { name: "Other" }) { agent { id } } }`,
      );
      const ofUser = await admin.fact('They live in Lisbon', { userId: made.createUser.user.id });
      const ofAgent = await admin.fact('The build is green', { agentId: made.createAgent.agent.id });
      const shared = await admin.fact('The office is in Lisbon');
      const missing = refused(await run(user, '01a22cc5-b36a-7756-b38c-6bc43afb801a'));
      expect(missing).toMatchObject({ code: 'NOT_FOUND', path: ['input', ...path] });
      const before = await snapshot(owner, tenant);
      // What all share is the user's to read, not to change.
      for (const fact of [ofUser, ofAgent, shared])
        expect(refused(await run(user, fact.id))).toEqual(missing);
      expect(refused(await run(agent, ofAgent.id))).toEqual(missing);
      const outside = callersOf(salient, stranger);
      for (const caller of [outside.admin, outside.user]) {
        for (const name of [shared.id, uuidOf(shared.id), shared.shortId]) {
          expect(refused(await run(caller, name))).toEqual(missing);
        }
      }
      expect(await snapshot(owner, tenant)).toEqual(before);
    },
  );
});

describe('a mutation by a piece of text (SPEC §2.4)', () => {
  test('finds the one live fact that holds it, letter by letter', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    await admin.fact('Deploys run on Fridays', { kind: 'CONVENTION' });
    const fact = await admin.fact('Deploys run on Mondays: 100% of them', { kind: 'CONVENTION' });
    const payload = await admin.retire({ match: { kind: 'CONVENTION', text: '100% of' } }, 'WRONG');
    expect(payload.fact?.id).toBe(fact.id);
  });

  test.each([
    ['none holds it', 'NOT_FOUND', { kind: 'CONVENTION', text: 'Saturdays' }, ['match', 'text']],
    ['another letter case', 'NOT_FOUND', { kind: 'CONVENTION', text: 'mondays' }, ['match', 'text']],
    ['a LIKE pattern', 'NOT_FOUND', { kind: 'CONVENTION', text: 'Deploys%Mondays' }, ['match', 'text']],
    ['another kind', 'NOT_FOUND', { kind: 'FACT', text: 'Mondays' }, ['match', 'text']],
    ['several hold it', 'AMBIGUOUS_MATCH', { kind: 'CONVENTION', text: 'Deploys run' }, ['match', 'text']],
    ['blank', 'BAD_INPUT', { kind: 'CONVENTION', text: '  ' }, ['match', 'text']],
    ['empty', 'BAD_INPUT', { kind: 'CONVENTION', text: '' }, ['match', 'text']],
  ])('%s: %s', async (_name, code, match, path) => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    await admin.fact('Deploys run on Fridays', { kind: 'CONVENTION' });
    await admin.fact('Deploys run on Mondays', { kind: 'CONVENTION' });
    const before = await snapshot(owner, tenant);
    const runs = [
      admin.replace({ match }, 'Deploys run daily'),
      admin.retire({ match }, 'WRONG'),
      admin.forget({ match }),
    ];
    for (const run of runs) {
      expect(refused(await run)).toMatchObject({ code, path: ['input', 'target', ...path] });
    }
    expect(await snapshot(owner, tenant)).toEqual(before);
  });

  test('looks at live facts alone', async () => {
    const tenant = await salient.tenant();
    const { admin } = callersOf(salient, tenant);
    const match = { kind: 'FACT', text: 'Lisbon' };
    const old = await admin.fact('The office is in Lisbon');
    await admin.replace({ match }, 'The office is in Lisbon, near the river');
    const payload = await admin.forget({ match });
    expect(payload.errors).toEqual([]);
    expect((await admin.find(old.id))?.retireReason).toBe('ENDED');
    expect(refused(await admin.forget({ match })).code).toBe('NOT_FOUND');
  });

  test('CASE 4: looks among what is seen in the context that is named, and at nothing else', async () => {
    const tenant = await salient.tenant();
    const { admin, agent, user } = callersOf(salient, tenant);
    const both = { agentId: tenant.agentId, userId: tenant.userId };
    const scopes = {
      shared: {},
      ofUser: { userId: tenant.userId },
      ofAgent: { agentId: tenant.agentId },
      ofBoth: both,
    };
    const facts: Record<string, FactView> = {};
    for (const [name, scope] of Object.entries(scopes))
      facts[name] = await admin.fact(`Prefers tabs ${name}`, { kind: 'PREFERENCE', ...scope });
    const match = (text: string, context: Record<string, unknown> = {}) => ({
      match: { kind: 'PREFERENCE', text, ...context },
    });
    // Without a context the administrator sees what all share alone.
    expect(refused(await admin.forget(match('tabs ofUser'))).code).toBe('NOT_FOUND');
    expect(refused(await admin.forget(match('tabs ofBoth', { userId: tenant.userId }))).code).toBe(
      'NOT_FOUND',
    );
    expect(refused(await admin.forget(match('Prefers tabs', both))).code).toBe('AMBIGUOUS_MATCH');
    // An agent's context holds what is shared, and of a user what it learned of it.
    expect(refused(await agent.forget(match('tabs ofUser'))).code).toBe('NOT_FOUND');
    expect((await agent.forget(match('tabs ofUser', { userId: tenant.userId }))).forgottenId).toBe(
      facts['ofUser']!.id,
    );
    expect((await agent.forget(match('tabs shared'))).forgottenId).toBe(facts['shared']!.id);
    // What all share is not a user's to change, and no rival of what is.
    await admin.fact('Prefers spaces', { kind: 'PREFERENCE' });
    expect(refused(await user.forget(match('spaces'))).code).toBe('NOT_FOUND');
    const own = await admin.fact('Prefers spaces here', { kind: 'PREFERENCE', userId: tenant.userId });
    expect((await user.forget(match('spaces'))).forgottenId).toBe(own.id);
    expect((await admin.forget(match('tabs ofBoth', both))).forgottenId).toBe(facts['ofBoth']!.id);
    expect((await agent.forget(match('Prefers tabs'))).forgottenId).toBe(facts['ofAgent']!.id);
  });
});
