import type pg from 'pg';
import { vi } from 'vitest';
import { type TenantContext, toTenantContext } from '../../src/tenancy/index.js';
import { type Caller, uuidOf } from '../facts/support.js';
import type { TestTenant } from '../support/app.js';

/** A tenant as services know it. */
export async function contextOf(owner: pg.Client, tenant: TestTenant): Promise<TenantContext> {
  const { rows } = await owner.query(
    `SELECT id, slug, name, settings, override_policy AS "overridePolicy", version, stale_below AS "staleBelow",
       created_at AS "createdAt", updated_at AS "updatedAt", hash_key AS "hashKey" FROM tenant WHERE id = $1`,
    [uuidOf(tenant.id)],
  );
  return toTenantContext(rows[0]);
}

/** What consoles see of a job. */
export interface JobView {
  readonly id: string;
  readonly status: string;
  readonly strategy: string;
  readonly scope: { agent: { id: string } | null; user: { id: string } | null }[] | null;
  readonly total: number | null;
  readonly processed: number;
  readonly changed: number;
  readonly failed: number;
  readonly requestedAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly error: string | null;
}

export const JOB = `id status strategy scope { agent { id } user { id } } total processed changed failed requestedAt
  startedAt finishedAt error`;

export interface JobPayload {
  readonly job: JobView | null;
  readonly errors: { code: string; message: string; path: string[] }[];
}

export async function startRescore(
  caller: Caller,
  input: { agentId?: string; userId?: string } = {},
): Promise<JobPayload> {
  const { startRescore } = await caller.query<{ startRescore: JobPayload }>(
    `mutation ($input: StartRescoreInput!) { startRescore(input: $input) {
       job { ${JOB} } errors { code message path } } }`,
    { input },
  );
  return startRescore;
}

export async function cancelRescore(caller: Caller, id: string): Promise<JobPayload> {
  const { cancelRescore } = await caller.query<{ cancelRescore: JobPayload }>(
    `mutation ($input: CancelRescoreInput!) { cancelRescore(input: $input) {
       job { ${JOB} } errors { code message path } } }`,
    { input: { id } },
  );
  return cancelRescore;
}

export async function findJob(caller: Caller, id: string): Promise<JobView | null> {
  const { node } = await caller.query<{ node: JobView | null }>(
    `query ($id: ID!) { node(id: $id) { ... on RescoreJob { ${JOB} } } }`,
    { id },
  );
  return node;
}

/** All rescorings of the tenant, in the order of their requests. */
export async function listJobs(caller: Caller): Promise<JobView[]> {
  const { rescoreJobs } = await caller.query<{ rescoreJobs: { edges: { node: JobView }[] } }>(
    `query { rescoreJobs(first: 50) { edges { node { ${JOB} } } } }`,
  );
  return rescoreJobs.edges.map(({ node }) => node);
}

/** The job once it is over. */
export async function ended(caller: Caller, id: string): Promise<JobView> {
  return vi.waitUntil(
    async () => {
      const job = await findJob(caller, id);
      return job && /SUCCEEDED|FAILED|CANCELLED/.test(job.status) ? job : false;
    },
    { timeout: 60_000, interval: 30 },
  );
}

/** A change of importance as the API tells it. */
export interface ChangeView {
  readonly cursor: string;
  readonly factId: string;
  readonly cause: string;
  readonly old: number | null;
  readonly new: number;
}

/** All changes of importance in the log behind a cursor. */
export async function changes(
  caller: Caller,
  after: string = 'earliest',
  first = 500,
): Promise<{ changes: ChangeView[]; cursor: string }> {
  const found: ChangeView[] = [];
  let cursor = after;
  for (;;) {
    const { eventLog } = await caller.query<{
      eventLog: { items: (ChangeView & { __typename: string })[]; endCursor: string; hasMore: boolean };
    }>(
      `query ($after: String, $first: Int) { eventLog(after: $after, first: $first) {
         items { __typename cursor ... on ImportanceChange { factId cause old new } } endCursor hasMore } }`,
      { after: cursor, first },
    );
    for (const { __typename, ...item } of eventLog.items)
      if (__typename === 'ImportanceChange') found.push(item);
    cursor = eventLog.endCursor;
    if (!eventLog.hasMore) return { changes: found, cursor };
  }
}
