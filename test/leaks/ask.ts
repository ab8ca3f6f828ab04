import { newId } from '../../src/ids.js';
import { type Caller, credentialsOf, toGlobalId } from './callers.js';
import { describeOwner, maySee } from './markers.js';
import type { LeakTenant, World } from './owners.js';
import type { OwnedRow } from './rows.js';
import type { ValueSource } from './values.js';

/** What came back, as it came. */
export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly data: Record<string, unknown> | null | undefined;
  /** Codes of the errors at the top of the answer. */
  readonly codes: readonly string[];
}

export interface Sent {
  readonly document: string;
  readonly variables: Record<string, unknown>;
}

/** Requests that were sent by this test file, by what for. */
export const counted = { requests: 0 };

/** Sends an operation over POST. */
export async function post(world: World, caller: Caller, { document, variables }: Sent): Promise<Reply> {
  counted.requests++;
  const response = await world.test.app.fetch(
    new Request('http://salient/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headersOf(caller) },
      body: JSON.stringify({ query: document, variables }),
    }),
  );
  return replyOf(response.status, await response.text());
}

export function headersOf(caller: Caller): Record<string, string> {
  const { key, tenant } = credentialsOf(caller);
  return {
    ...(key ? { authorization: `Bearer ${key}` } : {}),
    ...(tenant ? { 'x-salient-tenant': tenant } : {}),
  };
}

export function replyOf(status: number, text: string): Reply {
  const answer = JSON.parse(text) as {
    data?: Record<string, unknown> | null;
    errors?: readonly { extensions?: { code?: string } }[];
  };
  const codes = (answer.errors ?? []).map((error) => error.extensions?.code ?? 'NONE');
  return { status, text, data: answer.data, codes };
}

/** Rows of a type that a caller may see (or, `foreign`, may not) in its own tenant, the newest first. */
export function rowsOf(
  world: World,
  tenant: LeakTenant,
  caller: Caller,
  nodeType: string,
  foreign = false,
): OwnedRow[] {
  return world.rows
    .filter(
      (row) =>
        row.nodeType === nodeType &&
        row.owner.tenant === tenant.local &&
        maySee(caller, row.owner) !== foreign,
    )
    .sort((one, other) => rank(caller, other) - rank(caller, one) || (one.uuid < other.uuid ? 1 : -1));
}

/** What is the caller's own comes before what it shares. */
function rank(caller: Caller, { owner }: OwnedRow): number {
  return Number(owner.agent === caller.agent) + Number(owner.user === caller.user);
}

/** One row of each owner. */
export function onePerOwner(rows: readonly OwnedRow[], most: number): OwnedRow[] {
  const byOwner = new Map(rows.map((row) => [describeOwner(row.owner), row]));
  return [...byOwner.values()].slice(0, most);
}

/** Arguments as a caller of a tenant would give them: ids that it may use, texts of its own. */
export function sourceOf(world: World, tenant: LeakTenant, caller: Caller): ValueSource {
  return {
    id: (nodeType) => toGlobalId(nodeType, rowsOf(world, tenant, caller, nodeType)[0]?.uuid ?? newId()),
    word: () => {
      // The platform names tenants.
      const kind = caller.role === 'PLATFORM_ADMIN' ? 'TENANT' : 'MEMORY';
      return world.markers.word({ tenant: tenant.local, kind, agent: caller.agent, user: caller.user });
    },
    prefers: caller.role === 'AGENT' ? ['agentId'] : caller.role === 'USER' ? ['userId'] : [],
  };
}
