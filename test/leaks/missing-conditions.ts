import { describe, expect, it } from 'vitest';
import {
  agentsByIds,
  apiKeysByIds,
  contentOf,
  entitiesOfFacts,
  factHistories,
  factsByIds,
  listAgents,
  listRuns,
  liveFactsOf,
  lockSession,
  messagesByIds,
  Prisma,
  profilesByIds,
  runsByIds,
  runsOfSessions,
  sessionsByIds,
  type Transaction,
  type Unit,
  usersByIds,
} from '../../src/db/index.js';
import { isPostgres } from '../support/database.js';
import { rowsOf } from './ask.js';
import type { Caller } from './callers.js';
import type { World } from './owners.js';

// Without its condition a list shows rows of all test files' tenants: the page must hold them all.
const ALL = 1_000_000;
const PAGE = { limit: ALL, after: null, before: null, backward: false };

/** Reads of the repositories, each asked for rows of tenant b. */
const READS: Record<string, (unit: Unit, ids: (type: string) => string[]) => Promise<unknown>> = {
  agentsByIds: (unit, ids) => agentsByIds(unit, ids('Agent')),
  apiKeysByIds: (unit, ids) => apiKeysByIds(unit, ids('ApiKey')),
  entitiesOfFacts: (unit, ids) => entitiesOfFacts(unit, ids('Fact')),
  factHistories: (unit, ids) => factHistories(unit, ids('Fact')),
  factsByIds: (unit, ids) => factsByIds(unit, ids('Fact')),
  listAgents: (unit) => listAgents(unit, PAGE, null),
  listRuns: (unit) => listRuns(unit, PAGE, {}, null),
  liveFactsOf: (unit) => liveFactsOf(unit, { agentId: null, userId: null }, 'CONVENTION', new Date()),
  lockSession: (unit, ids) => lockSession(unit, ids('Session')[0] ?? '', {}),
  messagesByIds: (unit, ids) => messagesByIds(unit, ids('Message')),
  profilesByIds: (unit, ids) => profilesByIds(unit, ids('SalienceProfile')),
  runsByIds: (unit, ids) => runsByIds(unit, ids('Extraction')),
  runsOfSessions: (unit, ids) => runsOfSessions(unit, ids('Session'), PAGE, null),
  sessionsByIds: (unit, ids) => sessionsByIds(unit, ids('Session')),
  usersByIds: (unit, ids) => usersByIds(unit, ids('User')),
};

/** Tests of the repositories: were a condition on the tenant forgotten, the database would still keep tenants apart. */
export function testMissingConditions(world: () => World): void {
  /** Runs a read in tenant a with its conditions on the tenant taken out. @returns what of tenant b it found */
  async function foundOfB(name: string, role: 'salient_app' | 'owner'): Promise<number> {
    const admin = world().b.callers['admin'] as Caller;
    const ids = (type: string) => rowsOf(world(), world().b, admin, type).map((row) => row.uuid);
    const { db } = world().test.app.services;
    return db.withTenant(world().a.id, async (tx) => {
      // As who owns the tables the same statements show what they would without row-level security.
      if (role === 'owner') await tx.$executeRawUnsafe('SET LOCAL ROLE NONE');
      const removed = { conditions: 0 };
      const unit: Unit = {
        tx: withoutTenantConditions(tx, removed),
        tenantId: world().a.id,
        content: contentOf(new Uint8Array(32)),
      };
      const found = await READS[name]?.(unit, ids);
      expect(removed.conditions, `conditions that were taken out of ${name}`).toBeGreaterThan(0);
      const text = JSON.stringify(found, (_key, value) =>
        value instanceof Map ? [...value] : typeof value === 'bigint' ? String(value) : value,
      );
      const ofB = new Set(
        world()
          .rows.filter((row) => row.owner.tenant === 'b')
          .map((row) => row.uuid),
      );
      return [...text.matchAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g)].filter(([uuid]) => ofB.has(uuid)).length;
    });
  }

  describe('a repository that forgets its condition on the tenant', () => {
    it.for(Object.keys(READS))('%s still finds nothing of another one', async (name) => {
      // On a server the owner is no superuser: row-level security, forced, keeps tenants apart for it as well.
      if (!isPostgres) expect(await foundOfB(name, 'owner')).toBeGreaterThan(0);
      expect(await foundOfB(name, 'salient_app')).toBe(0);
    });
  });
}

/** A transaction whose statements have lost `tenant_id = …`, and its model queries `tenantId`. */
function withoutTenantConditions(tx: Transaction, removed: { conditions: number }): Transaction {
  return new Proxy(tx, {
    get(target, property, receiver) {
      const value = Reflect.get(target, property, receiver) as unknown;
      if (property === '$queryRaw') {
        return (strings: TemplateStringsArray, ...values: unknown[]) => {
          const statement = Prisma.sql(strings, ...(values as never[]));
          const text = statement.text.replace(
            /(?:\w+\.)?tenant_id = (\$\d+)::uuid/g,
            (_whole, place: string) => {
              removed.conditions++;
              return `${place}::uuid IS NOT NULL`;
            },
          );
          return target.$queryRawUnsafe(text, ...statement.values);
        };
      }
      return typeof value === 'object' && value !== null && 'findMany' in value
        ? withoutTenantId(value, removed)
        : value;
    },
  });
}

function withoutTenantId<T extends object>(model: T, removed: { conditions: number }): T {
  return new Proxy(model, {
    get(target, property, receiver) {
      const method = Reflect.get(target, property, receiver) as unknown;
      if (typeof method !== 'function') return method;
      return (args: { where?: Record<string, unknown> } = {}) => {
        const { tenantId, ...where } = args.where ?? {};
        if (tenantId !== undefined) removed.conditions++;
        return method.call(target, { ...args, where }) as unknown;
      };
    },
  });
}
