import { contentOf, inTenant, type RunExpense, releaseClaim, renewClaim, type Unit } from '../db/index.js';
import { type DraftRefusal, type PreparedFact, prepareFacts } from '../facts/index.js';
import { newId } from '../ids.js';
import type { Services } from '../services.js';
import type { TenantContext } from '../tenancy/index.js';
import { type Failure, failureOf } from './failures.js';
import { type MinedWindow, mineWindow, type Proposal } from './mine.js';
import { expenseOf, runOf } from './outcomes.js';
import { type Round, takeRound } from './round.js';
import { applyRound, giveUpRound, type MiningResult } from './settle.js';

/** How long a claim on a session holds unless it is renewed: after a crash the session waits that long. */
const LEASE_MS = 30_000;
const RENEWAL_MS = LEASE_MS / 3;
/** A round ends with the window that reaches this many facts: they are compared and stored in one transaction. */
const ROUND_FACTS = 200;

type Deps = Pick<
  Services,
  'db' | 'embedding' | 'embeddingModelId' | 'extractor' | 'log' | 'now' | 'profiles'
>;

/**
 * Mines a session's new messages, a round of them: claim, read, gate and extract outside of any transaction, then apply
 * facts, runs, cursor and events in one (SPEC §2.2, §2.4). Where a window fails, what the windows before it gave is
 * applied and the cursor stays before it; its runs have failed, or wait to be tried again where the cause may pass. After
 * its fifth failure it is put aside and the cursor goes on.
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
  let spent: readonly RunExpense[] = [];
  try {
    const mined = await mineWindows(deps, tenant, round, now, signal);
    spent = mined.expenses;
    const prepared = await prepare(deps, tenant, mined.proposals);
    return await settle(deps, tenant, (unit) =>
      applyRound(unit, deps, tenant, { ...round, ...mined, owner, prepared }),
    );
  } catch (error) {
    if (signal.aborted) {
      await inTenant(deps.db, tenant, (unit) => releaseClaim(unit, sessionId, owner));
      return null;
    }
    const failure = tell(deps, tenant, sessionId, error);
    return await settle(deps, tenant, (unit) => giveUpRound(unit, deps, round, owner, failure, spent));
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

/** What gate and extractor made of a round. */
export interface Mined {
  readonly windows: readonly MinedWindow[];
  /** With the runs that they belong to. */
  readonly proposals: readonly Proposal[];
  /** Where the cursor goes: beyond the last window that was mined. */
  readonly minedSeq: number;
  /** What made the window after that fail, and its newest message; null: none did. */
  readonly failed: { readonly failure: Failure; readonly seq: number } | null;
  /** What it used and remarked, by run. */
  readonly expenses: readonly RunExpense[];
}

/** Gate and extractor, window by window: up to the first that fails, or to as many facts as a round may have. */
async function mineWindows(
  deps: Deps,
  tenant: TenantContext,
  { claim, runs, given, endSeq, known, retried }: Round,
  now: Date,
  signal: AbortSignal,
): Promise<Mined> {
  const windows: MinedWindow[] = [];
  const proposals: Proposal[] = [];
  const context = { extractor: deps.extractor, tenant, claim, known, now };
  const expenses: RunExpense[] = [];
  // A window that was put aside is behind the cursor, which stays.
  const cursor = (seq: number) => (retried ? claim.minedSeq : seq);
  const at = (seq: number, failed: Mined['failed'] = null): Mined => {
    return { windows, proposals, expenses, minedSeq: cursor(seq), failed };
  };
  let minedSeq = claim.minedSeq;
  for (const window of given) {
    // What a window replaced is not to be shown to the next one, and what it added is.
    const replaced = proposals.some(({ draft }) => draft.replaces);
    const alone = deps.extractor.oneWindowARound && windows.some(({ status }) => status === 'EXTRACTED');
    if (proposals.length >= ROUND_FACTS || replaced || alone) return at(minedSeq);
    const lastSeq = window.at(-1)?.seq ?? minedSeq;
    try {
      const mined = await mineWindow(context, window, signal);
      windows.push(mined);
      for (const { draft, refusal } of mined.proposals)
        proposals.push({ draft: { ...draft, runId: runOf(draft, runs, window)?.id ?? null }, refusal });
      expenses.push(...expenseOf(runs, lastSeq, mined.usage, mined.notes));
      if (mined.notes.length > 0)
        deps.log.info(
          { tenantId: tenant.id, sessionId: claim.sessionId, notes: mined.notes },
          'an extractor remarked',
        );
    } catch (error) {
      signal.throwIfAborted();
      const failure = tell(deps, tenant, claim.sessionId, error);
      expenses.push(...expenseOf(runs, lastSeq, failure.usage));
      return at(minedSeq, { failure, seq: lastSeq });
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

/** Runs what ends the work, tells subscribers to look; null when the claim was lost meanwhile. */
async function settle(
  deps: Deps,
  tenant: TenantContext,
  end: (unit: Unit) => Promise<MiningResult | null>,
): Promise<MiningResult | null> {
  return inTenant(deps.db, tenant, end);
}

function tell(deps: Deps, tenant: TenantContext, sessionId: string, error: unknown): Failure {
  const failure = failureOf(error);
  deps.log.error({ tenantId: tenant.id, sessionId, code: failure.code }, 'extraction failed');
  return failure;
}
