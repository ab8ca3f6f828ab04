import { describe, expect, it } from 'vitest';
import type { EventRecord, EventSelection } from '../../src/db/index.js';
import { FanOut } from '../../src/events/fan-out.js';
import { selects } from '../../src/events/selection.js';

const AGENTS = ['agent-1', 'agent-2'];
const USERS = ['user-1', 'user-2'];
const FACTS = ['fact-1', 'fact-2', 'fact-3'];
const TYPES = ['FACT_REMEMBERED', 'IMPORTANCE_CHANGED', 'PROFILE_CHANGED'];

/** Numbers in [0, 1), the same in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function eventOf(seq: number, fields: Partial<EventRecord> = {}): EventRecord {
  return {
    seq: BigInt(seq),
    type: 'FACT_REMEMBERED',
    agentId: null,
    userId: null,
    subjectId: null,
    factId: null,
    cause: null,
    oldValue: null,
    newValue: null,
    actorKind: 'TENANT_ADMIN',
    actorId: null,
    occurredAt: new Date(0),
    ...fields,
  };
}

describe('fan-out', () => {
  it('finds exactly those whose selection an event passes, whatever their selections name', () => {
    const random = randomNumbers(11);
    const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const maybe = <T>(value: T): T | undefined => (random() < 0.4 ? value : undefined);
    const some = <T>(list: readonly T[]) => list.filter(() => random() < 0.5);
    const fanOut = new FanOut();
    const followers = Array.from({ length: 300 }, () => {
      const factIds = maybe(some(FACTS));
      const types = maybe(some(TYPES));
      const selection: EventSelection = {
        types: types?.length ? types : undefined,
        agentId: maybe(oneOf(AGENTS)),
        userId: maybe(oneOf(USERS)),
        factIds: factIds?.length ? factIds : undefined,
        minDelta: maybe(random()),
        range: oneOf([{}, { agentId: oneOf(AGENTS) }, { userId: oneOf(USERS) }]),
      };
      const seat = fanOut.join(selection);
      const heard: bigint[] = [];
      return { selection, seat, heard };
    });
    const passed = followers.map(() => 0);
    for (let seq = 1; seq <= 200; seq++) {
      for (const { seat, heard } of followers) seat.listen((first) => void heard.push(first ?? -1n));
      expect(fanOut.listening).toBe(followers.length);
      const event = eventOf(seq, {
        type: oneOf(TYPES),
        agentId: oneOf([null, ...AGENTS]),
        userId: oneOf([null, ...USERS]),
        factId: oneOf([null, ...FACTS]),
        newValue: oneOf([null, random()]),
      });
      fanOut.publish(event);
      // A second such event at once: who was told of the first does not hear of it.
      fanOut.publish({ ...event, seq: event.seq + 1_000n });
      const wanted = followers.map(({ selection }) => selects(selection, event));
      wanted.forEach((wants, n) => {
        if (wants) passed[n] = (passed[n] ?? 0) + 1;
      });
      expect(followers.map(({ heard }) => heard.splice(0))).toEqual(
        wanted.map((wants) => (wants ? [event.seq] : [])),
      );
    }
    // The selections are not so narrow that nothing was compared.
    expect(passed.filter((count) => count > 0).length).toBeGreaterThan(200);
  });

  it('tells nobody who rests, and keeps nothing of who left', () => {
    const fanOut = new FanOut();
    const heard: unknown[] = [];
    const resting = fanOut.join({ range: {} });
    resting.listen(() => heard.push('rested'));
    resting.rest();
    fanOut.publish(eventOf(1));
    expect(heard).toEqual([]);
    const leaving = fanOut.join({ factIds: FACTS, range: {} });
    leaving.listen((first) => heard.push(first));
    leaving.leave();
    leaving.leave();
    expect(heard).toEqual([undefined]);
    fanOut.publish(eventOf(2, { factId: 'fact-1' }));
    expect(heard).toEqual([undefined]);
    resting.leave();
    expect([fanOut.size, fanOut.listening]).toEqual([0, 0]);
  });

  it('lets a follower join and leave while others are told', () => {
    const fanOut = new FanOut();
    const heard: string[] = [];
    const second = fanOut.join({ range: {} });
    const first = fanOut.join({ types: ['FACT_REMEMBERED'], range: {} });
    first.listen(() => {
      heard.push('first');
      second.leave();
      fanOut.join({ range: {} }).listen(() => heard.push('third'));
    });
    second.listen(() => heard.push('second'));
    fanOut.publish(eventOf(1));
    expect(heard).toEqual(['first', 'second', 'third']);
  });
});
