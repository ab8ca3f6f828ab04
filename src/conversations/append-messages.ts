import {
  findOrMakeScope,
  insertMessages,
  insertRun,
  inTenant,
  lockSession,
  messagesByExternalIds,
  type NewMessage,
  openSession,
  ownersExist,
  type SessionRow,
  type Unit,
  writeScopeChanges,
} from '../db/index.js';
import { NotFoundError } from '../errors.js';
import type { RunRefusal } from '../extraction/index.js';
import { newId } from '../ids.js';
import type { Services } from '../services.js';
import {
  assertQuota,
  audit,
  idempotencyKeyOf,
  once,
  readRange,
  repeatedReply,
  resolveContext,
  retryOnSameKey,
  type TenantActor,
} from '../tenancy/index.js';
import { checkMessages, checkNamed, type MessageInput, prepareMessages } from './message-input.js';

/** An existing session, or one to open: a known externalId in the scope gives that session. */
export type SessionChoice =
  | { readonly id: string }
  | {
      readonly create: {
        readonly agentId?: string | null;
        readonly userId?: string | null;
        readonly externalId?: string | null;
      };
    };

export interface AppendMessagesInput {
  readonly session: SessionChoice;
  readonly messages: readonly MessageInput[];
  readonly extract: 'NOW' | 'LATER' | 'NEVER';
  readonly idempotencyKey?: string | null;
}

/** What an append did; the extraction is null with NEVER. */
export interface AppendResult {
  readonly sessionId: string;
  /** In the order given; a message whose externalId the session knew is the one that was there. */
  readonly messageIds: readonly string[];
  readonly extraction: {
    readonly runId: string;
    readonly status: string;
    readonly factIds: readonly string[];
    readonly refused: readonly RunRefusal[];
  } | null;
}

type Deps = Pick<
  Services,
  'config' | 'db' | 'embedding' | 'embeddingModelId' | 'extractor' | 'jobs' | 'log' | 'now'
>;

/** A type, not an interface: it is stored as a reply. */
type Appended = { sessionId: string; messageIds: string[]; runId: string | null; status: string };

/**
 * Keeps messages in a transaction of their own, searchable from then on, then has them mined (SPEC §2). With NOW the
 * answer waits for extraction, 10 s at most; with LATER not at all. No failure of extraction loses a message.
 */
export async function appendMessages(
  deps: Deps,
  actor: TenantActor,
  input: AppendMessagesInput,
): Promise<AppendResult> {
  const now = deps.now();
  const key = idempotencyKeyOf(actor, 'appendMessages', input.idempotencyKey, input);
  const appended =
    (await repeatedReply<Appended>(deps, actor.tenant, key)) ??
    (await keepMessages(deps, actor, input, key, now));
  const { sessionId, messageIds, runId, status } = appended;
  if (!runId) return { sessionId, messageIds, extraction: null };
  if (status !== 'PENDING')
    return { sessionId, messageIds, extraction: { runId, status, factIds: [], refused: [] } };
  const outcome = await deps.jobs.extract(actor.tenant, sessionId, runId, input.extract === 'NOW');
  return { sessionId, messageIds, extraction: { runId, ...outcome } };
}

async function keepMessages(
  deps: Deps,
  actor: TenantActor,
  input: AppendMessagesInput,
  key: ReturnType<typeof idempotencyKeyOf>,
  now: Date,
): Promise<Appended> {
  const prepared = await prepareMessages(deps, actor.tenant, checkMessages(input.messages));
  return retryOnSameKey((again) =>
    inTenant(deps.db, actor.tenant, (unit) =>
      once(unit, key, now, again, async () => {
        const reply = await append(unit, deps, actor, input, prepared, now);
        return { reply, finish: () => audit(unit, actor, 'appendMessages', [reply.sessionId], now) };
      }),
    ),
  );
}

async function append(
  unit: Unit,
  deps: Deps,
  actor: TenantActor,
  input: AppendMessagesInput,
  prepared: readonly NewMessage[],
  now: Date,
): Promise<Appended> {
  const session = await sessionOf(unit, actor, input.session, now);
  const known = await messagesByExternalIds(
    unit,
    session.id,
    prepared.flatMap((message) => message.externalId ?? []),
  );
  const fresh: NewMessage[] = [];
  const messageIds = prepared.map((message) => {
    const earlier = message.externalId === null ? undefined : known.get(message.externalId);
    if (earlier) return earlier;
    fresh.push(message);
    if (message.externalId !== null) known.set(message.externalId, message.id);
    return message.id;
  });
  const extract = input.extract !== 'NEVER';
  await insertMessages(unit, session, fresh, { modelId: deps.embeddingModelId, at: now, extract });
  await assertQuota(unit, actor.tenant, 'messages', fresh.length);
  const terms = fresh.reduce((sum, message) => sum + message.length, 0);
  await writeScopeChanges(
    unit,
    [{ scopeId: session.scopeId, documents: fresh.length, terms }],
    deps.embeddingModelId,
  );
  if (!extract) return { sessionId: session.id, messageIds, runId: null, status: 'PENDING' };
  const run = {
    id: newId(),
    sessionId: session.id,
    status: fresh.length === 0 ? 'NOTHING_NEW' : 'PENDING',
    extractor: deps.extractor.name,
    fromSeq: session.lastSeq + 1,
    toSeq: session.lastSeq + fresh.length,
    attempts: 0,
    error: null,
    startedAt: now,
    finishedAt: fresh.length === 0 ? now : null,
  };
  await insertRun(unit, run, now);
  return { sessionId: session.id, messageIds, runId: run.id, status: run.status };
}

async function sessionOf(
  unit: Unit,
  actor: TenantActor,
  choice: SessionChoice,
  now: Date,
): Promise<SessionRow> {
  if ('id' in choice) {
    const session = await lockSession(unit, choice.id, readRange(actor));
    if (!session || (actor.kind === 'USER' && session.userId !== actor.userId))
      throw new NotFoundError('Session', ['session', 'id']);
    return session;
  }
  const { create } = choice;
  const owner = resolveContext(actor, create);
  const externalId = checkNamed(create.externalId, 'externalId', ['session', 'create', 'externalId']);
  // Its totals are locked when they change, after the session: in the order of whoever mines it.
  const scope = await findOrMakeScope(unit, owner, now);
  if (!scope) {
    const known = await ownersExist(unit, owner);
    throw known.agent
      ? new NotFoundError('User', ['session', 'create', 'userId'])
      : new NotFoundError('Agent', ['session', 'create', 'agentId']);
  }
  return openSession(unit, { id: newId(), scopeId: scope.id, ...owner, externalId }, now);
}
