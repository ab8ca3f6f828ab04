import {
  appendEvents,
  type FactRecord,
  factsByIds,
  forgetFactRows,
  inTenant,
  lockScopesById,
  scopeIdsOfSources,
} from '../db/index.js';
import { NotFoundError, SalientError } from '../errors.js';
import type { Services } from '../services.js';
import { audit, changerOf, type TenantActor } from '../tenancy/index.js';
import { checkBatch, type UnreadableItem } from './batch-items.js';
import { eventOf } from './endings.js';
import { findTargets } from './find-targets.js';
import { type FactTarget, pathOf } from './target.js';

export interface ForgetManyInput {
  /** 1 to 200. */
  readonly targets: readonly (FactTarget | UnreadableItem)[];
  /** What becomes of the messages they were learned from: REDACT empties them. */
  readonly sources: 'KEEP' | 'REDACT';
}

/** What became of one target; the path of an error begins at the target. */
export type ForgottenItem = { readonly forgottenId: string } | { readonly error: SalientError };

/**
 * Removes many facts for good, as `forgetFact` does one (SPEC §9), in one transaction as if one after the other: a target
 * finds none that one before it has forgotten. One that finds nothing, or several, fails none of the others. The number of
 * statements does not grow with the targets.
 * @returns what became of each, in order
 * @throws BadInputError for no targets or more than 200
 */
export async function forgetMany(
  deps: Pick<Services, 'db' | 'now'>,
  actor: TenantActor,
  { targets, sources }: ForgetManyInput,
): Promise<ForgottenItem[]> {
  checkBatch(targets, 'targets');
  const now = deps.now();
  const withSources = sources === 'REDACT';
  return inTenant(deps.db, actor.tenant, async (unit) => {
    const found = await findTargets(unit, actor, targets, now);
    const named = found.flatMap((one) => (one instanceof SalientError ? [] : one));
    if (named.length === 0) return found.map(resultOf);
    const ids = named.map(({ id }) => id);
    const sourceScopes = withSources ? await scopeIdsOfSources(unit, ids) : [];
    await lockScopesById(unit, [...new Set([...named.map(({ scopeId }) => scopeId), ...sourceScopes])]);
    // They may have changed until the locks were ours.
    const facts = new Map((await factsByIds(unit, ids)).map((fact) => [fact.id, fact]));
    await forgetFactRows(unit, [...facts.values()], withSources, now);
    await audit(unit, actor, 'forgetMany', [...facts.keys()], now);
    const there = named.flatMap(({ id }) => facts.get(id) ?? []);
    appendEvents(
      unit,
      there.map((fact) => eventOf('FACT_FORGOTTEN', fact)),
      changerOf(actor),
      now,
    );
    return found.map((one, place) =>
      one instanceof SalientError || facts.has(one.id)
        ? resultOf(one)
        : { error: new NotFoundError('Fact', pathOf(targets[place] as FactTarget, [])) },
    );
  });
}

function resultOf(found: FactRecord | SalientError): ForgottenItem {
  return found instanceof SalientError ? { error: found } : { forgottenId: found.id };
}
