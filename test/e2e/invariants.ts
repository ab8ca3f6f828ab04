import type pg from 'pg';

/**
 * What must hold of a tenant between any two transactions, each as a query for the rows that break it ($1: the tenant).
 * They hold whatever was killed when; they do not say that anything is done.
 */
const INVARIANTS: Readonly<Record<string, string>> = {
  'messages are numbered 1, 2, 3, … up to where their session says': `
    SELECT s.id FROM session s LEFT JOIN message m ON m.tenant_id = s.tenant_id AND m.session_id = s.id
    WHERE s.tenant_id = $1 GROUP BY s.id, s.last_seq
    HAVING count(m.id) <> s.last_seq OR coalesce(max(m.seq), 0) <> s.last_seq`,
  'a cursor is within its session': `
    SELECT id FROM session WHERE tenant_id = $1 AND (mined_seq > last_seq OR mined_seq < 0)`,
  'a cursor is not behind its runs: what is told as mined is mined': `
    SELECT r.id FROM extraction_run r JOIN session s ON s.tenant_id = r.tenant_id AND s.id = r.session_id
    WHERE r.tenant_id = $1 AND r.status IN ('EXTRACTED', 'EXTRACTED_NOTHING', 'SKIPPED_NOT_SALIENT')
      AND r.to_seq > s.mined_seq`,
  'a cursor is not ahead of its runs: what is mined is told': `
    SELECT r.id FROM extraction_run r JOIN session s ON s.tenant_id = r.tenant_id AND s.id = r.session_id
    WHERE r.tenant_id = $1 AND r.status = 'PENDING' AND r.to_seq <= s.mined_seq`,
  'every message that is to be mined belongs to a run': `
    SELECT m.id FROM message m
    WHERE m.tenant_id = $1 AND m.extract AND NOT EXISTS (
      SELECT FROM extraction_run r WHERE r.tenant_id = $1 AND r.session_id = m.session_id
        AND m.seq BETWEEN r.from_seq AND r.to_seq)`,
  'a session has a job exactly while one of its runs waits': `
    SELECT s.id FROM session s WHERE s.tenant_id = $1
      AND EXISTS (SELECT FROM extraction_run r WHERE r.tenant_id = $1 AND r.session_id = s.id AND r.status = 'PENDING')
       <> EXISTS (SELECT FROM job j WHERE j.tenant_id = $1 AND j.subject_id = s.id AND j.kind = 'EXTRACTION'
                    AND j.status IN ('QUEUED', 'RUNNING'))`,
  'a fact that was learned has its sources, and they are mined': `
    SELECT f.id FROM fact f WHERE f.tenant_id = $1 AND f.session_id IS NOT NULL AND NOT EXISTS (
      SELECT FROM fact_source fs
        JOIN message m ON m.tenant_id = $1 AND m.id = fs.message_id
        JOIN session s ON s.tenant_id = $1 AND s.id = m.session_id
      WHERE fs.tenant_id = $1 AND fs.fact_id = f.id AND m.session_id = f.session_id AND m.seq <= s.mined_seq)`,
  'a fact has its score, its vector and its words': `
    SELECT f.id FROM fact f WHERE f.tenant_id = $1 AND NOT (
      EXISTS (SELECT FROM fact_salience a WHERE a.tenant_id = $1 AND a.fact_id = f.id)
      AND EXISTS (SELECT FROM fact_embedding e WHERE e.tenant_id = $1 AND e.fact_id = f.id)
      AND EXISTS (SELECT FROM posting p WHERE p.tenant_id = $1 AND p.document_id = f.id))`,
  'a message has its vector and its words': `
    SELECT m.id FROM message m WHERE m.tenant_id = $1 AND NOT (
      EXISTS (SELECT FROM message_embedding e WHERE e.tenant_id = $1 AND e.message_id = m.id)
      AND EXISTS (SELECT FROM posting p WHERE p.tenant_id = $1 AND p.document_id = m.id))`,
  'no words and no scores without what they are of': `
    SELECT p.document_id FROM posting p WHERE p.tenant_id = $1
      AND NOT EXISTS (SELECT FROM fact f WHERE f.tenant_id = $1 AND f.id = p.document_id)
      AND NOT EXISTS (SELECT FROM message m WHERE m.tenant_id = $1 AND m.id = p.document_id)`,
  'no live fact is there twice': `
    SELECT min(id::text) FROM fact WHERE tenant_id = $1 AND retired_at IS NULL
    GROUP BY scope_id, kind, text_hash HAVING count(*) > 1`,
  'a fact is told once as remembered, and once with its first importance': `
    SELECT f.id FROM fact f
      LEFT JOIN event e ON e.tenant_id = $1 AND e.fact_id = f.id
    WHERE f.tenant_id = $1 GROUP BY f.id
    HAVING count(*) FILTER (WHERE e.type = 'FACT_REMEMBERED') <> 1
        OR count(*) FILTER (WHERE e.type = 'IMPORTANCE_CHANGED' AND e.cause = 'INGEST') <> 1`,
  'no event of a fact without the fact': `
    SELECT e.seq FROM event e WHERE e.tenant_id = $1 AND e.fact_id IS NOT NULL
      AND NOT EXISTS (SELECT FROM fact f WHERE f.tenant_id = $1 AND f.id = e.fact_id)`,
  'a run that has ended is told once, another not yet': `
    SELECT r.id FROM extraction_run r
      LEFT JOIN event e ON e.tenant_id = $1 AND e.subject_id = r.id AND e.type = 'EXTRACTION_FINISHED'
    WHERE r.tenant_id = $1 AND r.status <> 'NOTHING_NEW' GROUP BY r.id, r.status
    HAVING count(e.seq) <> CASE WHEN r.status = 'PENDING' THEN 0 ELSE 1 END`,
  'the stream has no gap, and ends where its counter is': `
    SELECT st.head FROM tenant_stream st
      CROSS JOIN LATERAL (SELECT count(*) AS events, max(seq) AS last FROM event WHERE tenant_id = $1) e
    WHERE st.tenant_id = $1 AND (coalesce(e.last, 0) <> st.head OR e.events <> st.head - st.floor)`,
  'the totals of a scope are those of what is in it': `
    WITH document AS (
      SELECT scope_id, id FROM fact WHERE tenant_id = $1 AND retired_at IS NULL
      UNION ALL SELECT scope_id, id FROM message WHERE tenant_id = $1 AND redacted_at IS NULL)
    SELECT s.scope_id FROM scope_state s
      LEFT JOIN document d ON d.scope_id = s.scope_id
      LEFT JOIN LATERAL (SELECT sum(frequency) AS terms FROM posting
                         WHERE tenant_id = $1 AND document_id = d.id AND live) p ON true
    WHERE s.tenant_id = $1 GROUP BY s.scope_id, s.documents, s.document_terms
    HAVING count(d.id) <> s.documents OR coalesce(sum(p.terms), 0) <> s.document_terms`,
  'the totals of the tenant are those of its scopes': `
    SELECT st.tenant_id FROM tenant_stream st
      CROSS JOIN LATERAL (SELECT coalesce(sum(documents), 0) AS documents, coalesce(sum(document_terms), 0) AS terms
                          FROM scope_state WHERE tenant_id = $1) s
    WHERE st.tenant_id = $1 AND (st.documents <> s.documents OR st.document_terms <> s.terms)`,
  'a baseline has the sample of every fact that had a neighbour, once': `
    SELECT sc.id FROM scope sc
      CROSS JOIN LATERAL (SELECT count(*) AS samples FROM fact_salience a
                          WHERE a.tenant_id = $1 AND a.scope_id = sc.id AND a.distance IS NOT NULL) a
      LEFT JOIN novelty_baseline b ON b.tenant_id = $1 AND b.scope_id = sc.id
    WHERE sc.tenant_id = $1 AND coalesce(b.n, 0) <> a.samples`,
};

/**
 * Which invariants a tenant breaks, with the number of rows that do; read in one snapshot, as the owner of the tables.
 * @returns and how many messages were seen, so that nothing seen is not taken for nothing wrong
 */
export async function brokenInvariants(
  client: pg.Client,
  tenantId: string,
): Promise<{ broken: string[]; messages: number }> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    await client.query("SELECT set_config('app.tenant', $1, true)", [tenantId]);
    const broken: string[] = [];
    for (const [name, sql] of Object.entries(INVARIANTS)) {
      const { rowCount } = await client.query(sql, [tenantId]);
      if (rowCount) broken.push(`${name}: ${rowCount} do not`);
    }
    const { rows } = await client.query('SELECT count(*)::int AS n FROM message WHERE tenant_id = $1', [
      tenantId,
    ]);
    return { broken, messages: rows[0].n };
  } finally {
    await client.query('ROLLBACK');
  }
}
