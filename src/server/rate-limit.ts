import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { RateLimitedError } from '../errors.js';
import type { RateLimiter, Reservation } from '../limits/index.js';
import type { Actor } from '../tenancy/index.js';
import { currentScope } from './request-scope.js';

/** What every root field counts at least, where it may cost as much: it asks the database. In points. */
const ROOT_FIELD = 10;

export interface RateLimitOptions {
  readonly limiter: RateLimiter;
  /** What an operation may cost at most, in points; undefined where that cannot be told, and it fails by itself. */
  readonly costOf: (args: ExecutionArgs) => number | undefined;
  readonly mask: (error: unknown) => GraphQLError;
}

/**
 * Charges operations with what they may cost before they run, over whatever transport, and gives back what they did not
 * need. An answer to who has a rate tells it in `extensions.cost`; a subscription pays once, when it begins. An operation that is refused
 * because of its document, its variables or its credentials has paid nothing.
 */
export function useRateLimit({ limiter, costOf, mask }: RateLimitOptions): Plugin {
  async function reserve(args: ExecutionArgs) {
    const { actor } = args.contextValue as { readonly actor: Actor | null };
    const record = currentScope()?.record;
    const requested = actor ? costOf(args) : undefined;
    if (!actor || requested === undefined) return undefined;
    if (record) record.cost = requested;
    const reservation = await limiter.reserve(actor, requested);
    if (record) record.rate = reservation?.state;
    return reservation ? { requested, reservation } : undefined;
  }

  function refusal(requested: number, { state }: Reservation): ExecutionResult {
    const { remaining, fullInMs, retryInMs } = state;
    const error = mask(new RateLimitedError(Math.ceil(retryInMs / 1_000)));
    return { errors: [error], extensions: { cost: { requested, remaining, resetAt: timeIn(fullInMs) } } };
  }

  return {
    async onExecute({ args, setResultAndStopExecution }) {
      const charged = await reserve(args as ExecutionArgs);
      if (!charged) return undefined;
      const { requested, reservation } = charged;
      if (!reservation.state.paid) {
        setResultAndStopExecution(refusal(requested, reservation) as never);
        return undefined;
      }
      return {
        onExecuteDone({ result, setResult }) {
          if (Symbol.asyncIterator in result) return;
          const answer = result as ExecutionResult;
          const actual = Math.min(requested, costOfAnswer(answer));
          reservation.refund(requested - actual);
          const { state } = reservation;
          const cost = {
            requested,
            actual,
            remaining: Math.min(state.limit, state.remaining + requested - actual),
            resetAt: timeIn(state.fullInMs),
          };
          setResult({ ...answer, extensions: { ...answer.extensions, cost } } as never);
        },
      };
    },
    async onSubscribe({ args, setResultAndStopExecution }) {
      const charged = await reserve(args as ExecutionArgs);
      if (charged && !charged.reservation.state.paid)
        setResultAndStopExecution(refusal(charged.requested, charged.reservation) as never);
    },
  };
}

/** The fields that an answer has, and for each root field {@link ROOT_FIELD} at least. */
function costOfAnswer({ data }: ExecutionResult): number {
  let fields = 0;
  const open: unknown[] = [data];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    const children: unknown[] = Object.values(next);
    if (!Array.isArray(next)) fields += children.length;
    open.push(...children);
  }
  const roots = data ? Object.keys(data).length : 1;
  return Math.max(fields, roots * ROOT_FIELD);
}

function timeIn(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}
