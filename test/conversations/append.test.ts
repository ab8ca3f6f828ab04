import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LineExtractor } from '../extraction/line-extractor.js';
import { callersOf, refused, uuidOf } from '../facts/support.js';
import { rowsOf, seeingClient, snapshot } from '../facts/tables.js';
import { type TestApp, testApp } from '../support/app.js';
import { isPostgres } from '../support/database.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const extractor = new LineExtractor();
let salient: TestApp;
let owner: pg.Client;
beforeAll(async () => {
  salient = await testApp({ extractor });
  owner = await seeingClient();
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

const user = (content: string, more: Record<string, unknown> = {}) => ({ role: 'USER', content, ...more });

describe('sessions', () => {
  test('a known externalId is the same session, in the same scope alone', async () => {
    const tenant = await salient.tenant();
    const { agent, admin } = callersOf(salient, tenant);
    const create = { userId: tenant.userId, externalId: 'chat-1' };
    const first = await agent.say('one', { session: { create }, extract: 'NEVER' });
    const again = await agent.say('two', { session: { create }, extract: 'NEVER' });
    const byId = await agent.say('three', { session: { id: first.session!.id }, extract: 'NEVER' });
    expect([again.session!.id, byId.session!.id]).toEqual([first.session!.id, first.session!.id]);
    expect(byId.session!.messageCount).toBe(3);
    const others = [
      await agent.say('x', { session: { create: { externalId: 'chat-1' } }, extract: 'NEVER' }),
      await admin.say('x', { session: { create }, extract: 'NEVER' }),
      await agent.say('x', { session: { create: { ...create, externalId: 'chat-1%' } }, extract: 'NEVER' }),
      await agent.say('x', { session: { create: { ...create, externalId: 'CHAT-1' } }, extract: 'NEVER' }),
      await agent.say('x', { session: { create: { userId: tenant.userId } }, extract: 'NEVER' }),
      await agent.say('x', { session: { create: { userId: tenant.userId } }, extract: 'NEVER' }),
    ];
    const ids = new Set([first, ...others].map((payload) => payload.session!.id));
    expect(ids.size).toBe(others.length + 1);
  });

  test('CASE 9: an equal externalId in another tenant is another session', async () => {
    const sessions = [];
    for (const tenant of [await salient.tenant(), await salient.tenant()]) {
      const { agent } = callersOf(salient, tenant);
      const create = { userId: tenant.userId, externalId: 'chat-1' };
      sessions.push((await agent.say('one', { session: { create }, extract: 'NEVER' })).session);
    }
    expect(sessions[0]!.id).not.toBe(sessions[1]!.id);
    expect(sessions[1]!.messageCount).toBe(1);
  });

  test('CASE 12: an unknown agent, user or session is an error, and nothing is opened', async () => {
    const [tenant, stranger] = [await salient.tenant(), await salient.tenant()];
    const { admin, agent, user: asUser } = callersOf(salient, tenant);
    const unknown = '01a22cc5-b36a-7756-b38c-6bc43afb801a';
    const before = await snapshot(owner, tenant);
    const { agentId, userId } = tenant;
    const cases = [
      [admin, { create: { agentId: unknown, userId } }, ['create', 'agentId']],
      [admin, { create: { agentId, userId: unknown } }, ['create', 'userId']],
      [admin, { create: { userId: unknown } }, ['create', 'userId']],
      [admin, { create: { agentId: unknown } }, ['create', 'agentId']],
      [agent, { create: { userId: stranger.userId } }, ['create', 'userId']],
      [admin, { create: { agentId: userId } }, ['create', 'agentId']],
      [admin, { id: unknown }, ['id']],
      [asUser, { id: 'nonsense' }, ['id']],
    ] as const;
    for (const [caller, session, path] of cases) {
      const error = refused(await caller.append({ session, messages: [user('hello')] }));
      expect(error).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'session', ...path] });
    }
    expect(await snapshot(owner, tenant)).toEqual(before);
  });

  test('another user, agent or tenant cannot write to a session: it answers like a missing one', async () => {
    const [tenant, stranger] = [await salient.tenant(), await salient.tenant()];
    const { admin, agent, user: asUser } = callersOf(salient, tenant);
    const made = await admin.query<{
      createUser: { user: { id: string } };
      createAgent: { agent: { id: string } };
    }>(
      `mutation { createUser(input: { externalId: "user-2" }) { user { id } }
                  createAgent(input: { name: "Other" }) { agent { id } } }`,
    );
    const open = (create: object) => admin.say('hello', { session: { create }, extract: 'NEVER' });
    const ofUser = await open({ userId: made.createUser.user.id });
    const ofAgent = await open({ agentId: made.createAgent.agent.id });
    const shared = await open({});
    const missing = refused(
      await asUser.append({ session: { id: '01a22cc5-b36a-7756-b38c-6bc43afb801a' }, messages: [user('x')] }),
    );
    const before = await snapshot(owner, tenant);
    const tries = [
      ...[ofUser, ofAgent, shared].map((payload) => [asUser, payload.session!.id] as const),
      [agent, ofAgent.session!.id] as const,
      [callersOf(salient, stranger).admin, shared.session!.id] as const,
    ];
    for (const [caller, id] of tries) {
      expect(refused(await caller.append({ session: { id }, messages: [user('x')] }))).toEqual(missing);
    }
    expect(await snapshot(owner, tenant)).toEqual(before);
  });
});

describe('messages', () => {
  test('an externalId that the session knows is not added again, within one append or later', async () => {
    const tenant = await salient.tenant();
    const { agent } = callersOf(salient, tenant);
    const session = { create: { userId: tenant.userId, externalId: 's1' } };
    const first = await agent.append({
      session,
      messages: [user('one', { externalId: 'a' }), user('one again', { externalId: 'a' }), user('two')],
      extract: 'NEVER',
    });
    expect(first.messages!.map((message) => message.content)).toEqual(['one', 'one', 'two']);
    const second = await agent.append({
      session,
      messages: [user('three', { externalId: 'b' }), user('changed', { externalId: 'a' })],
      extract: 'NEVER',
    });
    expect(second.messages!.map((message) => message.content)).toEqual(['three', 'one']);
    expect(second.session!.messageCount).toBe(3);
    const elsewhere = await agent.append({
      session: { create: { userId: tenant.userId, externalId: 's2' } },
      messages: [user('one', { externalId: 'a' })],
      extract: 'NEVER',
    });
    expect(elsewhere.messages![0]!.id).not.toBe(first.messages![0]!.id);
  });

  test('a resent append is mined for what is new in it alone', async () => {
    const tenant = await salient.tenant();
    const { agent } = callersOf(salient, tenant);
    const session = { create: { userId: tenant.userId, externalId: 's1' } };
    const messages = ['FACT: The office is in Lisbon', 'FACT: The garage is in Faro'].map((content, index) =>
      user(content, { externalId: `m${index}` }),
    );
    await agent.append({ session, messages: messages.slice(0, 1) });
    const { extraction } = await agent.append({ session, messages });
    expect(extraction!.facts.map((fact) => fact.text)).toEqual(['The garage is in Faro']);
  });

  test.each<[string, Record<string, unknown>[], (string | number)[]]>([
    ['none', [], ['messages']],
    ['too many', Array.from({ length: 201 }, () => user('hello')), ['messages']],
    ['blank', [user('ok'), user(' \n\t ')], ['messages', 1, 'content']],
    ['too long', [user('x'.repeat(32_001))], ['messages', 0, 'content']],
    ['too much together', Array.from({ length: 40 }, () => user('x'.repeat(26_000))), ['messages']],
    ['CASE 25: NUL', [user('a\u0000b')], ['messages', 0, 'content']],
    ['CASE 25: an escape code', [user('ok'), user('\u001b[31mred')], ['messages', 1, 'content']],
    ['a C1 control', [user('a\u0085b')], ['messages', 0, 'content']],
    ['CASE 25: a lone surrogate', [user('a\ud800b')], ['messages', 0, 'content']],
    ['a blank externalId', [user('ok'), user('ok', { externalId: ' ' })], ['messages', 1, 'externalId']],
    ['a long externalId', [user('ok', { externalId: 'x'.repeat(201) })], ['messages', 0, 'externalId']],
    [
      'a speaker with a line break',
      [user('ok'), user('ok', { speaker: 'a\nb' })],
      ['messages', 1, 'speaker'],
    ],
  ])('%s is refused with the path to it, and nothing is kept', async (_name, messages, path) => {
    const tenant = await salient.tenant();
    const { agent } = callersOf(salient, tenant);
    const before = await snapshot(owner, tenant);
    const error = refused(await agent.append({ session: { create: {} }, messages }));
    expect(error).toMatchObject({ code: 'BAD_INPUT', path: ['input', ...path.map(String)] });
    expect(await snapshot(owner, tenant)).toEqual(before);
  });

  test('a session externalId at fault is named', async () => {
    const { agent } = callersOf(salient, await salient.tenant());
    const session = { create: { externalId: '\u0007' } };
    expect(refused(await agent.append({ session, messages: [user('ok')] }))).toMatchObject({
      code: 'BAD_INPUT',
      path: ['input', 'session', 'create', 'externalId'],
    });
  });

  test.each([
    ['line breaks, tabs, emoji and any script', 'Zeile 1\r\n\tZeile 2 👩‍👩‍👧 – 我喜欢深色模式 עברית'],
    ['quotes, braces and SQL', `'; DROP TABLE message; -- "{{x}}" \\u0000 %s`],
    ['a mere question', '?'],
  ])('%s come back as they were said', async (_name, content) => {
    const { agent } = callersOf(salient, await salient.tenant());
    const { messages } = await agent.say(content, { extract: 'NEVER' });
    expect(messages![0]!.content).toBe(content);
  });

  test('200 messages and 32,000 characters are taken', async () => {
    const { agent } = callersOf(salient, await salient.tenant());
    const many = await agent.say(Array<string>(200).fill('thanks'), {});
    expect(many.session).toMatchObject({ messageCount: 200, minedCount: 200 });
    const long = await agent.say('x'.repeat(32_000), { extract: 'NEVER' });
    expect(long.messages![0]!.content).toHaveLength(32_000);
  });
});

describe('idempotencyKey', () => {
  test('the same request again does nothing and answers the same', async () => {
    const tenant = await salient.tenant();
    const { agent } = callersOf(salient, tenant);
    const input = {
      session: { create: { userId: tenant.userId } },
      messages: [user('FACT: The office is in Lisbon'), user('FACT: The garage is in Faro')],
      idempotencyKey: 'k1',
    };
    const first = await agent.append(input);
    const before = await snapshot(owner, tenant);
    extractor.calls.length = 0;
    const second = await agent.append(input);
    expect(second.session).toEqual(first.session);
    expect(second.messages).toEqual(first.messages);
    expect(second.extraction).toMatchObject({ id: first.extraction!.id, status: 'EXTRACTED' });
    expect(second.extraction!.facts.map((fact) => fact.id)).toEqual(
      first.extraction!.facts.map((fact) => fact.id),
    );
    expect(extractor.calls).toEqual([]);
    expect(await snapshot(owner, tenant)).toEqual(before);
  });

  test('another request with the key is a CONFLICT and does nothing', async () => {
    const tenant = await salient.tenant();
    const { agent } = callersOf(salient, tenant);
    const input = {
      session: { create: {} },
      messages: [user('one')],
      extract: 'NEVER',
      idempotencyKey: 'k1',
    };
    await agent.append(input);
    const before = await snapshot(owner, tenant);
    for (const other of [
      { messages: [user('two')] },
      { messages: [user('one', { speaker: 'Sam' })] },
      { session: { create: { userId: tenant.userId } } },
      { extract: 'LATER' },
    ]) {
      expect(refused(await agent.append({ ...input, ...other }))).toMatchObject({
        code: 'CONFLICT',
        path: ['input', 'idempotencyKey'],
      });
    }
    expect(await snapshot(owner, tenant)).toEqual(before);
  });

  test.each(['', '  ', 'k'.repeat(201)])(
    'a blank or over-long key is refused: %j',
    async (idempotencyKey) => {
      const { agent } = callersOf(salient, await salient.tenant());
      const input = { session: { create: {} }, messages: [user('one')], idempotencyKey };
      expect(refused(await agent.append(input))).toMatchObject({
        code: 'BAD_INPUT',
        path: ['input', 'idempotencyKey'],
      });
    },
  );

  test('a key is its caller’s own', async () => {
    const tenant = await salient.tenant();
    const { agent, admin, user: asUser } = callersOf(salient, tenant);
    const input = {
      session: { create: {} },
      messages: [user('one')],
      extract: 'NEVER',
      idempotencyKey: 'k1',
    };
    const ids = [];
    for (const caller of [agent, admin, asUser]) ids.push((await caller.append(input)).messages![0]!.id);
    expect(new Set(ids).size).toBe(3);
  });

  test('the same key at the same time: one of them does it, all answer the same', async () => {
    const tenant = await salient.tenant();
    const { agent } = callersOf(salient, tenant);
    const rounds = isPostgres ? 4 : 2;
    for (let round = 0; round < rounds; round++) {
      const input = {
        session: { create: { userId: tenant.userId, externalId: `s${round}` } },
        messages: [user(`FACT: The page in question is number ${round}`)],
        idempotencyKey: `k${round}`,
      };
      const payloads = await Promise.all(Array.from({ length: 6 }, () => agent.append(input)));
      for (const payload of payloads) {
        expect(payload.errors).toEqual([]);
        expect(payload.messages).toEqual(payloads[0]!.messages);
        expect(payload.session!.messageCount).toBe(1);
        expect(payload.extraction!.id).toBe(payloads[0]!.extraction!.id);
      }
      const facts = await Promise.all(
        Array.from({ length: 6 }, () =>
          agent.remember({ text: `The office has ${round} floors`, idempotencyKey: `f${round}` }),
        ),
      );
      expect(new Set(facts.map((payload) => payload.fact!.id)).size).toBe(1);
      for (const payload of facts) expect(payload.reaffirmed).toBe(false);
    }
    expect(await rowsOf(owner, tenant, 'message')).toHaveLength(rounds);
  }, 120_000);

  test('no content is kept with it', async () => {
    const tenant = await salient.tenant();
    const { agent } = callersOf(salient, tenant);
    await agent.append({
      session: { create: {} },
      messages: [user('my secret garden')],
      idempotencyKey: 'garden',
    });
    const rows = (await rowsOf(owner, tenant, 'idempotency')).join();
    expect(rows).not.toContain('garden');
    expect(rows).not.toContain(Buffer.from('garden').toString('hex'));
    expect(uuidOf(tenant.id)).toHaveLength(36);
  });
});
