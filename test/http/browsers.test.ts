import { afterAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ConfigError, createConfig } from '../../src/config/index.js';
import { Probe } from './support.js';

const CONSOLE = 'https://console.example';
const closed = new Probe();
const open = new Probe({ corsOrigins: `${CONSOLE}, https://other.example` });
afterAll(async () => {
  await closed[Symbol.asyncDispose]();
  await open[Symbol.asyncDispose]();
});

async function preflight(probe: Probe, origin: string): Promise<Headers> {
  const headers = { origin, 'access-control-request-method': 'POST' };
  return (await fetch(`${await probe.url()}/graphql`, { method: 'OPTIONS', headers })).headers;
}

/** Opens a WebSocket as a page of that origin would. @returns the status of a refusal; 101 when it was opened */
async function upgrade(probe: Probe, origin: string | undefined): Promise<number> {
  const url = `${(await probe.url()).replace('http', 'ws')}/graphql`;
  const socket = new WebSocket(url, 'graphql-transport-ws', origin === undefined ? {} : { origin });
  return new Promise((resolve) => {
    socket.once('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    socket.once('error', () => {});
  });
}

describe('a page of another origin', () => {
  it('may read nothing unless the configuration names it', async () => {
    for (const headers of [
      await preflight(closed, CONSOLE),
      (await closed.post({ query: '{ who }' }, { origin: CONSOLE })).headers,
      await preflight(open, 'https://evil.example'),
    ]) {
      expect(headers.get('access-control-allow-origin') ?? 'null').toBe('null');
    }
  });

  it('that is named may ask, without cookies', async () => {
    const { headers } = await open.post({ query: '{ who }' }, { origin: CONSOLE });
    expect(headers.get('access-control-allow-origin')).toBe(CONSOLE);
    expect(headers.get('access-control-allow-credentials')).toBeNull();
    expect(headers.get('access-control-expose-headers')).toContain('x-request-id');
    const asked = await preflight(open, CONSOLE);
    expect(asked.get('access-control-allow-origin')).toBe(CONSOLE);
    expect(asked.get('access-control-allow-headers')?.toLowerCase()).toContain('authorization');
  });

  it('opens no WebSocket unless it is named; the own origin and clients without one do', async () => {
    expect(await upgrade(closed, CONSOLE)).toBe(403);
    expect(await upgrade(open, 'https://evil.example')).toBe(403);
    expect(await upgrade(open, CONSOLE)).toBe(101);
    expect(await upgrade(closed, await closed.url())).toBe(101);
    expect(await upgrade(closed, undefined)).toBe(101);
    expect(await upgrade(closed, 'null')).toBe(403);
  });

  it('is named exactly', () => {
    for (const corsOrigins of ['console.example', `${CONSOLE}/`, 'https://*.example', 'null'])
      expect(() => createConfig({ corsOrigins })).toThrow(ConfigError);
    expect(createConfig({ corsOrigins: `${CONSOLE} , *` }).corsOrigins).toEqual([CONSOLE, '*']);
  });
});

it('every answer forbids to be framed, guessed at and kept', async () => {
  const url = await closed.url();
  for (const response of [
    await closed.post({ query: '{ who }' }),
    await fetch(`${url}/healthz`),
    await fetch(`${url}/nowhere`),
    await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } }),
  ]) {
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('x-frame-options')).toBe('DENY');
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(response.headers.get('cache-control')).toBe('no-store');
    await response.arrayBuffer();
  }
});

it('the schema may be explored where the configuration says so, whatever the environment', async () => {
  await using shown = new Probe({ environment: 'production', introspection: 'on' });
  await using hidden = new Probe({ environment: 'development', introspection: 'off' });
  const query = '{ __schema { queryType { name } } }';
  expect(await (await shown.post({ query })).json()).toHaveProperty('data.__schema');
  expect(await (await hidden.post({ query })).json()).toHaveProperty('errors.0.message');
});
