/** What can go wrong between Salient and its database. Operators see these; their messages hold no content. */
export type DatabaseErrorCode =
  | 'DATA_DIRECTORY_IN_USE'
  | 'DATA_DIRECTORY_UNUSABLE'
  | 'DATABASE_AHEAD'
  | 'MIGRATION_EDITED'
  | 'MIGRATION_FAILED'
  | 'DATABASE_UNREACHABLE'
  | 'POSTGRES_TOO_OLD'
  | 'PGVECTOR_MISSING'
  | 'EMBEDDING_DIMENSIONS'
  | 'NESTED_TRANSACTION'
  | 'TRANSACTION_ABORTED'
  | 'DATABASE_CLOSED';

/** A fault of the database as a whole, as opposed to one statement's error (those keep Prisma's classes). */
export class DatabaseError extends Error {
  readonly retryable: boolean = false;

  constructor(
    readonly code: DatabaseErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Another process has the data directory open; two on one directory would destroy it. */
export class DataDirectoryInUseError extends DatabaseError {
  constructor(readonly directory: string) {
    super(
      'DATA_DIRECTORY_IN_USE',
      `The data directory ${directory} is in use by another Salient process. Stop that process, or choose another directory with SALIENT_DATA_DIR.`,
    );
  }
}

/** The data directory cannot be created, written or opened. */
export class DataDirectoryUnusableError extends DatabaseError {
  constructor(
    readonly directory: string,
    reason: string,
    options?: ErrorOptions,
  ) {
    super('DATA_DIRECTORY_UNUSABLE', `The data directory ${directory} cannot be used: ${reason}`, options);
  }
}

/** The database was migrated by a newer Salient than this one. */
export class DatabaseAheadError extends DatabaseError {
  constructor(readonly migrations: readonly string[]) {
    super(
      'DATABASE_AHEAD',
      `The database has migrations that this version of Salient does not know: ${migrations.join(', ')}. Run the version that made them, or a newer one.`,
    );
  }
}

/** A migration's text is not the one that this database was made with, so its tables are not those that the code expects. */
export class MigrationEditedError extends DatabaseError {
  constructor(readonly migrations: readonly string[]) {
    super(
      'MIGRATION_EDITED',
      `The database was made by another text of ${migrations.join(', ')}: by a development version of Salient, or an edited one. Run the version that made it, or begin with an empty database.`,
    );
  }
}

/** A migration did not apply, now or at an earlier attempt that left its record in `_prisma_migrations`. */
export class MigrationFailedError extends DatabaseError {
  constructor(
    readonly migration: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super('MIGRATION_FAILED', message, options);
  }
}

/** No server answers at the configured address, or it refuses the credentials. Never names the password. */
export class DatabaseUnreachableError extends DatabaseError {
  override readonly retryable = true;

  constructor(address: string, reason: string) {
    super('DATABASE_UNREACHABLE', `The database at ${address} cannot be reached: ${reason}`);
  }
}

/** The server is older than PostgreSQL 15 (which NULLS NOT DISTINCT needs). */
export class PostgresTooOldError extends DatabaseError {
  constructor(version: string) {
    super('POSTGRES_TOO_OLD', `Salient needs PostgreSQL 15 or newer; the server is ${version}.`);
  }
}

/** The server has no pgvector, or one from before `halfvec`. */
export class PgvectorMissingError extends DatabaseError {
  constructor(found: string | null) {
    super(
      'PGVECTOR_MISSING',
      found === null
        ? 'The PostgreSQL server has no pgvector extension. Install pgvector 0.7 or newer (the image pgvector/pgvector has it).'
        : `Salient needs pgvector 0.7 or newer; the server offers ${found}.`,
    );
  }
}

/** An embedding model is known with vectors of another length: one name means two models. */
export class EmbeddingDimensionsError extends DatabaseError {
  constructor(model: string, known: number, given: number) {
    super(
      'EMBEDDING_DIMENSIONS',
      `The database holds vectors of the embedding model ${model} with ${known} dimensions; the one configured has ${given}. Vectors of different models cannot be compared: give the other model another name.`,
    );
  }
}

/**
 * The database was used inside one of its own transactions other than through `tx`. With one connection (embedded)
 * that would wait for itself until the time-out, so it fails at once.
 */
export class NestedTransactionError extends DatabaseError {
  constructor() {
    super(
      'NESTED_TRANSACTION',
      'withTenant and withPlatform may not be called inside a transaction: use its tx, or call after it has ended.',
    );
  }
}

/** A statement failed and the work went on and returned: PostgreSQL has undone all of it. `cause` is the failure. */
export class TransactionAbortedError extends DatabaseError {
  constructor(cause: unknown) {
    super(
      'TRANSACTION_ABORTED',
      'A statement failed inside the transaction, so nothing of it was saved, although the work returned normally.',
      { cause },
    );
  }
}

/** The database was closed before or while this was asked of it. */
export class DatabaseClosedError extends DatabaseError {
  constructor() {
    super('DATABASE_CLOSED', 'The database is closed.');
  }
}

interface DriverCause {
  readonly originalCode?: unknown;
  readonly code?: unknown;
  readonly constraint?: { readonly index?: unknown };
}

/** Where Prisma puts the driver's error: raw statements and model calls agree on `meta.driverAdapterError.cause`. */
function driverCause(error: unknown): DriverCause | undefined {
  const candidate = error as {
    readonly meta?: { readonly driverAdapterError?: { readonly cause?: DriverCause } };
    readonly cause?: unknown;
  } | null;
  const inMeta = candidate?.meta?.driverAdapterError?.cause;
  if (inMeta !== undefined) return inMeta;
  const cause = candidate?.cause;
  return typeof cause === 'object' && cause !== null ? (cause as DriverCause) : undefined;
}

const SQLSTATE = /^[0-9A-Z]{5}$/;

/**
 * The SQLSTATE of the statement that failed (`'23505'` for a unique key, `'40001'` for a serialization failure), from
 * a Prisma error, a driver's error or a {@link TransactionAbortedError}; undefined for any other error.
 */
export function sqlState(error: unknown): string | undefined {
  const cause = driverCause(error);
  for (const code of [cause?.originalCode, cause?.code, (error as { code?: unknown } | null)?.code]) {
    if (typeof code === 'string' && SQLSTATE.test(code) && !isPrismaCode(code)) return code;
  }
  return undefined;
}

/** Prisma's own codes (P2002, P2010 …) have the shape of a SQLSTATE of class P2, which PostgreSQL does not use. */
function isPrismaCode(code: string): boolean {
  return /^P[1-9]\d{3}$/.test(code);
}

/** The name of the unique key or constraint that a statement violated, where PostgreSQL told it. */
export function constraintName(error: unknown): string | undefined {
  const index = driverCause(error)?.constraint?.index;
  if (typeof index === 'string') return index;
  const native = (error as { constraint?: unknown } | null)?.constraint;
  return typeof native === 'string' ? native : undefined;
}
