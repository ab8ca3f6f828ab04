import { type Content, contentOf } from '../content/index.js';
import type { Database, Transaction } from '../index.js';

/** What a repository works in: one tenant's short transaction, with the codec of that tenant's content. */
export interface Unit {
  readonly tx: Transaction;
  readonly tenantId: string;
  readonly content: Content;
}

/** The part of a tenant that opening a unit needs. */
export interface TenantKeys {
  readonly id: string;
  readonly hashKey: Uint8Array;
}

/** Runs `work` in one transaction as the role that sees this tenant alone (SPEC §1; row-level security applies). */
export function inTenant<T>(db: Database, tenant: TenantKeys, work: (unit: Unit) => Promise<T>): Promise<T> {
  return db.withTenant(tenant.id, (tx) =>
    work({ tx, tenantId: tenant.id, content: contentOf(tenant.hashKey) }),
  );
}

/** Reads in one transaction that sees the tenant as it was at its first statement. */
export function readInTenant<T>(
  db: Database,
  tenant: TenantKeys,
  work: (unit: Unit) => Promise<T>,
): Promise<T> {
  return db.readTenant(tenant.id, (tx) =>
    work({ tx, tenantId: tenant.id, content: contentOf(tenant.hashKey) }),
  );
}
