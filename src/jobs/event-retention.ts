import { type IdPage, listTenants } from '../db/index.js';
import { DEFAULT_KEPT_DAYS, pruneEventLog } from '../events/index.js';
import { pruneRecallReceipts } from '../recall/index.js';
import type { Services } from '../services.js';
import { receiptDays, toTenantContext } from '../tenancy/index.js';

/** How often old events and receipts are dropped; several processes may do so at once. */
const INTERVAL_MS = 60 * 60 * 1_000;
const TENANTS_AT_A_TIME = 100;

type Deps = Pick<Services, 'db' | 'log' | 'now'>;

/** Drops the events and the receipts of recalls of all tenants that are older than is kept (SPEC §8, §11), every hour until it is disposed. */
export function startEventRetention(deps: Deps): AsyncDisposable {
  const stop = new AbortController();
  let running = Promise.resolve();
  const timer = setInterval(() => {
    running = pruneAll(deps, stop.signal).catch((error: { code?: string }) => {
      if (!stop.signal.aborted)
        deps.log.error({ code: error.code }, 'dropping old events and receipts failed');
    });
  }, INTERVAL_MS);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      stop.abort();
      await running;
    },
  };
}

/** One round over all tenants. */
export async function pruneAll(deps: Deps, signal: AbortSignal): Promise<void> {
  let after: string | null = null;
  do {
    const page: IdPage = { limit: TENANTS_AT_A_TIME, after, before: null, backward: false };
    const tenants = (await deps.db.withPlatform((tx) => listTenants(tx, page))).slice(0, TENANTS_AT_A_TIME);
    for (const tenant of tenants) {
      if (signal.aborted) return;
      const { settings } = toTenantContext(tenant);
      await pruneEventLog(deps, tenant, settings.retention?.eventDays ?? DEFAULT_KEPT_DAYS);
      await pruneRecallReceipts(deps, tenant, receiptDays(settings));
    }
    after = tenants.length === TENANTS_AT_A_TIME ? (tenants.at(-1)?.id ?? null) : null;
  } while (after !== null);
}
