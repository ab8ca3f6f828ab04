import { Prisma } from '../generated/client.js';

/** How fast importance fades (SPEC §6.1). */
export interface Decay {
  readonly exponent: number;
  readonly floor: number;
}

/**
 * The exact importance at `now` of a fact by its numbers `s`: the SQL twin of `currentImportance` and `decay` in
 * src/salience/evolution.ts (SPEC §6.1, §6.4), within the bounds that the table's checks demand. Lists use the stored
 * snapshot instead, so that their pages are stable.
 */
export function importanceAt(now: Date, decay: Decay): Prisma.Sql {
  const stored = { encoded: Prisma.sql`s.encoded`, resistance: Prisma.sql`s.decay_resistance` };
  return importanceOf(now, decay, stored);
}

/** The same of a fact that is encoded anew, with another resistance to decay. */
export function importanceOf(
  now: Date,
  { exponent, floor }: Decay,
  encoding: { readonly encoded: Prisma.Sql; readonly resistance: Prisma.Sql },
): Prisma.Sql {
  const latest = Prisma.sql`greatest(s.recorded_at, s.reinforced_at, s.last_seen_at)`;
  const hours = Prisma.sql`(greatest(extract(epoch FROM ${now}::timestamptz - ${latest}), 0)::float8 / 3600)`;
  const remaining = Prisma.sql`greatest(${floor}::float8, power(1 + ${hours}, -${exponent}::float8 / ${encoding.resistance}))`;
  return Prisma.sql`(CASE
    WHEN s.pinned AND s.flashbulb THEN 10
    ELSE least(10, greatest(0.05::float8, ${encoding.encoded} * s.reinforcement * CASE WHEN s.pinned THEN 1 ELSE ${remaining} END))
    END)`;
}
