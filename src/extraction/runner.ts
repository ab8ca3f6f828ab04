import {
  appendEvents,
  type Claim,
  contentOf,
  finishRuns,
  holdsClaim,
  insertRefusals,
  inTenant,
  type RunEnd,
  releaseClaim,
  renewClaim,
  runsWithFacts,
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
import { type Failure, failedRuns, failureOf, retryAt } from './failures.js';
import { type MinedWindow, mineWindow, type Proposal } from './mine.js';
import { endsOf, type RunOutcome, resultsOf, runOf } from './outcomes.js';
import { type Round, takeRound } from './round.js';
import { cutWindows } from './windows.js';

/** What mining a session came to, for whoever waits for it. */
export interface MiningResult {
  /** Whether messages are left to mine. */
  readonly more: boolean;
  /** By run. */
  readonly outcomes: ReadonlyMap<string, RunOutcome>;
}

/** How long a claim on a session holds unless it is renewed: after a crash the session waits that long. */
const LEASE_MS = 30_000;
const RENEWAL_MS = LEASE_MS / 3;
/** A round ends with the window that reaches this many facts: they are compared and stored in one transaction. */
const ROUND_FACTS = 200;

type Deps = Pick<
  Services,
  'db' | 'embedding' | 'embeddingModelId' | 'extractor' | 'feed' | 'log' | 'now' | 'profiles'
>;

/**
 * Mines a session's new messages, a round of them: claim, read, gate and extract outside of any transaction, then apply
 * facts, runs, cursor and events in one (SPEC §2.2, §2.4). Where a window fails, what the windows before it gave is
 * applied and the cursor stays before it; its runs have failed, or wait to be tried again where the cause may pass.
 * @returns null when the session is another's, who mines it, or gone; or when the signal ended the work, which is then
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
  const round = await inTenant(deps.db, tenant, (unit) =>
    takeRound(unit, sessionId, owner, now, new Date(now.getTime() + LEASE_MS)),
  );
  if (!round) return null;
  const stopRenewing = keepClaim(deps, tenant, sessionId, owner);
  try {
    const mined = await mineWindows(deps, tenant, round, now, signal);
    const prepared = await prepare(deps, tenant, mined.proposals);
    return await settle(deps, tenant, (unit) =>
      apply(unit, deps, tenant, { ...round, ...mined, owner, prepared }),
    );
  } catch (error) {
    if (signal.aborted) {
      await inTenant(deps.db, tenant, (unit) => releaseClaim(unit, sessionId, owner));
      return null;
    }
    const failure = tell(deps, tenant, sessionId, error);
    return await settle(deps, tenant, (unit) => giveUp(unit, deps, round, owner, failure));
  } finally {
    stopRenewing();
  }
}

/** Renews the claim as long as the work takes, so that no other process begins the same. */
function keepClaim(deps: Deps, tenant: TenantContext, sessionId: string, owner: string): () => void {
  const timer = setInterval(() => {
    const until = new Date(deps.now().getTime() + LEASE_MS);
    inTenant(deps.db, tenant, (unit) => renewClaim(unit, sessionId, owner, until)).catch((error) =>
      deps.log.warn({ sessionId, code: failureOf(error).code }, 'renewing the claim on a session failed'),
    );
  }, RENEWAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

interface Mined {
  readonly windows: readonly MinedWindow[];
  /** With the runs that they belong to. */
  readonly proposals: readonly Proposal[];
  /** Where the cursor goes: beyond the last window that was mined. */
  readonly minedSeq: number;
  /** What made the window after that fail, and its newest message; null: none did. */
  readonly failed: { readonly failure: Failure; readonly seq: number } | null;
}

/** Gate and extractor, window by window: up to the first that fails, or to as many facts as a round may have. */
async function mineWindows(
  deps: Deps,
  tenant: TenantContext,
  { claim, runs, messages, endSeq, known }: Round,
  now: Date,
  signal: AbortSignal,
): Promise<Mined> {
  const windows: MinedWindow[] = [];
  const proposals: Proposal[] = [];
  const context = { extractor: deps.extractor, tenant, claim, known, now };
  const at = (seq: number, failed: Mined['failed'] = null) => ({ windows, proposals, minedSeq: seq, failed });
  let minedSeq = claim.minedSeq;
  for (const window of cutWindows(messages)) {
    // What a window replaced is not to be shown to the next one, and what it added is.
    const replaced = proposals.some(({ draft }) => draft.replaces);
    if (proposals.length >= ROUND_FACTS || replaced) return at(minedSeq);
    const lastSeq = window.at(-1)?.seq ?? minedSeq;
    try {
      const mined = await mineWindow(context, window, signal);
      windows.push(mined);
      for (const { draft, refusal } of mined.proposals)
        proposals.push({ draft: { ...draft, runId: runOf(draft, runs, window)?.id ?? null }, refusal });
      if (mined.notes.length > 0)
        deps.log.info(
          { tenantId: tenant.id, sessionId: claim.sessionId, notes: mined.notes },
          'an extractor remarked',
        );
    } catch (error) {
      signal.throwIfAborted();
      return at(minedSeq, { failure: tell(deps, tenant, claim.sessionId, error), seq: lastSeq });
    }
    minedSeq = lastSeq;
  }
  return at(endSeq);
}

/** `prepareFacts` for those that are not refused yet. One answer for each, in order. */
async function prepare(
  deps: Deps,
  tenant: TenantContext,
  proposals: readonly Proposal[],
): Promise<(PreparedFact | DraftRefusal)[]> {
  const tried = proposals.filter(({ refusal }) => refusal === null).map(({ draft }) => draft);
  const prepared = await prepareFacts(deps, tenant, contentOf(tenant.hashKey), tried);
  let place = 0;
  return proposals.map(({ refusal }) => {
    const one = refusal ?? prepared[place++];
    if (!one) throw new Error('a draft without an answer');
    return one;
  });
}

type Work = Round &
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
  const { claim, runs, windows, minedSeq, failed } = work;
  if (!(await holdsClaim(unit, claim, work.owner))) return null;
  const now = deps.now();
  const accepted = work.prepared.filter((one): one is PreparedFact => !isRefusal(one));
  const written = await writeFacts(unit, deps, tenant, accepted, now);
  const drafts: FactDraft[] = work.proposals.map(({ draft }) => draft);
  const { byRun, refusals } = resultsOf(runs, drafts, work.prepared, written.outcomes);
  await insertRefusals(
    unit,
    refusals.map((refusal) => ({ ...refusal, scopeId: claim.scopeId, path: 'EXTRACTION' })),
    now,
  );

  const done = runs.filter((run) => run.toSeq <= minedSeq);
  const begun = done.filter((run) => run.fromSeq <= claim.minedSeq);
  const ends = endsOf(done, windows, drafts, await runsWithFacts(unit, begun, claim.minedSeq));
  if (failed) {
    const left = runs.filter((run) => run.toSeq > minedSeq);
    ends.push(...failedRuns(failed.failure, left, failed.seq, minedSeq > claim.minedSeq));
  }
  await finish(unit, claim, ends, { minedSeq, failed: failed !== null, at: now }, written.events);
  const statusOf = new Map(ends.map(({ id, status }) => [id, status]));
  return {
    more: failed === null && minedSeq < claim.lastSeq,
    outcomes: new Map(
      [...byRun].map(([id, { factIds, refused }]) => [
        id,
        { status: statusOf.get(id) ?? 'PENDING', factIds: [...factIds], refused },
      ]),
    ),
  };
}

/** A failure of all moves nothing: the session is free again, its messages wait for the next run. */
async function giveUp(
  unit: Unit,
  deps: Deps,
  { claim, runs, endSeq }: Round,
  owner: string,
  failure: Failure,
): Promise<MiningResult | null> {
  if (!(await holdsClaim(unit, claim, owner))) return null;
  const ends = failedRuns(failure, runs, endSeq, false);
  await finish(unit, claim, ends, { minedSeq: claim.minedSeq, failed: true, at: deps.now() }, []);
  const statusOf = new Map(ends.map(({ id, status }) => [id, status]));
  return {
    more: false,
    outcomes: new Map(
      runs.map(({ id }) => [id, { status: statusOf.get(id) ?? 'PENDING', factIds: [], refused: [] }]),
    ),
  };
}

/** Ends runs and job, gives the claim back, tells: the last statements of the transaction. */
async function finish(
  unit: Unit,
  claim: Claim,
  ends: readonly RunEnd[],
  end: { readonly minedSeq: number; readonly failed: boolean; readonly at: Date },
  events: Parameters<typeof appendEvents>[1],
): Promise<void> {
  const { agentId, userId } = claim;
  await finishRuns(unit, claim, { ...end, runs: ends, retryAt: end.failed ? retryAt(ends, end.at) : null });
  const finished = ends
    .filter(({ status }) => status !== 'PENDING')
    .map(({ id }) => ({ type: 'EXTRACTION_FINISHED' as const, agentId, userId, subjectId: id }));
  await appendEvents(unit, [...events, ...finished], SYSTEM_ACTOR, end.at);
}

function tell(deps: Deps, tenant: TenantContext, sessionId: string, error: unknown): Failure {
  const failure = failureOf(error);
  deps.log.error({ tenantId: tenant.id, sessionId, code: failure.code }, 'extraction failed');
  return failure;
}
