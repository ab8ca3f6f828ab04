import {
  appendEvents,
  contentOf,
  type FactRecord,
  factsByIds,
  insertRefusals,
  inTenant,
  sourceOwners,
  type Unit,
} from '../db/index.js';
import { BadInputError, BudgetExceededError, ContentRefusedError, NotFoundError } from '../errors.js';
import type { OfferedHints } from '../salience/index.js';
import type { Services } from '../services.js';
import {
  audit,
  changerOf,
  idempotencyKeyOf,
  mayRead,
  once,
  repeatedReply,
  resolveContext,
  retryOnSameKey,
  type TenantActor,
} from '../tenancy/index.js';
import type { FactKind } from '../text/index.js';
import {
  checkValidity,
  type DraftRefusal,
  type FactDraft,
  isRefusal,
  type PreparedFact,
  prepareFacts,
} from './draft.js';
import { writeFacts } from './write-facts.js';

export interface RememberInput {
  readonly text: string;
  readonly kind?: FactKind | null;
  readonly agentId?: string | null;
  readonly userId?: string | null;
  readonly subject?: string | null;
  readonly predicate?: string | null;
  readonly object?: string | null;
  readonly entities?: readonly string[] | null;
  readonly hints?: OfferedHints['caller'];
  readonly validFrom?: Date | null;
  readonly validTo?: Date | null;
  readonly confidence?: number | null;
  readonly sessionId?: string | null;
  readonly sourceMessageIds?: readonly string[] | null;
  readonly metadata?: unknown;
  readonly idempotencyKey?: string | null;
}

/** Most source messages of one statement. */
const MAX_SOURCES = 50;

type Deps = Pick<Services, 'db' | 'embedding' | 'embeddingModelId' | 'feed' | 'log' | 'now' | 'profiles'>;

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
  checkRanges(input, now);
  const prepared = await prepareOne(deps, actor, draftOf(actor, input, now), 'REMEMBER');
  return storeOne(deps, actor, prepared, 'REMEMBER', (again) =>
    inTenant(deps.db, actor.tenant, async (unit) => {
      let stored: { fact: FactRecord; reaffirmed: boolean } | null = null;
      const reply = await once<Remembered>(unit, key, now, again, async () => {
        await checkSources(unit, actor, input);
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

function checkRanges(input: RememberInput, now: Date): void {
  checkValidity(input.validFrom ?? now, input.validTo);
  if (input.confidence != null && !(input.confidence >= 0 && input.confidence <= 1)) {
    throw new BadInputError('confidence must be from 0 to 1', ['confidence']);
  }
  if ((input.sourceMessageIds?.length ?? 0) > MAX_SOURCES) {
    throw new BadInputError(`sourceMessageIds must be at most ${MAX_SOURCES}`, ['sourceMessageIds']);
  }
}

function draftOf(actor: TenantActor, input: RememberInput, now: Date): FactDraft {
  return {
    ...resolveContext(actor, input),
    text: input.text,
    kind: input.kind ?? 'FACT',
    origin: 'CALLER',
    saidAt: now,
    subject: input.subject,
    predicate: input.predicate,
    object: input.object,
    entities: input.entities ?? [],
    confidence: input.confidence ?? 1,
    metadata: input.metadata,
    hints: { caller: input.hints ?? null },
    validFrom: input.validFrom,
    validTo: input.validTo,
    sessionId: input.sessionId,
    sourceMessageIds: input.sourceMessageIds ?? [],
  };
}

/** Sources must be within the caller's reach, like everything it reads. */
async function checkSources(unit: Unit, actor: TenantActor, input: RememberInput): Promise<void> {
  const { sessionId, sourceMessageIds } = input;
  if (!sessionId && !sourceMessageIds?.length) return;
  const owners = await sourceOwners(unit, sessionId ? [sessionId] : [], sourceMessageIds ?? []);
  const isWithinReach = (id: string) => {
    const source = owners.get(id);
    return source !== undefined && mayRead(actor, source);
  };
  if (sessionId && !isWithinReach(sessionId)) throw new NotFoundError('Session', ['sessionId']);
  sourceMessageIds?.forEach((id, index) => {
    if (!isWithinReach(id)) throw new NotFoundError('Message', ['sourceMessageIds', index]);
  });
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
  if (isRefusal(prepared)) return recordRefusal(deps, actor, path, draft.text, prepared);
  return prepared;
}

/** Runs the write; a refusal in it is recorded after its rollback, and thrown. Subscribers are told to look. */
export async function storeOne<T>(
  deps: Deps,
  actor: TenantActor,
  prepared: PreparedFact,
  path: RefusalPath,
  run: (again: boolean) => Promise<T>,
): Promise<T> {
  try {
    const result = await retryOnSameKey(run);
    deps.feed.wake(actor.tenant.id);
    return result;
  } catch (error) {
    if (!(error instanceof RefusedInTransaction)) throw error;
    return recordRefusal(deps, actor, path, prepared.text, error.refusal);
  }
}

async function recordRefusal(
  deps: Deps,
  actor: TenantActor,
  path: RefusalPath,
  text: string,
  refusal: DraftRefusal,
): Promise<never> {
  await inTenant(deps.db, actor.tenant, async (unit) => {
    await insertRefusals(
      unit,
      [{ scopeId: null, runId: null, path, category: refusal.category, text }],
      deps.now(),
    );
  });
  if (refusal.budget) {
    const { group, limit, current, requested } = refusal.budget;
    throw new BudgetExceededError(group, limit, current, requested, refusal.path);
  }
  throw new ContentRefusedError(refusal.category, refusal.reason, refusal.path);
}
