// Benchmarks: one part a run.
//
//   npm run bench                       what there is
//   npm run bench -- rescore            one part, as a table
//   npm run bench -- rescore --json     the same as JSON
//
// The database is one of its own: on the server that DATABASE_URL names, else on one that scripts/postgres.sh starts.
import { cpus } from 'node:os';
import * as append from './append.mjs';
import * as effective from './effective.mjs';
import * as encoder from './encoder.mjs';
import * as fanOut from './fan-out.mjs';
import * as followed from './followed.mjs';
import * as learn from './learn.mjs';
import * as noisyNeighbour from './noisy-neighbour.mjs';
import * as overview from './overview.mjs';
import * as preview from './preview.mjs';
import * as rescore from './rescore.mjs';
import { table } from './support/measure.mjs';
import { withDatabase } from './support/postgres.mjs';

const parts = {
  rescore,
  preview,
  learn,
  effective,
  append,
  'fan-out': fanOut,
  followed,
  overview,
  encoder,
  'noisy-neighbour': noisyNeighbour,
};

const args = process.argv.slice(2);
const name = args.find((arg) => !arg.startsWith('--'));
const print = (line) => process.stdout.write(`${line}\n`);
const log = (line) => process.stderr.write(`${line}\n`);

if (name === undefined) {
  print('npm run bench -- <part> [--json]\n');
  for (const [part, { measures }] of Object.entries(parts)) print(`  ${part.padEnd(16)} ${measures}`);
} else if (!Object.hasOwn(parts, name)) {
  log(`There is no part ${name}; there are ${Object.keys(parts).join(', ')}.`);
  process.exitCode = 2;
} else {
  await measure(name);
}

async function measure(part) {
  if (parts[part].needsDatabase === false) {
    const result = await parts[part].run({ log });
    tell(part, { cores: cpus().length, node: process.version, database: 'none of its own' }, result);
    return;
  }
  await withDatabase({ durable: parts[part].durable }, async ({ url, where }) => {
    const result = await parts[part].run({ databaseUrl: url, log });
    tell(part, { cores: cpus().length, node: process.version, database: where }, result);
  });
}

function tell(part, machine, result) {
  if (args.includes('--json'))
    print(JSON.stringify({ part, at: new Date().toISOString(), machine, ...result }, null, 2));
  else report(part, machine, result);
}

function report(part, machine, { settings, figures, verdicts }) {
  print(`${part}: ${parts[part].measures}`);
  print(`${machine.cores} cores, Node ${machine.node}, ${machine.database}; ${JSON.stringify(settings)}\n`);
  const rows = figures.map(([what, { median, min, max }]) => [what, median, min, max]);
  for (const line of table(['', 'median', 'least', 'most'], rows)) print(line);
  print('');
  const judged = verdicts.map(({ what, value, most }) => [
    what,
    value,
    most === undefined ? '' : `≤ ${most}`,
    most === undefined ? '' : value <= most ? 'met' : 'MISSED',
  ]);
  for (const line of table(['', 'value', 'wanted', ''], judged)) print(line);
}
