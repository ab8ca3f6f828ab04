// Makes the files that are made from others, or with --check says which of them are out of date:
//   src/db/generated            Prisma's client, from prisma/schema.prisma
//   src/db/embedded/cluster.br  the empty cluster that the embedded database starts from, by PGlite's packages
//   schema.graphql              printed from the code
//   docs/errors.md              the table of error codes, from src/error-codes.ts
// and with --check also proves that the migrations make exactly the tables of prisma/schema.prisma.
//
//   node scripts/generate.mjs            make all
//   node scripts/generate.mjs --check    change nothing; exit 1 and say what is out of date
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const check = process.argv.includes('--check');
const scratch = mkdtempSync(join(tmpdir(), 'salient-generate-'));
const problems = [];

try {
  generateClient();
  run('npm', ['run', '--silent', 'build']);
  await generateClusterTemplate();
  generatePrinted('schema.graphql', 'schema');
  generatePrinted('docs/errors.md', 'errors');
  if (check) await compareMigrations();
} catch (error) {
  problems.push(error instanceof Error ? error.message : String(error));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
for (const problem of problems) console.error(`✖ ${problem}`);
if (problems.length > 0) process.exitCode = 1;
else console.log(check ? 'Generated files and migrations are up to date.' : 'Generated files are made.');

/** Prisma's CLI generates without its schema engine, but would download it if it did not know of one. */
function generateClient() {
  // The copy has the same relative path to its output as the original, which the client quotes.
  const schema = join(scratch, 'prisma/schema.prisma');
  write(schema, readFileSync(join(root, 'prisma/schema.prisma')));
  run('npx', ['--no-install', 'prisma', 'generate', '--schema', schema], {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  });
  compareOrWrite('src/db/generated');
}

/** Compares a directory of the scratch tree with the project's, or takes it over. */
function compareOrWrite(directory) {
  const made = readTree(join(scratch, directory));
  const present = readTree(join(root, directory));
  const paths = [...new Set([...made.keys(), ...present.keys()])];
  const differing = paths.filter((path) => made.get(path) !== present.get(path));
  if (check && differing.length > 0) {
    problems.push(`${directory} is out of date (${differing.join(', ')}): run npm run generate.`);
  }
  if (check) return;
  for (const path of differing) {
    if (made.has(path)) write(join(root, directory, path), made.get(path));
    else rmSync(join(root, directory, path));
  }
}

async function generateClusterTemplate() {
  const { templateMadeBy, packTemplate } = await load('db/embedded/template.js');
  const madeBy = ['@electric-sql/pglite', '@electric-sql/pglite-pgvector'].map(nameAndVersion).join(' ');
  if ((await templateMadeBy()) === madeBy) return;
  const path = 'src/db/embedded/cluster.br';
  if (check) {
    problems.push(`${path} was not made by ${madeBy}: run npm run generate.`);
    return;
  }
  const { initialiseCluster } = await load('db/embedded/cluster.js');
  const cluster = join(scratch, 'cluster');
  await initialiseCluster(cluster);
  write(join(root, path), await packTemplate(cluster, madeBy));
  run('node', ['scripts/copy-assets.mjs']);
}

/** A file that a command of the built product prints. */
function generatePrinted(file, command) {
  const made = run('node', ['dist/main.js', command]);
  const path = join(root, file);
  const present = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  if (made === present) return;
  if (check) problems.push(`${file} is out of date: run npm run generate.`);
  else write(path, made);
}

/** Applies all migrations to an empty embedded database and asks Prisma's engine what its schema would change. */
async function compareMigrations() {
  const { EmbeddedServer } = await load('db/embedded/embedded-server.js');
  const { embeddedConnection } = await load('db/open.js');
  const { applyMigrations } = await load('db/migrate.js');
  const { openSchemaEngine } = await load('db/schema-engine.js');
  const log = () => {};
  const server = await EmbeddedServer.start({ dataDirectory: join(scratch, 'data'), durable: false, log });
  try {
    const connection = embeddedConnection(server.host);
    await applyMigrations({ connection, log });
    const schema = readFileSync(join(root, 'prisma/schema.prisma'), 'utf8');
    const session = await openSchemaEngine(connection, schema);
    try {
      await removeWhatPrismaCannotSay(session.client);
      const files = [{ path: 'schema.prisma', content: schema }];
      const difference = await session.engine.diff({
        from: { tag: 'schemaDatasource', files, configDir: root },
        to: { tag: 'schemaDatamodel', files },
        script: true,
        exitCode: true,
        filters: { externalTables: [], externalEnums: [] },
      });
      if (difference.exitCode !== 0) {
        problems.push(
          `The migrations and prisma/schema.prisma differ. To agree with the schema the migrations would have to do:\n${difference.stdout}`,
        );
      }
    } finally {
      await session[Symbol.asyncDispose]();
    }
  } finally {
    await server[Symbol.asyncDispose]();
  }
}

/**
 * Foreign keys are left out of the Prisma schema on purpose, and it has no words for INCLUDE columns, partial indexes
 * and indexes on expressions. In the throwaway database they are removed or reduced to what it can say, so that all
 * that remains is a real difference. Checks, policies, triggers and grants are not looked at by the engine.
 */
async function removeWhatPrismaCannotSay(client) {
  const { rows: foreignKeys } = await client.query(
    `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS statement
       FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace`,
  );
  for (const { statement } of foreignKeys) await client.query(statement);

  const { rows: indexes } = await client.query(
    `SELECT i.indexrelid::regclass::text AS name, c.relname AS plain_name, i.indrelid::regclass::text AS "table",
            k.contype::text AS constraint_type, i.indisunique AS "unique",
            i.indpred IS NOT NULL OR i.indexprs IS NOT NULL AS inexpressible,
            (SELECT string_agg(pg_get_indexdef(i.indexrelid, n, true), ', ' ORDER BY n)
               FROM generate_series(1, i.indnkeyatts) n) AS columns
       FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
       LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.contype IN ('p', 'u')
      WHERE c.relnamespace = 'public'::regnamespace
        AND (i.indpred IS NOT NULL OR i.indexprs IS NOT NULL OR i.indnkeyatts < i.indnatts)`,
  );
  for (const index of indexes) {
    if (index.constraint_type === null) {
      await client.query(`DROP INDEX ${index.name}`);
      if (index.inexpressible) continue;
      await client.query(
        `CREATE ${index.unique ? 'UNIQUE ' : ''}INDEX "${index.plain_name}" ON ${index.table} (${index.columns})`,
      );
    } else {
      const kind = index.constraint_type === 'p' ? 'PRIMARY KEY' : 'UNIQUE';
      await client.query(
        `ALTER TABLE ${index.table} DROP CONSTRAINT "${index.plain_name}", ADD CONSTRAINT "${index.plain_name}" ${kind} (${index.columns})`,
      );
    }
  }
}

/** A compiled module of the project. */
function load(path) {
  return import(pathToFileURL(join(root, 'dist', path)).href);
}

/** Runs a command to its end and returns its output, which is shown when it fails. */
function run(command, args, env = {}) {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', env: { ...process.env, ...env } });
  if (result.status === 0) return result.stdout;
  throw new Error(
    `${command} ${args.join(' ')} failed:\n${result.stdout ?? ''}${result.stderr ?? result.error}`,
  );
}

function nameAndVersion(name) {
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'));
  return `${name}@${version}`;
}

function write(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** The files below a directory by their relative paths. */
function readTree(directory) {
  const files = new Map();
  if (!existsSync(directory)) return files;
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(relative(directory, path), readFileSync(path, 'utf8'));
  }
  return files;
}
