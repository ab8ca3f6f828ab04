import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../src/ids.js';
import { toGlobalId } from '../../src/schema/global-id.js';
import { type Answer, type TestApp, type TestTenant, testApp } from '../support/app.js';
import { countStatements } from '../support/database.js';

let salient: TestApp;
let tenant: TestTenant;

beforeAll(async () => {
  salient = await testApp();
});
beforeEach(async () => {
  tenant = await salient.tenant('recall');
});
afterAll(() => salient[Symbol.asyncDispose]());

const RECALL = `query Recall($input: RecallInput!) {
  recall(input: $input) {
    items {
      rank score
      scores { lexical vector fused icnu }
      node {
        __typename
        ... on Fact { id text kind importance sources(first: 10) { edges { node { id externalId } } } }
        ... on Message { id content role externalId }
      }
    }
    receipt { arms { name candidates underfilled } skippedForBudget charactersUsed }
  }
}`;

interface Recalled {
  readonly recall: {
    readonly items: readonly {
      readonly rank: number;
      readonly score: number;
      readonly scores: { lexical: number | null; vector: number | null; fused: number; icnu: number };
      readonly node: {
        readonly __typename: string;
        readonly id: string;
        readonly text?: string;
        readonly content?: string;
        readonly sources?: { readonly edges: readonly unknown[] };
      };
    }[];
    readonly receipt: object;
  };
}

type Role = keyof TestTenant['keys'];

function send(input: object, role: Role = 'TENANT_ADMIN'): Promise<Answer<Recalled>> {
  return salient.send({ key: tenant.keys[role], query: RECALL, variables: { input } });
}

async function recall(input: object, role?: Role): Promise<Recalled['recall']> {
  const { data, errors } = await send(input, role);
  expect(errors).toBeUndefined();
  return data!.recall;
}

async function appendMessages(...contents: string[]): Promise<string[]> {
  const answer = await salient.ask<{ appendMessages: { messages: { id: string }[] } }>({
    key: tenant.keys.TENANT_ADMIN,
    query: `mutation ($input: AppendMessagesInput!) {
      appendMessages(input: $input) { messages { id } errors { message } }
    }`,
    variables: {
      input: {
        session: { create: {} },
        extract: 'NEVER',
        messages: contents.map((content, i) => ({ role: 'USER', content, externalId: `m${i}` })),
      },
    },
  });
  return answer.appendMessages.messages.map(({ id }) => id);
}

async function remember(text: string, more: object = {}): Promise<string> {
  const answer = await salient.ask<{ remember: { fact: { id: string } } }>({
    key: tenant.keys.TENANT_ADMIN,
    query: 'mutation ($input: RememberInput!) { remember(input: $input) { fact { id } errors { message } } }',
    variables: { input: { text, ...more } },
  });
  return answer.remember.fact.id;
}

describe('the query recall', () => {
  it('answers with facts and their sources, and messages', async () => {
    const [messageId] = await appendMessages('Bo moors at pier seven', 'and drinks tea');
    const factId = await remember('Bo moors at pier seven', {
      kind: 'PREFERENCE',
      sourceMessageIds: [messageId],
    });
    const recalled = await recall({ query: 'pier', charBudget: 1_000, mode: 'OBSERVE' });
    expect(recalled.items.map(({ rank, node }) => [rank, node])).toEqual([
      [
        1,
        {
          __typename: 'Fact',
          id: factId,
          text: 'Bo moors at pier seven',
          kind: 'PREFERENCE',
          importance: 1,
          sources: { edges: [{ node: { id: messageId, externalId: 'm0' } }] },
        },
      ],
      [
        2,
        {
          __typename: 'Message',
          id: messageId,
          content: 'Bo moors at pier seven',
          role: 'USER',
          externalId: 'm0',
        },
      ],
      [3, expect.objectContaining({ __typename: 'Message', content: 'and drinks tea' })],
    ]);
    for (const { score, scores } of recalled.items)
      expect(score).toBeCloseTo(scores.fused * (1 + scores.icnu / 2), 10);
    expect(recalled.items[2]!.scores.lexical).toBeNull();
    expect(recalled.receipt).toEqual({
      arms: [
        { name: 'LEXICAL', candidates: 2, underfilled: false },
        { name: 'VECTOR', candidates: 3, underfilled: false },
      ],
      skippedForBudget: 0,
      charactersUsed: 22 + 22 + 14,
    });
  });

  it('takes at most six statements beside those that find out who asks, for three rows as for more', async () => {
    const db = salient.app.services.db;
    const sourceMessageIds = await appendMessages('canvas of one ship', 'canvas of another ship');
    await remember('The first sail is of canvas', { sourceMessageIds });
    const few = await countStatements(db, () => recall({ query: 'canvas', k: 200 }));
    const ofRecall = (statements: readonly string[]) =>
      statements.filter((statement) => !/\bapi_key\b/.test(statement));
    for (let i = 0; i < 20; i++) {
      await remember(`${String.fromCodePoint(0x3b1 + (i % 24))}${i} is a sail of canvas`, {
        sourceMessageIds,
      });
    }
    const many = await countStatements(db, async () => {
      const { items } = await recall({ query: 'canvas', k: 200 });
      expect(items).toHaveLength(23);
      for (const { node } of items) {
        if (node.__typename === 'Fact') expect(node.sources!.edges).toHaveLength(2);
      }
    });
    expect(ofRecall(many)).toEqual(ofRecall(few));
    expect(ofRecall(many).length).toBeLessThanOrEqual(6);
  });

  it('takes the ids of its context as global ids and as UUIDs', async () => {
    const { agentId, userId } = tenant;
    await remember('a lantern', { agentId, userId });
    const bare = (id: string) => Buffer.from(id, 'base64').toString('utf8').split(':')[1]!;
    expect((await recall({ query: 'lantern', agentId, userId })).items).toHaveLength(1);
    expect(
      (await recall({ query: 'lantern', agentId: bare(agentId), userId: bare(userId) })).items,
    ).toHaveLength(1);
    expect((await recall({ query: 'lantern' })).items).toHaveLength(0);
  });

  it("shows an agent and a user what is theirs, with the caller's own id filled in", async () => {
    const { agentId, userId } = tenant;
    await remember('a lantern of all');
    await remember('a lantern of the agent', { agentId });
    await remember('a lantern of the user', { userId });
    await remember('a lantern of both', { agentId, userId });
    const textsOf = async (input: object, role: Role) =>
      (await recall({ query: 'lantern', ...input }, role)).items.map(({ node }) => node.text).sort();
    expect(await textsOf({}, 'AGENT')).toEqual(['a lantern of all', 'a lantern of the agent']);
    expect(await textsOf({ userId }, 'AGENT')).toHaveLength(4);
    expect(await textsOf({}, 'USER')).toEqual(['a lantern of all', 'a lantern of the user']);
    expect(await textsOf({ agentId }, 'USER')).toEqual([
      'a lantern of all',
      'a lantern of both',
      'a lantern of the user',
    ]);
    expect(await textsOf({}, 'TENANT_AUDITOR')).toEqual(['a lantern of all']);
  });

  it.each([
    ['agentId', () => ({ agentId: newId() })],
    ['userId', () => ({ userId: toGlobalId('User', newId()) })],
    ['agentId', () => ({ agentId: tenant.userId })],
    ['userId', () => ({ userId: 'no id at all' })],
  ])('answers NOT_FOUND for an %s that is none of this tenant', async (_field, input) => {
    const { data, errors } = await send({ query: 'lantern', ...input() });
    expect(data ?? null).toBeNull();
    expect(errors).toHaveLength(1);
    expect(errors![0]!.extensions).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('answers the ids of another tenant like unknown ones', async () => {
    const other = await salient.tenant('other');
    for (const input of [{ agentId: other.agentId }, { userId: other.userId }]) {
      const { errors } = await send({ query: 'lantern', ...input });
      expect(errors![0]!.extensions).toMatchObject({ code: 'NOT_FOUND' });
    }
  });

  it.each([{ k: 0 }, { k: 201 }, { charBudget: 0 }, { kinds: [] }, { sources: [] }])(
    'answers BAD_INPUT for %j, naming the field',
    async (input) => {
      const { errors } = await send(input);
      expect(errors![0]!.extensions).toMatchObject({ code: 'BAD_INPUT' });
      expect(errors![0]!.message).toContain(Object.keys(input)[0]!);
    },
  );

  it('lets an auditor observe and not learn', async () => {
    await remember('a lantern');
    expect((await recall({ mode: 'OBSERVE' }, 'TENANT_AUDITOR')).items).toHaveLength(1);
    const { errors } = await send({ mode: 'LEARN' }, 'TENANT_AUDITOR');
    expect(errors![0]!.extensions).toMatchObject({ code: 'FORBIDDEN' });
  });

  it('needs credentials', async () => {
    const { errors } = await salient.send({ query: RECALL, variables: { input: {} } });
    expect(errors![0]!.extensions).toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('writes nothing of what was asked or found into the log', async () => {
    await remember('The vault opens with marzipan');
    await recall({ query: 'which marzipan opens the vault' });
    await send({ query: 'marzipan '.repeat(3_000) });
    expect(salient.logged()).not.toContain('marzipan');
  });
});
