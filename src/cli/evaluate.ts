import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CliError } from './cli-error.js';
import { type Conversation, readConversations } from './conversation-file.js';
import { parsed } from './import.js';
import { Progress } from './progress.js';
import { Evaluation, VARIANTS, type VariantName } from './recall-evaluation.js';
import { type Answered, CUTOFFS, meanRecall, type RecallAt, recallByCategory } from './recall-metric.js';

/** What the categories of LoCoMo's questions are called; others have their numbers. */
const CATEGORIES: Readonly<Record<number, string>> = {
  1: 'multi-hop',
  2: 'temporal',
  3: 'open-domain',
  4: 'single-hop',
  5: 'adversarial',
};

export const EVALUATE_HELP = `salient evaluate locomo <file|directory> [options]

  Imports conversations through the API, each into a tenant of its own, asks their questions (OBSERVE, k 50) and tells
  which share of the evidence is within the first 5, 10, 25 and 50 messages. Files are as docs/recall.md says, or as
  LoCoMo publishes its own (locomo10.json).

  --<variant>            ${Object.keys(VARIANTS).join(', ')}; several may be given.
                         Without any: default
  --variants             all of them
  --all                  all conversations in one tenant, of one agent and user, instead of a tenant for each
  --lived                import each session as of the day on which it was held
  --data-dir <directory> keep the embedded database there: the next evaluation does not import again
  --database-url <url>   use this PostgreSQL database instead
  --json                 JSON on standard output`;

/** R@k of one variant in percent, over all questions and by category. */
export interface VariantReport {
  readonly variant: VariantName;
  readonly total: RecallAt;
  readonly categories: Readonly<Record<string, RecallAt>>;
}

/**
 * `salient evaluate`: how much of what answers a question recall finds, by the same API that clients use.
 * @throws CliError for arguments and files at fault
 */
export async function evaluateCommand(args: readonly string[]): Promise<void> {
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parsed(() =>
    parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...(Object.fromEntries(Object.keys(VARIANTS).map((name) => [name, flag])) as Record<
          VariantName,
          typeof flag
        >),
        variants: flag,
        all: flag,
        lived: flag,
        json: flag,
        'data-dir': { type: 'string' },
        'database-url': { type: 'string' },
        help: { ...flag, short: 'h' },
      },
    }),
  );
  if (values.help) return void console.log(EVALUATE_HELP);
  const [suite, path] = positionals;
  if (suite !== 'locomo' || path === undefined || positionals.length > 2)
    throw new CliError(`evaluate needs locomo and a file or a directory\n\n${EVALUATE_HELP}`);
  const every = Object.keys(VARIANTS) as VariantName[];
  const chosen = every.filter((name) => values.variants || values[name]);
  const conversations = await readConversations(path);
  const kept = values['data-dir'];
  const temporary =
    kept || values['database-url'] ? null : await mkdtemp(join(tmpdir(), 'salient-evaluate-'));
  try {
    const reports = await evaluate(conversations, chosen.length > 0 ? chosen : ['default'], {
      databaseUrl: values['database-url'],
      dataDirectory: kept ?? temporary ?? undefined,
      lived: values.lived,
      together: values.all,
    });
    console.log(values.json ? json(conversations, reports) : reports.map(table).join('\n\n'));
  } finally {
    if (temporary) await rm(temporary, { recursive: true, force: true });
  }
}

async function evaluate(
  conversations: readonly Conversation[],
  variants: readonly VariantName[],
  options: {
    databaseUrl: string | undefined;
    dataDirectory: string | undefined;
    lived: boolean;
    together: boolean;
  },
): Promise<VariantReport[]> {
  const progress = new Progress();
  await using evaluation = await Evaluation.open({
    ...options,
    onProgress: (label, done, total) => progress.show(label, done, total),
  });
  await evaluation.import(conversations);
  const reports: VariantReport[] = [];
  for (const variant of variants)
    reports.push(reportOf(variant, await evaluation.ask(VARIANTS[variant], conversations)));
  progress.end('');
  return reports;
}

function reportOf(variant: VariantName, answered: readonly Answered[]): VariantReport {
  return {
    variant,
    total: meanRecall(answered),
    categories: Object.fromEntries(recallByCategory(answered)),
  };
}

function json(conversations: readonly Conversation[], variants: readonly VariantReport[]): string {
  const messages = conversations.reduce((sum, { messageCount }) => sum + messageCount, 0);
  const what = { conversations: conversations.map(({ id }) => id), messages, cutoffs: CUTOFFS, variants };
  return JSON.stringify(what, null, 2);
}

function table({ variant, total, categories }: VariantReport): string {
  const rows = Object.entries(categories).map(([number, recall]) => [
    `${number} ${CATEGORIES[Number(number)] ?? ''}`.trim(),
    recall,
  ]) as [string, RecallAt][];
  const line = (label: string, cells: readonly string[]) =>
    `${label.padEnd(16)}${cells.map((cell) => cell.padStart(10)).join('')}`;
  return [
    VARIANTS[variant].name,
    line('category', ['questions', ...CUTOFFS.map((k) => `R@${k}`)]),
    ...[...rows, ['all', total] as [string, RecallAt]].map(([label, { questions, at }]) =>
      line(label, [String(questions), ...at.map((share) => share.toFixed(1))]),
    ),
  ].join('\n');
}
