import { GraphQLError } from 'graphql';
import { sqlState } from '../db/index.js';
import { API_ERRORS, type ErrorEntry, isApiErrorCode } from '../error-codes.js';
import { RateLimitedError, SalientError, SubscriptionLaggedError } from '../errors.js';
import { newId } from '../ids.js';
import type { Logger } from '../log.js';
import { currentRequestId, currentScope } from './request-scope.js';

/**
 * Decides what of an error a caller may see. Out go: Salient's own errors, with their code; what the graphql library
 * finds wrong with a request; exceeded limits. Anything else may hold the content of a memory or a secret: the caller
 * gets "Internal error" with an id, and the log has that id with the error's class, codes and stack, not its message.
 */
export function createErrorMask(log: Logger): (error: unknown) => GraphQLError {
  const masked = new WeakSet<object>();
  return (error) => {
    // Streams pass the mask more than once, and their transport wraps what it got.
    for (const seen of [error, error instanceof GraphQLError ? error.originalError : undefined]) {
      if (seen instanceof GraphQLError && masked.has(seen)) return seen;
    }
    const shown = show(error);
    masked.add(shown);
    currentScope()?.record.failed(String(shown.extensions.code));
    return shown;
  };

  function show(error: unknown): GraphQLError {
    const known = salientErrorIn(error);
    if (known) return exposed(error, known);
    if (isRequestError(error)) return asBadRequest(error);
    const id = newId();
    log.error({ id, requestId: currentRequestId(), ...describe(error) }, 'internal error');
    return located('Internal error', error, { code: 'INTERNAL', id });
  }
}

/** The error as the client gets it, without what is meant for the transport. */
export function toWire(error: GraphQLError) {
  const { extensions, ...rest } = error.toJSON();
  const { http: _http, unexpected: _unexpected, ...shown } = extensions ?? {};
  return { ...rest, extensions: shown };
}

/** What a log may hold of any error: its class, codes and the places it passed, never its message. */
export function describe(error: unknown): {
  errorClass: string;
  code?: string;
  sqlState?: string;
  stack?: string;
} {
  const cause = rootOf(error);
  if (!(cause instanceof Error)) return { errorClass: typeof cause };
  const code = (cause as { code?: unknown }).code;
  return {
    errorClass: cause.constructor.name,
    code: typeof code === 'string' && /^[\w-]{1,50}$/.test(code) ? code : undefined,
    sqlState: sqlState(cause),
    stack: framesOf(cause),
  };
}

function salientErrorIn(error: unknown): SalientError | undefined {
  const cause = rootOf(error);
  return cause instanceof SalientError ? cause : undefined;
}

function rootOf(error: unknown): unknown {
  let cause = error;
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError;
  return cause;
}

function exposed(error: unknown, known: SalientError): GraphQLError {
  const status =
    (error instanceof GraphQLError && statusIn(error)) || (API_ERRORS[known.code] as ErrorEntry).status;
  return located(known.message, error, {
    code: known.code,
    ...(known.retryable ? { retryable: true } : {}),
    ...(known instanceof SubscriptionLaggedError && known.cursor ? { cursor: known.cursor } : {}),
    ...(known instanceof RateLimitedError ? { retryAfter: known.retryAfter } : {}),
    ...(known.inputPath.length > 0 ? { inputPath: known.inputPath } : {}),
    ...(status && !hasPath(error) ? { http: { status } } : {}),
  });
}

/**
 * Errors of the graphql library about the request. They are of no field (syntax, validation, variables), or about a
 * field's arguments; resolvers' errors have a path and, inside, what was thrown.
 */
function isRequestError(error: unknown): error is GraphQLError {
  if (!(error instanceof GraphQLError)) return false;
  const inner = error.originalError;
  if (!error.path) return !inner || isOfVariables(error);
  return (
    inner instanceof GraphQLError && !inner.originalError && !inner.path && (inner.nodes?.length ?? 0) > 0
  );
}

/** A variable does not fit its type; inside is what the type's own check threw. */
function isOfVariables(error: GraphQLError): boolean {
  return /^Variable "\$\w+" /.test(error.message);
}

function asBadRequest(error: GraphQLError): GraphQLError {
  const { code: given, http } = error.extensions;
  // `spec`: only for callers that accept application/graphql-response+json; for others such answers are 200.
  const status = !http || isOfVariables(error) ? { status: 400, spec: true } : http;
  return located(withoutValue(error.message), error, {
    code: codeOf(given, error.message),
    ...(error.path ? {} : { http: status }),
  });
}

function codeOf(given: unknown, message: string): string {
  if (isApiErrorCode(given)) return given;
  return message.startsWith('Syntax Error') ? 'GRAPHQL_PARSE_FAILED' : 'BAD_INPUT';
}

/**
 * The library prints the whole variable that it cannot use: `Variable "$input" got invalid value {…} at "input.kind";
 * Field "x" is not defined by type "Y".` The values are left out, the place and the reason stay.
 */
function withoutValue(message: string): string {
  const head = /^Variable "\$(\w+)" got invalid value /.exec(message);
  if (!head) return message;
  const at = message.lastIndexOf(' at "');
  const place = at < 0 ? undefined : /^ at "([\w.[\]]+)"; /.exec(message.slice(at))?.[1];
  const reason = message.slice(message.lastIndexOf('; ') + 2);
  const shown =
    /^(Field "\w+" (of required type "[\w![\]]+" was not provided|is not defined by type "\w+")|Expected [a-z -]+ "?[\w![\]]+"?|Exactly one key must be specified for OneOf type "\w+")/.exec(
      reason,
    )?.[0] ??
    /^(\w+) cannot represent/.exec(reason)?.[0].replace(' cannot represent', ' cannot represent it');
  return `Variable "$${head[1]}" has an invalid value${place ? ` at "${place}"` : ''}${shown ? `: ${shown}` : ''}`;
}

function located(message: string, error: unknown, extensions: Record<string, unknown>): GraphQLError {
  const from = error instanceof GraphQLError ? error : undefined;
  return new GraphQLError(message, {
    nodes: from?.nodes,
    source: from?.source,
    positions: from?.positions,
    path: from?.path,
    extensions,
  });
}

function hasPath(error: unknown): boolean {
  return error instanceof GraphQLError && error.path !== undefined;
}

function statusIn(error: GraphQLError): number | undefined {
  const http = error.extensions.http as { status?: unknown } | undefined;
  return typeof http?.status === 'number' ? http.status : undefined;
}

/** The stack without its head, which is the message: only lines that are frames for certain. */
function framesOf(error: Error): string | undefined {
  const message = String(error.message);
  const stack = error.stack ?? '';
  const at = message === '' ? -1 : stack.indexOf(message);
  const frames = (at < 0 ? stack : stack.slice(at + message.length))
    .split('\n')
    .filter((line) =>
      /^ {4}at (?:async )?(?:[\w$.<>[\]# ]+ \()?(?:file:\/\/\/|node:|\/|[A-Za-z]:\\)[^()]*:\d+:\d+\)?$/.test(
        line,
      ),
    );
  return frames.length > 0 ? frames.map((line) => line.trim()).join('\n') : undefined;
}
