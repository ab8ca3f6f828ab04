// Fits and reports the calibration of an embedding provider on the labelled pairs of this repository.
//
//   npm run build && node scripts/calibrate.mjs                       the bundled encoder
//   node scripts/calibrate.mjs '{"kind":"…", …}'                      any other provider's configuration
//   node scripts/calibrate.mjs --pairs                                also lists the pairs on the wrong side
//
// Knots are fitted on one half of the pairs; the figures of the other half are the ones to believe.
import { readFile } from 'node:fs/promises';
import { fitKnots, half, reportCalibration } from '../dist/embedding/calibration/fit.js';
import { calibration } from '../dist/embedding/calibration.js';
import { cosine, createEmbeddingProvider } from '../dist/embedding/index.js';

const args = process.argv.slice(2);
const config = JSON.parse(args.find((arg) => arg.startsWith('{')) ?? '{"kind":"bundled"}');
const pairs = JSON.parse(
  await readFile(new URL('../src/embedding/calibration/pairs.json', import.meta.url), 'utf8'),
);

const provider = await createEmbeddingProvider(config);
const texts = [...new Set(Object.values(pairs).flat(2))];
const vectors = new Map((await provider.embed(texts)).map((vector, i) => [texts[i], vector]));
const cosines = {};
for (const [kind, list] of Object.entries(pairs)) {
  cosines[kind] = list.map(([a, b]) =>
    vectors.get(a) && vectors.get(b) ? cosine(vectors.get(a), vectors.get(b)) : 0,
  );
}

console.log(
  `${provider.model}: ${Object.entries(pairs)
    .map(([kind, list]) => `${list.length} ${kind}`)
    .join(', ')}\n`,
);
console.log('Cosines             p2    p10    p50    p90    p98');
for (const [kind, values] of Object.entries(cosines)) {
  const ascending = values.toSorted((a, b) => a - b);
  const at = (share) => ascending[Math.round(share * (ascending.length - 1))].toFixed(2).padStart(5);
  console.log(`${kind.padEnd(20)}${[0.02, 0.1, 0.5, 0.9, 0.98].map(at).join('  ')}`);
}

try {
  const knots = fitKnots(half(pairs, cosines, 0));
  const fitted = calibration(knots);
  console.log(`\nFitted on the first half: ${JSON.stringify(knots)}`);
  report('fitted, first half', half(pairs, cosines, 0), fitted);
  report('fitted, held-out half', half(pairs, cosines, 1), fitted);
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  console.log(`\n${error.message}`);
}
report('as configured, held-out half', half(pairs, cosines, 1), provider.similarity.bind(provider));
report('as configured, all', cosines, provider.similarity.bind(provider));

if (args.includes('--pairs')) {
  for (const [kind, list] of Object.entries(pairs)) {
    const unrelated = kind.startsWith('unrelated');
    for (const [i, [a, b]] of list.entries()) {
      const similarity = provider.similarity(cosines[kind][i]);
      const wrong = kind === 'same' ? similarity < 0.75 : similarity >= 0.5 === unrelated;
      if (wrong)
        console.log(`${kind} ${cosines[kind][i].toFixed(2)} → ${similarity.toFixed(2)}  ${a} | ${b}`);
    }
  }
}

await provider[Symbol.asyncDispose]();

function report(title, values, similarity) {
  const shares = reportCalibration(values, similarity);
  console.log(`\n${title}`);
  for (const [name, share] of Object.entries(shares))
    console.log(`  ${name.padEnd(28)}${(share * 100).toFixed(1)}%`);
}
