import {
  appendEvents,
  contentOf,
  type FactRecord,
  factsByIds,
  findOrMakeScope,
  insertRefusals,
  inTenant,
  sourceOwners,
  type Unit,
} from '../db/index.js';
import { NotFoundError } from '../errors.js';
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
import { errorOfRefusal } from './batch-items.js';
import { type DraftRefusal, type FactDraft, isRefusal, type PreparedFact, prepareFacts } from './draft.js';
import { draftOf, type Statement, sourceFault } from './statement.js';
import { writeFacts } from './write-facts.js';

export interface RememberInput extends Statement {
  readonly idempotencyKey?: string | null;
}

type Deps = Pick<Services, 'db' | 'embedding' | 'embeddingModelId' | 'log' | 'now' | 'profiles'>;

/**
 * Stores one fact on a caller's word, or reaffirms the live one that says the same (SPEC §2.4).
 * @throws ContentRefusedError, BudgetExceededError, BadInputError, NotFoundError: nothing is stored then
 */
export async function remember(
  deps: Deps,
  actor: TenantActor,
  input: RememberInput,
): Promise<{ fact: FactRecord; reaffirmed: boolean }> {
  const now = deps.now();
  const key = idempotencyKeyOf(actor, 'remember', input.idempotencyKey, input);
  const repeated = await repeatedReply<Remembered>(deps, actor.tenant, key);
  if (repeated) return inTenant(deps.db, actor.tenant, (unit) => factOf(unit, repeated));
  const prepared = await prepareOne(deps, actor, draftOf(actor, input, now), 'REMEMBER');
  return storeOne(deps, actor, prepared, 'REMEMBER', (again) =>
    inTenant(deps.db, actor.tenant, async (unit) => {
      let stored: { fact: FactRecord; reaffirmed: boolean } | null = null;
      const reply = await once<Remembered>(unit, key, now, again, async () => {
        await checkSources(unit, actor, prepared.draft);
        const result = await writeFacts(unit, deps, actor.tenant, [prepared], now);
        const outcome = result.outcomes[0];
        if (outcome?.outcome === 'REFUSED') throw new RefusedInTransaction(outcome.refusal);
        if (!outcome) throw new Error('a write without an outcome');
        const reply = { factId: outcome.factId, reaffirmed: outcome.outcome === 'REAFFIRMED' };
        // Before the events, whose place in the stream is held from then to the end of the transaction.
        stored = await factOf(unit, reply);
        return {
          reply,
          finish: async () => {
            await audit(unit, actor, 'remember', [outcome.factId], now);
            appendEvents(unit, result.events, changerOf(actor), now);
          },
        };
      });
      return stored ?? factOf(unit, reply);
    }),
  );
}

/** A type, not an interface: it is stored as a reply. */
type Remembered = { factId: string; reaffirmed: boolean };

async function factOf(
  unit: Unit,
  { factId, reaffirmed }: Remembered,
): Promise<{ fact: FactRecord; reaffirmed: boolean }> {
  const [fact] = await factsByIds(unit, [factId]);
  if (!fact) throw new NotFoundError('The fact of this idempotencyKey', ['idempotencyKey']);
  return { fact, reaffirmed };
}

/** Sources must be within the caller's reach, like everything it reads. */
async function checkSources(unit: Unit, actor: TenantActor, draft: FactDraft): Promise<void> {
  const { sessionId, sourceMessageIds = [] } = draft;
  if (!sessionId && sourceMessageIds.length === 0) return;
  const owners = await sourceOwners(unit, sessionId ? [sessionId] : [], sourceMessageIds);
  const fault = sourceFault(actor, draft, owners);
  if (fault) throw fault;
}

/** Carries a refusal out of the transaction, which it rolls back. */
export class RefusedInTransaction extends Error {
  constructor(readonly refusal: DraftRefusal) {
    super('refused');
  }
}

type RefusalPath = 'REMEMBER' | 'REPLACE';

/** `prepareFacts` for one draft; a refusal is recorded and thrown. */
export async function prepareOne(
  deps: Deps,
  actor: TenantActor,
  draft: FactDraft,
  path: RefusalPath,
): Promise<PreparedFact> {
  const [prepared] = await prepareFacts(deps, actor.tenant, contentOf(actor.tenant.hashKey), [draft]);
  if (!prepared) throw new Error('a draft without an answer');
  if (isRefusal(prepared)) return recordRefusal(deps, actor, path, draft, prepared);
  return prepared;
}

/** Runs the write; a refusal in it is recorded after its rollback, and thrown. */
export async function storeOne<T>(
  deps: Deps,
  actor: TenantActor,
  prepared: PreparedFact,
  path: RefusalPath,
  run: (again: boolean) => Promise<T>,
): Promise<T> {
  try {
    return await retryOnSameKey(run);
  } catch (error) {
    if (!(error instanceof RefusedInTransaction)) throw error;
    return recordRefusal(deps, actor, path, prepared.draft, error.refusal);
  }
}

async function recordRefusal(
  deps: Deps,
  actor: TenantActor,
  path: RefusalPath,
  draft: FactDraft,
  refusal: DraftRefusal,
): Promise<never> {
  await inTenant(deps.db, actor.tenant, async (unit) => {
    const now = deps.now();
    const scope = await findOrMakeScope(unit, draft, now);
    const { category } = refusal;
    await insertRefusals(
      unit,
      [{ scopeId: scope?.id ?? null, runId: null, path, category, text: draft.text }],
      now,
    );
  });
  throw errorOfRefusal(refusal);
}
