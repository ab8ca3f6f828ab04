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
 * Appends events as the LAST statement of a writing transaction: the row lock on the stream's counter makes the
 * order of sequence numbers the order of commits, without gaps (SPEC §11). One statement for any number of events.
 * @returns the stream's new head
 */
export async function appendEvents(
  unit: Unit,
  events: readonly EventRow[],
  actor: { kind: string; id: string | null },
  at: Date,
): Promise<bigint | null> {
  if (events.length === 0) return null;
  const rows = await unit.tx.$queryRaw<{ head: bigint }[]>`
    WITH numbered AS (
      SELECT r.*, row_number() OVER () AS place
      FROM jsonb_to_recordset(${JSON.stringify(events)}::jsonb) AS r(
        "type" text, "agentId" uuid, "userId" uuid, "subjectId" uuid, "factId" uuid, "cause" text,
        "oldValue" double precision, "newValue" double precision)
    ), stream AS (
      UPDATE tenant_stream SET head = head + ${events.length}::int8
      WHERE tenant_id = ${unit.tenantId}::uuid
      RETURNING head
    ), added AS (
      INSERT INTO event (tenant_id, seq, type, agent_id, user_id, subject_id, fact_id, cause, old_value, new_value,
                         actor_kind, actor_id, occurred_at)
      SELECT ${unit.tenantId}::uuid, s.head - ${events.length}::int8 + n.place, n."type", n."agentId", n."userId",
             n."subjectId", n."factId", n."cause", n."oldValue", n."newValue",
             ${actor.kind}::text, ${actor.id}::uuid, ${at}::timestamptz
      FROM numbered n CROSS JOIN stream s
    )
    SELECT head FROM stream`;
  return rows[0]?.head ?? null;
}
