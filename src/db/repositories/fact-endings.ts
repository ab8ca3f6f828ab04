import { hexOf } from '../content/index.js';
import type { FactRecord } from './fact-records.js';
import type { ScopeOwner } from './scopes.js';
import type { Unit } from './unit.js';

/** A fact's retirement (SPEC §1, §2.4). */
export interface Retirement {
  readonly factId: string;
  readonly reason: 'ENDED' | 'WRONG' | 'DUPLICATE' | 'FADED';
  /** World time of its end, with ENDED (never before its validFrom); null otherwise. */
  readonly endedAt: Date | null;
  readonly supersededBy: string | null;
}

/**
 * Retires live facts: they leave the live indexes and keep their history. Edges that no live fact supports any more
 * are retired with them. Already retired ones stay as they are. One statement.
 * @returns the ids that were retired
 */
export async function retireFacts(
  unit: Unit,
  retirements: readonly Retirement[],
  at: Date,
): Promise<string[]> {
  if (retirements.length === 0) return [];
  const rows = await unit.tx.$queryRaw<{ id: string }[]>`
    WITH input AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(retirements)}::jsonb)
        AS r("factId" uuid, reason text, "endedAt" timestamptz, "supersededBy" uuid)
    ), retired AS (
      UPDATE fact f SET retired_at = ${at}::timestamptz, retire_reason = i.reason,
                        ended_at = CASE WHEN i."endedAt" IS NOT NULL THEN greatest(i."endedAt", f.valid_from) END,
                        superseded_by = i."supersededBy"
      FROM input i
      WHERE f.tenant_id = ${unit.tenantId}::uuid AND f.id = i."factId" AND f.retired_at IS NULL
      RETURNING f.id, f.scope_id, f.terms, f.ended_at
    ), vectors AS (
      UPDATE fact_embedding e SET live = false FROM retired r WHERE e.tenant_id = ${unit.tenantId}::uuid AND e.fact_id = r.id
    ), terms AS (
      UPDATE posting p SET live = false FROM retired r WHERE p.tenant_id = ${unit.tenantId}::uuid AND p.document_id = r.id
    ), numbers AS (
      UPDATE fact_salience s SET retired = true FROM retired r WHERE s.tenant_id = ${unit.tenantId}::uuid AND s.fact_id = r.id
    ), counted AS (
      UPDATE scope_state st SET documents = st.documents - n.documents, document_terms = st.document_terms - n.terms
      FROM (SELECT scope_id, count(*) AS documents, sum(terms) AS terms FROM retired GROUP BY scope_id) n
      WHERE st.tenant_id = ${unit.tenantId}::uuid AND st.scope_id = n.scope_id
    ), support AS (
      -- what each of their edges has left; this statement does not see its own update, hence the anti-join
      SELECT es.edge_id, count(*) FILTER (WHERE r.id IS NOT NULL) AS lost, max(r.ended_at) AS ended_at,
             count(*) FILTER (WHERE r.id IS NULL AND f.retired_at IS NULL) AS kept
      FROM edge_source es
      JOIN fact f ON f.tenant_id = es.tenant_id AND f.id = es.fact_id
      LEFT JOIN retired r ON r.id = es.fact_id
      WHERE es.tenant_id = ${unit.tenantId}::uuid
        AND es.edge_id IN (SELECT edge_id FROM edge_source WHERE tenant_id = ${unit.tenantId}::uuid AND fact_id IN (SELECT id FROM retired))
      GROUP BY es.edge_id
    ), edges AS (
      UPDATE edge e
      SET weight = greatest(1, e.weight - s.lost),
          retired_at = CASE WHEN s.kept = 0 THEN ${at}::timestamptz END,
          ended_at = CASE WHEN s.kept = 0 THEN s.ended_at END
      FROM support s WHERE e.tenant_id = ${unit.tenantId}::uuid AND e.id = s.edge_id AND e.retired_at IS NULL
    )
    SELECT id FROM retired`;
  return rows.map((row) => row.id);
}

/** A fact to be forgotten. */
export type FactToForget = Pick<FactRecord, 'id' | 'scopeId' | 'supersededBy'>;

/**
 * Removes facts with their numbers, vectors, postings, mentions, and the edges and entities that they alone supported;
 * redacts their source messages and takes them out of the indexes; leaves tombstones (SPEC §9). Superseded facts that
 * pointed at one of them point at what superseded it, so that chains stay readable. The facts' rows go last. Three
 * statements, however many facts there are.
 */
export async function forgetFactRows(
  unit: Unit,
  facts: readonly FactToForget[],
  redactSources: boolean,
  at: Date,
): Promise<{ redactedMessages: number }> {
  const { tx, tenantId } = unit;
  if (facts.length === 0) return { redactedMessages: 0 };
  const ids = facts.map(({ id }) => id);
  const redacted = redactSources ? await redactSourceMessages(unit, ids, at) : 0;
  await tx.$queryRaw`
    WITH gone AS (
      SELECT id, scope_id, text_hash, terms, retired_at FROM fact WHERE tenant_id = ${tenantId}::uuid AND id = ANY(${ids}::uuid[])
    ), tomb AS (
      INSERT INTO tombstone (tenant_id, scope_id, text_hash, forgotten_at)
      SELECT DISTINCT ${tenantId}::uuid, scope_id, text_hash, ${at}::timestamptz FROM gone
      ON CONFLICT (tenant_id, scope_id, text_hash) DO UPDATE SET forgotten_at = excluded.forgotten_at
    ), terms AS (
      DELETE FROM posting WHERE tenant_id = ${tenantId}::uuid AND document_id = ANY(${ids}::uuid[])
    ), counted AS (
      UPDATE scope_state st SET documents = st.documents - g.documents, document_terms = st.document_terms - g.terms
      FROM (SELECT scope_id, count(*) AS documents, sum(terms) AS terms FROM gone WHERE retired_at IS NULL GROUP BY scope_id) g
      WHERE st.tenant_id = ${tenantId}::uuid AND st.scope_id = g.scope_id
    ), relinked AS (
      UPDATE fact f SET superseded_by = r.next
      FROM jsonb_to_recordset(${JSON.stringify(relinks(facts))}::jsonb) AS r(id uuid, next uuid)
      WHERE f.tenant_id = ${tenantId}::uuid AND f.superseded_by = r.id AND f.id <> ALL(${ids}::uuid[])
    ), support AS (
      SELECT es.edge_id, count(*) FILTER (WHERE es.fact_id <> ALL(${ids}::uuid[])) AS kept,
             count(*) FILTER (WHERE es.fact_id = ANY(${ids}::uuid[]) AND f.retired_at IS NULL) AS lost,
             bool_or(es.fact_id <> ALL(${ids}::uuid[]) AND f.retired_at IS NULL) AS live
      FROM edge_source es JOIN fact f ON f.tenant_id = es.tenant_id AND f.id = es.fact_id
      WHERE es.tenant_id = ${tenantId}::uuid
        AND es.edge_id IN (SELECT edge_id FROM edge_source WHERE tenant_id = ${tenantId}::uuid AND fact_id = ANY(${ids}::uuid[]))
      GROUP BY es.edge_id
    ), weakened AS (
      UPDATE edge e SET weight = greatest(1, e.weight - s.lost),
                        retired_at = coalesce(e.retired_at, CASE WHEN NOT s.live THEN ${at}::timestamptz END)
      FROM support s
      WHERE e.tenant_id = ${tenantId}::uuid AND e.id = s.edge_id AND s.kept > 0 AND s.lost > 0
    ), untied AS (
      DELETE FROM edge e USING support s WHERE e.tenant_id = ${tenantId}::uuid AND e.id = s.edge_id AND s.kept = 0
    )
    DELETE FROM entity en
    WHERE en.tenant_id = ${tenantId}::uuid
      AND en.id IN (SELECT entity_id FROM fact_entity WHERE tenant_id = ${tenantId}::uuid AND fact_id = ANY(${ids}::uuid[]))
      AND NOT EXISTS (SELECT FROM fact_entity o WHERE o.tenant_id = en.tenant_id AND o.entity_id = en.id AND o.fact_id <> ALL(${ids}::uuid[]))`;
  await tx.fact.deleteMany({ where: { tenantId, id: { in: ids } } });
  return { redactedMessages: redacted };
}

/** What those that point at a forgotten fact point at instead: the next of its chain that stays. */
function relinks(facts: readonly FactToForget[]): { id: string; next: string | null }[] {
  const going = new Map(facts.map((fact) => [fact.id, fact.supersededBy]));
  const after = (id: string, seen: ReadonlySet<string>): string | null => {
    const next = going.get(id) ?? null;
    // A chain that comes back to where it was has no end that stays.
    if (next === null || seen.has(next)) return null;
    return going.has(next) ? after(next, new Set([...seen, next])) : next;
  };
  return facts.map(({ id }) => ({ id, next: after(id, new Set([id])) }));
}

/** The scopes of the messages that facts were learned from. One statement. */
export async function scopeIdsOfSources(unit: Unit, factIds: readonly string[]): Promise<number[]> {
  const rows = await unit.tx.$queryRaw<{ scopeId: number }[]>`
    SELECT DISTINCT m.scope_id AS "scopeId"
    FROM fact_source fs JOIN message m ON m.tenant_id = fs.tenant_id AND m.id = fs.message_id
    WHERE fs.tenant_id = ${unit.tenantId}::uuid AND fs.fact_id = ANY(${[...factIds]}::uuid[])`;
  return rows.map(({ scopeId }) => scopeId);
}

/** The scopes of the messages that a fact was learned from. One statement. */
export async function scopesOfSources(unit: Unit, factId: string): Promise<ScopeOwner[]> {
  return unit.tx.$queryRaw<ScopeOwner[]>`
    SELECT DISTINCT sc.agent_id AS "agentId", sc.user_id AS "userId"
    FROM fact_source fs
    JOIN message m ON m.tenant_id = fs.tenant_id AND m.id = fs.message_id
    JOIN scope sc ON sc.tenant_id = m.tenant_id AND sc.id = m.scope_id
    WHERE fs.tenant_id = ${unit.tenantId}::uuid AND fs.fact_id = ${factId}::uuid`;
}

async function redactSourceMessages(unit: Unit, factIds: readonly string[], at: Date): Promise<number> {
  const rows = await unit.tx.$queryRaw<{ redacted: number }[]>`
    WITH redacted AS (
      UPDATE message m SET content = ${unit.content.seal('')}::bytea, speaker = NULL, characters = 0, redacted_at = ${at}::timestamptz
      FROM fact_source fs
      WHERE fs.tenant_id = ${unit.tenantId}::uuid AND fs.fact_id = ANY(${[...factIds]}::uuid[]) AND m.tenant_id = fs.tenant_id
        AND m.id = fs.message_id AND m.redacted_at IS NULL
      RETURNING m.id, m.scope_id
    ), vectors AS (
      DELETE FROM message_embedding e USING redacted r WHERE e.tenant_id = ${unit.tenantId}::uuid AND e.message_id = r.id
    ), terms AS (
      DELETE FROM posting p USING redacted r WHERE p.tenant_id = ${unit.tenantId}::uuid AND p.document_id = r.id
      RETURNING p.document_id, p.length
    ), counted AS (
      -- a message without a word that counts has no postings, and is a document all the same
      UPDATE scope_state st SET documents = st.documents - n.documents, document_terms = st.document_terms - n.terms
      FROM (SELECT r.scope_id, count(*) AS documents, coalesce(sum(t.length), 0) AS terms
            FROM redacted r LEFT JOIN (SELECT DISTINCT document_id, length FROM terms) t ON t.document_id = r.id
            GROUP BY r.scope_id) n
      WHERE st.tenant_id = ${unit.tenantId}::uuid AND st.scope_id = n.scope_id
    )
    SELECT count(*)::int AS redacted FROM redacted`;
  return rows[0]?.redacted ?? 0;
}

/** Pins or unpins, and stores the importance that shows from now on. */
export async function setPinned(unit: Unit, factId: string, pinned: boolean, current: number): Promise<void> {
  await unit.tx.factSalience.update({
    where: { tenantId_factId: { tenantId: unit.tenantId, factId } },
    data: { pinned, current, told: current },
    select: { factId: true },
  });
}

/** A fact's numbers after it was reinforced. */
export interface StoredReinforcement {
  /** 1 to 2. */
  readonly reinforcement: number;
  readonly reinforcedAt: Date;
  /** 0.05 to 10. */
  readonly current: number;
}

/** Stores a reinforcement on somebody's word, which is told whatever it changes. Under the lock of the fact's scope. */
export async function setReinforced(unit: Unit, factId: string, change: StoredReinforcement): Promise<void> {
  await unit.tx.factSalience.update({
    where: { tenantId_factId: { tenantId: unit.tenantId, factId } },
    data: { ...change, told: change.current },
    select: { factId: true },
  });
}

/** An explicit statement of what was forgotten clears its tombstone (SPEC §9), in the scope that it is made in. */
export async function clearTombstones(
  unit: Unit,
  tombstones: readonly { readonly scopeId: number; readonly textHash: Uint8Array }[],
): Promise<void> {
  if (tombstones.length === 0) return;
  const rows = tombstones.map(({ scopeId, textHash }) => ({ scopeId, textHash: hexOf(textHash) }));
  await unit.tx.$executeRaw`
    DELETE FROM tombstone t USING jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r("scopeId" int, "textHash" bytea)
    WHERE t.tenant_id = ${unit.tenantId}::uuid AND t.scope_id = r."scopeId" AND t.text_hash = r."textHash"`;
}
