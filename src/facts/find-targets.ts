import {
  agentsByIds,
  type FactRecord,
  factIdsByShortIds,
  factsByIds,
  liveFactsOfAny,
  type ScopeOwner,
  type Unit,
  usersByIds,
} from '../db/index.js';
import { AmbiguousMatchError, BadInputError, NotFoundError, SalientError } from '../errors.js';
import { isUuid } from '../ids.js';
import { mayRead, resolveContext, type TenantActor } from '../tenancy/index.js';
import { orFault, UnreadableItem } from './batch-items.js';
import { type FactTarget, isShortIdPrefix, mayWrite, pathOf } from './target.js';

type Match = Extract<FactTarget, { match: object }>['match'];

/**
 * The facts that many targets mean, as `findTarget` finds one, each found without those that a target before it has
 * taken. In the order of the targets; what names no fact, or several, is the fault of that target alone, whose path begins
 * at it. Nothing is locked. At most five statements, however many targets there are.
 */
export async function findTargets(
  unit: Unit,
  actor: TenantActor,
  targets: readonly (FactTarget | UnreadableItem)[],
  now: Date,
): Promise<(FactRecord | SalientError)[]> {
  const byId = await factsNamed(unit, targets);
  const byText = await factsHeld(unit, actor, targets, now);
  const taken = new Set<string>();
  return targets.map((target) => {
    if (target instanceof UnreadableItem) return target.error;
    const path = pathOf(target, []);
    const found = orFault(() => {
      const candidates = 'id' in target ? byId(target.id) : byText(target.match);
      const free = candidates.filter((fact) => !taken.has(fact.id));
      const visible = 'id' in target ? free.filter((fact) => mayRead(actor, fact)) : free;
      if (visible.length > 1)
        throw new AmbiguousMatchError(
          'id' in target
            ? `${visible.length} facts have a shortId that begins so`
            : `${visible.length} live facts contain this text`,
          path,
        );
      const [fact] = visible;
      if (!fact || !mayWrite(actor, fact)) throw new NotFoundError('Fact', path);
      return fact;
    });
    if (!(found instanceof SalientError)) taken.add(found.id);
    return found;
  });
}

/** Reads what ids and beginnings of shortIds name. @returns the facts that a name fits */
async function factsNamed(
  unit: Unit,
  targets: readonly (FactTarget | UnreadableItem)[],
): Promise<(name: string) => readonly FactRecord[]> {
  const names = targets.flatMap((target) => ('id' in target ? target.id.trim().toLowerCase() : []));
  const prefixes = names.filter(isShortIdPrefix);
  const ids = names.filter(isUuid);
  if (prefixes.length > 0) ids.push(...(await factIdsByShortIds(unit, [...new Set(prefixes)])));
  const facts = ids.length === 0 ? [] : await factsByIds(unit, [...new Set(ids)]);
  const byId = new Map(facts.map((fact) => [fact.id, fact]));
  return (given) => {
    const name = given.trim().toLowerCase();
    if (name === '') throw new BadInputError('id must not be blank', ['id']);
    if (isUuid(name)) return [byId.get(name) ?? []].flat();
    return isShortIdPrefix(name) ? facts.filter(({ shortId }) => shortId.startsWith(name)) : [];
  };
}

/** Reads what may hold the texts. @returns the facts that a match fits and that the actor may change */
async function factsHeld(
  unit: Unit,
  actor: TenantActor,
  targets: readonly (FactTarget | UnreadableItem)[],
  now: Date,
): Promise<(match: Match) => readonly FactRecord[]> {
  const matches = targets.flatMap((target) => ('match' in target ? target.match : []));
  const owners = matches.flatMap((match) => {
    const owner = orFault(() => resolveContext(actor, match));
    return owner instanceof SalientError ? [] : owner;
  });
  const agentIds = [...new Set(owners.flatMap(({ agentId }) => agentId ?? []))];
  const userIds = [...new Set(owners.flatMap(({ userId }) => userId ?? []))];
  const agents = new Set(
    (agentIds.length === 0 ? [] : await agentsByIds(unit, agentIds)).map(({ id }) => id),
  );
  const users = new Set((userIds.length === 0 ? [] : await usersByIds(unit, userIds)).map(({ id }) => id));
  const kinds = [...new Set(matches.map(({ kind }) => kind))];
  const live = owners.length === 0 ? [] : await liveFactsOfAny(unit, { agentIds, userIds }, kinds, now);
  return (match) => {
    if (match.text.trim() === '') throw new BadInputError('text must not be blank', ['match', 'text']);
    const owner = inMatch(() => resolveContext(actor, match));
    // Else the fact that all share would be meant, whoever was named.
    if (owner.agentId !== null && !agents.has(owner.agentId))
      throw new NotFoundError('Agent', ['match', 'agentId']);
    if (owner.userId !== null && !users.has(owner.userId))
      throw new NotFoundError('User', ['match', 'userId']);
    const needle = match.text.normalize('NFC');
    return live.filter(
      (fact) =>
        fact.kind === match.kind &&
        isVisibleTo(owner, fact) &&
        fact.text.includes(needle) &&
        mayWrite(actor, fact),
    );
  };
}

/** Whether who has this context sees a fact (SPEC §1). */
function isVisibleTo(context: ScopeOwner, fact: FactRecord): boolean {
  const fits = (own: string | null, asked: string | null) => own === null || own === asked;
  return fits(fact.agentId, context.agentId) && fits(fact.userId, context.userId);
}

/** A fault in a match, with the path that leads there. */
function inMatch<T>(work: () => T): T {
  const result = orFault(work);
  if (result instanceof SalientError)
    throw new SalientError(result.code, result.message, ['match', ...result.inputPath]);
  return result;
}
