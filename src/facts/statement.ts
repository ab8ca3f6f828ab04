import type { ScopeOwner } from '../db/index.js';
import { BadInputError, NotFoundError } from '../errors.js';
import type { OfferedHints } from '../salience/index.js';
import { mayRead, resolveContext, type TenantActor } from '../tenancy/index.js';
import type { FactKind } from '../text/index.js';
import { checkValidity, type FactDraft } from './draft.js';

/** What a caller states. */
export interface Statement {
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
  /** 0 to 1. */
  readonly confidence?: number | null;
  readonly sessionId?: string | null;
  readonly sourceMessageIds?: readonly string[] | null;
  readonly metadata?: unknown;
}

/** Most source messages of one statement. */
const MAX_SOURCES = 50;

/**
 * A statement as a draft of its fact, for the agent and user that it is for.
 * @throws BadInputError for what is out of range, ForbiddenError for another's agent or user
 */
export function draftOf(actor: TenantActor, statement: Statement, now: Date): FactDraft {
  checkValidity(statement.validFrom ?? now, statement.validTo);
  const { confidence } = statement;
  if (confidence != null && !(confidence >= 0 && confidence <= 1)) {
    throw new BadInputError('confidence must be from 0 to 1', ['confidence']);
  }
  if ((statement.sourceMessageIds?.length ?? 0) > MAX_SOURCES) {
    throw new BadInputError(`sourceMessageIds must be at most ${MAX_SOURCES}`, ['sourceMessageIds']);
  }
  return {
    ...resolveContext(actor, statement),
    text: statement.text,
    kind: statement.kind ?? 'FACT',
    origin: 'CALLER',
    saidAt: now,
    subject: statement.subject,
    predicate: statement.predicate,
    object: statement.object,
    entities: statement.entities ?? [],
    confidence: confidence ?? 1,
    metadata: statement.metadata,
    hints: { caller: statement.hints ?? null },
    validFrom: statement.validFrom,
    validTo: statement.validTo,
    sessionId: statement.sessionId,
    sourceMessageIds: statement.sourceMessageIds ?? [],
  };
}

/**
 * The first of a draft's sources that is not within the caller's reach, like everything it reads; null where all are.
 * @param owners of the sources that exist, by id
 */
export function sourceFault(
  actor: TenantActor,
  { sessionId, sourceMessageIds = [] }: Pick<FactDraft, 'sessionId' | 'sourceMessageIds'>,
  owners: ReadonlyMap<string, ScopeOwner>,
): NotFoundError | null {
  const isWithinReach = (id: string) => {
    const source = owners.get(id);
    return source !== undefined && mayRead(actor, source);
  };
  if (sessionId && !isWithinReach(sessionId)) return new NotFoundError('Session', ['sessionId']);
  const lost = sourceMessageIds.findIndex((id) => !isWithinReach(id));
  return lost < 0 ? null : new NotFoundError('Message', ['sourceMessageIds', lost]);
}
