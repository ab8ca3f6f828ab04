import type { Unit } from './unit.js';

/** A topic that facts were scored with, whether it is still in its profile or not. */
export interface MatchedTopicRow {
  readonly number: number;
  readonly topic: string;
  readonly level: string;
  readonly list: string;
  /** Whose profile it is of: TENANT, AGENT or USER. */
  readonly origin: string;
  readonly agentId: string | null;
  readonly userId: string | null;
}

/** Topics by their numbers, in text form as the key; the ones that are gone are left out. One statement. */
export async function matchedTopicsByNumber(
  unit: Unit,
  numbers: readonly number[],
): Promise<Map<string, MatchedTopicRow>> {
  const rows = await unit.tx.$queryRaw<(Omit<MatchedTopicRow, 'topic'> & { topic: Uint8Array })[]>`
    SELECT t.number, t.topic, t.level, t.list, p.owner_kind AS origin, p.agent_id AS "agentId", p.user_id AS "userId"
    FROM profile_topic t
    JOIN salience_profile p ON p.tenant_id = t.tenant_id AND p.id = t.profile_id
    WHERE t.tenant_id = ${unit.tenantId}::uuid AND t.number = ANY(${[...numbers]}::int[])`;
  return new Map(rows.map((row) => [String(row.number), { ...row, topic: unit.content.open(row.topic) }]));
}
