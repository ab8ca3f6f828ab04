import type { ExtractionRunRow, MessageRecord, RunExpense } from '../db/index.js';
import {
  type DraftRefusal,
  type FactDraft,
  isRefusal,
  type PreparedFact,
  type WriteOutcome,
} from '../facts/index.js';
import type { ExtractorUsage } from './extractor.js';
import { runOfWindow } from './round-plan.js';

/** A text that a run did not store, and why. The text is in the answer once and is not kept. */
export interface RunRefusal {
  readonly text: string;
  readonly category: string;
  readonly reason: string;
}

/** What became of a run by now: PENDING as long as some of its messages are left to mine. */
export interface RunOutcome {
  readonly status: string;
  readonly factIds: readonly string[];
  readonly refused: readonly RunRefusal[];
}

/** What became of the proposed facts, by run, and what is recorded of the refused ones. */
export interface Results {
  readonly byRun: ReadonlyMap<string, { readonly factIds: Set<string>; readonly refused: RunRefusal[] }>;
  readonly refusals: readonly { runId: string | null; category: string; text: string }[];
}

/**
 * @param prepared one for each draft
 * @param written one for each that was not refused before
 */
export function resultsOf(
  runs: readonly ExtractionRunRow[],
  drafts: readonly FactDraft[],
  prepared: readonly (PreparedFact | DraftRefusal)[],
  written: readonly WriteOutcome[],
): Results {
  const byRun = new Map(
    runs.map((run) => [run.id, { factIds: new Set<string>(), refused: [] as RunRefusal[] }]),
  );
  const refusals: { runId: string | null; category: string; text: string }[] = [];
  let place = 0;
  for (const [index, one] of prepared.entries()) {
    const { text, runId = null } = drafts[index] as FactDraft;
    const outcome = isRefusal(one) ? { outcome: 'REFUSED' as const, refusal: one } : written[place++];
    if (!outcome) throw new Error('a statement without an outcome');
    const run = runId ? byRun.get(runId) : undefined;
    if (outcome.outcome === 'REFUSED') {
      const { category, reason } = outcome.refusal;
      refusals.push({ runId, category, text });
      run?.refused.push({ text, category, reason });
    } else {
      run?.factIds.add(outcome.factId);
    }
  }
  return { byRun, refusals };
}

/** The run that asked for a message: a fact belongs to that of its newest source. */
export function runOf(
  draft: FactDraft,
  runs: readonly ExtractionRunRow[],
  messages: readonly MessageRecord[],
): ExtractionRunRow | undefined {
  const sources = new Set(draft.sourceMessageIds);
  const seq = messages.reduce(
    (newest, message) => (sources.has(message.id) ? Math.max(newest, message.seq) : newest),
    0,
  );
  // Without a source it is the window's, like its newest message.
  const newest = seq > 0 ? seq : (messages.at(-1)?.seq ?? 0);
  return runOfWindow(runs, newest);
}

/** What a window used and remarked, put down to the run that asked for its newest message. */
export function expenseOf(
  runs: readonly ExtractionRunRow[],
  toSeq: number,
  usage: ExtractorUsage | null,
  notes: readonly string[] = [],
): RunExpense[] {
  const run = runOfWindow(runs, toSeq);
  if (!run || (!usage && notes.length === 0)) return [];
  const { inputTokens = 0, outputTokens = 0, cost = null } = usage ?? {};
  return [{ id: run.id, inputTokens, outputTokens, cost, notes }];
}

/** Expenses by run, each run once. */
export function summed(expenses: readonly RunExpense[]): RunExpense[] {
  const byRun = new Map<string, RunExpense>();
  for (const one of expenses) {
    const before = byRun.get(one.id);
    byRun.set(one.id, before ? added(before, one) : one);
  }
  return [...byRun.values()];
}

function added(one: RunExpense, other: RunExpense): RunExpense {
  return {
    id: one.id,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cost: one.cost === null && other.cost === null ? null : (one.cost ?? 0) + (other.cost ?? 0),
    notes: [...one.notes, ...other.notes],
  };
}
