import type { ApiErrorCode } from './error-codes.js';

/**
 * The errors that Salient's services raise. Each has a stable `code` (part of the API, in the table of error-codes.ts), a
 * message that is safe to show (never content of a memory, never a secret) and, where one input is at fault, its `path`.
 */
export type ErrorCode = ApiErrorCode;

/** Path of the input at fault, from the mutation's input object on: `['target', 'id']`. */
export type InputPath = readonly (string | number)[];

export class SalientError extends Error {
  /** Whether the same request may succeed when sent again unchanged. */
  readonly retryable: boolean = false;

  constructor(
    readonly code: ErrorCode,
    message: string,
    /** Not `path`: graphql takes an error with a path for one that it has placed already, and leaves it as it is. */
    readonly inputPath: InputPath = [],
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** An argument is malformed or outside its range; the message names the field and the limit. */
export class BadInputError extends SalientError {
  constructor(message: string, path: InputPath = []) {
    super('BAD_INPUT', message, path);
  }
}

/** Nothing that the caller may see has this id. Another tenant's id answers exactly like a missing one. */
export class NotFoundError extends SalientError {
  constructor(what: string, path: InputPath = []) {
    super('NOT_FOUND', `${what} not found`, path);
  }
}

/** A text or a short id fits more than one fact; nothing was changed. */
export class AmbiguousMatchError extends SalientError {
  constructor(message: string, path: InputPath = []) {
    super('AMBIGUOUS_MATCH', message, path);
  }
}

/** The row changed since the caller read it, or a unique name is taken. */
export class ConflictError extends SalientError {
  constructor(message: string, path: InputPath = []) {
    super('CONFLICT', message, path);
  }
}

/**
 * A unique name is taken, by something that the caller may see: its id is told, so that who creates what may be there
 * already goes on with that.
 */
export class AlreadyExistsError extends ConflictError {
  constructor(
    message: string,
    readonly existing: { readonly type: 'Agent' | 'User'; readonly id: string },
    path: InputPath = [],
  ) {
    super(message, path);
  }
}

/** The text may not be stored (SPEC §2.5). The message names the category, never the text. */
export class ContentRefusedError extends SalientError {
  constructor(
    readonly category: string,
    reason: string,
    path: InputPath = [],
  ) {
    super('CONTENT_REFUSED', reason, path);
  }
}

/** A budget of the tenant has no room (SPEC §2.5). All figures in characters. */
export class BudgetExceededError extends SalientError {
  constructor(
    readonly group: string,
    readonly limit: number,
    readonly current: number,
    readonly requested: number,
    path: InputPath = [],
  ) {
    super(
      'BUDGET_EXCEEDED',
      `${group} holds ${current} of ${limit} characters; ${requested} more do not fit`,
      path,
    );
  }
}

/** The tenant has as many as the platform lets it have; nothing was written. */
export class QuotaExceededError extends SalientError {
  /** @param group what is counted, such as `facts` */
  constructor(
    readonly group: string,
    readonly limit: number,
    readonly current: number,
    readonly requested: number,
  ) {
    super(
      'QUOTA_EXCEEDED',
      `The tenant has ${current} of at most ${limit} ${group}; ${requested} more do not fit`,
    );
  }
}

/** No, unknown, expired or revoked credentials. */
export class UnauthenticatedError extends SalientError {
  constructor(message = 'A valid API key is required: Authorization: Bearer <key>') {
    super('UNAUTHENTICATED', message);
  }
}

/** The caller is known and may not do this. */
export class ForbiddenError extends SalientError {
  constructor(message: string, path: InputPath = []) {
    super('FORBIDDEN', message, path);
  }
}

/** The cursor is older than the oldest kept event, or of another history of the stream: list again, then follow. */
export class CursorExpiredError extends SalientError {
  constructor(
    message = 'The cursor is no longer valid: subscribe without `after`, then read the current state (docs/subscriptions.md)',
  ) {
    super('CURSOR_EXPIRED', message, ['after']);
  }
}

/** The reader of a subscription stayed behind for so long that it was ended: read what was sent, then subscribe again. */
export class SubscriptionLaggedError extends SalientError {
  /** @param cursor where to subscribe again; undefined when nothing was delivered */
  constructor(readonly cursor: string | undefined) {
    super(
      'SUBSCRIPTION_LAGGED',
      'The subscription was read too slowly: subscribe again, from the last cursor',
    );
  }
}

/** The tenant, or the key, has spent the points of its rate. */
export class RateLimitedError extends SalientError {
  override readonly retryable = true;

  /** @param retryAfter seconds after which the same operation can be paid, if nothing else is */
  constructor(readonly retryAfter: number) {
    super('RATE_LIMITED', `The rate limit is reached: try again in ${retryAfter} s`);
  }
}

/** Something Salient depends on did not answer; the request may be sent again. */
export class UnavailableError extends SalientError {
  override readonly retryable = true;

  constructor(message: string) {
    super('UNAVAILABLE', message);
  }
}
