// Writes src/embedding/calibration/language-centres.ts from languages.json there: run it after changing the
// sentences or the encoder (npm run build; node scripts/language-centres.mjs; node scripts/calibrate.mjs).
import { readFile, writeFile } from 'node:fs/promises';
import { encodeCentre } from '../dist/embedding/language-centring.js';
import { UseLite } from '../dist/embedding/use-lite.js';

const folder = new URL('../src/embedding/calibration/', import.meta.url);
const sentences = JSON.parse(await readFile(new URL('languages.json', folder), 'utf8'));
const encoder = await UseLite.load([]);

const entries = [];
for (const [language, texts] of Object.entries(sentences)) {
  const sum = new Float64Array(512);
  for (const text of texts) {
    const [vector] = await encoder.encode([encoder.windows(text)[0][0]]);
    for (let i = 0; i < sum.length; i++) sum[i] += vector[i] / texts.length;
  }
  const centre = Float32Array.from(sum);
  console.log(
    `${language}: ${texts.length} sentences, length of the mean ${Math.hypot(...centre).toFixed(2)}`,
  );
  entries.push(`  ['${language}', '${encodeCentre(centre)}'],`);
}

await writeFile(
  new URL('language-centres.ts', folder),
  `import { decodeCentre, type LanguageCentre } from '../language-centring.js';

/** Written by scripts/language-centres.mjs from languages.json. */
const ENCODED: readonly (readonly [language: string, centre: string])[] = [
${entries.join('\n')}
];

/** Mean vectors of the bundled encoder for languages that it was not trained on. */
export const LANGUAGE_CENTRES: readonly LanguageCentre[] = ENCODED.map(([language, centre]) => ({
  language,
  centre: decodeCentre(centre),
}));
`,
);
