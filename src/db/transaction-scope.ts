import { AsyncLocalStorage } from 'node:async_hooks';
import { isUuid } from '../ids.js';
import { DatabaseError, NestedTransactionError } from './errors.js';
import type { AppendedEvents } from './repositories/event-log.js';

/** No statement of a request or a job's step takes longer; PostgreSQL cancels it (SQLSTATE 57014). */
export const STATEMENT_TIMEOUT_MS = 30_000;
/** A transaction whose process hangs between two statements loses its connection, and so its locks. */
export const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;

/** A statement that goes with the COMMIT, as text without parameters, and who hears what it returned. */
export interface ClosingStatement {
  readonly sql: string;
  /** Called once everything is saved. */
  readonly saved: (rows: readonly Record<string, unknown>[]) => void;
}

/** The two roles that statements run as; the migrations make them and grant them their tables. */
export type DatabaseRole = 'salient_app' | 'salient_platform';

/**
 * One transaction, from before its BEGIN until its end: who it acts for, and whether one of its statements failed. It
 * follows the asynchronous calls of `withTenant`, so the connection that Prisma picks finds it.
 */
export class TransactionScope {
  /** The first statement that failed and was not undone by a savepoint; PostgreSQL then refuses to commit. */
  failure: unknown;
  /** Whether it ever got a connection. */
  connected = false;
  /** The connection broke: whether a COMMIT under way took effect is then unknown. */
  connectionLost = false;
  /** False from the end on, so that work started inside and still running may open transactions of its own. */
  active = true;
  /**
   * What is sent in one message with the COMMIT, in this order. Nobody waits between the two, so a lock that such a
   * statement takes is held for the commit alone, and it costs no trip to the server.
   */
  readonly closing: ClosingStatement[] = [];
  /** How many closing statements there were at each open savepoint. */
  readonly savepoints: number[] = [];
  /** The events that were saved by it; empty before its end. */
  readonly appended: AppendedEvents[] = [];

  private constructor(
    readonly role: DatabaseRole,
    readonly tenantId: string | undefined,
    private readonly snapshot: boolean,
  ) {}

  /** @param snapshot whether all its statements see the tenant as it was at the first one, and none may write */
  static tenant(tenantId: string, snapshot = false): TransactionScope {
    // It becomes part of a statement: SET takes no parameters.
    if (!isUuid(tenantId)) throw new TypeError('withTenant needs the UUID of a tenant');
    return new TransactionScope('salient_app', tenantId, snapshot);
  }

  static platform(): TransactionScope {
    return new TransactionScope('salient_platform', undefined, false);
  }

  /**
   * BEGIN with everything that the transaction needs, as one message. All settings are local to the transaction:
   * nothing is left on the connection, so a pooler in transaction mode may stand between.
   *
   * plan_cache_mode stays as it is: the driver names no statement, so each of ours is planned for its own values
   * anyway, while force_custom_plan would plan the check of every foreign key anew, fifteen times what the check takes.
   */
  begin(): string {
    return [
      this.snapshot ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN',
      // A superuser bypasses row-level security even when forced; this role does not.
      `SET LOCAL ROLE ${this.role}`,
      `SET LOCAL app.tenant = '${this.tenantId ?? ''}'`,
      // The driver sends and reads times without their zone.
      `SET LOCAL timezone = 'UTC'`,
      `SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}`,
      `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_TIMEOUT_MS}`,
      // Compiling a long statement, such as one that scores facts, took 12 s where running it takes 0.1 s.
      'SET LOCAL jit = off',
    ].join('; ');
  }
}

const scopes = new AsyncLocalStorage<TransactionScope>();

/** The transaction that the calling code runs in, if any. */
export function currentScope(): TransactionScope | undefined {
  const scope = scopes.getStore();
  return scope?.active ? scope : undefined;
}

/** Runs `work` inside `scope`. @throws NestedTransactionError when called inside another one */
export async function runInScope<T>(scope: TransactionScope, work: () => Promise<T>): Promise<T> {
  if (currentScope() !== undefined) throw new NestedTransactionError();
  try {
    return await scopes.run(scope, work);
  } finally {
    scope.active = false;
  }
}

/** The scope that a BEGIN belongs to. Without one, somebody used the client outside of withTenant and withPlatform. */
export function requireScope(): TransactionScope {
  const scope = currentScope();
  if (scope === undefined) {
    throw new DatabaseError('NESTED_TRANSACTION', 'Statements run only inside withTenant or withPlatform.');
  }
  return scope;
}
