import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, execute } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { PullIterator } from '../events/index.js';

/** Events that one subscription gets in a row before all others have their turn. */
const TURN = 20;

/** The open subscriptions of a server. */
export interface Subscriptions {
  readonly plugin: Plugin;
  /** How many are open. */
  readonly size: number;
  /** Ends all of them with this error. */
  fail(error: Error): void;
}

/**
 * Runs subscriptions. Unlike the library's own way, each event is resolved with a fresh context, so that loaders do not
 * answer from what they read for an earlier event; a stream ends while it waits; and all can be ended from here.
 *
 * @param freshContext the context of one event, from that of the subscription
 */
export function createSubscriptions<Context>(freshContext: (context: Context) => Context): Subscriptions {
  const open = new Set<PullIterator<ExecutionResult>>();

  async function subscribe(args: ExecutionArgs): Promise<ExecutionResult | AsyncGenerator<ExecutionResult>> {
    const source = await createSourceEventStream(args);
    if (!(Symbol.asyncIterator in source)) return source;
    const events = source[Symbol.asyncIterator]();
    const gone = callerGone(args.contextValue);
    const end = () => void results.return();
    let pulled = 0;
    const results = new PullIterator<ExecutionResult>(
      async () => {
        // A long backlog at hand would otherwise be sent without a turn for anybody else.
        if (++pulled % TURN === 0) await new Promise(setImmediate);
        const next = await events.next();
        if (next.done) return undefined;
        const contextValue = freshContext(args.contextValue as Context);
        return execute({ ...args, rootValue: next.value, contextValue });
      },
      () => {
        open.delete(results);
        gone?.removeEventListener('abort', end);
        events.return?.()?.catch(() => {});
      },
    );
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

/** Aborts when the caller of an HTTP request goes away; there is none where a socket has many operations. */
function callerGone(context: unknown): AbortSignal | undefined {
  return (context as { readonly request?: Request }).request?.signal;
}
