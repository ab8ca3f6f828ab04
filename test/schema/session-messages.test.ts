import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { countStatements } from '../support/database.js';

let salient: TestApp;
let tenant: TestTenant;
beforeAll(async () => {
  salient = await testApp();
  tenant = await salient.tenant();
});
afterAll(() => salient[Symbol.asyncDispose]());

async function session(...contents: string[]): Promise<void> {
  await salient.ask({
    key: tenant.keys.TENANT_ADMIN,
    query: `mutation ($input: AppendMessagesInput!) {
      appendMessages(input: $input) { session { id } errors { message } }
    }`,
    variables: {
      input: {
        session: { create: {} },
        messages: contents.map((content) => ({ role: 'USER', content })),
        extract: 'NEVER',
      },
    },
  });
}

interface Listed {
  tenant: {
    sessions: {
      edges: {
        node: {
          messages: {
            edges: { cursor: string; node: { content: string } }[];
            pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean };
          };
        };
      }[];
    };
  };
}

async function list(args: string) {
  const { tenant: listed } = await salient.ask<Listed>({
    key: tenant.keys.TENANT_ADMIN,
    query: `{ tenant { sessions { edges { node { messages(${args}) {
      edges { cursor node { content } } pageInfo { hasNextPage hasPreviousPage }
    } } } } } }`,
  });
  return listed.sessions.edges.map(({ node: { messages } }) => ({
    contents: messages.edges.map(({ node }) => node.content),
    cursors: messages.edges.map(({ cursor }) => cursor),
    ...messages.pageInfo,
  }));
}

const cursor = (seq: number) => Buffer.from(JSON.stringify([seq])).toString('base64url');

test('the messages of many sessions are read together, a page of each', async () => {
  const count = async () =>
    (await countStatements(salient.app.services.db, () => list('first: 2'))).filter((sql) =>
      /FROM message\b/.test(sql),
    ).length;
  await session('one', 'two', 'three');
  const forOne = await count();
  await session('four');
  await session('five', 'six');
  expect([forOne, await count()]).toEqual([1, 1]);

  const pages = await list('first: 2');
  expect(pages.map(({ contents }) => contents)).toEqual([['one', 'two'], ['four'], ['five', 'six']]);
  expect(pages.map(({ hasNextPage }) => hasNextPage)).toEqual([true, false, false]);
  const after = await list(`first: 2, after: "${pages[0]!.cursors[0]}"`);
  expect(after.map(({ contents }) => contents)).toEqual([['two', 'three'], [], ['six']]);
  const last = await list('last: 1');
  expect(last.map(({ contents }) => contents)).toEqual([['three'], ['four'], ['six']]);
  expect(last.map(({ hasPreviousPage }) => hasPreviousPage)).toEqual([true, false, true]);
  const between = await list(`last: 5, before: "${cursor(3)}"`);
  expect(between.map(({ contents }) => contents)).toEqual([['one', 'two'], ['four'], ['five', 'six']]);
  const beyond = await list(`first: 5, after: "${cursor(2 ** 31 - 1)}"`);
  expect(beyond.map(({ contents }) => contents)).toEqual([[], [], []]);
});
