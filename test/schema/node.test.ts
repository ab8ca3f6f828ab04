import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.js';

let salient: TestApp;
beforeAll(async () => {
  salient = await testApp();
});
afterAll(() => salient[Symbol.asyncDispose]());

const global = (type: string, id: string) => Buffer.from(`${type}:${id}`).toString('base64');

test('node and nodes find by global id; what is none finds nothing, in its place', async () => {
  const { keys, agentId, userId, id: tenantId } = await salient.tenant();
  const nothing = [
    'garbage',
    '',
    global('Fact', '019e0000-0000-7000-8000-000000000000'),
    global('Mutation', '019e0000-0000-7000-8000-000000000000'),
    global('__Type', '019e0000-0000-7000-8000-000000000000'),
    global('Agent', 'not-a-uuid'),
  ];
  const ids = [agentId, ...nothing, userId, tenantId, agentId];
  const { nodes } = await salient.ask<{ nodes: ({ id: string } | null)[] }>({
    key: keys.TENANT_ADMIN,
    query: 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
    variables: { ids },
  });
  expect(nodes.map((node) => node?.id ?? null)).toEqual([
    agentId,
    ...nothing.map(() => null),
    userId,
    tenantId,
    agentId,
  ]);
  for (const id of nothing) {
    const answer = await salient.send({
      key: keys.USER,
      query: 'query ($id: ID!) { node(id: $id) { id } }',
      variables: { id },
    });
    expect(answer).toEqual({ data: { node: null } });
  }
});

test('nodes takes at most 100', async () => {
  const { keys, agentId } = await salient.tenant();
  const { errors } = await salient.send({
    key: keys.TENANT_ADMIN,
    query: 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
    variables: { ids: Array.from({ length: 101 }, () => agentId) },
  });
  expect(errors?.[0]).toMatchObject({
    message: 'ids must be at most 100, not 101',
    extensions: { code: 'BAD_INPUT' },
  });
});
