import { randomUUID } from 'node:crypto';
import {
  appendEvents,
  type Database,
  type EventRow,
  inTenant,
  noteAppended,
  type Unit,
} from '../../src/db/index.js';
import {
  createEventFeed,
  type EventFeed,
  type FeedEntry,
  type FeedOptions,
  type FeedTimings,
} from '../../src/events/index.js';
import { newId } from '../../src/ids.js';
import { createLogger } from '../../src/log.js';
import {
  type Actor,
  createAgent,
  createApiKey,
  createTenant,
  createUser,
  type TenantActor,
  type TenantContext,
} from '../../src/tenancy/index.js';

export const log = createLogger('silent');
export const now = () => new Date();

/** Timings at which nothing but what a test waits for happens within the test. */
export const QUIET: FeedTimings = {
  pollMs: 60_000,
  checkpointMs: 60_000,
  standingMs: 0,
  idleCheckMs: 60_000,
};

const platform: Actor = {
  kind: 'PLATFORM_ADMIN',
  id: null,
  keyId: null,
  tenant: null,
  agentId: null,
  userId: null,
};

/**
 * The database as another process has it: it hears of the events that are appended through itself alone.
 * @param openNotifications its way to other processes; that of `db` when left out
 */
export function otherProcess(
  db: Database,
  openNotifications: Database['openNotifications'] = (options) => db.openNotifications(options),
): Database {
  const listeners = new Set<Parameters<Database['onAppended']>[0]>();
  return {
    kind: db.kind,
    async withTenant(id, work) {
      const stop = db.onAppended((appended) => {
        if (appended.tenantId === id) for (const listener of listeners) listener(appended);
      });
      try {
        return await db.withTenant(id, work);
      } finally {
        stop();
      }
    },
    readTenant: (id, work) => db.readTenant(id, work),
    withPlatform: (work) => db.withPlatform(work),
    onStatement: (listener) => db.onStatement(listener),
    onTransaction: (listener) => db.onTransaction(listener),
    connections: () => db.connections(),
    onAppended(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    openNotifications,
    [Symbol.asyncDispose]: async () => {},
  };
}

/** A tenant with an agent, a user, a key for each and ways to write events. */
export class Fixture {
  private constructor(
    readonly db: Database,
    readonly tenant: TenantContext,
    readonly admin: TenantActor,
    readonly agent: TenantActor,
    readonly user: TenantActor,
  ) {}

  /** @param externalId of agent and user, which other tenants may have as well */
  static async make(db: Database, externalId = 'someone'): Promise<Fixture> {
    const deps = { db, now };
    const tenant = await createTenant(deps, platform, { slug: `t-${randomUUID()}`, name: 'Test' });
    const creator: TenantActor = { ...platform, tenant };
    const agent = await createAgent(deps, creator, { name: 'Agent', externalId });
    const user = await createUser(deps, creator, { externalId });
    const keyed = async (
      role: 'TENANT_ADMIN' | 'AGENT' | 'USER',
      agentId: string | null,
      userId: string | null,
    ): Promise<TenantActor> => {
      const { apiKey } = await createApiKey(deps, creator, { role, agentId, userId, name: role });
      return { kind: role, id: agentId ?? userId ?? apiKey.id, keyId: apiKey.id, tenant, agentId, userId };
    };
    return new Fixture(
      db,
      tenant,
      await keyed('TENANT_ADMIN', null, null),
      await keyed('AGENT', agent.id, null),
      await keyed('USER', null, user.id),
    );
  }

  get agentId(): string {
    return this.agent.agentId as string;
  }

  get userId(): string {
    return this.user.userId as string;
  }

  /** The same tenant as another process writes to it. */
  in(db: Database): Fixture {
    return new Fixture(db, this.tenant, this.admin, this.agent, this.user);
  }

  /** Appends events in one transaction. */
  async append(...events: Partial<EventRow>[]): Promise<void> {
    await inTenant(this.db, this.tenant, async (unit) => {
      const rows = events.map((event) => ({
        type: 'FACT_REMEMBERED',
        agentId: null,
        userId: null,
        subjectId: newId(),
        ...event,
      }));
      appendEvents(unit, rows, { kind: 'TENANT_ADMIN', id: this.admin.id }, now());
    });
  }
}

/** Appends changes of importance as a rescoring does: many events of one scope in one row. */
export async function appendBatch(
  unit: Unit,
  batch: {
    readonly agentId: string | null;
    readonly userId: string | null;
    readonly actor: { readonly kind: string; readonly id: string | null };
    readonly changes: readonly { factId: string; oldValue: number; newValue: number }[];
  },
): Promise<void> {
  const { tx, tenantId } = unit;
  const { agentId, userId, actor, changes } = batch;
  await tx.$executeRaw`
    WITH stream AS (
      UPDATE tenant_stream SET head = head + ${changes.length}::int8
      WHERE tenant_id = ${tenantId}::uuid RETURNING head
    )
    INSERT INTO event_batch (tenant_id, first_seq, last_seq, type, agent_id, user_id, cause, actor_kind, actor_id,
                             occurred_at, fact_ids, old_values, new_values)
    SELECT ${tenantId}::uuid, s.head - ${changes.length}::int8 + 1, s.head, 'IMPORTANCE_CHANGED', ${agentId}::uuid,
           ${userId}::uuid, 'RESCORE', ${actor.kind}::text, ${actor.id}::uuid, ${now()}::timestamptz,
           ${changes.map(({ factId }) => factId)}::uuid[], ${changes.map(({ oldValue }) => oldValue)}::float8[],
           ${changes.map(({ newValue }) => newValue)}::float8[]
    FROM stream s`;
  noteAppended(unit);
}

/** Opens a feed that the test closes with `await using`. */
export function feedOf(db: Database, options: Partial<FeedOptions> = {}): EventFeed {
  return createEventFeed({ db, log, now }, { ...QUIET, ...options });
}

/** The next `count` entries. */
export async function take(
  entries: AsyncGenerator<FeedEntry, undefined, undefined>,
  count: number,
): Promise<FeedEntry[]> {
  const taken: FeedEntry[] = [];
  while (taken.length < count) {
    const next = await entries.next();
    if (next.done) throw new Error(`the feed ended after ${taken.length} entries`);
    taken.push(next.value);
  }
  return taken;
}

/** The subjects of the events among the entries: tests tell events apart by them. */
export function subjectsOf(entries: readonly FeedEntry[]): (string | null)[] {
  return entries.flatMap((entry) => (entry.kind === 'event' ? [entry.event.subjectId] : []));
}
