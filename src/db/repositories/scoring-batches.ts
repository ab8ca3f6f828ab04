import { Prisma } from '../generated/client.js';
import type { ScoringProfile } from './scoring-sql.js';

/** What a profile costs a statement beside its topics, in topics. */
const PROFILE_WEIGHT = 15;
/**
 * Most that one statement scores by: 12 profiles with ten topics each. More gain nothing, since planning takes the
 * same time for each topic, and a statement has limits: 65,535 parameters, and the depth of its stack.
 */
const STATEMENT_WEIGHT = 300;

/** What scoring by a profile costs, whatever the number of facts: about 0.6 ms of planning for each unit. */
export function scoringWeight({ topics, identity }: ScoringWeighed): number {
  return PROFILE_WEIGHT + topics.length + identity.length;
}

/** As much of a profile as its weight depends on. */
interface ScoringWeighed {
  readonly topics: readonly unknown[];
  readonly identity: readonly unknown[];
}

/** Requests in their order, as many together as one statement should score: one at least. */
export function scoringBatches<Request extends { readonly profile: ScoringWeighed }>(
  requests: readonly Request[],
): Request[][] {
  const batches: Request[][] = [];
  let room = 0;
  for (const request of requests) {
    const weight = scoringWeight(request.profile);
    const last = batches.at(-1);
    if (last && weight <= room) {
      last.push(request);
      room -= weight;
    } else {
      batches.push([request]);
      room = STATEMENT_WEIGHT - weight;
    }
  }
  return batches;
}

/**
 * The table of the vectors that are not saved, each once however many of the profiles have its topic; the first of a
 * statement's WITH clause, with its comma. Nothing where all are saved.
 */
export function unsavedVectors(requests: readonly { readonly profile: ScoringProfile }[]): Prisma.Sql {
  const vectors = new Map<string, string>();
  for (const { profile } of requests) {
    for (const { id, vector } of [...profile.topics, ...profile.identity])
      if (vector !== undefined) vectors.set(id, vector);
  }
  if (vectors.size === 0) return Prisma.empty;
  const rows = [...vectors].map(([id, vector]) => Prisma.sql`(${id}::uuid, ${vector}::halfvec)`);
  return Prisma.sql`unsaved_vector (id, embedding) AS MATERIALIZED (VALUES ${Prisma.join(rows, ', ')}),`;
}
