import { Prisma } from '../generated/client.js';
import { type Range, rangeCondition } from './conditions.js';
import type { ExtractionRunRow } from './extraction-runs.js';
import type { IdPage } from './members.js';
import type { Unit } from './unit.js';

const RUN_COLUMNS = Prisma.sql`r.id, r.session_id AS "sessionId", r.status, r.extractor, r.from_seq AS "fromSeq",
  r.to_seq AS "toSeq", r.attempts, r.error, r.started_at AS "startedAt", r.finished_at AS "finishedAt",
  r.input_tokens AS "inputTokens", r.output_tokens AS "outputTokens", r.cost, r.notes`;

function pageCondition({ after, before }: IdPage, statuses: readonly string[] | null): Prisma.Sql {
  return Prisma.sql`true
    ${after === null ? Prisma.empty : Prisma.sql`AND r.id > ${after}::uuid`}
    ${before === null ? Prisma.empty : Prisma.sql`AND r.id < ${before}::uuid`}
    ${statuses === null ? Prisma.empty : Prisma.sql`AND r.status = ANY(${[...statuses]}::text[])`}`;
}

const direction = (page: IdPage) => (page.backward ? Prisma.sql`DESC` : Prisma.sql`ASC`);

/**
 * A page of the tenant's runs in the order of their ids, which is that of their request: those of sessions within a
 * reader's range. One statement.
 */
export async function listRuns(
  unit: Unit,
  page: IdPage,
  range: Range,
  statuses: readonly string[] | null,
): Promise<ExtractionRunRow[]> {
  return unit.tx.$queryRaw<ExtractionRunRow[]>`
    SELECT ${RUN_COLUMNS} FROM extraction_run r
    JOIN session s ON s.tenant_id = r.tenant_id AND s.id = r.session_id
    WHERE r.tenant_id = ${unit.tenantId}::uuid AND ${rangeCondition('s', range)} AND ${pageCondition(page, statuses)}
    ORDER BY r.id ${direction(page)} LIMIT ${page.limit + 1}::int`;
}

/** A page of the runs of each session, in the same order. One statement. */
export async function runsOfSessions(
  unit: Unit,
  sessionIds: readonly string[],
  page: IdPage,
  statuses: readonly string[] | null,
): Promise<Map<string, ExtractionRunRow[]>> {
  const rows = await unit.tx.$queryRaw<ExtractionRunRow[]>`
    SELECT p.* FROM unnest(${[...sessionIds]}::uuid[]) AS s(id) CROSS JOIN LATERAL (
      SELECT ${RUN_COLUMNS} FROM extraction_run r
      WHERE r.tenant_id = ${unit.tenantId}::uuid AND r.session_id = s.id AND ${pageCondition(page, statuses)}
      ORDER BY r.id ${direction(page)} LIMIT ${page.limit + 1}::int) AS p
    ORDER BY p."sessionId", p.id ${direction(page)}`;
  const bySession = new Map<string, ExtractionRunRow[]>();
  for (const row of rows) bySession.set(row.sessionId, [...(bySession.get(row.sessionId) ?? []), row]);
  return bySession;
}

/** How many texts a run did not store, by the reason. */
export interface RefusalCount {
  readonly category: string;
  readonly count: number;
}

/** What each run did not store, the commonest reason first. One statement. */
export async function refusalsOfRuns(
  unit: Unit,
  runIds: readonly string[],
): Promise<Map<string, RefusalCount[]>> {
  const rows = await unit.tx.$queryRaw<(RefusalCount & { runId: string })[]>`
    SELECT run_id AS "runId", category, count(*)::int AS count FROM refusal
    WHERE tenant_id = ${unit.tenantId}::uuid AND run_id = ANY(${[...runIds]}::uuid[])
    GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2`;
  const byRun = new Map<string, RefusalCount[]>();
  for (const { runId, ...count } of rows) byRun.set(runId, [...(byRun.get(runId) ?? []), count]);
  return byRun;
}
