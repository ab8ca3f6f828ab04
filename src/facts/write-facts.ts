import {
  clearTombstones,
  factsByIds,
  lockScopes,
  lookUpFacts,
  ownersExist,
  retireFacts,
  type ScopeOwner,
  type ScopeRow,
  type Unit,
  writeFactRows,
  writeGraphApart,
} from '../db/index.js';
import { NotFoundError } from '../errors.js';
import type { NewEvent } from '../events/index.js';
import type { ScopeProfile } from '../profiles/index.js';
import type { Services } from '../services.js';
import { assertQuota, decayVariantOf, type TenantContext, userProfileBudget } from '../tenancy/index.js';
import { countCharacters } from '../text/index.js';
import { collect, type WriteOutcome } from './collect.js';
import type { PreparedFact } from './draft.js';
import { scopeChanges } from './fact-rows.js';
import { type PlacedFact, placeFact, planWrite, type ReplacedFact } from './plan.js';
import { profileOfStatement, topicIdsOf } from './scope-profiles.js';

export interface WriteResult {
  readonly outcomes: readonly WriteOutcome[];
  /** To be appended as the last statement of the transaction, with whatever else happened in it. */
  readonly events: readonly NewEvent[];
}

type Deps = Pick<Services, 'embedding' | 'embeddingModelId' | 'log' | 'profiles'>;

/**
 * The one way by which facts enter the store: `remember`, replacements and extraction all come here (SPEC §2.4). In
 * the caller's transaction: locks the scopes, compares with what they hold, scores, stores facts, numbers, vectors,
 * postings, sources and graph, retires what is replaced. The number of statements does not grow with the facts.
 *
 * @throws NotFoundError when a draft names an agent or user that is not of this tenant
 */
export async function writeFacts(
  unit: Unit,
  deps: Deps,
  tenant: TenantContext,
  facts: readonly PreparedFact[],
  now: Date,
): Promise<WriteResult> {
  if (facts.length === 0) return { outcomes: [], events: [] };
  const scopes = await lockScopesOf(unit, facts, now);
  const scopeIdOf = (prepared: PreparedFact) => scopes.get(ownerKey(prepared.draft)) as number;
  const profiles = await profilesOf(unit, deps, scopes, facts);
  const targets = await liveTargets(unit, facts, now);
  const found = await lookUpFacts(
    unit,
    facts.map((prepared) => ({
      scopeId: scopeIdOf(prepared),
      kind: prepared.draft.kind,
      textHash: prepared.textHash,
      embedding: prepared.embedding,
      terms: prepared.terms.map(({ term }) => term),
      replaces: prepared.draft.replaces?.id ?? null,
    })),
    deps.embeddingModelId,
    now,
    new Map([...profiles].map(([scopeId, { effective }]) => [scopeId, topicIdsOf(effective)])),
  );
  const placed = facts.map((prepared, place): PlacedFact => {
    const result = found.results[place];
    if (!result) throw new Error('a statement that was not looked up');
    const target = targets.get(prepared.draft.replaces?.id ?? '');
    const replaced = target?.scopeId === scopeIdOf(prepared) ? target : null;
    return placeFact(prepared, scopeIdOf(prepared), result, replaced);
  });
  const { similarity } = deps.embedding;
  const profileOf = ({ scopeId }: PlacedFact) => profiles.get(scopeId) as ScopeProfile;
  const plan = planWrite(
    placed,
    found,
    (fact) => profileOfStatement(profileOf(fact), fact, similarity),
    similarity,
    userProfileBudget(tenant.settings),
  );

  const written = collect(
    placed,
    plan.decisions,
    { profileOf, variant: decayVariantOf(tenant.settings) },
    now,
  );
  await writeFactRows(unit, {
    ...written,
    changes: scopeChanges(written.added, plan.baselines),
    modelId: deps.embeddingModelId,
    at: now,
  });
  await assertQuota(unit, tenant, 'facts', written.added.length);
  await clearTombstones(unit, written.recalled);
  const retired = await retireFacts(unit, written.retirements, now);
  if (retired.length < written.retirements.length)
    throw new Error('a fact to replace was retired under the lock of its scope');
  await writeGraphApart(unit, written.graph, now, (code) =>
    deps.log.error(
      { tenantId: unit.tenantId, code },
      'indexing facts in the graph failed; the facts are kept',
    ),
  );
  return { outcomes: written.outcomes, events: written.events };
}

/** The effective profile of each scope, read under its lock: a rescoring that passed it cannot have missed the change. */
async function profilesOf(
  unit: Unit,
  { profiles }: Deps,
  scopes: ReadonlyMap<string, number>,
  facts: readonly PreparedFact[],
): Promise<ReadonlyMap<number, ScopeProfile>> {
  const owners = new Map(
    facts.map(({ draft }) => [
      scopes.get(ownerKey(draft)) as number,
      { agentId: draft.agentId, userId: draft.userId },
    ]),
  );
  const read = await profiles.effectiveOf(unit, [...owners.values()]);
  return new Map([...owners.keys()].map((scopeId, place) => [scopeId, read[place] as ScopeProfile]));
}

async function lockScopesOf(
  unit: Unit,
  facts: readonly PreparedFact[],
  now: Date,
): Promise<Map<string, number>> {
  const owners = new Map(
    facts.map(({ draft }) => [ownerKey(draft), { agentId: draft.agentId, userId: draft.userId }]),
  );
  const rows = await lockScopes(unit, [...owners.values()], now);
  const ids = new Map(rows.map((row: ScopeRow) => [ownerKey(row), row.id]));
  for (const [key, owner] of owners) {
    if (ids.has(key)) continue;
    const known = await ownersExist(unit, owner);
    throw known.agent ? new NotFoundError('User', ['userId']) : new NotFoundError('Agent', ['agentId']);
  }
  return ids;
}

function ownerKey(owner: ScopeOwner): string {
  return `${owner.agentId}/${owner.userId}`;
}

/** The facts that are replaced, as they are under the locks: those that are live. One statement, or none. */
async function liveTargets(
  unit: Unit,
  facts: readonly PreparedFact[],
  now: Date,
): Promise<ReadonlyMap<string, ReplacedFact>> {
  const ids = facts.flatMap(({ draft }) => draft.replaces?.id ?? []);
  const targets = ids.length === 0 ? [] : await factsByIds(unit, ids);
  return new Map(
    targets
      .filter(({ retiredAt, validTo }) => retiredAt === null && (validTo === null || validTo > now))
      .map(({ id, scopeId, kind, text, salience }) => [
        id,
        { id, scopeId, kind, characters: countCharacters(text), pinned: salience.pinned },
      ]),
  );
}
