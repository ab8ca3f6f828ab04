import { auditServer } from 'graphql-http';
import { afterAll, describe, expect, it } from 'vitest';
import { Probe } from './support.js';

const probe = new Probe();
afterAll(() => probe[Symbol.asyncDispose]());

describe('the audits of GraphQL over HTTP', () => {
  it('pass: what a server must, should and may do', async () => {
    const results = await auditServer({
      url: `${await probe.url()}/graphql`,
      fetchFn: (url: string, init: RequestInit = {}) => {
        // The audits know nothing of keys; their content types must stay as they are.
        const headers = new Headers(init.headers);
        headers.set('authorization', 'Bearer good');
        return fetch(url, { ...init, headers });
      },
    });
    const failed = results.filter(({ status }) => status !== 'ok').map(({ id, name }) => `${id} ${name}`);
    expect(failed).toEqual([]);
    expect(results.length).toBeGreaterThan(60);
  });
});
