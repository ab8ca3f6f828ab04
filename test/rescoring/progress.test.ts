import { randomUUID } from 'node:crypto';
import { type Client, createClient } from 'graphql-ws';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { beginRescore, enqueueRescore, inTenant } from '../../src/db/index.js';
import { newId } from '../../src/ids.js';
import { followRescore, rescoreStep } from '../../src/rescoring/index.js';
import type { TenantContext } from '../../src/tenancy/index.js';
import { type Caller, callersOf } from '../facts/support.js';
import { seeingClient } from '../facts/tables.js';
import { sse } from '../http/support.js';
import { type TestApp, type TestTenant, testApp } from '../support/app.js';
import { cancelRescore, contextOf } from './support.js';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const PROGRESS = `subscription ($jobId: ID!) {
  rescoreProgress(jobId: $jobId) { id status total processed changed failed } }`;

interface Progress {
  readonly id: string;
  readonly status: string;
  readonly total: number | null;
  readonly processed: number;
}

let salient: TestApp;
let url: string;
let owner: pg.Client;
let tenant: TestTenant;
let context: TenantContext;
let admin: Caller;
const clients: Client[] = [];
beforeAll(async () => {
  salient = await testApp();
  ({ url } = await salient.app.listen());
  owner = await seeingClient();
});
beforeEach(async () => {
  tenant = await salient.tenant();
  context = await contextOf(owner, tenant);
  ({ admin } = callersOf(salient, tenant));
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.dispose();
});
afterAll(async () => {
  await owner?.end();
  await salient?.[Symbol.asyncDispose]();
});

/** A job of so many facts that goes on when a test says so, two facts at a time. */
async function job(facts: number) {
  for (let n = 0; n < facts; n++) await admin.fact(`Ward${n} counts linen${n}`);
  const { db } = salient.app.services;
  await inTenant(db, context, (unit) => enqueueRescore(unit, newId(), null, new Date()));
  const id = (await inTenant(db, context, (unit) => beginRescore(unit, new Date()))) as string;
  const process = randomUUID();
  return {
    id: Buffer.from(`RescoreJob:${id}`).toString('base64'),
    uuid: id,
    step: () => rescoreStep(salient.app.services, context, id, process, 2),
  };
}

/** A subscription over a WebSocket: what came, and how it ended. */
function follow(key: string, jobId: string) {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${key}` },
    retryAttempts: 0,
  });
  clients.push(client);
  const seen: Progress[] = [];
  const ended = new Promise<unknown>((resolve) => {
    client.subscribe<{ rescoreProgress: Progress }>(
      { query: PROGRESS, variables: { jobId } },
      {
        next: ({ data, errors }) => (data ? seen.push(data.rescoreProgress) : resolve(errors)),
        error: resolve,
        complete: () => resolve('complete'),
      },
    );
  });
  return { seen, ended, count: (n: number) => expect.poll(() => seen.length, { timeout: 20_000 }).toBe(n) };
}

describe('rescoreProgress', () => {
  test('tells the job as it is, then each stretch, then its end, and ends', async () => {
    const running = await job(5);
    const { seen, ended, count } = follow(tenant.keys.TENANT_AUDITOR, running.id);
    await count(1);
    expect(seen[0]).toMatchObject({ id: running.id, status: 'RUNNING', total: null, processed: 0 });
    await running.step();
    await count(2);
    await running.step();
    await count(3);
    await running.step();
    expect(await ended).toBe('complete');
    expect(seen.map(({ status, processed }) => [status, processed])).toEqual([
      ['RUNNING', 0],
      ['RUNNING', 2],
      ['RUNNING', 4],
      ['SUCCEEDED', 5],
    ]);
  });

  test('over Server-Sent Events as well', async () => {
    const running = await job(3);
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${tenant.keys.TENANT_ADMIN}`,
      },
      body: JSON.stringify({ query: PROGRESS, variables: { jobId: running.id } }),
    });
    const statuses: string[] = [];
    let completed = false;
    for await (const { event, data } of sse(response)) {
      if (event === 'complete') {
        completed = true;
        break;
      }
      const { rescoreProgress } = (data as { data: { rescoreProgress: Progress } }).data;
      statuses.push(rescoreProgress.status);
      await running.step();
    }
    expect(completed).toBe(true);
    expect(statuses).toEqual(['RUNNING', 'RUNNING', 'SUCCEEDED']);
  });

  test('of a job that is over tells that, and ends', async () => {
    const running = await job(1);
    expect(await running.step()).toBe('DONE');
    const { seen, ended } = follow(tenant.keys.TENANT_ADMIN, running.id);
    expect(await ended).toBe('complete');
    expect(seen).toMatchObject([{ status: 'SUCCEEDED', total: 1, processed: 1 }]);
  });

  test('counts facts that come while it runs, and at its end those that it did, no more and no less', async () => {
    const growing = await job(3);
    const { seen, ended, count } = follow(tenant.keys.TENANT_ADMIN, growing.id);
    await count(1);
    expect(await growing.step()).toBe('MORE');
    await count(2);
    for (const n of [7, 8]) await admin.fact(`Ward${n} counts towels${n}`);
    expect(await growing.step()).toBe('MORE');
    await count(3);
    expect(await growing.step()).toBe('DONE');
    expect(await ended).toBe('complete');
    expect(seen.map(({ total, processed }) => [total, processed])).toEqual([
      [null, 0],
      [3, 2],
      [4, 4],
      [5, 5],
    ]);
  });

  test('counts no more at its end than it did where facts went away', async () => {
    const shrinking = await job(2);
    const { seen, ended, count } = follow(tenant.keys.TENANT_ADMIN, shrinking.id);
    const { id } = await admin.fact('Ward9 counts towels9');
    await count(1);
    expect(await shrinking.step()).toBe('MORE');
    await count(2);
    await admin.forget({ id });
    expect(await shrinking.step()).toBe('DONE');
    expect(await ended).toBe('complete');
    expect(seen.map(({ total, processed }) => [total, processed])).toEqual([
      [null, 0],
      [3, 2],
      [2, 2],
    ]);
  });

  test('of one that is cancelled ends with it', async () => {
    const running = await job(3);
    const { seen, ended, count } = follow(tenant.keys.TENANT_ADMIN, running.id);
    await count(1);
    await cancelRescore(admin, running.id);
    expect(await ended).toBe('complete');
    expect(seen.map(({ status }) => status)).toEqual(['RUNNING', 'CANCELLED']);
  });

  test('does not miss an end that comes before the first is taken, nor tell what others do', async () => {
    const running = await job(3);
    const { services } = salient.app;
    const actor = {
      kind: 'TENANT_ADMIN' as const,
      id: null,
      keyId: null,
      tenant: context,
      agentId: null,
      userId: null,
    };
    const entries = await followRescore(services, actor, running.uuid);
    // The client takes nothing yet.
    await admin.fact('Ward9 counts linen9');
    await running.step();
    while ((await running.step()) === 'MORE');
    const told: string[] = [];
    for await (const { status } of entries) told.push(status);
    expect(told).toEqual(['SUCCEEDED']);
    // One that nobody takes from any more gives its place up.
    const second = await followRescore(services, actor, running.uuid);
    await second.return(undefined);
    expect(services.feed.stats().followers).toBe(0);
  });

  test('is refused for jobs that the tenant does not have, and to agents and users', async () => {
    const running = await job(1);
    const elsewhere = await salient.tenant();
    for (const [key, id] of [
      [elsewhere.keys.TENANT_ADMIN, running.id],
      [tenant.keys.TENANT_ADMIN, randomUUID()],
      [tenant.keys.TENANT_ADMIN, tenant.id],
    ] as const) {
      const { seen, ended } = follow(key, id);
      expect(await ended).toMatchObject([
        { message: 'RescoreJob not found', extensions: { code: 'NOT_FOUND' } },
      ]);
      expect(seen).toEqual([]);
    }
    for (const key of [tenant.keys.AGENT, tenant.keys.USER]) {
      expect(await follow(key, running.id).ended).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    }
    expect(salient.app.services.feed.stats().followers).toBe(0);
  });

  test('ends soon after the key was revoked', async () => {
    const running = await job(3);
    const { createApiKey } = await salient.ask<{ createApiKey: { secret: string; apiKey: { id: string } } }>({
      key: tenant.keys.TENANT_ADMIN,
      query: `mutation ($input: CreateApiKeyInput!) {
        createApiKey(input: $input) { secret apiKey { id } errors { message } } }`,
      variables: { input: { role: 'TENANT_AUDITOR', name: 'for a while' } },
    });
    const { ended, count } = follow(createApiKey.secret, running.id);
    await count(1);
    await salient.ask({
      key: tenant.keys.TENANT_ADMIN,
      query: `mutation ($input: RevokeApiKeyInput!) { revokeApiKey(input: $input) { errors { message } } }`,
      variables: { input: { id: createApiKey.apiKey.id } },
    });
    expect(await ended).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
  });
});
