import type { EventRecord, EventSelection } from '../db/index.js';
import { selects } from './selection.js';

/** A follower's place among those who are told of events; it listens only between {@link listen} and the next news. */
export interface Seat {
  /**
   * Hears of the first event that its selection lets pass, and then no more until it listens again.
   * @param tell gets the event's number; or undefined, when there is reason to look without one
   */
  listen(tell: (first: bigint | undefined) => void): void;
  /** Hears of nothing until it listens again. */
  rest(): void;
  /** Hears nothing any more; who listened is told. */
  leave(): void;
}

interface Listener {
  readonly selection: EventSelection;
  tell: ((first: bigint | undefined) => void) | undefined;
}

/**
 * Finds those who wait for an event without asking each of them: they are kept by what their selection names, so that
 * an event is held against the few that could want it. Any number of others costs it nothing.
 */
export class FanOut {
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #all = new Set<Listener>();
  #listening = 0;

  /** How many listen now. */
  get listening(): number {
    return this.#listening;
  }

  /** How many have a seat, whether they listen or not. */
  get size(): number {
    return this.#all.size;
  }

  join(selection: EventSelection): Seat {
    const listener: Listener = { selection, tell: undefined };
    const keys = keysOf(selection);
    this.#all.add(listener);
    for (const key of keys) {
      const listeners = this.#listeners.get(key) ?? new Set();
      this.#listeners.set(key, listeners.add(listener));
    }
    return {
      listen: (tell) => {
        if (!listener.tell) this.#listening++;
        listener.tell = tell;
      },
      rest: () => {
        if (listener.tell) this.#listening--;
        listener.tell = undefined;
      },
      leave: () => {
        if (!this.#all.delete(listener)) return;
        for (const key of keys) {
          const listeners = this.#listeners.get(key);
          listeners?.delete(listener);
          if (listeners?.size === 0) this.#listeners.delete(key);
        }
        this.#tell(listener, undefined);
      },
    };
  }

  /** Tells those who listen for such an event. */
  publish(event: EventRecord): void {
    if (this.#listening === 0) return;
    for (const key of placesOf(event)) {
      for (const listener of this.#listeners.get(key) ?? []) {
        if (listener.tell && selects(listener.selection, event)) this.#tell(listener, event.seq);
      }
    }
  }

  /** Tells all who listen to look for themselves. */
  wakeAll(): void {
    for (const listener of this.#all) this.#tell(listener, undefined);
  }

  #tell(listener: Listener, first: bigint | undefined): void {
    const { tell } = listener;
    if (!tell) return;
    listener.tell = undefined;
    this.#listening--;
    tell(first);
  }
}

const EVERY_EVENT = '*';

/**
 * Where a selection is kept: under one of the things that it names, the one that the fewest events have. An event has
 * one value of each, so nobody is found twice.
 */
function keysOf({ factIds, userId, agentId, types, range }: EventSelection): readonly string[] {
  if (factIds) return [...new Set(factIds)].map((id) => `fact ${id}`);
  const user = userId ?? range.userId;
  if (user) return [`user ${user}`];
  if (agentId) return [`agent ${agentId}`];
  if (range.agentId) return [`agent ${range.agentId}`, 'agent '];
  if (types) return [...new Set(types)].map((type) => `type ${type}`);
  return [EVERY_EVENT];
}

function placesOf({ factId, userId, agentId, type }: EventRecord): readonly string[] {
  return [
    ...(factId === null ? [] : [`fact ${factId}`]),
    ...(userId === null ? [] : [`user ${userId}`]),
    `agent ${agentId ?? ''}`,
    `type ${type}`,
    EVERY_EVENT,
  ];
}
