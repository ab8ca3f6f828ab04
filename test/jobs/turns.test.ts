import { expect, test } from 'vitest';
import { Turns } from '../../src/jobs/turns.js';

/** Something that lasts until it is told to end. */
function lasting() {
  let end: () => void = () => {};
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { done, end };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('as many as there is room for, the others in the order in which they came', async () => {
  const turns = new Turns(2);
  const works = Array.from({ length: 5 }, lasting);
  const begun: number[] = [];
  const all = works.map(({ done }, n) =>
    turns.take(async () => {
      begun.push(n);
      await done;
      return n;
    }),
  );
  await settle();
  expect(begun).toEqual([0, 1]);
  works[1]!.end();
  await settle();
  expect(begun).toEqual([0, 1, 2]);
  works[0]!.end();
  works[2]!.end();
  await settle();
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  for (const { end } of works) end();
  expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4]);
});

test('what fails makes room too', async () => {
  const turns = new Turns(1);
  const failing = turns.take(async () => {
    throw new Error('it failed');
  });
  const next = turns.take(async () => 'done');
  await expect(failing).rejects.toThrow('it failed');
  expect(await next).toBe('done');
  expect(await turns.take(async () => 'again')).toBe('again');
});

test('lanes take turns: who comes with many is not before who comes with one', async () => {
  const turns = new Turns(1);
  const begun: string[] = [];
  const work = (name: string) => async () => {
    begun.push(name);
    await settle();
  };
  const all = [
    ...Array.from({ length: 5 }, (_, n) => turns.take(work(`loud ${n}`), 'loud')),
    turns.take(work('quiet 0'), 'quiet'),
    turns.take(work('quiet 1'), 'quiet'),
  ];
  await Promise.all(all);
  expect(begun).toEqual(['loud 0', 'loud 1', 'quiet 0', 'loud 2', 'quiet 1', 'loud 3', 'loud 4']);
});

test('a lane leaves room for others, however long its work takes', async () => {
  const turns = new Turns(3, 2);
  const long = Array.from({ length: 4 }, lasting);
  const all = long.map(({ done }) => turns.take(() => done, 'loud'));
  expect(await turns.take(async () => 'done', 'quiet')).toBe('done');
  for (const { end } of long) end();
  await Promise.all(all);
  expect(await turns.take(async () => 'again', 'loud')).toBe('again');
});
