import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { PROFILE, profileCallers } from '../profiles/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { countStatements } from '../support/database.js';

// It is only that the machine may be busy.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let salient: TestApp;
let tenant: TestTenant;
beforeAll(async () => {
  salient = await testApp();
  tenant = await salient.tenant();
});
afterAll(() => salient?.[Symbol.asyncDispose]());

test('profiles of a list, with all that they say and their versions, take the same statements for few and for many', async () => {
  const { admin } = profileCallers(salient, tenant);
  const query = `{ tenant { agents(first: 10) { edges { node { salienceProfile {
    ${PROFILE} agent { id } user { id } versions(first: 2) { edges { node { version changes { setting } } } } } } } } } }`;
  const topics = (name: string) => ({
    interests: [{ topic: name, level: 'HIGH' }],
    alpha: 0.5,
    rescore: 'RECALL_ONLY',
  });
  type Answer = {
    tenant: {
      agents: {
        edges: { node: { salienceProfile: { interests: { topic: string }[]; versions: object } } }[];
      };
    };
  };
  const read = async () => {
    let answer: Answer | null = null;
    const statements = await countStatements(salient.app.services.db, async () => {
      answer = await admin.query<Answer>(query);
    });
    const profiles = (answer as unknown as Answer).tenant.agents.edges.map(
      ({ node }) => node.salienceProfile,
    );
    return {
      count: statements.filter((sql) => !/api_key k JOIN tenant|UPDATE "public"."api_key"/.test(sql)).length,
      profiles,
    };
  };
  await admin.saved({ agentId: tenant.agentId }, topics('topic 0'));
  await read();
  const few = await read();
  for (let n = 1; n <= 5; n += 1) {
    const { createAgent } = await admin.query<{ createAgent: { agent: { id: string } } }>(
      `mutation { createAgent(input: { name: "A${n}" }) { agent { id } } }`,
    );
    await admin.saved({ agentId: createAgent.agent.id }, topics(`topic ${n}`));
  }
  const many = await read();
  expect(many.profiles.map(({ interests }) => interests.map(({ topic }) => topic))).toEqual(
    [0, 1, 2, 3, 4, 5].map((n) => [`topic ${n}`]),
  );
  for (const { versions } of many.profiles)
    expect(versions).toEqual({
      edges: [
        { node: { version: 2, changes: [{ setting: 'INTEREST' }, { setting: 'ALPHA' }] } },
        { node: { version: 1, changes: [] } },
      ],
    });
  expect(many.count).toBe(few.count);
  // Agents, their profiles, what these say, their versions, the agents of the profiles.
  expect(few.count).toBeLessThanOrEqual(5);
});

test('saving takes the same statements for few topics and for many', async () => {
  const { admin } = profileCallers(salient, tenant);
  const saving = (count: number) =>
    countStatements(salient.app.services.db, () =>
      admin.saved(
        { userId: tenant.userId },
        {
          interests: Array.from({ length: count }, (_, n) => ({
            topic: `${count} things of ${n}`,
            level: 'HIGH',
          })),
          rescore: 'RECALL_ONLY',
          persona: { identity: Array.from({ length: count / 2 }, (_, n) => `term ${n} of ${count}`) },
        },
      ),
    ).then((statements) => statements.filter((sql) => !/"public"."api_key"/.test(sql)).length);
  await saving(2);
  const few = await saving(4);
  expect(await saving(100)).toBe(few);
});

test('a profile says in the same operation what each of its changes made of it', async () => {
  const { admin } = profileCallers(salient, tenant);
  const { one, two } = await admin.query<Record<string, { salienceProfile: object }>>(`mutation {
    one: setSalienceProfile(input: { owner: { tenant: true }, alpha: 0.1 }) { salienceProfile { version alpha interests { topic } } }
    two: setSalienceProfile(input: { owner: { tenant: true }, interests: [{ topic: "t", level: HIGH }] }) { salienceProfile { version alpha interests { topic } } }
  }`);
  expect(one?.salienceProfile).toEqual({ version: 2, alpha: 0.1, interests: [] });
  expect(two?.salienceProfile).toEqual({ version: 3, alpha: 0.1, interests: [{ topic: 't' }] });
});
