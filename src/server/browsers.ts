import type { CORSOptions } from 'graphql-yoga';
import { TENANT_HEADER } from './credentials.js';
import { REQUEST_ID_HEADER } from './request-scope.js';

/** Headers by which an answer tells of itself, for pages that may read it. */
const EXPOSED = [
  REQUEST_ID_HEADER,
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'retry-after',
];

/**
 * What pages of other origins may do: nothing, or those of the list ask over HTTP. Credentials are never sent by a
 * browser on its own, so a page without a key gets nothing either way; the list keeps one with a key where it belongs.
 */
export function corsOf(origins: readonly string[]): CORSOptions | false {
  if (origins.length === 0) return false;
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    credentials: false,
    methods: ['GET', 'POST', 'OPTIONS'],
    allowedHeaders: ['Accept', 'Authorization', 'Content-Type', TENANT_HEADER, REQUEST_ID_HEADER],
    exposedHeaders: EXPOSED,
    maxAge: 86_400,
  };
}

/** Whether a WebSocket may come from there: browsers ask nobody before they open one. Other clients name no origin. */
export function mayConnect(
  { origin, host }: { readonly origin?: string; readonly host?: string },
  origins: readonly string[],
): boolean {
  if (origin === undefined || origins.includes('*') || origins.includes(origin)) return true;
  try {
    return new URL(origin).host === host;
  } catch {
    return false;
  }
}

/** Sets what keeps browsers from doing more with an answer than showing it. */
export function harden(headers: Headers): void {
  headers.set('x-content-type-options', 'nosniff');
  headers.set('referrer-policy', 'no-referrer');
  headers.set('x-frame-options', 'DENY');
  headers.set('cross-origin-opener-policy', 'same-origin');
  const isPage = (headers.get('content-type') ?? '').startsWith('text/html');
  // The page for people runs scripts of its own; nothing else is meant to be opened.
  const policy = isPage ? "base-uri 'none'; object-src 'none'" : "default-src 'none'";
  headers.set('content-security-policy', `${policy}; frame-ancestors 'none'`);
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
}
