import { FACT_COLUMNS, type FactRecord, type FactRow, toFactRecord } from './fact-records.js';
import { type MessageRecord, type MessageRow, messageColumns, toMessage } from './messages.js';
import type { Unit } from './unit.js';

/** A fact or a message, as `source` says. */
export type FoundDocument =
  | { readonly source: 'FACT'; readonly fact: FactRecord }
  | { readonly source: 'MESSAGE'; readonly message: MessageRecord };

const MESSAGE = 'message.';

/** The columns of a fact, and those of a message under names of their own; one of the two is null throughout. */
type DocumentRow = FactRow & {
  readonly [Column in keyof MessageRow as `message.${Column}`]: MessageRow[Column];
};

/** Facts and messages by id; ids that do not exist in this tenant are left out. One statement for both. */
export async function loadDocuments(unit: Unit, ids: readonly string[]): Promise<Map<string, FoundDocument>> {
  const found = new Map<string, FoundDocument>();
  if (ids.length === 0) return found;
  const rows = await unit.tx.$queryRaw<DocumentRow[]>`
    SELECT ${FACT_COLUMNS}, ${messageColumns(MESSAGE)}
    FROM unnest(${[...ids]}::uuid[]) AS d(id)
    LEFT JOIN fact f ON f.tenant_id = ${unit.tenantId}::uuid AND f.id = d.id
    LEFT JOIN fact_salience s ON s.tenant_id = f.tenant_id AND s.fact_id = f.id
    LEFT JOIN message m ON m.tenant_id = ${unit.tenantId}::uuid AND m.id = d.id
    LEFT JOIN session e ON e.tenant_id = m.tenant_id AND e.id = m.session_id
    WHERE f.id IS NOT NULL OR m.id IS NOT NULL`;
  for (const row of rows) {
    if ((row['message.id'] as string | null) === null) {
      const fact = toFactRecord(unit, row);
      found.set(fact.id, { source: 'FACT', fact });
    } else {
      const message = toMessage(unit, messageOf(row));
      found.set(message.id, { source: 'MESSAGE', message });
    }
  }
  return found;
}

function messageOf(row: DocumentRow): MessageRow {
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      name.startsWith(MESSAGE) ? [[name.slice(MESSAGE.length), value]] : [],
    ),
  ) as unknown as MessageRow;
}
