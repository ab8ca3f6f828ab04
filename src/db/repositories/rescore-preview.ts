import { Prisma } from '../generated/client.js';
import { importanceAt } from './importance.js';
import { type RescoreSelection, SAME, selected } from './rescoring.js';
import { type ScoringMeans, type ScoringProfile, scoredFacts } from './scoring-sql.js';
import type { Unit } from './unit.js';

/** What a rescoring would do to a fact: its importance at this moment, before and after, 0.05 to 10. */
export interface PreviewedChange {
  readonly factId: string;
  readonly before: number;
  readonly after: number;
}

/** What a rescoring would do to facts. */
export interface RescorePreview {
  readonly raised: number;
  readonly lowered: number;
  readonly unchanged: number;
  /** The largest changes first. */
  readonly changes: readonly PreviewedChange[];
}

/** Facts to score by a profile that is looked at before it is saved. */
export interface PreviewRequest {
  readonly profile: ScoringProfile;
  readonly selection: RescoreSelection;
  readonly named: readonly string[];
}

/** Counts what rescorings would raise and lower, with the `first` largest changes. Nothing is stored. One statement. */
export async function previewRescore(
  unit: Unit,
  means: ScoringMeans,
  requests: readonly PreviewRequest[],
  first: number,
): Promise<RescorePreview> {
  if (requests.length === 0) return { raised: 0, lowered: 0, unchanged: 0, changes: [] };
  const now = Prisma.sql`, ${importanceAt(means.now, means.decay)} AS present`;
  const parts = requests.map(
    ({ profile, selection, named }) => Prisma.sql`
      SELECT fact_id, present, current FROM (${scoredFacts(means, profile, selected(selection), named, now)}) AS r`,
  );
  const rows = await unit.tx.$queryRaw<RescorePreview[]>`
    WITH scored AS MATERIALIZED (
      SELECT fact_id, present, current, current - present AS gain FROM (${Prisma.join(parts, ' UNION ALL ')}) AS a
    ), largest AS (
      SELECT fact_id, present, current, gain FROM scored WHERE abs(gain) > ${SAME}::float8
      ORDER BY abs(gain) DESC, fact_id LIMIT ${first}::int
    )
    SELECT count(*) FILTER (WHERE gain > ${SAME}::float8)::int AS raised,
      count(*) FILTER (WHERE gain < -${SAME}::float8)::int AS lowered,
      count(*) FILTER (WHERE abs(gain) <= ${SAME}::float8)::int AS unchanged,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('factId', fact_id, 'before', present, 'after', current)
                                 ORDER BY abs(gain) DESC, fact_id), '[]') FROM largest) AS changes
    FROM scored`;
  return rows[0]!;
}
