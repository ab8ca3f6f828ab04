import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ADMIN_KEY, type TestApp, type TestTenant, testApp } from '../support/app.js';
import { countStatements } from '../support/database.js';

const RATE = 10_000;
/** Costs about 2,000 points: 100 rows of many fields. */
const DEAR = `{ facts(first: 100) { edges { node { ${Array.from({ length: 20 }, (_, i) => (i === 0 ? 'id' : `f${i}: text`)).join(' ')} } } } }`;
/** Costs about 700 points where 30 facts are there. */
const READ = `{ facts(first: 30) { edges { node { ${Array.from({ length: 20 }, (_, i) => `t${i}: text`).join(' ')} } } } }`;
const CHEAP = '{ viewer { role } }';

let salient: TestApp;
let second: TestApp;
beforeAll(async () => {
  salient = await testApp();
  second = await testApp();
});
afterAll(async () => {
  await second[Symbol.asyncDispose]();
  await salient[Symbol.asyncDispose]();
});

interface Cost {
  readonly requested: number;
  readonly actual?: number;
  readonly remaining?: number;
  readonly resetAt?: string;
}

async function limited(limits: Record<string, number | null>): Promise<TestTenant> {
  const tenant = await salient.tenant();
  await setLimits(tenant, limits);
  return tenant;
}

/** Gives the tenant 30 facts, at the platform's expense. */
async function withFacts(tenant: TestTenant): Promise<TestTenant> {
  const facts = Array.from(
    { length: 30 },
    (_, i) =>
      `f${i}: remember(input: { text: "Shelf ${i} holds ${i * 13 + 5} jars" }) { errors { message } }`,
  );
  await salient.ask({ key: ADMIN_KEY, tenant: tenant.slug, query: `mutation { ${facts.join(' ')} }` });
  return tenant;
}

function setLimits(tenant: TestTenant, limits: Record<string, number | null>) {
  return salient.ask<{ setTenantLimits: { tenant: { limits: object; version: number } } }>({
    key: ADMIN_KEY,
    tenant: tenant.slug,
    query: `mutation ($input: SetTenantLimitsInput!) { setTenantLimits(input: $input) {
      tenant { version limits { pointsPerMinute keyPointsPerMinute } } errors { code message path } } }`,
    variables: { input: { id: tenant.id, limits } },
  });
}

async function post(app: TestApp, key: string, query: string) {
  const response = await app.app.fetch(
    new Request('http://salient/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query }),
    }),
  );
  const body = (await response.json()) as {
    data?: unknown;
    errors?: { message: string; extensions: { code: string; retryable?: boolean; retryAfter?: number } }[];
    extensions?: { cost?: Cost };
  };
  return { response, body, code: body.errors?.[0]?.extensions.code };
}

describe('the limits of a tenant', () => {
  it('are set by the platform alone, within their range, and seen by the tenant', async () => {
    const tenant = await limited({ pointsPerMinute: RATE });
    const seen = await salient.ask<{ tenant: { limits: object } }>({
      key: tenant.keys.TENANT_AUDITOR,
      query: '{ tenant { limits { pointsPerMinute keyPointsPerMinute } } }',
    });
    expect(seen.tenant.limits).toEqual({ pointsPerMinute: RATE, keyPointsPerMinute: null });
    const query = `mutation { setTenantLimits(input: { id: "${tenant.id}", limits: { pointsPerMinute: 20000 } }) { errors { code path } } }`;
    expect(
      (await salient.send({ key: tenant.keys.TENANT_ADMIN, query })).errors?.[0]?.extensions?.['code'],
    ).toBe('FORBIDDEN');
    const outside = await salient.send<{ setTenantLimits: { errors: object[] } }>({
      key: ADMIN_KEY,
      tenant: tenant.slug,
      query: query.replace('20000', '1'),
    });
    expect(outside.data?.setTenantLimits.errors).toEqual([
      { code: 'BAD_INPUT', path: ['input', 'limits', 'pointsPerMinute'] },
    ]);
    expect((await setLimits(tenant, { pointsPerMinute: null })).setTenantLimits.tenant.limits).toEqual({
      pointsPerMinute: null,
      keyPointsPerMinute: null,
    });
  });
});

describe('the rate of a tenant', () => {
  it('is told with each answer: what it may have cost, what it did cost, what remains', async () => {
    const tenant = await limited({ pointsPerMinute: RATE });
    const { body, response } = await post(salient, tenant.keys.AGENT, DEAR);
    const cost = body.extensions?.cost as Required<Cost>;
    expect(cost.requested).toBeGreaterThan(2_000);
    // No fact is there: most of it was not needed.
    expect(cost.actual).toBeLessThan(50);
    expect(cost.remaining).toBeGreaterThan(RATE - 100);
    expect(new Date(cost.resetAt).getTime()).toBeGreaterThan(Date.now() - 1_000);
    expect(response.headers.get('ratelimit-limit')).toBe(String(RATE));
    expect(Number(response.headers.get('ratelimit-remaining'))).toBeLessThanOrEqual(RATE);
    expect(response.headers.get('ratelimit-reset')).toMatch(/^\d+$/);
    expect(response.headers.get('retry-after')).toBeNull();
  });

  it('at twenty times the rate has its surplus refused, while another tenant’s requests all succeed', async () => {
    const loud = await withFacts(await limited({ pointsPerMinute: RATE }));
    const quiet = await limited({ pointsPerMinute: RATE });
    const { body } = await post(salient, loud.keys.USER, READ);
    const price = body.extensions?.cost?.actual as number;
    expect(price).toBeGreaterThan(600);
    const times = Math.ceil((20 * RATE) / price);
    const begun = performance.now();
    const quietOnes: Promise<string | undefined>[] = [];
    let passed = 0;
    const refused: Awaited<ReturnType<typeof post>>[] = [];
    for (let i = 0; i < times; i++) {
      const answer = await post(i % 2 === 0 ? salient : second, loud.keys.USER, READ);
      if (answer.code === undefined) passed++;
      else refused.push(answer);
      if (i % Math.ceil(times / 50) === 0)
        quietOnes.push(post(second, quiet.keys.USER, CHEAP).then(({ code }) => code));
    }
    const minutes = (performance.now() - begun) / 60_000;
    // What the bucket held and what came in meanwhile: never more, over both servers.
    expect((passed + 1) * price).toBeLessThanOrEqual(RATE * (1 + minutes) + 1);
    // And not less but for what the two hold: a second's worth each, and what is no whole request.
    expect((passed + 1) * price).toBeGreaterThan(RATE - 2 * (RATE / 60) - 2 * price);
    expect(refused.length).toBe(times - passed);
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['RATE_LIMITED']));
    const { response, body: answer } = refused.at(-1)!;
    expect(response.status).toBe(429);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.errors?.[0]?.extensions).toMatchObject({ retryable: true, retryAfter: expect.any(Number) });
    expect(answer.data ?? null).toBeNull();
    expect(await Promise.all(quietOnes)).toEqual(quietOnes.map(() => undefined));
  }, 300_000);

  it('costs no statement while a lease lasts, and refusals cost none', async () => {
    const tenant = await limited({ pointsPerMinute: 1_000_000 });
    await post(salient, tenant.keys.AGENT, CHEAP);
    const statements = await countStatements(salient.app.services.db, async () => {
      for (let i = 0; i < 5; i++) await post(salient, tenant.keys.AGENT, CHEAP);
    });
    expect(statements.filter((sql) => sql.includes('rate_bucket'))).toEqual([]);
  });

  it('is not spent by what never ran', async () => {
    const tenant = await limited({ pointsPerMinute: RATE });
    for (const query of [
      '{ viewer { ',
      '{ nothing }',
      'query ($x: Int!) { viewer { role } }',
      '{ fact(id: "") { id } }',
    ])
      await post(salient, tenant.keys.AGENT, query);
    const { body } = await post(salient, tenant.keys.AGENT, CHEAP);
    expect(body.extensions?.cost?.remaining).toBeGreaterThan(RATE - 50);
  });

  it('of one key leaves the other keys of the tenant theirs', async () => {
    const tenant = await withFacts(await limited({ keyPointsPerMinute: RATE }));
    let refusedAt: string | undefined;
    for (let i = 0; i < 200 && refusedAt === undefined; i++)
      refusedAt = (await post(salient, tenant.keys.AGENT, READ)).code;
    expect(refusedAt).toBe('RATE_LIMITED');
    expect((await post(salient, tenant.keys.USER, CHEAP)).code).toBeUndefined();
  }, 120_000);

  it('does not bind the platform', async () => {
    const tenant = await limited({ pointsPerMinute: RATE });
    const answer = await salient.send({ key: ADMIN_KEY, tenant: tenant.slug, query: CHEAP });
    expect(answer.errors).toBeUndefined();
  });

  it('holds over WebSocket, too', async () => {
    const tenant = await withFacts(await limited({ pointsPerMinute: RATE }));
    const { url } = await salient.app.listen();
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    const messages: { id?: string; type: string; payload?: unknown }[] = [];
    socket.on('message', (data) => messages.push(JSON.parse(String(data))));
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(
      JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${tenant.keys.USER}` } }),
    );
    await expect.poll(() => messages.length, { timeout: 20_000 }).toBe(1);
    for (let i = 0; i < 40; i++) {
      socket.send(
        JSON.stringify({
          id: `q${i}`,
          type: 'subscribe',
          payload: { query: READ },
        }),
      );
      await expect
        .poll(() => messages.some(({ id, type }) => id === `q${i}` && type !== 'next'), {
          interval: 2,
          timeout: 20_000,
        })
        .toBe(true);
    }
    const texts = messages.map((message) => JSON.stringify(message));
    expect(texts.filter((text) => text.includes('"RATE_LIMITED"')).length).toBeGreaterThan(10);
    expect(texts.filter((text) => text.includes('"actual"')).length).toBeGreaterThan(5);
    socket.terminate();
  }, 120_000);
});
