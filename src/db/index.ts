export * from './content/index.js';
export {
  type Database,
  MAX_RETRIES,
  type StatementEvent,
  TRANSACTION_MAX_WAIT_MS,
  TRANSACTION_TIMEOUT_MS,
  type Transaction,
  type TransactionKind,
} from './database.js';
export {
  constraintName,
  DatabaseAheadError,
  DatabaseClosedError,
  DatabaseError,
  type DatabaseErrorCode,
  DatabaseUnreachableError,
  DataDirectoryInUseError,
  DataDirectoryUnusableError,
  EmbeddingDimensionsError,
  MigrationEditedError,
  MigrationFailedError,
  NestedTransactionError,
  PgvectorMissingError,
  PostgresTooOldError,
  sqlState,
  TransactionAbortedError,
} from './errors.js';
export { Prisma } from './generated/client.js';
export type { DatabaseLog, LogLevel } from './log.js';
export {
  type NotificationOptions,
  type Notifications,
  type NotificationTimings,
  TENANTS_PER_MESSAGE,
} from './notifications.js';
export { type DatabaseOptions, DEFAULT_POOL_SIZE, migrateDatabase, openDatabase } from './open.js';
export * from './repositories/index.js';
export { STATEMENT_TIMEOUT_MS } from './transaction-scope.js';
