import { Prisma } from '../generated/client.js';
import { type RescoreGroup, selected } from './rescoring.js';
import { scoringBatches, unsavedVectors } from './scoring-batches.js';
import { renewedSnapshot, SAME, type ScoringMeans, scoredFacts } from './scoring-sql.js';
import { float } from './sql-literals.js';
import type { Unit } from './unit.js';

/** What a rescoring would tell of a fact: its importance as last told, and as it would be, 0.05 to 10. */
export interface PreviewedChange {
  readonly factId: string;
  readonly before: number;
  readonly after: number;
}

/** What a rescoring would tell of live facts. */
export interface RescorePreview {
  readonly raised: number;
  readonly lowered: number;
  readonly unchanged: number;
  /** The largest changes first. */
  readonly changes: readonly PreviewedChange[];
}

/**
 * Counts what rescorings would raise and lower, with the `first` largest changes: each as the event of `rescoreFacts`
 * would have it, retired facts as little as there. Nothing is stored. One statement, more
 * of them only where there are too many profiles and topics for one.
 */
export async function previewRescore(
  unit: Unit,
  means: ScoringMeans,
  requests: readonly RescoreGroup[],
  first: number,
): Promise<RescorePreview> {
  let total: RescorePreview = { raised: 0, lowered: 0, unchanged: 0, changes: [] };
  for (const batch of scoringBatches(requests)) {
    const { raised, lowered, unchanged, changes } = await previewBatch(unit, means, batch, first);
    total = {
      raised: total.raised + raised,
      lowered: total.lowered + lowered,
      unchanged: total.unchanged + unchanged,
      changes: largestChanges([...total.changes, ...changes], first),
    };
  }
  return total;
}

/** The `first` largest of changes, the largest first; of equal ones that of the lesser id. */
export function largestChanges(changes: readonly PreviewedChange[], first: number): PreviewedChange[] {
  const size = ({ before, after }: PreviewedChange) => Math.abs(after - before);
  return [...changes].sort((a, b) => size(b) - size(a) || (a.factId < b.factId ? -1 : 1)).slice(0, first);
}

/** By the columns of `scoredFacts`. */
const RENEWED = renewedSnapshot({
  encoded: { before: Prisma.sql`old_encoded`, after: Prisma.sql`encoded` },
  resistance: { before: Prisma.sql`old_resistance`, after: Prisma.sql`decay_resistance` },
  current: { before: Prisma.sql`old_current`, after: Prisma.sql`current` },
});

async function previewBatch(
  unit: Unit,
  means: ScoringMeans,
  requests: readonly RescoreGroup[],
  first: number,
): Promise<RescorePreview> {
  const parts = requests.map(({ profile, selection, named }) => {
    const live = Prisma.sql`${selected(selection)} AND NOT s.retired`;
    return Prisma.sql`
      SELECT fact_id, told, old_current,
        ${RENEWED} AS renewed
      FROM (${scoredFacts(means, profile, live, named, Prisma.sql`, s.told`)}) AS r`;
  });
  const rows = await unit.tx.$queryRaw<RescorePreview[]>`
    WITH ${unsavedVectors(requests)} scored AS MATERIALIZED (
      SELECT fact_id, told, renewed, CASE WHEN renewed = old_current THEN 0 ELSE renewed - told END AS gain
      FROM (${Prisma.join(parts, ' UNION ALL ')}) AS a
    ), largest AS (
      SELECT fact_id, told, renewed, gain FROM scored WHERE abs(gain) > ${float(SAME)}
      ORDER BY abs(gain) DESC, fact_id LIMIT ${first}::int
    )
    SELECT count(*) FILTER (WHERE gain > ${float(SAME)})::int AS raised,
      count(*) FILTER (WHERE gain < -${float(SAME)})::int AS lowered,
      count(*) FILTER (WHERE abs(gain) <= ${float(SAME)})::int AS unchanged,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('factId', fact_id, 'before', told, 'after', renewed)
                                 ORDER BY abs(gain) DESC, fact_id), '[]') FROM largest) AS changes
    FROM scored`;
  return rows[0]!;
}
