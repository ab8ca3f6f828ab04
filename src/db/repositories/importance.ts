import { DECAY_VARIANTS, IMPORTANCE_MAX, IMPORTANCE_MIN } from '../../salience/index.js';
import { Prisma } from '../generated/client.js';

/**
 * The exact importance at `now` of a fact `f` with its numbers `s`: the SQL twin of `currentImportance` and `decay` in
 * src/salience/evolution.ts (SPEC §6.1, §6.4). Lists use the stored snapshot instead, so that their pages are stable.
 */
export function importanceAt(now: Date): Prisma.Sql {
  const { exponent, floor } = DECAY_VARIANTS.STANDARD;
  const latest = Prisma.sql`greatest(f.recorded_at, s.reinforced_at, s.last_seen_at)`;
  const hours = Prisma.sql`(greatest(extract(epoch FROM ${now}::timestamptz - ${latest}), 0)::float8 / 3600)`;
  const remaining = Prisma.sql`greatest(${floor}::float8, power(1 + ${hours}, -${exponent}::float8 / s.decay_resistance))`;
  return Prisma.sql`(CASE
    WHEN s.pinned AND s.flashbulb THEN ${IMPORTANCE_MAX}::float8
    ELSE least(${IMPORTANCE_MAX}::float8, greatest(${IMPORTANCE_MIN}::float8,
      s.encoded * s.reinforcement * CASE WHEN s.pinned THEN 1 ELSE ${remaining} END)) END)`;
}
