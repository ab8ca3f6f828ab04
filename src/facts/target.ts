import {
  type FactRecord,
  factIdsByShortId,
  factsByIds,
  liveFactsOf,
  lockScopes,
  ownersExist,
  type ScopeOwner,
  scopesOfSources,
  type Unit,
} from '../db/index.js';
import {
  AmbiguousMatchError,
  BadInputError,
  ConflictError,
  type InputPath,
  NotFoundError,
} from '../errors.js';
import { isUuid } from '../ids.js';
import { type RescoringDeps, rescoreStale } from '../rescoring/index.js';
import { mayRead, resolveContext, type TenantActor } from '../tenancy/index.js';
import type { FactKind } from '../text/index.js';

/**
 * Which fact is meant: by id (global id decoded, UUID, or a prefix of its shortId), or by a piece of its text, among
 * the live facts that are seen in the context of that agent and user.
 */
export type FactTarget =
  | { readonly id: string }
  | {
      readonly match: {
        readonly kind: FactKind;
        readonly text: string;
        readonly agentId?: string | null;
        readonly userId?: string | null;
      };
    };

/** Shortest prefix of a shortId that may name a fact (SPEC §1). */
const MIN_PREFIX = 8;

/** Whether a text may be the beginning of a shortId; in lower case. */
export function isShortIdPrefix(id: string): boolean {
  return id.length >= MIN_PREFIX && /^[0-9a-f]{1,12}$/.test(id);
}

/**
 * The fact with this id: a UUID, or an unambiguous prefix of at least 8 characters of its shortId. Blank matches
 * nothing; a fact that the actor may not see answers like a missing one.
 * @param path of the input that holds the id
 * @throws AmbiguousMatchError when a prefix fits several facts that the actor may see
 */
export async function findFactById(
  unit: Unit,
  actor: TenantActor,
  given: string,
  path: InputPath = ['id'],
): Promise<FactRecord | null> {
  const id = given.trim().toLowerCase();
  if (isUuid(id)) {
    const [fact] = await factsByIds(unit, [id]);
    return fact && mayRead(actor, fact) ? fact : null;
  }
  if (!isShortIdPrefix(id)) return null;
  const candidates = await factsByIds(unit, await factIdsByShortId(unit, id));
  const visible = candidates.filter((fact) => mayRead(actor, fact));
  if (visible.length > 1)
    throw new AmbiguousMatchError(`${visible.length} facts have a shortId that begins so`, path);
  return visible[0] ?? null;
}

/**
 * The one fact that a mutation is about, as it is at the moment: nothing is locked.
 * @param parent path of the input that holds the target
 * @throws NotFoundError, AmbiguousMatchError, BadInputError for a blank id or text
 */
export async function findTarget(
  unit: Unit,
  actor: TenantActor,
  target: FactTarget,
  now: Date,
  parent: InputPath = ['target'],
): Promise<FactRecord> {
  const path = pathOf(target, parent);
  const found =
    'id' in target
      ? await byId(unit, actor, target.id, path)
      : await byText(unit, actor, target.match, path, now);
  // What all share may be read by a user, not changed.
  if (!found || !mayWrite(actor, found)) throw new NotFoundError('Fact', path);
  return found;
}

/**
 * The one fact that a mutation is about, its scope locked for writing.
 * @param options `path`: of the input that holds the target; `withSources`: lock the scopes of its messages too
 * @throws what `findTarget` does
 */
export async function lockTarget(
  unit: Unit,
  actor: TenantActor,
  target: FactTarget,
  now: Date,
  options: { readonly path?: InputPath; readonly withSources?: boolean } = {},
): Promise<FactRecord> {
  const found = await findTarget(unit, actor, target, now, options.path);
  const sources = options.withSources ? await scopesOfSources(unit, found.id) : [];
  await lockScopes(unit, distinct([found, ...sources]), now);
  // It may have changed until the lock was ours.
  const [fact] = await factsByIds(unit, [found.id]);
  if (!fact) throw new NotFoundError('Fact', pathOf(target, options.path ?? ['target']));
  return fact;
}

/**
 * The one live fact that a mutation of its importance is about, by its id as `findFactById` takes it, its scope locked
 * for writing. The input of such a mutation is the id itself.
 * @throws what `findTarget` does; ConflictError when the fact is not live
 */
export async function lockLive(unit: Unit, actor: TenantActor, id: string, now: Date): Promise<FactRecord> {
  const fact = await lockTarget(unit, actor, { id }, now, { path: [] });
  requireLive(fact, now, ['id']);
  return fact;
}

/**
 * The fact with the score that its profile gives it now. A stale one (SPEC §7, LAZY) is rescored in the caller's
 * transaction, under the lock that it holds on the fact's scope, and the change is told: what the caller then makes of
 * the fact follows from the new score, and its event begins where that one ended.
 */
export async function upToDate(
  unit: Unit,
  deps: RescoringDeps,
  { tenant }: TenantActor,
  fact: FactRecord,
  now: Date,
): Promise<FactRecord> {
  if (fact.salience.scoredRevision >= tenant.staleBelow) return fact;
  await rescoreStale(unit, deps, tenant, [fact.id], now);
  const [rescored] = await factsByIds(unit, [fact.id]);
  return rescored as FactRecord;
}

/** Where in the input a target says which fact. @param parent path of the target */
export function pathOf(target: FactTarget, parent: InputPath): InputPath {
  return 'id' in target ? [...parent, 'id'] : [...parent, 'match', 'text'];
}

/**
 * @param path of the input that names the fact
 * @throws ConflictError when the fact is not live: retired, or past its asserted end
 */
export function requireLive(fact: FactRecord, now: Date, path: InputPath = ['target']): void {
  if (fact.retiredAt !== null) throw new ConflictError('the fact is retired already', path);
  if (fact.validTo !== null && fact.validTo <= now)
    throw new ConflictError('the fact has ended already', path);
}

/** Whether an actor may change a fact: a user its own only, the others what they may read. */
export function mayWrite(actor: TenantActor, fact: FactRecord): boolean {
  return actor.kind !== 'USER' || fact.userId === actor.userId;
}

function distinct(owners: readonly ScopeOwner[]): ScopeOwner[] {
  return [...new Map(owners.map((owner) => [`${owner.agentId}/${owner.userId}`, owner])).values()];
}

async function byId(unit: Unit, actor: TenantActor, id: string, path: InputPath): Promise<FactRecord | null> {
  if (id.trim() === '') throw new BadInputError('id must not be blank', path);
  return findFactById(unit, actor, id, path);
}

async function byText(
  unit: Unit,
  actor: TenantActor,
  match: Extract<FactTarget, { match: object }>['match'],
  path: InputPath,
  now: Date,
): Promise<FactRecord | null> {
  if (match.text.trim() === '') throw new BadInputError('text must not be blank', path);
  const needle = match.text.normalize('NFC');
  const owner = resolveContext(actor, match);
  // Else the fact that all share would be meant, whoever was named.
  const known = await ownersExist(unit, owner);
  if (!known.agent) throw new NotFoundError('Agent', [...path.slice(0, -1), 'agentId']);
  if (!known.user) throw new NotFoundError('User', [...path.slice(0, -1), 'userId']);
  const facts = await liveFactsOf(unit, owner, match.kind, now);
  const matching = facts.filter((fact) => fact.text.includes(needle) && mayWrite(actor, fact));
  if (matching.length > 1)
    throw new AmbiguousMatchError(`${matching.length} live facts contain this text`, path);
  return matching[0] ?? null;
}
