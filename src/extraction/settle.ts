import {
  addExpenses,
  appendEvents,
  type Claim,
  type ExtractionRunRow,
  finishRuns,
  holdsClaim,
  insertRefusals,
  putAside,
  quarantineFailedRuns,
  type RunEnd,
  type RunExpense,
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
import type { Failure } from './failures.js';
import { expenseOf, type RunOutcome, resultsOf, summed } from './outcomes.js';
import type { Round } from './round.js';
import { planRetried, planRound, type RoundPlan } from './round-plan.js';
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
  const plan = await carryOut(unit, work, drafts, now);
  await addExpenses(unit, summed(work.expenses));
  await finish(unit, claim, plan, now, written.events);
  return { more: plan.more, outcomes: outcomesOf(runs, plan.ends, byRun) };
}

/**
 * Ends a round whose result could not be written: nothing of it counts, the session is free again. Which of its windows
 * is at fault is not known: the first counts as failed and is mined alone the next time.
 * @param spent what was used all the same, beside what the failure tells of
 */
export async function giveUpRound(
  unit: Unit,
  deps: Pick<Services, 'now'>,
  round: Round,
  owner: string,
  failure: Failure,
  spent: readonly RunExpense[],
): Promise<MiningResult | null> {
  const { claim, runs, given, endSeq } = round;
  if (!(await holdsClaim(unit, claim, owner))) return null;
  const now = deps.now();
  const seq = given[0]?.at(-1)?.seq ?? endSeq;
  const nothing = { windows: [], minedSeq: claim.minedSeq };
  const plan = await carryOut(unit, { ...round, ...nothing, failed: { failure, seq } }, [], now);
  await addExpenses(unit, summed([...spent, ...expenseOf(runs, seq, failure.usage)]));
  await finish(unit, claim, plan, now, []);
  return { more: plan.more, outcomes: outcomesOf(runs, plan.ends, new Map()) };
}

/** Decides what becomes of the round's windows and writes those that go into quarantine or come out of it. */
async function carryOut(
  unit: Unit,
  round: Round & Pick<Mined, 'windows' | 'minedSeq' | 'failed'>,
  drafts: readonly FactDraft[],
  now: Date,
): Promise<RoundPlan> {
  const { claim, runs, retried } = round;
  const begun = retried ? runs : runs.filter(({ fromSeq }) => fromSeq <= claim.minedSeq);
  const found = new Set([
    ...(await runsWithFacts(unit, begun, claim.minedSeq)),
    ...drafts.flatMap(({ runId }) => runId ?? []),
  ]);
  const plan = retried ? planRetried(round, retried, found, now) : planRound(round, found, now);
  if (plan.put) {
    await putAside(unit, plan.put);
    await quarantineFailedRuns(unit, plan.put);
  }
  if (plan.taken) await takeBack(unit, plan.taken);
  return plan;
}

/** Ends runs and job, gives the claim back, tells: the last statements of the transaction. */
async function finish(
  unit: Unit,
  claim: Claim,
  plan: RoundPlan,
  at: Date,
  events: readonly NewEvent[],
): Promise<void> {
  const { agentId, userId } = claim;
  const { ends, minedSeq, window, failed, retryAt } = plan;
  await finishRuns(unit, claim, { runs: ends, minedSeq, window, failed, retryAt, at });
  const told = (type: NewEvent['type'], id: string): NewEvent => ({ type, agentId, userId, subjectId: id });
  appendEvents(
    unit,
    [
      ...events,
      ...(plan.quarantined === null ? [] : [told('EXTRACTION_QUARANTINED', plan.quarantined)]),
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
