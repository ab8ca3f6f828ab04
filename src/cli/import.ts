import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { createApp } from '../app.js';
import { createConfig } from '../config/index.js';
import { ApiClient } from './api-client.js';
import { CliError } from './cli-error.js';
import { type Conversation, readConversations } from './conversation-file.js';
import { type ImportTarget, openTarget } from './import-target.js';
import { type ExtractWhen, Importer } from './importer.js';
import { readMessageLines } from './message-lines.js';
import { Progress } from './progress.js';

export const IMPORT_HELP = `salient import <file|directory|-> [options]

  Appends conversations through the API, and learns facts from them. Run again it goes on where it was: a message that
  its session has by its external id is not added twice.

  <file|directory>  a conversation file (see docs/recall.md), or a directory of them
  -                 lines of JSON from standard input: {session, externalId?, role, speaker?, content, sentAt?}

  --tenant <slug>   the tenant; made where there is none. Needed with the key of a platform administrator
  --agent <id>      external id of the agent in the sessions; made where there is none
  --user <id>       external id of the user in the sessions; made where there is none
  --extract <when>  now (default), later or never: when facts are learned
  --url <address>   a server to import into; otherwise this process opens the configured database itself
  --key <key>       the key for that server; by default SALIENT_ADMIN_KEY`;

/** How long the end of an import waits for the learning of facts without seeing any progress, in milliseconds. */
const SETTLE_PATIENCE_MS = 60_000;

/** Where an import reads and writes; the process's own by default. */
export interface ImportStreams {
  readonly input?: NodeJS.ReadableStream;
  readonly progress?: Progress;
}

/**
 * `salient import`: conversations into a Salient, a session a number. Standard output is not used; progress and the
 * result are told on standard error.
 * @throws CliError for arguments, files and lines at fault; whole batches before that are kept
 */
export async function importCommand(
  args: readonly string[],
  settings: Record<string, string | undefined>,
  streams: ImportStreams = {},
): Promise<void> {
  const options = parseImportArgs(args);
  if (options === null) return void console.log(IMPORT_HELP);
  // Files are read first: one at fault leaves everything as it was.
  const conversations = options.path === '-' ? null : await readConversations(options.path);
  const run = async (caller: ApiClient) => {
    const target = await openTarget(caller, options);
    const progress = streams.progress ?? new Progress();
    if (conversations) await importConversations(target, conversations, options.extract, progress);
    else await importLines(target, streams.input ?? process.stdin, options.extract, progress);
  };
  if (options.url !== null) {
    const key = options.key ?? settings['adminKey'];
    if (!key) throw new CliError('--key <key> is needed with --url, or SALIENT_ADMIN_KEY');
    return run(ApiClient.of(options.url, key));
  }
  const adminKey = settings['adminKey'] ?? randomBytes(32).toString('base64url');
  await using app = await createApp(createConfig({ logLevel: 'warn', ...given(settings), adminKey }));
  await run(ApiClient.inProcess(app, options.key ?? adminKey));
}

/** Imports conversations one after the other, and tells what came of it. */
export async function importConversations(
  target: ImportTarget,
  conversations: readonly Conversation[],
  extract: ExtractWhen,
  progress: Progress,
): Promise<void> {
  const total = conversations.reduce((sum, { messageCount }) => sum + messageCount, 0);
  let added = 0;
  let before = 0;
  let sessions = 0;
  let left = 0;
  for (const conversation of conversations) {
    const importer = new Importer(target, {
      source: conversation.file,
      extract,
      onProgress: (counts) => progress.show(conversation.id, before + counts.added + counts.known, total),
    });
    for (const session of conversation.sessions)
      for (const message of session.messages) await importer.add(session.externalId, message);
    await importer.flush();
    if (extract === 'NOW') left += await importer.settle(SETTLE_PATIENCE_MS);
    before += importer.counts.messages;
    added += importer.counts.added;
    sessions += importer.counts.sessions;
  }
  progress.end(summary({ messages: before, added, known: before - added, sessions }, left));
}

async function importLines(
  target: ImportTarget,
  input: NodeJS.ReadableStream,
  extract: ExtractWhen,
  progress: Progress,
): Promise<void> {
  const importer = new Importer(target, {
    source: 'standard input',
    extract,
    onProgress: ({ added, known }) => progress.show('messages', added + known, null),
  });
  try {
    for await (const { session, message } of readMessageLines('standard input', input))
      await importer.add(session, message);
  } catch (error) {
    const { added, known } = importer.counts;
    progress.end(`Broken off: ${added} messages were added, ${known} were there already`);
    throw error;
  }
  await importer.flush();
  const left = extract === 'NOW' ? await importer.settle(SETTLE_PATIENCE_MS) : 0;
  progress.end(summary(importer.counts, left));
}

function summary(counts: Importer['counts'], left: number): string {
  const { added, known, sessions } = counts;
  const pending = left > 0 ? `; facts are still to be learned from ${left} of them` : '';
  return `${added} messages added, ${known} were there already, in ${sessions} sessions${pending}`;
}

interface ImportOptions {
  readonly path: string;
  readonly tenant: string | null;
  readonly agent: string | null;
  readonly user: string | null;
  readonly url: string | null;
  readonly key: string | null;
  readonly extract: ExtractWhen;
}

/** Null where help is asked for. */
function parseImportArgs(args: readonly string[]): ImportOptions | null {
  const text = { type: 'string' } as const;
  const { values, positionals } = parsed(() =>
    parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        tenant: text,
        agent: text,
        user: text,
        url: text,
        key: text,
        extract: { ...text, default: 'now' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }),
  );
  if (values.help) return null;
  const [path] = positionals;
  if (path === undefined || positionals.length > 1)
    throw new CliError(`One file, one directory or - is needed\n\n${IMPORT_HELP}`);
  const extract = values.extract.toUpperCase();
  if (extract !== 'NOW' && extract !== 'LATER' && extract !== 'NEVER')
    throw new CliError('--extract must be now, later or never');
  return {
    path,
    tenant: values.tenant ?? null,
    agent: values.agent ?? null,
    user: values.user ?? null,
    url: values.url ?? null,
    key: values.key ?? null,
    extract,
  };
}

/** What `parse` returns. @throws CliError for arguments that it does not know */
export function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new CliError((error as Error).message);
  }
}

function given(settings: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
