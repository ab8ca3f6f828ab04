import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { callersOf } from '../facts/support.js';
import { type TestApp, testApp } from '../support/app.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

// With the extractor that is there by default.
let salient: TestApp;
beforeAll(async () => {
  salient = await testApp();
});
afterAll(() => salient?.[Symbol.asyncDispose]());

async function conversation() {
  const tenant = await salient.tenant();
  const { agent } = callersOf(salient, tenant);
  const say = async (content: string) =>
    (await agent.say(content, { session: { create: { userId: tenant.userId } } })).extraction!;
  return { agent, say };
}

describe('CASE 20: what the gate lets through', () => {
  test.each(['help', 'thanks', 'what now', ':q', 'ok continue'])('"%s" makes no fact', async (content) => {
    const { agent, say } = await conversation();
    expect(await say(content)).toMatchObject({ status: 'SKIPPED_NOT_SALIENT', facts: [] });
    expect(await agent.texts()).toEqual([]);
  });

  test('a preference after a greeting, on a line of its own, does', async () => {
    const { agent, say } = await conversation();
    const { status, facts } = await say('hi\nI prefer tabs over spaces');
    expect(status).toBe('EXTRACTED');
    expect(facts.map(({ kind }) => kind)).toEqual(['PREFERENCE']);
    expect((await agent.texts()).join()).toMatch(/tabs over spaces/i);
  });
});

describe('CASE 24: what is shown is not what is so', () => {
  const SHOWN = [
    ['code', 'Have a look:\n```yaml\n# The project uses Java 8\nI live in Springfield.\n```'],
    ['an example', 'Example:\nThe project uses Java 8.\nI live in Springfield.'],
    ['a quotation', '> The project uses Java 8.\n> I live in Springfield.'],
  ] as const;

  test.each(SHOWN)('%s makes no fact, what stands beside it does', async (_what, content) => {
    const { agent, say } = await conversation();
    const { facts } = await say(`${content}\n\nWe use Postgres for billing.`);
    expect(facts.map(({ text }) => text).join()).toMatch(/Postgres/);
    expect((await agent.texts()).join()).not.toMatch(/Java|Springfield/);
  });

  test('a learned fact says what learned it, how sure that is and from which message, and can be taken back', async () => {
    const { agent, say } = await conversation();
    const content = 'We use Postgres for billing.';
    const [learned] = (await say(content)).facts;
    expect(learned).toMatchObject({ extractor: 'RULES', sources: { edges: [{ node: { content } }] } });
    expect(learned!.confidence).toBeGreaterThan(0);
    expect(learned!.confidence).toBeLessThan(1);
    const stated = await agent.fact('The team is in Lisbon');
    expect([stated.extractor, stated.confidence]).toEqual([null, 1]);
    await agent.retire({ id: learned!.id }, 'WRONG');
    expect(await agent.texts()).toEqual(['The team is in Lisbon']);
    expect(await agent.find(learned!.id)).toMatchObject({ status: 'RETIRED', retireReason: 'WRONG' });
  });
});
