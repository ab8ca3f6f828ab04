import { FACT_COLUMNS, type FactRecord, type FactRow, toFactRecord } from './fact-records.js';
import type { MessageRecord } from './messages.js';
import type { Unit } from './unit.js';

/** A fact or a message, as `source` says. */
export type FoundDocument =
  | { readonly source: 'FACT'; readonly fact: FactRecord }
  | { readonly source: 'MESSAGE'; readonly message: MessageRecord };

type DocumentRow = { [Column in keyof FactRow]: FactRow[Column] | null } & {
  readonly messageId: string | null;
  readonly messageSessionId: string;
  readonly messageScopeId: number;
  readonly messageSeq: number;
  readonly messageRole: string;
  readonly messageContent: Uint8Array;
  readonly messageSpeaker: Uint8Array | null;
  readonly messageExternalId: string | null;
  readonly messageFlags: string[];
  readonly messageSentAt: Date | null;
  readonly messageRecordedAt: Date;
  readonly messageRedactedAt: Date | null;
  readonly messageAgentId: string | null;
  readonly messageUserId: string | null;
};

/** Facts and messages by id; ids that do not exist in this tenant are left out. One statement for both. */
export async function loadDocuments(unit: Unit, ids: readonly string[]): Promise<Map<string, FoundDocument>> {
  const found = new Map<string, FoundDocument>();
  if (ids.length === 0) return found;
  const rows = await unit.tx.$queryRaw<DocumentRow[]>`
    SELECT ${FACT_COLUMNS}, g.id AS "messageId", g.session_id AS "messageSessionId", g.scope_id AS "messageScopeId",
      g.seq AS "messageSeq", g.role AS "messageRole", g.content AS "messageContent", g.speaker AS "messageSpeaker",
      g.external_id AS "messageExternalId", g.flags AS "messageFlags", g.sent_at AS "messageSentAt",
      g.recorded_at AS "messageRecordedAt", g.redacted_at AS "messageRedactedAt",
      e.agent_id AS "messageAgentId", e.user_id AS "messageUserId"
    FROM unnest(${[...ids]}::uuid[]) AS d(id)
    LEFT JOIN fact f ON f.tenant_id = ${unit.tenantId}::uuid AND f.id = d.id
    LEFT JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
    LEFT JOIN message g ON g.tenant_id = ${unit.tenantId}::uuid AND g.id = d.id
    LEFT JOIN session e ON e.tenant_id = g.tenant_id AND e.id = g.session_id
    WHERE f.id IS NOT NULL OR g.id IS NOT NULL`;
  for (const row of rows) {
    if (row.messageId === null) {
      const fact = toFactRecord(unit, row as FactRow);
      found.set(fact.id, { source: 'FACT', fact });
    } else {
      found.set(row.messageId, { source: 'MESSAGE', message: toMessage(unit, row, row.messageId) });
    }
  }
  return found;
}

function toMessage(unit: Unit, row: DocumentRow, id: string): MessageRecord {
  return {
    id,
    sessionId: row.messageSessionId,
    scopeId: row.messageScopeId,
    seq: row.messageSeq,
    role: row.messageRole,
    content: unit.content.open(row.messageContent),
    speaker: unit.content.openOptional(row.messageSpeaker),
    externalId: row.messageExternalId,
    flags: row.messageFlags,
    sentAt: row.messageSentAt,
    recordedAt: row.messageRecordedAt,
    redactedAt: row.messageRedactedAt,
    agentId: row.messageAgentId,
    userId: row.messageUserId,
  };
}
