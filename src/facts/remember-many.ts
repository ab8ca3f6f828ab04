import {
  agentsByIds,
  appendEvents,
  contentOf,
  type FactRecord,
  factsByIds,
  insertRefusals,
  inTenant,
  lockScopes,
  type ScopeOwner,
  sourceOwners,
  type Unit,
} from '../db/index.js';
import { NotFoundError, SalientError } from '../errors.js';
import type { NewEvent } from '../events/index.js';
import type { Services } from '../services.js';
import {
  audit,
  changerOf,
  idempotencyKeyOf,
  once,
  repeatedReply,
  retryOnSameKey,
  type TenantActor,
} from '../tenancy/index.js';
import {
  checkBatch,
  errorOfRefusal,
  type KeptError,
  keepError,
  keptError,
  orFault,
  UnreadableItem,
} from './batch-items.js';
import { type DraftRefusal, type FactDraft, isRefusal, type PreparedFact, prepareFacts } from './draft.js';
import { draftOf, type Statement, sourceFault } from './statement.js';
import { writeFacts } from './write-facts.js';

export interface RememberManyInput {
  /** 1 to 200. */
  readonly facts: readonly (Statement | UnreadableItem)[];
  readonly idempotencyKey?: string | null;
}

/** What became of one statement; the path of an error begins at the statement. */
export type RememberedItem =
  | { readonly fact: FactRecord; readonly reaffirmed: boolean }
  | { readonly error: SalientError };

/** Types, not interfaces: they are stored as a reply. */
type KeptItem = { factId: string; reaffirmed: boolean } | { error: KeptError };
type Reply = { results: KeptItem[] };

type Deps = Pick<Services, 'db' | 'embedding' | 'embeddingModelId' | 'log' | 'now' | 'profiles'>;

/**
 * Stores many statements in one transaction as if one after the other (SPEC §2.4): each sees the ones before it, in its
 * budget, its novelty and what it repeats; several that say the same are one fact with the sources of all. One that is
 * refused or at fault leaves nothing and fails none of the others. The number of statements does not grow with the items.
 * A repeated request is answered as the first time, refusals included.
 * @returns what became of each, in order
 * @throws BadInputError for no items or more than 200
 */
export async function rememberMany(
  deps: Deps,
  actor: TenantActor,
  { facts, idempotencyKey }: RememberManyInput,
): Promise<RememberedItem[]> {
  checkBatch(facts, 'facts');
  const { tenant } = actor;
  const now = deps.now();
  const request = facts.map((one) => (one instanceof UnreadableItem ? { unreadable: one.given } : one));
  const key = idempotencyKeyOf(actor, 'rememberMany', idempotencyKey, request);
  const repeated = await repeatedReply<Reply>(deps, tenant, key);
  if (repeated) return inTenant(deps.db, tenant, (unit) => itemsOf(unit, repeated));
  const items = await prepareItems(deps, actor, facts, now);
  return retryOnSameKey((again) =>
    inTenant(deps.db, tenant, async (unit) => {
      let stored: RememberedItem[] | null = null;
      const reply = await once<Reply>(unit, key, now, again, async () => {
        const { results, events } = await writeItems(unit, deps, actor, items, now);
        const reply = { results };
        // Before the events, whose place in the stream is held from then to the end of the transaction.
        stored = await itemsOf(unit, reply);
        const factIds = [...new Set(results.flatMap((one) => ('factId' in one ? one.factId : [])))];
        return {
          reply,
          finish: async () => {
            if (factIds.length > 0) await audit(unit, actor, 'rememberMany', factIds, now);
            appendEvents(unit, events, changerOf(actor), now);
          },
        };
      });
      return stored ?? itemsOf(unit, reply);
    }),
  );
}

/** An item on its way: at fault, refused by what it says, or ready to be written. */
type Item =
  | { readonly error: SalientError }
  | { readonly draft: FactDraft; readonly prepared: PreparedFact | DraftRefusal };

/** Everything that needs no transaction: checks, hashes, vectors. */
async function prepareItems(
  deps: Deps,
  actor: TenantActor,
  facts: RememberManyInput['facts'],
  now: Date,
): Promise<Item[]> {
  const drafts = facts.map((one) =>
    one instanceof UnreadableItem ? one.error : orFault(() => draftOf(actor, one, now)),
  );
  const fine = drafts.filter((one): one is FactDraft => !(one instanceof SalientError));
  const prepared = await prepareFacts(deps, actor.tenant, contentOf(actor.tenant.hashKey), fine);
  const preparedOf = new Map(fine.map((draft, place) => [draft, prepared[place]]));
  return drafts.map((draft): Item => {
    if (draft instanceof SalientError) return { error: draft };
    const own = preparedOf.get(draft);
    if (!own) throw new Error('a draft without an answer');
    return { draft, prepared: own };
  });
}

async function writeItems(
  unit: Unit,
  deps: Deps,
  actor: TenantActor,
  items: readonly Item[],
  now: Date,
): Promise<{ results: KeptItem[]; events: readonly NewEvent[] }> {
  const drafts = items.flatMap((item) => ('draft' in item ? item.draft : []));
  const scopeOf = await scopesOf(unit, drafts, now);
  const faultOf = await faultsOf(unit, actor, drafts, scopeOf);
  const writable = items.flatMap((item) =>
    'draft' in item && !isRefusal(item.prepared) && !faultOf.has(item.draft) ? item.prepared : [],
  );
  const written = await writeFacts(unit, deps, actor.tenant, writable, now);
  const outcomeOf = new Map(writable.map(({ draft }, place) => [draft, written.outcomes[place]]));
  const refusals: Parameters<typeof insertRefusals>[1][number][] = [];
  const refuse = (draft: FactDraft, refusal: DraftRefusal): KeptItem => {
    const scopeId = scopeOf.get(keyOf(draft)) ?? null;
    const { category } = refusal;
    refusals.push({ scopeId, runId: null, path: 'REMEMBER', category, text: draft.text });
    return { error: keepError(errorOfRefusal(refusal)) };
  };
  const results = items.map((item): KeptItem => {
    if ('error' in item) return { error: keepError(item.error) };
    const { draft, prepared } = item;
    if (isRefusal(prepared)) return refuse(draft, prepared);
    const fault = faultOf.get(draft);
    if (fault) return { error: keepError(fault) };
    const outcome = outcomeOf.get(draft);
    if (!outcome) throw new Error('a write without an outcome');
    if (outcome.outcome === 'REFUSED') return refuse(draft, outcome.refusal);
    return { factId: outcome.factId, reaffirmed: outcome.outcome === 'REAFFIRMED' };
  });
  await insertRefusals(unit, refusals, now);
  return { results, events: written.events };
}

const keyOf = (owner: ScopeOwner) => `${owner.agentId}/${owner.userId}`;

/** The scopes of all items, locked in the one order; those of unknown owners are left out. */
async function scopesOf(
  unit: Unit,
  drafts: readonly FactDraft[],
  now: Date,
): Promise<ReadonlyMap<string, number>> {
  const owners = new Map(drafts.map((one) => [keyOf(one), { agentId: one.agentId, userId: one.userId }]));
  if (owners.size === 0) return new Map();
  const rows = await lockScopes(unit, [...owners.values()], now);
  return new Map(rows.map((row) => [keyOf(row), row.id]));
}

/** What is wrong with items that say nothing wrong: sources out of reach, unknown agents and users. */
async function faultsOf(
  unit: Unit,
  actor: TenantActor,
  drafts: readonly FactDraft[],
  scopeOf: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<FactDraft, SalientError>> {
  const faults = new Map<FactDraft, SalientError>();
  const homeless = drafts.filter((draft) => !scopeOf.has(keyOf(draft)));
  const agents = homeless.flatMap(({ agentId }) => agentId ?? []);
  const known = new Set((agents.length === 0 ? [] : await agentsByIds(unit, agents)).map(({ id }) => id));
  for (const draft of homeless) {
    const strange = draft.agentId !== null && !known.has(draft.agentId);
    faults.set(
      draft,
      strange ? new NotFoundError('Agent', ['agentId']) : new NotFoundError('User', ['userId']),
    );
  }
  const sessions = drafts.flatMap(({ sessionId }) => sessionId ?? []);
  const messages = drafts.flatMap(({ sourceMessageIds }) => sourceMessageIds ?? []);
  if (sessions.length === 0 && messages.length === 0) return faults;
  const owners = await sourceOwners(unit, sessions, messages);
  for (const draft of drafts) {
    const fault = sourceFault(actor, draft, owners);
    if (fault) faults.set(draft, fault);
  }
  return faults;
}

/** A reply with its facts as they are now. One statement. */
async function itemsOf(unit: Unit, { results }: Reply): Promise<RememberedItem[]> {
  const ids = results.flatMap((one) => ('factId' in one ? one.factId : []));
  const facts = new Map((await factsByIds(unit, [...new Set(ids)])).map((fact) => [fact.id, fact]));
  return results.map((one) => {
    if ('error' in one) return { error: keptError(one.error) };
    const fact = facts.get(one.factId);
    return fact
      ? { fact, reaffirmed: one.reaffirmed }
      : { error: new NotFoundError('The fact of this idempotencyKey') };
  });
}
