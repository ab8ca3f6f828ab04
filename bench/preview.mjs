// The dry run of a profile against the rescoring that saving it would start.
import { previewSalienceProfile } from '../dist/rescoring/index.js';
import { storeFacts } from './support/facts.mjs';
import { interleaved, timed } from './support/measure.mjs';
import { PROFILES, rescoreAll, saveProfile } from './support/rescoring.mjs';
import { newTenant, withSalient } from './support/salient.mjs';

export const measures = 'previewSalienceProfile over 100,000 facts, against the rescoring of the same';

const FACTS = 100_000;
const SCOPES = 10;
const ROUNDS = 5;

export function run({ databaseUrl, log }) {
  return withSalient(databaseUrl, (salient) => measure(salient, log));
}

async function measure({ services, owner }, log) {
  const admin = await newTenant(services, 'bench-preview');
  await storeFacts(services, admin, { facts: FACTS, scopes: SCOPES, log });
  await saveProfile(services, admin, PROFILES[1]);
  await rescoreAll(services, admin);
  let saves = 0;
  const next = () => PROFILES[saves % PROFILES.length];
  const times = await interleaved(
    {
      preview: () =>
        timed(async () => {
          const { affected, unchanged } = await previewSalienceProfile(services, admin, next());
          // Right after a rescoring by the same profile everything is as it would be.
          if (affected !== FACTS || (unchanged !== 0 && unchanged !== FACTS))
            throw new Error(`${affected} facts previewed, ${unchanged} unchanged`);
        }),
      rescore: async () => {
        await saveProfile(services, admin, next());
        saves += 1;
        await owner.query('VACUUM fact_salience');
        return timed(() => rescoreAll(services, admin));
      },
    },
    { rounds: ROUNDS, log },
  );
  return {
    settings: { facts: FACTS, scopes: SCOPES, interests: 10, rounds: ROUNDS },
    figures: [
      ['preview, ms', times.preview],
      ['rescoring, ms', times.rescore],
    ],
    verdicts: [{ what: 'preview ÷ rescoring', value: times.preview.median / times.rescore.median, most: 1 }],
  };
}
