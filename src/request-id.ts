import { AsyncLocalStorage } from 'node:async_hooks';

const ids = new AsyncLocalStorage<string>();

/** Runs `work` as part of a request; what it logs and writes to an audit log can be found by the request's id. */
export function withRequestId<T>(id: string, work: () => T): T {
  return ids.run(id, work);
}

/** The id of the request that is being worked on, if any. */
export function currentRequestId(): string | undefined {
  return ids.getStore();
}
