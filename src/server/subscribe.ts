import type { GraphQLError } from 'graphql';
import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, execute } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { SubscriptionLaggedError } from '../errors.js';
import { PullIterator } from '../events/index.js';
import type { Metrics } from '../telemetry/index.js';
import type { Actor } from '../tenancy/index.js';
import { limitError } from './limits.js';
import { currentScope } from './request-scope.js';
import { SharedResults, type Sharing } from './sharing.js';
import type { StreamSlots } from './stream-slots.js';

/** Events that one subscription gets in a row before all others have their turn. */
const TURN = 20;

/** How long a result is put off whose content was removed over and over while it was made ready, in ms. */
const REMOVALS_PAUSE_MS = 50;

/** The open subscriptions of a server. */
export interface Subscriptions {
  readonly plugin: Plugin;
  /** How many are open. */
  readonly size: number;
  /** Ends all of them with this error. */
  fail(error: Error): void;
}

export interface SubscriptionsOptions<Context> {
  /** The context of one event, from that of the subscription. */
  readonly freshContext: (context: Context) => Context;
  readonly sharing: Sharing<Context>;
  /** Those of the tenants; a subscription over HTTP takes one. */
  readonly slots: StreamSlots;
  readonly mask: (error: unknown) => GraphQLError;
  readonly metrics: Pick<Metrics, 'delivered' | 'lagged'>;
}

/**
 * Runs subscriptions. Unlike the library's own way, each event is resolved with a fresh context, so that loaders do not
 * answer from what they read for an earlier event; once for all subscribers whose answers are the same; a stream ends
 * while it waits, and when its reader stays behind; and all can be ended from here.
 */
export function createSubscriptions<Context extends { readonly actor: Actor | null }>({
  freshContext,
  sharing,
  slots,
  mask,
  metrics,
}: SubscriptionsOptions<Context>): Subscriptions {
  const open = new Set<PullIterator<ExecutionResult>>();
  const shared = new SharedResults();
  const turn = new Map<string, Context>();

  /**
   * A fresh context for all events that come at once, with no write between: what they show of is read by one
   * statement, not by one each.
   */
  function contextOfTurn(reader: string, writes: number, context: Context): Context {
    const key = `${writes} ${reader}`;
    const known = turn.get(key);
    if (known) return known;
    if (turn.size === 0) setImmediate(() => turn.clear());
    const fresh = freshContext(context);
    turn.set(key, fresh);
    return fresh;
  }

  async function subscribe(args: ExecutionArgs): Promise<ExecutionResult | AsyncGenerator<ExecutionResult>> {
    const context = args.contextValue as Context;
    const scope = currentScope();
    const release = scope?.socket ? undefined : takeSlot(slots, context);
    const source = await createSourceEventStream(args).catch((error: unknown) => {
      release?.();
      throw error;
    });
    if (!(Symbol.asyncIterator in source)) {
      release?.();
      return source;
    }
    const events = source[Symbol.asyncIterator]();
    const gone = callerGone(context);
    const end = () => void results.return();
    const reader = sharing.readerOf(context);
    const key = reader === undefined ? undefined : shared.keyOf(args, reader);
    let cursor: string | undefined;
    let pulled = 0;

    async function resolve(rootValue: unknown, contextValue: Context): Promise<ExecutionResult> {
      const result = await execute({ ...args, rootValue, contextValue });
      // Here, so that an internal error of a shared result has one id and one line in the log.
      return result.errors ? { ...result, errors: result.errors.map(mask) } : result;
    }

    /** As things are when it is delivered: what was removed meanwhile, by this process, is not in it. */
    async function resultOf(value: unknown, shows: object | undefined): Promise<ExecutionResult> {
      // Only what is delivered to several shows content.
      if (shows === undefined) return resolve(value, freshContext(context));
      for (let tries = 0; ; tries++) {
        // Each removal is waited for, but a burst of them must not have everybody read all the time.
        if (tries > 2) await new Promise((done) => setTimeout(done, REMOVALS_PAUSE_MS));
        const news = sharing.newsOf(context);
        const result =
          news && reader !== undefined && key !== undefined
            ? await shared.get(shows, key, news.writes, () =>
                resolve(value, contextOfTurn(reader, news.writes, context)),
              )
            : await resolve(value, freshContext(context));
        if (sharing.newsOf(context)?.removals === news?.removals) return result;
      }
    }

    const results = new PullIterator<ExecutionResult>(
      async () => {
        // A long backlog at hand would otherwise be sent without a turn for anybody else.
        if (++pulled % TURN === 0) await new Promise(setImmediate);
        const next = await events.next();
        if (next.done) return undefined;
        const item = sharing.itemOf(next.value);
        const result = await resultOf(next.value, item?.shared);
        if (item) cursor = item.cursor;
        metrics.delivered();
        return result;
      },
      () => {
        open.delete(results);
        release?.();
        leaveOutlet?.();
        gone?.removeEventListener('abort', end);
        events.return?.()?.catch(() => {});
      },
    );
    const leaveOutlet = scope?.outlet?.add(() => {
      metrics.lagged();
      results.fail(new SubscriptionLaggedError(cursor));
    });
    open.add(results);
    // The answer's stream tells of its end as well, but only once somebody has begun to read it.
    gone?.addEventListener('abort', end);
    if (gone?.aborted) end();
    return results;
  }

  return {
    plugin: {
      onSubscribe({ setSubscribeFn }) {
        setSubscribeFn(subscribe);
      },
    },
    get size() {
      return open.size;
    },
    fail(error) {
      for (const results of [...open]) results.fail(error);
    },
  };
}

/** @throws GraphQLError LIMIT_EXCEEDED */
function takeSlot(slots: StreamSlots, { actor }: { readonly actor: Actor | null }): (() => void) | undefined {
  // Without credentials there is nothing to subscribe to, and the fields say so.
  if (!actor) return undefined;
  const release = slots.take(actor.tenant?.id ?? null);
  if (!release) throw limitError(tooManyStreams(slots), 429);
  return release;
}

/** What a tenant hears that has as many open as it may. */
export function tooManyStreams(slots: StreamSlots): string {
  return `More than ${slots.each} sockets and streams of one tenant at a time`;
}

/** Aborts when the caller of an HTTP request goes away; there is none where a socket has many operations. */
function callerGone(context: unknown): AbortSignal | undefined {
  return (context as { readonly request?: Request }).request?.signal;
}
