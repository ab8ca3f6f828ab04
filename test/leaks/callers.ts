import { randomUUID } from 'node:crypto';
import { ADMIN_KEY } from '../support/app.js';
import type { Reader } from './markers.js';

/** Who sends a request, and what it may see. */
export interface Caller extends Reader {
  readonly name: string;
  readonly key?: string;
  /** The header by which a platform administrator names a tenant. */
  readonly header?: string;
}

export const NOBODY: Caller = { name: 'nobody', role: null, tenant: null, agent: null, user: null };
/** A key in the right form that is of no tenant. */
export const STRANGER: Caller = {
  ...NOBODY,
  name: 'stranger',
  key: `sal_${randomUUID().replaceAll('-', '')}_${'A'.repeat(43)}`,
};
/** The platform's administrator outside of any tenant. */
export const PLATFORM: Caller = {
  name: 'platform',
  role: 'PLATFORM_ADMIN',
  tenant: null,
  agent: null,
  user: null,
  key: ADMIN_KEY,
};

export function toGlobalId(type: string, uuid: string): string {
  return Buffer.from(`${type}:${uuid}`).toString('base64');
}

export function uuidOf(globalId: string): string {
  return Buffer.from(globalId, 'base64').toString('utf8').split(':')[1] ?? '';
}

/** A caller as requests show it. */
export function credentialsOf(caller: Caller): { key?: string; tenant?: string } {
  return {
    ...(caller.key ? { key: caller.key } : {}),
    ...(caller.header ? { tenant: caller.header } : {}),
  };
}
