import { FACT_COLUMNS, type FactRecord, type FactRow, toFactRecord } from './fact-records.js';
import type { Unit } from './unit.js';

/** A message as a search returns it, content opened. Times are UTC. */
export interface FoundMessage {
  readonly id: string;
  readonly sessionId: string;
  readonly scopeId: number;
  /** Place in its session: insertion order. */
  readonly seq: number;
  readonly role: string;
  readonly content: string;
  readonly speaker: string | null;
  readonly externalId: string | null;
  /** What the threat scan found (SPEC §2.5); empty for nothing. */
  readonly flags: readonly string[];
  readonly sentAt: Date | null;
  readonly recordedAt: Date;
  readonly redactedAt: Date | null;
}

export type FoundDocument =
  | { readonly source: 'FACT'; readonly fact: FactRecord }
  | { readonly source: 'MESSAGE'; readonly message: FoundMessage };

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
};

/** Facts and messages by id; ids that do not exist in this tenant are left out. One statement for both. */
export async function loadDocuments(unit: Unit, ids: readonly string[]): Promise<Map<string, FoundDocument>> {
  const found = new Map<string, FoundDocument>();
  if (ids.length === 0) return found;
  const rows = await unit.tx.$queryRaw<DocumentRow[]>`
    SELECT ${FACT_COLUMNS}, g.id AS "messageId", g.session_id AS "messageSessionId", g.scope_id AS "messageScopeId",
      g.seq AS "messageSeq", g.role AS "messageRole", g.content AS "messageContent", g.speaker AS "messageSpeaker",
      g.external_id AS "messageExternalId", g.flags AS "messageFlags", g.sent_at AS "messageSentAt",
      g.recorded_at AS "messageRecordedAt", g.redacted_at AS "messageRedactedAt"
    FROM unnest(${[...ids]}::uuid[]) AS d(id)
    LEFT JOIN fact f ON f.tenant_id = ${unit.tenantId}::uuid AND f.id = d.id
    LEFT JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
    LEFT JOIN message g ON g.tenant_id = ${unit.tenantId}::uuid AND g.id = d.id
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

function toMessage(unit: Unit, row: DocumentRow, id: string): FoundMessage {
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
  };
}
