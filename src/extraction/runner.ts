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
  releaseClaim,
  renewClaim,
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
import { cutRound, cutWindows } from './windows.js';

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

/** What mining a session came to, for whoever waits for it. */
export interface MiningResult {
  /** Whether messages are left to mine. */
  readonly more: boolean;
  /** By run. */
  readonly outcomes: ReadonlyMap<string, RunOutcome>;
}

/** How long a claim on a session holds unless it is renewed: after a crash the session waits that long. */
const LEASE_MS = 120_000;
const RENEWAL_MS = LEASE_MS / 3;
/** Messages that are read at a time; more are left to the next round. */
const ROUND_MESSAGES = 500;

type Deps = Pick<Services, 'db' | 'embedding' | 'embeddingModelId' | 'extractor' | 'feed' | 'log' | 'now'>;

/**
 * Mines a session's new messages: claim, read, gate and extract outside of any transaction, then apply facts, runs,
 * cursor and events in one (SPEC §2.2, §2.4). Where the extractor fails at a window, what the windows before it gave
 * is applied, the cursor stays before it, and the runs that it belongs to have failed.
 * @returns null when the session is another's: who holds it mines it; or when the signal ended the work, which is then
 *   left as it was
 */
export async function mineSession(
  deps: Deps,
  tenant: TenantContext,
  sessionId: string,
  signal: AbortSignal,
): Promise<MiningResult | null> {
  const owner = newId();
  const now = deps.now();
  const taken = await inTenant(deps.db, tenant, async (unit) => {
    const claim = await claimSession(unit, sessionId, owner, now, new Date(now.getTime() + LEASE_MS));
    if (!claim) return null;
    const runs = await pendingRuns(unit, sessionId);
    return { claim, runs, ...(await roundOf(unit, claim, runs)) };
  });
  if (!taken) return null;
  const stopRenewing = keepClaim(deps, tenant, sessionId, owner);
  try {
    const mined = await mineWindows(deps, tenant, taken, now, signal);
    const prepared = await prepareFacts(deps, tenant, contentOf(tenant.hashKey), mined.drafts);
    return await settle(deps, tenant, (unit) =>
      apply(unit, deps, tenant, { ...taken, ...mined, owner, prepared }),
    );
  } catch (error) {
    if (signal.aborted) {
      await inTenant(deps.db, tenant, (unit) => releaseClaim(unit, sessionId, owner));
      return null;
    }
    tell(deps, tenant, sessionId, error);
    return await settle(deps, tenant, (unit) => giveUp(unit, deps, { ...taken, owner }, codeOf(error)));
  } finally {
    stopRenewing();
  }
}

interface Taken {
  readonly claim: Claim;
  readonly runs: readonly ExtractionRunRow[];
  readonly messages: readonly MessageRecord[];
  /** Where the cursor is when all of these messages are mined. */
  readonly endSeq: number;
}

async function roundOf(
  unit: Unit,
  claim: Claim,
  runs: readonly ExtractionRunRow[],
): Promise<Pick<Taken, 'messages' | 'endSeq'>> {
  const messages = await messagesToMine(unit, claim.sessionId, claim.minedSeq, ROUND_MESSAGES);
  if (messages.length < ROUND_MESSAGES) return { messages, endSeq: claim.lastSeq };
  const round = cutRound(messages, runs);
  return { messages: round, endSeq: round.at(-1)?.seq ?? claim.minedSeq };
}

/** Renews the claim as long as the work takes, so that no other process begins the same. */
function keepClaim(deps: Deps, tenant: TenantContext, sessionId: string, owner: string): () => void {
  const timer = setInterval(() => {
    const until = new Date(deps.now().getTime() + LEASE_MS);
    inTenant(deps.db, tenant, (unit) => renewClaim(unit, sessionId, owner, until)).catch((error) =>
      deps.log.warn({ sessionId, code: codeOf(error) }, 'renewing the claim on a session failed'),
    );
  }, RENEWAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

interface Mined {
  readonly windows: readonly MinedWindow[];
  /** With the runs that they belong to. */
  readonly drafts: readonly FactDraft[];
  /** Where the cursor goes: beyond the last window that was mined. */
  readonly minedSeq: number;
  /** Code of what made the window after that fail; null: none did. */
  readonly failure: string | null;
}

/** Gate and extractor, window by window, up to the first that fails. */
async function mineWindows(
  deps: Deps,
  tenant: TenantContext,
  { claim, runs, messages, endSeq }: Taken,
  now: Date,
  signal: AbortSignal,
): Promise<Mined> {
  const windows: MinedWindow[] = [];
  let failure: string | null = null;
  for (const window of cutWindows(messages)) {
    try {
      windows.push(await mineWindow(deps.extractor, tenant, claim, window, now, signal));
    } catch (error) {
      signal.throwIfAborted();
      tell(deps, tenant, claim.sessionId, error);
      failure = codeOf(error);
      break;
    }
  }
  const drafts = windows
    .flatMap((window) => (window.status === 'EXTRACTED' ? window.drafts : []))
    .map((draft) => ({ ...draft, runId: runOf(draft, runs, messages)?.id ?? null }));
  const lastSeq = windows.at(-1)?.messages.at(-1)?.seq ?? claim.minedSeq;
  return { windows, drafts, minedSeq: failure === null ? endSeq : lastSeq, failure };
}

type Work = Taken &
  Mined & { readonly owner: string; readonly prepared: readonly (PreparedFact | DraftRefusal)[] };

/** Runs what ends the work, tells subscribers to look; null when the claim was lost meanwhile. */
async function settle(
  deps: Deps,
  tenant: TenantContext,
  end: (unit: Unit) => Promise<MiningResult | null>,
): Promise<MiningResult | null> {
  const result = await inTenant(deps.db, tenant, end);
  if (result) deps.feed.wake(tenant.id);
  return result;
}

async function apply(
  unit: Unit,
  deps: Deps,
  tenant: TenantContext,
  work: Work,
): Promise<MiningResult | null> {
  if (!(await holdsClaim(unit, work.claim, work.owner))) return null;
  const now = deps.now();
  const accepted = work.prepared.filter((one): one is PreparedFact => !isRefusal(one));
  const written = await writeFacts(unit, deps, tenant, accepted, now);

  const outcomes = new Map(
    work.runs.map((run) => [
      run.id,
      { status: endOf(run, work), factIds: new Set<string>(), refused: [] as RunRefusal[] },
    ]),
  );
  const refusals: { runId: string | null; category: string; text: string }[] = [];
  let place = 0;
  work.prepared.forEach((one, index) => {
    const { text, runId = null } = work.drafts[index] as FactDraft;
    const outcome = isRefusal(one)
      ? { outcome: 'REFUSED' as const, refusal: one }
      : written.outcomes[place++];
    if (!outcome) throw new Error('a statement without an outcome');
    const run = runId ? outcomes.get(runId) : undefined;
    if (outcome.outcome === 'REFUSED') {
      const { category, reason } = outcome.refusal;
      refusals.push({ runId, category, text });
      run?.refused.push({ text, category, reason });
    } else {
      run?.factIds.add(outcome.factId);
    }
  });
  await insertRefusals(
    unit,
    refusals.map((refusal) => ({ ...refusal, scopeId: work.claim.scopeId, path: 'EXTRACTION' })),
    now,
  );

  const ends = [...outcomes].flatMap(([id, { status }]): RunEnd[] =>
    status === 'PENDING' ? [] : [{ id, status, error: status === 'FAILED' ? work.failure : null }],
  );
  const { minedSeq, failure } = work;
  await finishRuns(unit, work.claim, { runs: ends, minedSeq, failed: failure !== null, at: now });
  await appendEvents(unit, [...written.events, ...ends.map(finished(work.claim))], SYSTEM_ACTOR, now);
  return {
    more: failure === null && minedSeq < work.claim.lastSeq,
    outcomes: new Map(
      [...outcomes].map(([id, outcome]) => [id, { ...outcome, factIds: [...outcome.factIds] }]),
    ),
  };
}

/** A failure of all moves nothing: runs say so, the session is free again, its messages wait for the next run. */
async function giveUp(
  unit: Unit,
  deps: Deps,
  { claim, runs, owner }: Taken & { readonly owner: string },
  code: string,
): Promise<MiningResult | null> {
  if (!(await holdsClaim(unit, claim, owner))) return null;
  const at = deps.now();
  const ends = runs.map(({ id }) => ({ id, status: 'FAILED', error: code }));
  await finishRuns(unit, claim, { runs: ends, minedSeq: claim.minedSeq, failed: true, at });
  await appendEvents(unit, ends.map(finished(claim)), SYSTEM_ACTOR, at);
  return {
    more: false,
    outcomes: new Map(ends.map(({ id, status }) => [id, { status, factIds: [], refused: [] }])),
  };
}

function finished({ agentId, userId }: Claim) {
  return ({ id }: RunEnd) => ({ type: 'EXTRACTION_FINISHED' as const, agentId, userId, subjectId: id });
}

/** The code of an error alone: its message may hold what was said. */
function codeOf(error: unknown): string {
  return error instanceof Error ? ((error as { code?: string }).code ?? error.name) : 'UNKNOWN';
}

function tell(deps: Deps, tenant: TenantContext, sessionId: string, error: unknown): void {
  deps.log.error({ tenantId: tenant.id, sessionId, code: codeOf(error) }, 'extraction failed');
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

/** What a run came to: the most that any of its windows did; PENDING when some of them are left for the next round. */
function endOf(run: ExtractionRunRow, { windows, drafts, minedSeq, failure }: Work): string {
  if (run.toSeq > minedSeq) return failure === null ? 'PENDING' : 'FAILED';
  if (drafts.some((draft) => draft.runId === run.id)) return 'EXTRACTED';
  const own = windows.filter((window) =>
    window.messages.some(({ seq }) => seq >= run.fromSeq && seq <= run.toSeq),
  );
  if (own.length === 0) return 'NOTHING_NEW';
  return own.some((window) => window.status === 'EXTRACTED') ? 'EXTRACTED_NOTHING' : 'SKIPPED_NOT_SALIENT';
}
