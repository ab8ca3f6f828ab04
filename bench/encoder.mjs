// How fast the bundled encoder is, and whether it holds up what else the process does.
import { createEmbeddingProvider } from '../dist/embedding/index.js';
import { word } from './support/facts.mjs';
import { interleaved, loopDelay, randomNumbers, summary, timed } from './support/measure.mjs';

export const measures =
  'texts a second of the bundled encoder by batch size, and how late the event loop is meanwhile';
export const needsDatabase = false;

const BATCHES = [1, 8, 32, 128];
const TEXTS = 128;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const MAX_DELAY_MS = 50;

export async function run({ log }) {
  const embedding = await createEmbeddingProvider({ kind: 'bundled' });
  try {
    const random = randomNumbers(11);
    const some = () => word(Math.floor(random() * 4_000));
    // Never the same twice: nothing is answered from a cache.
    const texts = () =>
      Array.from(
        { length: TEXTS },
        () => `The ${some()} of ${some()} was moved to ${some()} before the audit`,
      );
    const delays = [];
    const contestant = (size) => async (round) => {
      const all = texts();
      let time = 0;
      const delay = await loopDelay(async () => {
        time = await timed(async () => {
          for (let from = 0; from < all.length; from += size)
            await embedding.embed(all.slice(from, from + size));
        });
      });
      if (round >= 0) delays.push(delay);
      return (1_000 * TEXTS) / time;
    };
    const rates = await interleaved(
      Object.fromEntries(BATCHES.map((size) => [`batches of ${size}`, contestant(size)])),
      { rounds: ROUNDS, log },
    );
    const p99 = summary(delays.map((delay) => delay.p99));
    return {
      settings: { texts: TEXTS, rounds: ROUNDS },
      figures: [
        ...Object.entries(rates).map(([name, rate]) => [`${name}, texts a second`, rate]),
        ['event loop late, p99 of a run, ms', p99],
        ['event loop late, the longest of a run, ms', summary(delays.map((delay) => delay.max))],
      ],
      verdicts: [{ what: 'event loop late, p99, worst run, ms', value: p99.max, most: MAX_DELAY_MS }],
    };
  } finally {
    await embedding[Symbol.asyncDispose]();
  }
}
