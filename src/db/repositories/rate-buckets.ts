import type { Unit } from './unit.js';

/** What is asked of a bucket. All in points. */
export interface BucketAsk {
  /** The nil UUID: the tenant's own. */
  readonly keyId: string;
  /** What it holds at most, and begins with; a minute fills it. */
  readonly capacity: number;
  /** Returned unused. */
  readonly back: number;
  /** Less than this is not taken. */
  readonly need: number;
  /** More than this neither. */
  readonly want: number;
}

/**
 * Fills a bucket with what has come since the last time, puts back, and takes out at least `need` or nothing. By the
 * database's clock, so that servers need not agree on theirs. One statement.
 * @returns what was taken and what is left
 */
export async function takeFromBucket(
  unit: Unit,
  { keyId, capacity, back, need, want }: BucketAsk,
): Promise<{ readonly granted: number; readonly left: number }> {
  const first = Math.min(capacity, want);
  const [row] = await unit.tx.$queryRaw<{ granted: number; left: number }[]>`
    INSERT INTO rate_bucket AS b (tenant_id, key_id, points, granted, filled_at)
    VALUES (${unit.tenantId}::uuid, ${keyId}::uuid, ${capacity - first}::float8, ${first}::float8, clock_timestamp())
    ON CONFLICT (tenant_id, key_id) DO UPDATE SET (points, granted, filled_at) = (
      SELECT f.points - f.granted, f.granted, f.at FROM (
        SELECT a.points, a.at,
          CASE WHEN a.points >= ${need}::float8 THEN least(a.points, ${want}::float8) ELSE 0 END AS granted
        FROM (
          SELECT c.at, least(${capacity}::float8, b.points + ${back}::float8
            + ${capacity / 60}::float8 * greatest(0, extract(epoch FROM c.at - b.filled_at)::float8)) AS points
          FROM (SELECT clock_timestamp() AS at) c
        ) a
      ) f
    )
    RETURNING granted, points AS left`;
  return row!;
}
