import pg from 'pg';
import { requireScope } from '../transaction-scope.js';
import type { EventRecord } from './event-log.js';
import type { Changer } from './tenants.js';
import type { Unit } from './unit.js';

/** A row to append. See src/events/event-types.ts for the meaning of each field. */
export interface EventRow {
  readonly type: string;
  readonly agentId: string | null;
  readonly userId: string | null;
  readonly subjectId: string;
  readonly factId?: string;
  readonly cause?: string;
  readonly oldValue?: number;
  readonly newValue?: number;
}

/**
 * Appends events when the transaction commits. Counter and events are the LAST statement of the transaction, in one
 * message with its COMMIT: the row lock on the stream's counter makes the order of sequence numbers the order of
 * commits, without gaps (SPEC §11), and is held no longer than the commit takes. One statement for any number of events.
 * Whoever observes the database's appends is told of them ({@link Database.onAppended}).
 */
export function appendEvents(unit: Unit, events: readonly EventRow[], actor: Changer, at: Date): void {
  if (events.length === 0) return;
  const scope = requireScope();
  scope.closing.push({
    sql: appendStatement(unit.tenantId, events, actor, at),
    saved: ([stream]) => {
      if (!stream) return;
      const head = BigInt(stream.stream_head as string);
      scope.appended.push({
        tenantId: unit.tenantId,
        known: {
          epoch: Number(stream.stream_epoch),
          events: events.map((event, place) =>
            recordOf(event, head - BigInt(events.length - 1 - place), actor, at),
          ),
        },
      });
    },
  });
}

/** Notes that a statement of this transaction appended events itself: who observes appends has to read them. */
export function noteAppended({ tenantId }: Unit): void {
  requireScope().appended.push({ tenantId });
}

/** See the migration that makes `append_events`. */
function appendStatement(tenantId: string, events: readonly EventRow[], actor: Changer, at: Date): string {
  const values = [tenantId, JSON.stringify(events), actor.kind, actor.id, at.toISOString()];
  const literals = values.map((value) => (value === null ? 'NULL' : pg.escapeLiteral(value)));
  return `SELECT stream_epoch, stream_head FROM append_events(${literals.join(', ')})`;
}

function recordOf(event: EventRow, seq: bigint, actor: Changer, occurredAt: Date): EventRecord {
  const { type, agentId, userId, subjectId, factId, cause, oldValue, newValue } = event;
  return {
    seq,
    type,
    agentId,
    userId,
    subjectId,
    factId: factId ?? null,
    cause: cause ?? null,
    oldValue: oldValue ?? null,
    newValue: newValue ?? null,
    actorKind: actor.kind,
    actorId: actor.id,
    occurredAt,
  };
}
