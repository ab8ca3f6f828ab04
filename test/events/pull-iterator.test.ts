import { describe, expect, it } from 'vitest';
import { PullIterator } from '../../src/events/index.js';

const never = () => new Promise<number>(() => {});

function counting(most = Number.POSITIVE_INFINITY) {
  let pulled = 0;
  const iterator = new PullIterator<number>(
    async () => (pulled < most ? ++pulled : undefined),
    () => {},
  );
  return { iterator, pulled: () => pulled };
}

describe('an iterator that is pulled', () => {
  it('pulls nothing before it is asked, and one item for each time it is', async () => {
    const { iterator, pulled } = counting();
    expect(pulled()).toBe(0);
    expect(await Promise.all([iterator.next(), iterator.next()])).toEqual([
      { done: false, value: 1 },
      { done: false, value: 2 },
    ]);
    expect(pulled()).toBe(2);
  });

  it('ends when there is nothing more, once', async () => {
    let closed = 0;
    const iterator = new PullIterator<number>(
      async () => undefined,
      () => closed++,
    );
    expect((await iterator.next()).done).toBe(true);
    expect((await iterator.next()).done).toBe(true);
    await iterator.return();
    expect(closed).toBe(1);
  });

  it('ends while it waits, which an async generator does not', async () => {
    const aborted: boolean[] = [];
    const iterator = new PullIterator<number>(
      (signal) => {
        signal.addEventListener('abort', () => aborted.push(true));
        return never();
      },
      () => {},
    );
    const waiting = [iterator.next(), iterator.next()];
    await new Promise(setImmediate);
    await iterator.return();
    expect((await Promise.all(waiting)).map(({ done }) => done)).toEqual([true, true]);
    expect(aborted).toEqual([true]);
  });

  it('fails whom it fails, and ends for all after', async () => {
    const failing = new PullIterator<number>(
      async () => {
        throw new Error('broken');
      },
      () => {},
    );
    const [first, second] = await Promise.allSettled([failing.next(), failing.next()]);
    expect(first).toMatchObject({ status: 'rejected', reason: { message: 'broken' } });
    expect(second).toMatchObject({ status: 'fulfilled', value: { done: true } });
  });

  it('can be failed from outside: who waits is told, else who asks next', async () => {
    const waitedFor = new PullIterator<number>(never, () => {});
    const waiting = waitedFor.next();
    waitedFor.fail(new Error('closing'));
    await expect(waiting).rejects.toThrow('closing');
    expect((await waitedFor.next()).done).toBe(true);

    const { iterator, pulled } = counting();
    iterator.fail(new Error('closing'));
    await expect(iterator.next()).rejects.toThrow('closing');
    expect((await iterator.next()).done).toBe(true);
    expect(pulled()).toBe(0);
  });
});
