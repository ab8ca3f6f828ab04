#!/usr/bin/env node
import { readEnvironment } from './config/index.js';

const HELP = `salient <command>

  serve     serve the GraphQL API
  migrate   bring the database up to date
  new-history
            after a restore: make all cursors of event streams expire
  import    append conversations from files or standard input
  evaluate  measure recall on conversations with questions
  demo      run the main job on an example conversation, in a temporary database
  schema    print the GraphQL schema
  errors    print the table of error codes

Settings come from the environment; the README has the table.`;

/** Each command is loaded when it is asked for: `schema` needs no database. */
const COMMANDS: Record<string, (args: string[]) => Promise<void>> = {
  serve: async () => (await import('./cli/serve.js')).serve(readEnvironment(process.env)),
  migrate: async () => (await import('./cli/migrate.js')).migrate(readEnvironment(process.env)),
  'new-history': async () => (await import('./cli/new-history.js')).newHistory(readEnvironment(process.env)),
  import: async (args) => (await import('./cli/import.js')).importCommand(args, readEnvironment(process.env)),
  evaluate: async (args) => (await import('./cli/evaluate.js')).evaluateCommand(args),
  demo: async () => (await import('./cli/demo.js')).demo(),
  schema: async () => (await import('./cli/print-schema.js')).printSchema(),
  errors: async () => void process.stdout.write((await import('./error-codes.js')).errorsPage()),
};

async function main(name: string | undefined): Promise<void> {
  const command = name ? COMMANDS[name] : undefined;
  if (!command) {
    const asked = name === undefined || name === 'help' || name === '--help';
    if (!asked) console.error(`There is no command ${name}.\n`);
    console.log(HELP);
    process.exitCode = asked ? 0 : 2;
    return;
  }
  try {
    await command(process.argv.slice(3));
  } catch (error) {
    // Errors that Salient raises say what to do; the stack of anything else is of more help.
    const known = error instanceof Error && typeof (error as { code?: unknown }).code === 'string';
    console.error(known ? error.message : error);
    process.exitCode = 1;
  }
}

await main(process.argv[2]);
