/**
 * Every code by which Salient names what went wrong: the one table that `ErrorCode` and docs/errors.md are made from. A
 * code is for good; its message may change.
 */
export interface ErrorEntry {
  /** What it means, and what to do. One line. */
  readonly meaning: string;
  /** Whether the same may succeed when it is tried again unchanged. */
  readonly retryable: boolean;
  /** HTTP status where it concerns the whole request; 200 where one field alone has failed. */
  readonly status?: number;
  /**
   * `payload`: among the `errors` of a mutation's payload, and of single fields. `answer`: among the `errors` at the top
   * of the answer, also of mutations.
   */
  readonly where: 'payload' | 'answer';
}

/** Codes of errors that callers of the API get. Those of payloads stand at the top for queries. */
export const API_ERRORS = {
  AMBIGUOUS_MATCH: {
    meaning: 'A text or a short id fits more than one fact; nothing was changed. Use the id.',
    retryable: false,
    where: 'payload',
  },
  BAD_INPUT: {
    meaning: 'An argument, variable or body is malformed or out of its range; the message names it.',
    retryable: false,
    status: 400,
    where: 'payload',
  },
  BUDGET_EXCEEDED: {
    meaning: 'A budget in characters has no room for the text (SPEC §2.5).',
    retryable: false,
    where: 'payload',
  },
  CONFLICT: {
    meaning: 'The row changed since it was read, or a name that must be unique is taken. Read again.',
    retryable: false,
    where: 'payload',
  },
  CONTENT_REFUSED: {
    meaning: 'The text may not be stored; `category` says why (SPEC §2.5).',
    retryable: false,
    where: 'payload',
  },
  CURSOR_EXPIRED: {
    meaning:
      'What follows the cursor is no longer kept. Subscribe without `after`, then read the current state.',
    retryable: false,
    where: 'answer',
  },
  FORBIDDEN: {
    meaning: "The caller is known, and its role may not do this, or it names another's id as its own.",
    retryable: false,
    status: 403,
    where: 'answer',
  },
  GRAPHQL_PARSE_FAILED: {
    meaning: 'The document is no GraphQL.',
    retryable: false,
    status: 400,
    where: 'answer',
  },
  GRAPHQL_VALIDATION_FAILED: {
    meaning: 'The document does not fit the schema.',
    retryable: false,
    status: 400,
    where: 'answer',
  },
  INTERNAL: {
    meaning: 'A fault of Salient. `id` finds it in the log.',
    retryable: false,
    status: 500,
    where: 'answer',
  },
  LIMIT_EXCEEDED: {
    meaning: 'The request is larger, deeper or dearer than any may be; the message names the limit.',
    retryable: false,
    status: 400,
    where: 'answer',
  },
  NOT_FOUND: {
    meaning: "Nothing that the caller may see has this id. Another tenant's id answers like a missing one.",
    retryable: false,
    status: 404,
    where: 'payload',
  },
  OPERATION_RESOLUTION_FAILURE: {
    meaning: 'The document has several operations, or none of the name asked for.',
    retryable: false,
    status: 400,
    where: 'answer',
  },
  PERSISTED_DOCUMENT_NOT_FOUND: {
    meaning: 'The server has no document of this id.',
    retryable: false,
    status: 400,
    where: 'answer',
  },
  PERSISTED_DOCUMENT_REQUIRED: {
    meaning: 'This server runs documents that it has, and no others: send `documentId`.',
    retryable: false,
    status: 400,
    where: 'answer',
  },
  QUOTA_EXCEEDED: {
    meaning: 'The tenant has as many agents, users, facts or messages as the platform lets it have.',
    retryable: false,
    where: 'payload',
  },
  RATE_LIMITED: {
    meaning:
      'The tenant or the key has spent its points. `retryAfter` says in how many seconds to try again.',
    retryable: true,
    status: 429,
    where: 'answer',
  },
  SUBSCRIPTION_LAGGED: {
    meaning: 'The subscription was read too slowly and has ended. Subscribe again, after `cursor`.',
    retryable: false,
    where: 'answer',
  },
  UNAUTHENTICATED: {
    meaning: 'No credentials, or such as are unknown, expired or revoked.',
    retryable: false,
    status: 401,
    where: 'answer',
  },
  UNAVAILABLE: {
    meaning: 'Something that Salient depends on did not answer in time, or the server is closing.',
    retryable: true,
    status: 503,
    where: 'answer',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ApiErrorCode = keyof typeof API_ERRORS;

/** Codes that an operator meets: in logs, on `extractionRuns` and jobs, and when a command ends. */
export const OPERATOR_ERRORS = {
  BAD_CONFIG: 'A setting is missing or wrong; the message names the variable.',
  BAD_FILE: 'A file that a command was given cannot be read or is not of the format; the message says where.',
  DATABASE_AHEAD: 'The database was migrated by a newer Salient.',
  DATABASE_CLOSED: 'The database was used while or after the process closed it.',
  DATABASE_UNREACHABLE: 'No PostgreSQL answers at `DATABASE_URL`, or it refuses the credentials. May pass.',
  DATA_DIRECTORY_IN_USE: 'Another process has the directory of the embedded database open.',
  DATA_DIRECTORY_UNUSABLE: 'The directory of the embedded database cannot be made, written or opened.',
  EMBEDDING_DIMENSIONS:
    'The embedding model gives vectors of another length than those stored under its name.',
  ENCODER_CLOSED: 'A text was to be embedded while the process closed.',
  ENCODER_FAILED: 'The encoder stopped before it answered. It starts again by itself.',
  ENCODER_REFUSED: 'The encoder cannot encode this text; it is kept without a vector.',
  EXTRACTOR_DECLINED: 'The language model declined to answer.',
  EXTRACTOR_NOT_FOUND: 'The endpoint knows no such model, or has no such path.',
  EXTRACTOR_REJECTED: 'The endpoint does not take the request.',
  EXTRACTOR_TRUNCATED: "The language model's answer broke off.",
  EXTRACTOR_UNAUTHORIZED: 'The endpoint refuses the key.',
  EXTRACTOR_UNAVAILABLE: 'The endpoint gave no answer after all retries. Tried again by itself.',
  EXTRACTOR_UNPARSEABLE: 'The language model answered something else than what was asked for.',
  INTERNAL: 'A fault of Salient; the log has its class and stack.',
  INVALID_SALIENCE_INPUT: 'A fault of Salient: a number handed to the scoring functions is out of range.',
  MIGRATION_EDITED: "A migration's text is not the one that this database was made with.",
  MIGRATION_FAILED: 'A migration did not apply.',
  NESTED_TRANSACTION: 'A fault of Salient: the database was used outside of, or twice within, a transaction.',
  PGVECTOR_MISSING: 'The server has no pgvector, or one that is too old.',
  POSTGRES_TOO_OLD: 'The server is older than PostgreSQL 15.',
  REFUSED: 'The server refused what a command asked of it; the message says why.',
  SESSION_GONE: 'The session of an extraction was removed before it was mined.',
  TRANSACTION_ABORTED: 'A fault of Salient: a statement failed, and the transaction was not saved.',
  UNKNOWN: 'A failure of an unknown sort; the log has more.',
  UNREACHABLE: 'No Salient answers at the URL that a command was given. May pass.',
  USAGE: 'A command was called with other arguments than it takes.',
} as const satisfies Record<string, string>;

export type OperatorErrorCode = keyof typeof OPERATOR_ERRORS;

/** Whether callers of the API know this code. */
export function isApiErrorCode(code: unknown): code is ApiErrorCode {
  return typeof code === 'string' && Object.hasOwn(API_ERRORS, code);
}

/** The table as docs/errors.md shows it. */
export function errorsPage(): string {
  const api = Object.entries<ErrorEntry>(API_ERRORS).map(
    ([code, { meaning, retryable, status, where }]) =>
      `| \`${code}\` | ${where} | ${status ?? 200} | ${retryable ? 'yes' : 'no'} | ${meaning} |`,
  );
  const operator = Object.entries(OPERATOR_ERRORS).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`);
  return `# Error codes

Made from \`src/error-codes.ts\` by \`npm run generate\`. A code stays as it is; a message may change.

## In answers

Errors in \`payload\` are among the \`errors\` of a mutation's payload; of a query they stand, with the field's path, among the \`errors\` of the answer. Those in \`answer\` stand there always. \`code\` is in \`extensions\`; \`retryable: true\` beside it means that the same request may be sent again unchanged. The status is that of HTTP where the error concerns the whole request.

| code | in | status | retry | meaning |
| --- | --- | --- | --- | --- |
${api.join('\n')}

## In logs, runs, jobs and commands

| code | meaning |
| --- | --- |
${operator.join('\n')}
`;
}
