import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Caller, callersOf, TestClock, uuidOf } from '../facts/support.js';
import { eventsOf, rowsOf, seeingClient, snapshot } from '../facts/tables.js';
import { type TestApp, testApp } from '../support/app.js';
import { LineExtractor, until } from './line-extractor.js';

// Each test is many requests; on a busy machine they take their time.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const clock = new TestClock();
const extractor = new LineExtractor();
let salient: TestApp;
let owner: pg.Client;
beforeAll(async () => {
  salient = await testApp({ now: clock.now, extractor });
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

/** A tenant's agent in one session with its user. */
async function conversation(name = 's1') {
  const tenant = await salient.tenant();
  const { agent, admin } = callersOf(salient, tenant);
  const session = { create: { userId: tenant.userId, externalId: name } };
  const say = (contents: string | string[], input: Record<string, unknown> = {}) =>
    agent.say(contents, { session, ...input });
  return { tenant, agent, admin, session, say };
}

const USELESS = 'nothing of note was said here today';

describe('outcomes of an extraction (SPEC §2.1, §2.2)', () => {
  test('EXTRACTED: facts with kind, extractor, confidence, entities, session and source', async () => {
    const { say } = await conversation();
    const { extraction, messages, session } = await say(
      'ENV [Kamal, Hetzner]: Deploys with Kamal on Hetzner',
    );
    expect(extraction).toMatchObject({
      status: 'EXTRACTED',
      extractor: 'RULES',
      error: null,
      refused: [],
      facts: [
        {
          kind: 'ENV',
          text: 'Deploys with Kamal on Hetzner',
          extractor: 'RULES',
          confidence: 0.9,
          entities: [{ name: 'Kamal' }, { name: 'Hetzner' }],
          sources: { edges: [{ node: { id: messages![0]!.id } }] },
        },
      ],
    });
    expect(session).toMatchObject({ messageCount: 1, minedCount: 1 });
  });

  test.each<[string, { role: string; content: string }[]]>([
    ['chatter', [{ role: 'USER', content: 'thanks' }]],
    ['an assistant alone', [{ role: 'ASSISTANT', content: 'FACT: The office is in Lisbon' }]],
    [
      'system and tool alone',
      [
        { role: 'SYSTEM', content: 'FACT: You are a helpful assistant' },
        { role: 'TOOL', content: 'FACT: exit code 0 of the build' },
      ],
    ],
  ])('SKIPPED_NOT_SALIENT after %s: no extractor ran, the cursor moved', async (_name, messages) => {
    const { agent, session } = await conversation();
    const payload = await agent.append({ session, messages });
    expect(payload.extraction).toMatchObject({ status: 'SKIPPED_NOT_SALIENT', facts: [], refused: [] });
    expect(payload.session).toMatchObject({ messageCount: messages.length, minedCount: messages.length });
    expect(extractor.calls).toEqual([]);
  });

  test('EXTRACTED_NOTHING: it looked, the cursor moved', async () => {
    const { say } = await conversation();
    const payload = await say(USELESS);
    expect(payload.extraction).toMatchObject({ status: 'EXTRACTED_NOTHING', facts: [], refused: [] });
    expect(payload.session!.minedCount).toBe(1);
    expect(extractor.calls).toHaveLength(1);
  });

  test('NOTHING_NEW: all messages were there already', async () => {
    const { agent, session } = await conversation();
    const messages = [{ role: 'USER', content: 'FACT: The office is in Lisbon', externalId: 'm1' }];
    const first = await agent.append({ session, messages });
    const second = await agent.append({ session, messages });
    expect(second.extraction).toMatchObject({ status: 'NOTHING_NEW', facts: [] });
    expect(second.messages).toEqual(first.messages);
    expect(second.session!.messageCount).toBe(1);
    expect(extractor.calls).toHaveLength(1);
  });

  test('null with NEVER, and such messages are never mined later', async () => {
    const { say, admin } = await conversation();
    const kept = await say('FACT: The office is in Lisbon', { extract: 'NEVER' });
    expect(kept.extraction).toBeNull();
    expect(kept.session).toMatchObject({ messageCount: 1, minedCount: 0 });
    const later = await say('FACT: The office is in Porto');
    expect(extractor.seen).toEqual(later.messages!.map((message) => uuidOf(message.id)));
    expect(later.session).toMatchObject({ messageCount: 2, minedCount: 2 });
    expect(await admin.texts()).toEqual(['The office is in Porto']);
  });

  test('PENDING with LATER, and EXTRACTION_FINISHED tells when it is done', async () => {
    const { tenant, say, admin } = await conversation();
    let release = () => {};
    extractor.before = () => new Promise((resolve) => (release = resolve));
    const { extraction } = await say('FACT: The office is in Lisbon', { extract: 'LATER' });
    expect(extraction).toMatchObject({ status: 'PENDING', facts: [] });
    await until(() => extractor.calls.length === 1);
    expect(await admin.texts()).toEqual([]);
    expect(await eventsOf(owner, tenant)).toEqual([]);
    release();
    await until(async () => (await eventsOf(owner, tenant)).length === 3);
    const run = uuidOf(extraction!.id);
    expect(await eventsOf(owner, tenant)).toMatchObject([
      { type: 'FACT_REMEMBERED' },
      { type: 'IMPORTANCE_CHANGED', cause: 'INGEST' },
      { type: 'EXTRACTION_FINISHED', subjectId: run, factId: null },
    ]);
    expect(await extractionOf(admin, extraction!.id)).toMatchObject({
      status: 'EXTRACTED',
      facts: [{ text: 'The office is in Lisbon' }],
    });
  });

  test('refusals are told once: not in the run, nor anywhere else', async () => {
    const { say, admin, tenant } = await conversation();
    const long = `The list is ${Array.from({ length: 900 }, (_, n) => `item${n}`).join(' ')}`;
    const { extraction } = await say(`FACT: ${long}\nFACT: The office is in Lisbon`);
    expect(extraction).toMatchObject({
      status: 'EXTRACTED',
      facts: [{ text: 'The office is in Lisbon' }],
      refused: [{ text: long, category: 'TOO_LONG' }],
    });
    expect((await extractionOf(admin, extraction!.id)).refused).toEqual([]);
    const [refusal] = await rowsOf(owner, tenant, 'refusal');
    expect(refusal).toContain('TOO_LONG');
    expect(
      Object.values(await snapshot(owner, tenant, ['message', 'posting']))
        .flat()
        .join(),
    ).not.toContain(Buffer.from('item17 item18').toString('hex'));
  });
});

describe('where extracted facts go (SPEC §1)', () => {
  const KINDS = ['USER_PROFILE', 'PREFERENCE', 'PROJECT', 'ENV', 'FACT', 'DECISION', 'CONVENTION'];

  test('USER_PROFILE and PREFERENCE to the user for all agents, the others to this agent with this user', async () => {
    const { say, tenant } = await conversation();
    const { extraction } = await say(KINDS.map((kind) => `${kind}: This is of the kind ${kind}`).join('\n'));
    const user = { id: tenant.userId };
    for (const fact of extraction!.facts) {
      const shared = fact.kind === 'USER_PROFILE' || fact.kind === 'PREFERENCE';
      expect(fact, fact.kind).toMatchObject({ user, agent: shared ? null : { id: tenant.agentId } });
    }
    expect(extraction!.facts).toHaveLength(KINDS.length);
  });

  test('without a user all go to the agent', async () => {
    const { agent, tenant } = await conversation();
    const { extraction } = await agent.say(
      KINDS.map((kind) => `${kind}: This is of the kind ${kind}`).join('\n'),
    );
    for (const fact of extraction!.facts) {
      expect(fact, fact.kind).toMatchObject({ user: null, agent: { id: tenant.agentId } });
    }
  });

  test('begin when it was said, unless the message has no time', async () => {
    const { agent, session } = await conversation();
    const { extraction } = await agent.append({
      session,
      messages: [
        { role: 'USER', content: 'FACT: The office is in Lisbon', sentAt: '2026-02-03T04:05:06.789+02:00' },
        { role: 'USER', content: 'FACT: The warehouse is in Porto' },
      ],
    });
    const now = clock.now().toISOString();
    expect(extraction!.facts).toMatchObject([
      { validFrom: '2026-02-03T02:05:06.789Z', lastSeenAt: '2026-02-03T02:05:06.789Z', recordedAt: now },
      { validFrom: now, lastSeenAt: now, recordedAt: now },
    ]);
  });
});

describe('the cursor (SPEC §2.2)', () => {
  test('CASE 18, CASE 23: every append is mined, each message once', async () => {
    const { say } = await conversation();
    const said: string[] = [];
    for (let n = 0; n < 4; n++) {
      const { messages, extraction } = await say([`FACT: The number of today is ${n}`, USELESS]);
      expect(extraction!.status).toBe('EXTRACTED');
      said.push(...messages!.map((message) => uuidOf(message.id)));
    }
    expect(extractor.seen).toEqual(said);
  });

  test('CASE 19: a back-dated message is mined, in the order of arrival', async () => {
    const { agent, session, admin } = await conversation();
    const append = (content: string, sentAt: string) =>
      agent.append({ session, messages: [{ role: 'USER', content, sentAt }] });
    const first = await append('FACT: The office is in Lisbon', '2026-05-01T00:00:00Z');
    const second = await append('FACT: The warehouse is in Porto', '2020-01-01T00:00:00Z');
    expect(second.extraction).toMatchObject({
      status: 'EXTRACTED',
      facts: [{ text: 'The warehouse is in Porto' }],
    });
    expect(extractor.seen).toEqual([first, second].map(({ messages }) => uuidOf(messages![0]!.id)));
    const listed = await admin.query<{ node: { messages: { edges: { node: { id: string } }[] } } }>(
      'query ($id: ID!) { node(id: $id) { ... on Session { messages { edges { node { id } } } } } }',
      { id: first.session!.id },
    );
    expect(listed.node.messages.edges.map(({ node }) => node.id)).toEqual(
      [first, second].map(({ messages }) => messages![0]!.id),
    );
  });

  test('CASE 5: what was forgotten does not come back by extraction; an explicit remember lets it', async () => {
    const { say, agent, tenant } = await conversation();
    const text = 'The door code is on the fridge';
    const learned = await say(`FACT: ${text}`);
    await agent.forget({ id: learned.extraction!.facts[0]!.id });
    for (const kind of ['FACT', 'CONVENTION']) {
      const again = await say(`${kind}: ${text.toUpperCase()}`);
      expect(again.extraction).toMatchObject({
        facts: [],
        refused: [{ text: text.toUpperCase(), category: 'FORGOTTEN' }],
      });
    }
    expect(await agent.texts({ status: 'ALL' })).toEqual([]);
    // Another scope never forgot it.
    const elsewhere = await agent.say(`FACT: ${text}`);
    expect(elsewhere.extraction!.facts).toHaveLength(1);
    const stated = await agent.fact(text, { userId: tenant.userId });
    await agent.retire({ id: stated.id }, 'ENDED');
    const relearned = await say(`FACT: ${text}`);
    expect(relearned.extraction).toMatchObject({ facts: [{ text, status: 'LIVE' }], refused: [] });
  });
});

describe('CASE 28: a duplicate inside one batch is one fact', () => {
  test.each([
    ['equal', 'The team deploys the billing service to production every Friday with Kamal'],
    ['equal but for case', 'THE TEAM DEPLOYS THE BILLING SERVICE TO PRODUCTION EVERY FRIDAY WITH KAMAL'],
    ['alike', 'The team deploys the billing service to production every Friday with Kamal.'],
    ['alike by a word', 'The team deploys our the billing service to production every Friday with Kamal'],
  ])('%s', async (_name, twin) => {
    const { say, admin, tenant } = await conversation();
    const text = 'The team deploys the billing service to production every Friday with Kamal';
    const { extraction, messages } = await say([`FACT: ${text}`, `FACT: ${twin}`, `FACT: ${text}`]);
    expect(extraction).toMatchObject({ facts: [{ text }], refused: [] });
    expect(await admin.texts({ status: 'ALL' })).toEqual([text]);
    const sources = extraction!.facts[0]!.sources.edges.map(({ node }) => node.id);
    expect(sources.sort()).toEqual(messages!.map((message) => message.id).sort());
    const types = (await eventsOf(owner, tenant)).map((event) => event.type);
    expect(types).toEqual(['FACT_REMEMBERED', 'IMPORTANCE_CHANGED', 'EXTRACTION_FINISHED']);
  });

  test('two that repeat one stored fact reaffirm it once', async () => {
    const { say, tenant } = await conversation();
    const text = 'The team deploys the billing service to production every Friday with Kamal';
    const first = await say(`FACT: ${text}`);
    const { extraction } = await say([`FACT: ${text}`, `FACT: ${text}.`]);
    expect(extraction!.facts.map((fact) => fact.id)).toEqual([first.extraction!.facts[0]!.id]);
    const types = (await eventsOf(owner, tenant)).map((event) => event.type);
    expect(types.filter((type) => type === 'FACT_REAFFIRMED')).toHaveLength(1);
  });

  test('CASE 32: what differs in what matters stays two facts', async () => {
    const { say, admin } = await conversation();
    await say(['FACT: Alice manages Bob', 'FACT: Bob manages Alice']);
    expect(await admin.texts()).toEqual(['Alice manages Bob', 'Bob manages Alice']);
  });
});

/** A run as it can be read later. */
async function extractionOf(caller: Caller, id: string) {
  const query = `query ($id: ID!) { node(id: $id) { ... on Extraction {
    status facts { text } refused { text } error startedAt finishedAt } } }`;
  type Run = { status: string; facts: { text: string }[]; refused: unknown[]; error: string | null };
  return (await caller.query<{ node: Run }>(query, { id })).node;
}
