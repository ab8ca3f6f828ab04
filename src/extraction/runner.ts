import {
  appendEvents,
  type Claim,
  claimSession,
  contentOf,
  type ExtractionRunRow,
  finishRuns,
  holdsClaim,
  insertRefusals,
  inTenant,
  type MessageRecord,
  messagesToMine,
  pendingRuns,
  type RunEnd,
  type Unit,
} from '../db/index.js';
import {
  type DraftRefusal,
  type FactDraft,
  isRefusal,
  type PreparedFact,
  prepareFacts,
  writeFacts,
} from '../facts/index.js';
import { newId } from '../ids.js';
import type { Services } from '../services.js';
import { SYSTEM_ACTOR, type TenantContext } from '../tenancy/index.js';
import { type MinedWindow, mineWindow } from './mine.js';
import { cutWindows } from './windows.js';

/** A text that a run did not store, and why. The text is in the answer once and is not kept. */
export interface RunRefusal {
  readonly text: string;
  readonly category: string;
  readonly reason: string;
}

/** What mining a session came to, for whoever waits for it. */
export interface MiningResult {
  /** Whether messages are left to mine. */
  readonly more: boolean;
  /** By run. */
  readonly outcomes: ReadonlyMap<
    string,
    { readonly status: string; readonly factIds: readonly string[]; readonly refused: readonly RunRefusal[] }
  >;
}

/** How long a claim on a session holds: longer than an extraction, shorter than anyone's patience after a crash. */
const LEASE_MS = 120_000;
/** Messages that are read at a time; more are left to the next round. */
const ROUND_MESSAGES = 500;

type Deps = Pick<Services, 'db' | 'embedding' | 'embeddingModelId' | 'extractor' | 'feed' | 'log' | 'now'>;

/**
 * Mines a session's new messages: claim, read, gate and extract outside of any transaction, then apply facts, runs,
 * cursor and events in one (SPEC §2.2, §2.4). The cursor stays where an extractor fails.
 * @returns null when another process holds the session
 */
export async function mineSession(
  deps: Deps,
  tenant: TenantContext,
  sessionId: string,
  signal: AbortSignal,
): Promise<MiningResult | null> {
  const owner = newId();
  const claimedAt = deps.now();
  const taken = await inTenant(deps.db, tenant, async (unit) => {
    const claim = await claimSession(
      unit,
      sessionId,
      owner,
      claimedAt,
      new Date(claimedAt.getTime() + LEASE_MS),
    );
    if (!claim) return null;
    return {
      claim,
      runs: await pendingRuns(unit, sessionId),
      messages: await messagesToMine(unit, sessionId, claim.minedSeq, ROUND_MESSAGES),
    };
  });
  if (!taken) return null;
  const { claim, runs, messages } = taken;
  try {
    const mined: MinedWindow[] = [];
    for (const window of cutWindows(messages)) {
      mined.push(await mineWindow(deps.extractor, tenant, claim, window, claimedAt, signal));
    }
    const drafts = mined.flatMap((window) => (window.status === 'EXTRACTED' ? window.drafts : []));
    const assigned = drafts.map((draft) => ({ ...draft, runId: runOf(draft, runs, messages)?.id ?? null }));
    const prepared = await prepareFacts(deps, tenant, contentOf(tenant.hashKey), assigned);
    const result = await inTenant(deps.db, tenant, (unit) =>
      apply(unit, deps, tenant, { owner, claim, runs, messages, mined, drafts: assigned, prepared }),
    );
    deps.feed.wake(tenant.id);
    return result;
  } catch (error) {
    await giveUp(deps, tenant, claim, runs, error);
    return {
      more: false,
      outcomes: new Map(runs.map((run) => [run.id, { status: 'FAILED', factIds: [], refused: [] }])),
    };
  }
}

interface Mined {
  readonly owner: string;
  readonly claim: Claim;
  readonly runs: readonly ExtractionRunRow[];
  readonly messages: readonly MessageRecord[];
  readonly mined: readonly MinedWindow[];
  readonly drafts: readonly FactDraft[];
  readonly prepared: readonly (PreparedFact | DraftRefusal)[];
}

async function apply(unit: Unit, deps: Deps, tenant: TenantContext, work: Mined): Promise<MiningResult> {
  const now = deps.now();
  if (!(await holdsClaim(unit, work.claim, work.owner))) throw new Error('the claim on the session was lost');
  const accepted = work.prepared.filter((one): one is PreparedFact => !isRefusal(one));
  const written = await writeFacts(unit, deps, tenant, accepted, now);

  const factIds = new Map<string, string[]>();
  const refused: (RunRefusal & { runId: string | null })[] = [];
  let place = 0;
  work.prepared.forEach((one, index) => {
    const draft = work.drafts[index] as FactDraft;
    const outcome = isRefusal(one)
      ? { outcome: 'REFUSED' as const, refusal: one }
      : written.outcomes[place++];
    if (!outcome) throw new Error('a statement without an outcome');
    const runId = draft.runId ?? null;
    if (outcome.outcome === 'REFUSED') {
      refused.push({
        text: draft.text,
        category: outcome.refusal.category,
        reason: outcome.refusal.reason,
        runId,
      });
    } else if (runId) {
      const ids = factIds.get(runId) ?? [];
      if (!ids.includes(outcome.factId)) factIds.set(runId, [...ids, outcome.factId]);
    }
  });
  await insertRefusals(
    unit,
    refused.map(({ runId, category, text }) => ({
      scopeId: work.claim.scopeId,
      runId,
      path: 'EXTRACTION',
      category,
      text,
    })),
    now,
  );

  const minedSeq =
    work.messages.length < ROUND_MESSAGES
      ? work.claim.lastSeq
      : (work.messages.at(-1)?.seq ?? work.claim.minedSeq);
  const ends = work.runs
    .filter((run) => run.toSeq <= minedSeq)
    .map((run): RunEnd => ({ id: run.id, status: statusOf(run, work.mined), error: null }));
  await finishRuns(unit, work.claim, { runs: ends, minedSeq, at: now });
  const finished = ends.map(({ id }) => ({
    type: 'EXTRACTION_FINISHED' as const,
    agentId: work.claim.agentId,
    userId: work.claim.userId,
    subjectId: id,
  }));
  await appendEvents(unit, [...written.events, ...finished], SYSTEM_ACTOR, now);
  return {
    more: work.messages.length === ROUND_MESSAGES,
    outcomes: new Map(
      ends.map(({ id, status }) => [
        id,
        { status, factIds: factIds.get(id) ?? [], refused: refused.filter((one) => one.runId === id) },
      ]),
    ),
  };
}

/** A failure moves nothing: runs say so, the session is free again, its messages wait for the next run. */
async function giveUp(
  deps: Deps,
  tenant: TenantContext,
  claim: Claim,
  runs: readonly ExtractionRunRow[],
  error: unknown,
): Promise<void> {
  const code = error instanceof Error ? ((error as { code?: string }).code ?? error.name) : 'UNKNOWN';
  deps.log.error({ tenantId: tenant.id, sessionId: claim.sessionId, code }, 'extraction failed');
  const at = deps.now();
  await inTenant(deps.db, tenant, async (unit) => {
    await finishRuns(unit, claim, {
      runs: runs.map(({ id }) => ({ id, status: 'FAILED', error: code })),
      minedSeq: null,
      at,
    });
    const failed = runs.map(({ id }) => ({
      type: 'EXTRACTION_FINISHED' as const,
      agentId: claim.agentId,
      userId: claim.userId,
      subjectId: id,
    }));
    await appendEvents(unit, failed, SYSTEM_ACTOR, at);
  });
  deps.feed.wake(tenant.id);
}

/** The run that asked for a message: a fact belongs to that of its newest source. */
function runOf(
  draft: FactDraft,
  runs: readonly ExtractionRunRow[],
  messages: readonly MessageRecord[],
): ExtractionRunRow | undefined {
  const sources = new Set(draft.sourceMessageIds);
  const seq = messages.reduce(
    (newest, message) => (sources.has(message.id) ? Math.max(newest, message.seq) : newest),
    0,
  );
  return runs.find((run) => seq <= run.toSeq) ?? runs.at(-1);
}

/** What the windows of a run came to: the most that any of them did. */
function statusOf(run: ExtractionRunRow, windows: readonly MinedWindow[]): string {
  const own = windows.filter((window) =>
    window.messages.some(({ seq }) => seq >= run.fromSeq && seq <= run.toSeq),
  );
  if (own.length === 0) return 'NOTHING_NEW';
  if (own.some((window) => window.status === 'EXTRACTED' && window.drafts.length > 0)) return 'EXTRACTED';
  return own.some((window) => window.status === 'EXTRACTED') ? 'EXTRACTED_NOTHING' : 'SKIPPED_NOT_SALIENT';
}
