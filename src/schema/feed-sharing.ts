import type { FeedEntry, StreamNews } from '../events/index.js';
import type { GraphQLContext } from './context.js';

/**
 * What the server has to know to resolve an event once for several subscribers of a process. Only what feeds deliver
 * takes part: events, which depend on no argument of their subscription.
 */
export const feedSharing = {
  /** The event itself is one object for all who follow the tenant's stream live; a checkpoint is each one's own. */
  itemOf(value: unknown): { cursor: string; shared?: object } | undefined {
    if (!isFeedEntry(value)) return undefined;
    return value.kind === 'event' ? { cursor: value.cursor, shared: value.event } : { cursor: value.cursor };
  },

  /**
   * Whom an event looks the same to: the role, and which tenant, agent and user, are all that resolvers look at. What
   * is set for the tenant they read as of the delivery: subscribers that began at different times know it differently.
   * The key is not looked at; whether it is still in force is found out for each subscriber before each delivery.
   */
  readerOf({ actor }: GraphQLContext): string | undefined {
    if (!actor?.tenant) return undefined;
    return [actor.kind, actor.tenant.id, actor.agentId ?? '', actor.userId ?? ''].join(' ');
  },

  /** Events show facts as they are: any write to the tenant may make another answer of them. */
  newsOf({ actor, services }: GraphQLContext): StreamNews | undefined {
    return actor?.tenant ? services.feed.news(actor.tenant.id) : undefined;
  },
};

function isFeedEntry(value: unknown): value is FeedEntry {
  const { kind, cursor } = (value ?? {}) as { readonly kind?: unknown; readonly cursor?: unknown };
  return (kind === 'event' || kind === 'checkpoint') && typeof cursor === 'string';
}
