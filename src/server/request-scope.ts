import { AsyncLocalStorage } from 'node:async_hooks';
import { newId } from '../ids.js';
import { withRequestId } from '../request-id.js';
import type { OperationRecord } from './operation-record.js';
import type { Outlet } from './outlet.js';

export { currentRequestId } from '../request-id.js';

/** What is known of the request that the calling code works for. */
export interface RequestScope {
  readonly id: string;
  /** The connection that its answer goes out by; absent for a request in process. */
  readonly outlet?: Outlet;
  /** Whether that is a WebSocket, which has many requests. */
  readonly socket?: boolean;
  /** What becomes of its operation. */
  readonly record: OperationRecord;
}

const scopes = new AsyncLocalStorage<RequestScope>();

/** Runs `work` as part of a request; whatever it logs can be found by the request's id. */
export function inRequest<T>(scope: RequestScope, work: () => T): T {
  return withRequestId(scope.id, () => scopes.run(scope, work));
}

/** What is known of the request that is being worked on, if any. */
export function currentScope(): RequestScope | undefined {
  return scopes.getStore();
}

/** The header by which a caller may name its request, and by which the answer names it. */
export const REQUEST_ID_HEADER = 'x-request-id';

/** The caller's name for the request where it is harmless (1 to 100 of `A-Z a-z 0-9 . _ : -`), else a new one. */
export function requestIdOf(given: string | null | undefined): string {
  return given && /^[\w.:-]{1,100}$/.test(given) ? given : newId();
}
