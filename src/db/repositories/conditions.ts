import { Prisma } from '../generated/client.js';

/** What an actor may read; see `readRange` in tenancy. */
export interface Range {
  readonly agentId?: string;
  readonly userId?: string;
}

/** The rows of `alias` (with agent_id and user_id) that are within a reader's range. */
export function rangeCondition(alias: 'f' | 's' | 'e', range: Range): Prisma.Sql {
  const column = (name: string) => Prisma.raw(`${alias}.${name}`);
  if (range.agentId) {
    return Prisma.sql`(${column('agent_id')} IS NULL OR ${column('agent_id')} = ${range.agentId}::uuid)`;
  }
  if (range.userId) {
    return Prisma.sql`(${column('user_id')} = ${range.userId}::uuid OR (${column('user_id')} IS NULL AND ${column('agent_id')} IS NULL))`;
  }
  return Prisma.sql`true`;
}

/** The two time axes of a read (SPEC §1). */
export interface TimeAxes {
  /** World time; with `knownAt` absent and this absent too, "live at `now`". */
  readonly validAt?: Date | null;
  /** Knowledge time. */
  readonly knownAt?: Date | null;
  readonly now: Date;
}

/**
 * Facts `f` that hold on the two axes (SPEC §1). With neither axis given: live (not retired, not past validTo).
 * "True at v as known at k": recordedAt ≤ k; validFrom ≤ v; not retired by k, or retired as ENDED;
 * v < (retired by k ? endedAt : validTo). An axis left out is `now`.
 */
export function timeCondition({ validAt, knownAt, now }: TimeAxes): Prisma.Sql {
  if (!validAt && !knownAt) {
    return Prisma.sql`(f.retired_at IS NULL AND (f.valid_to IS NULL OR f.valid_to > ${now}::timestamptz))`;
  }
  const v = validAt ?? now;
  const k = knownAt ?? now;
  return Prisma.sql`(
    f.recorded_at <= ${k}::timestamptz AND f.valid_from <= ${v}::timestamptz
    AND (f.retired_at IS NULL OR f.retired_at > ${k}::timestamptz OR f.retire_reason = 'ENDED')
    AND ${v}::timestamptz < coalesce(CASE WHEN f.retired_at <= ${k}::timestamptz THEN f.ended_at ELSE f.valid_to END, 'infinity'))`;
}
