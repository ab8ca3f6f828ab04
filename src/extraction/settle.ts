import {
  addExpenses,
  appendEvents,
  type Claim,
  type ExtractionRunRow,
  type FailingWindow,
  finishRuns,
  holdsClaim,
  insertRefusals,
  putAside,
  type QuarantinedWindow,
  quarantineFailedRuns,
  type RunEnd,
  runsWithFacts,
  takeBack,
  type Unit,
} from '../db/index.js';
import type { NewEvent } from '../events/index.js';
import {
  type DraftRefusal,
  type FactDraft,
  isRefusal,
  type PreparedFact,
  writeFacts,
} from '../facts/index.js';
import type { Services } from '../services.js';
import { SYSTEM_ACTOR, type TenantContext } from '../tenancy/index.js';
import { type Failure, failedRuns, judgeWindow, MOST_FAILURES, NO_FAILURE, retryTime } from './failures.js';
import { endsOf, expenseOf, type RunOutcome, resultsOf, runOfWindow, summed } from './outcomes.js';
import type { Round } from './round.js';
import type { Mined } from './runner.js';

/** What mining a session came to, for whoever waits for it. */
export interface MiningResult {
  /** Whether messages are left to mine. */
  readonly more: boolean;
  /** By run. */
  readonly outcomes: ReadonlyMap<string, RunOutcome>;
}

/** A round that was mined, with its facts ready to be written. */
export type Work = Round &
  Mined & { readonly owner: string; readonly prepared: readonly (PreparedFact | DraftRefusal)[] };

type Deps = Pick<Services, 'embedding' | 'embeddingModelId' | 'log' | 'now' | 'profiles'>;

/**
 * Writes what a round came to: facts, refusals, the ends of runs, cursor, quarantine and events, in the caller's
 * transaction (SPEC §2.2, §2.4).
 * @returns null when the session is not ours any more: nothing was written
 */
export async function applyRound(
  unit: Unit,
  deps: Deps,
  tenant: TenantContext,
  work: Work,
): Promise<MiningResult | null> {
  const { claim, runs } = work;
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
  const settled = work.retried
    ? await endRetried(unit, work, work.retried, drafts, work.failed, now)
    : await endRound(unit, work, drafts, now);
  await addExpenses(unit, summed(work.expenses));
  await finish(unit, claim, settled, now, written.events);
  return { more: settled.more, outcomes: outcomesOf(runs, settled.ends, byRun) };
}

/**
 * Ends a round whose result could not be written: nothing of it counts, the session is free again. Which of its windows
 * is at fault is not known: the first counts as failed and is mined alone the next time.
 */
export async function giveUpRound(
  unit: Unit,
  deps: Pick<Services, 'now'>,
  round: Round,
  owner: string,
  failure: Failure,
): Promise<MiningResult | null> {
  const { claim, runs, given, endSeq, retried } = round;
  if (!(await holdsClaim(unit, claim, owner))) return null;
  const now = deps.now();
  const seq = given[0]?.at(-1)?.seq ?? endSeq;
  const nothing = { windows: [], proposals: [], minedSeq: claim.minedSeq, expenses: [] };
  const settled = retried
    ? await endRetried(unit, { ...round, ...nothing }, retried, [], { failure }, now)
    : await endRound(unit, { ...round, ...nothing, failed: { failure, seq } }, [], now);
  await addExpenses(unit, expenseOf(runs, seq, failure.usage));
  await finish(unit, claim, settled, now, []);
  return { more: settled.more, outcomes: outcomesOf(runs, settled.ends, new Map()) };
}

/** How a round leaves its session. */
interface Settled {
  readonly ends: readonly RunEnd[];
  readonly minedSeq: number;
  readonly window: FailingWindow;
  readonly failed: boolean;
  /** When what waits is tried again, because of a failure. */
  readonly retryAt: Date | null;
  readonly more: boolean;
  /** Runs to tell of as EXTRACTION_QUARANTINED. */
  readonly quarantined: readonly string[];
}

/** The cursor goes behind the last window that was mined, or behind one that has failed too often. */
async function endRound(
  unit: Unit,
  work: Round & Omit<Mined, 'proposals'>,
  drafts: readonly FactDraft[],
  now: Date,
): Promise<Settled> {
  const { claim, runs, windows, failed } = work;
  const verdict = failed
    ? judgeWindow(claim.window, failed.failure, failed.seq, work.minedSeq === claim.minedSeq, now)
    : null;
  const minedSeq = failed && verdict?.quarantined ? failed.seq : work.minedSeq;
  const put: QuarantinedWindow[] =
    failed && verdict?.quarantined
      ? [
          {
            sessionId: claim.sessionId,
            fromSeq: work.minedSeq + 1,
            toSeq: failed.seq,
            error: failed.failure.code,
            failures: verdict.window.failures,
            quarantinedAt: now,
            retryAt: null,
          },
        ]
      : [];
  for (const window of put) {
    await putAside(unit, window);
    await quarantineFailedRuns(unit, window);
  }
  const done = runs.filter((run) => run.toSeq <= minedSeq);
  const begun = done.filter((run) => run.fromSeq <= claim.minedSeq);
  const withFacts = await runsWithFacts(unit, begun, claim.minedSeq);
  const ends = endsOf(done, windows, drafts, withFacts, [...claim.aside, ...put]);
  const stuck = failed && !verdict?.quarantined;
  if (stuck) {
    const left = runs.filter((run) => run.toSeq > minedSeq);
    ends.push(...failedRuns(failed.failure, left, failed.seq));
  }
  return {
    ends,
    minedSeq,
    window: stuck && verdict ? verdict.window : NO_FAILURE,
    failed: stuck === true,
    retryAt: stuck ? (verdict?.window.retryAt ?? null) : null,
    more: !stuck && minedSeq < claim.lastSeq,
    quarantined: put.flatMap(({ toSeq }) => runOfWindow(runs, toSeq)?.id ?? []),
  };
}

/** The cursor stays where it is. The window is out of quarantine when it is mined, and else back in it, or due later. */
async function endRetried(
  unit: Unit,
  { claim, runs, windows }: Round & Pick<Mined, 'windows'>,
  retried: QuarantinedWindow,
  drafts: readonly FactDraft[],
  failed: { readonly failure: Failure } | null,
  now: Date,
): Promise<Settled> {
  const others = claim.aside.filter(({ fromSeq }) => fromSeq !== retried.fromSeq);
  const left = { minedSeq: claim.minedSeq, window: claim.window, quarantined: [] };
  if (!failed) {
    await takeBack(unit, retried);
    const withFacts = await runsWithFacts(unit, runs, claim.minedSeq);
    const ends = endsOf(runs, windows, drafts, withFacts, others);
    return { ...left, ends, failed: false, retryAt: null, more: true };
  }
  const { failure } = failed;
  const failures = retried.failures + 1;
  const retryAt = failure.transient && failures < MOST_FAILURES ? retryTime(failures, now) : null;
  await putAside(unit, { ...retried, error: failure.code, failures, retryAt });
  const ends = runs.map((run) => ({
    id: run.id,
    status: retryAt ? 'PENDING' : 'QUARANTINED',
    error: failure.code,
    attempts: run.attempts + 1,
  }));
  return { ...left, ends, failed: true, retryAt, more: claim.minedSeq < claim.lastSeq };
}

/** Ends runs and job, gives the claim back, tells: the last statements of the transaction. */
async function finish(
  unit: Unit,
  claim: Claim,
  settled: Settled,
  at: Date,
  events: readonly NewEvent[],
): Promise<void> {
  const { agentId, userId } = claim;
  const { ends, minedSeq, window, failed, retryAt } = settled;
  await finishRuns(unit, claim, { runs: ends, minedSeq, window, failed, retryAt, at });
  const told = (type: NewEvent['type'], id: string): NewEvent => ({ type, agentId, userId, subjectId: id });
  await appendEvents(
    unit,
    [
      ...events,
      ...settled.quarantined.map((id) => told('EXTRACTION_QUARANTINED', id)),
      ...ends.filter(({ status }) => status !== 'PENDING').map(({ id }) => told('EXTRACTION_FINISHED', id)),
    ],
    SYSTEM_ACTOR,
    at,
  );
}

function outcomesOf(
  runs: readonly ExtractionRunRow[],
  ends: readonly RunEnd[],
  byRun: ReadonlyMap<
    string,
    { readonly factIds: ReadonlySet<string>; readonly refused: RunOutcome['refused'] }
  >,
): ReadonlyMap<string, RunOutcome> {
  const statusOf = new Map(ends.map(({ id, status }) => [id, status]));
  return new Map(
    runs.map(({ id }) => {
      const { factIds = [], refused = [] } = byRun.get(id) ?? {};
      return [id, { status: statusOf.get(id) ?? 'PENDING', factIds: [...factIds], refused }];
    }),
  );
}
