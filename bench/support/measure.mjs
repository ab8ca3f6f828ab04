// Numbers that can be compared: seeded, in turns, as medians with their spread.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Milliseconds that `work` takes. */
export async function timed(work) {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

/** Median, least and greatest. */
export function summary(values) {
  const ascending = [...values].sort((a, b) => a - b);
  const middle = ascending.length >> 1;
  const median =
    ascending.length % 2 === 1 ? ascending[middle] : (ascending[middle - 1] + ascending[middle]) / 2;
  return { median, min: ascending[0], max: ascending.at(-1), values };
}

/**
 * Runs contestants side by side: each once in every round, in turning order, so that what else the machine does falls
 * on all alike.
 * @param contestants by name: what is to be run, and gives a number
 * @param warmUps rounds that do not count
 * @returns by name: the summary of its numbers
 */
export async function interleaved(contestants, { rounds, warmUps = 1, log }) {
  const names = Object.keys(contestants);
  const numbers = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = -warmUps; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const number = await contestants[name](round);
      log(`${round < 0 ? 'warm-up' : `round ${round + 1}`}: ${name} ${format(number)}`);
      if (round >= 0) numbers[name].push(number);
    }
  }
  return Object.fromEntries(names.map((name) => [name, summary(numbers[name])]));
}

/** How late the event loop was while `work` ran, in milliseconds; a sample each 10 ms, which are subtracted. */
export async function loopDelay(work) {
  const resolution = 10;
  const histogram = monitorEventLoopDelay({ resolution });
  histogram.enable();
  try {
    await work();
  } finally {
    histogram.disable();
  }
  const late = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - resolution);
  return { p99: late(histogram.percentile(99)), max: late(histogram.max) };
}

/** Resident memory of this process, in MiB. */
export function residentMemory() {
  return process.memoryUsage.rss() / 2 ** 20;
}

/** A number to read: three digits that mean something. */
export function format(number) {
  if (number >= 100) return String(Math.round(number));
  return number >= 10 ? number.toFixed(1) : number.toFixed(2);
}

/** Lines of a table, columns aligned. */
export function table(head, rows) {
  const cells = [head, ...rows].map((row) =>
    row.map((cell) => (typeof cell === 'number' ? format(cell) : cell)),
  );
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  return cells.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
      .join('  '),
  );
}
