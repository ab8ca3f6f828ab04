/** What is said of a fact that a recall does not return: one sentence, by numbers and times alone. Pure. */
import type { RecallRequest } from './input.js';
import type { WhyNot, WhyNotStanding } from './why-not.js';

/** One clear sentence, without anything that memory holds. */
export function explain(why: Omit<WhyNot, 'explanation'>, request: RecallRequest, now: Date): string {
  const { fact, placed, last } = why;
  switch (why.reason) {
    case 'RETURNED':
      return `It is returned, at rank ${why.rank} of ${why.returned}.`;
    case 'NOT_VISIBLE':
      return `It belongs to ${ownerOf(fact)}, whose memory this context does not see.`;
    case 'NOT_YET_KNOWN':
      return `It was recorded at ${told(fact.recordedAt)}, after the time as of which is asked.`;
    case 'RETIRED':
      return `It was retired at ${told(fact.retiredAt)} (${fact.retireReason})${
        fact.endedAt ? `, having ended at ${told(fact.endedAt)}` : ''
      }.`;
    case 'NOT_YET_VALID':
      return `It holds since ${told(fact.validFrom)}, after the time that is asked about.`;
    case 'ENDED':
      return `It held until ${told(fact.endedAt ?? fact.validTo)}, and ${
        request.validAt ? `${told(request.validAt)} is asked about` : `it is ${told(now)}`
      }.`;
    case 'SOURCE_EXCLUDED':
      return 'Only messages are asked for, and it is a fact.';
    case 'KIND_EXCLUDED':
      return `It is of the kind ${fact.kind}, and ${(request.kinds ?? []).join(', ')} ${
        request.kinds?.length === 1 ? 'is' : 'are'
      } asked for.`;
    case 'NO_MATCH':
      return `No word that is searched for is in it, ${ofMeaning(why.standings)}.`;
    case 'OVER_BUDGET':
      return `It is in place ${placed?.place} of ${why.candidates}, and its ${why.characters} characters did not fit into what was left of the ${why.charBudget}.`;
    case 'BELOW_K':
      if (!placed) return `It is among the first of no arm: ${why.standings.map(standing).join(', ')}.`;
      return `It is in place ${placed.place} of ${why.candidates} with a score of ${figure(placed.score)}${
        last
          ? `; the last of the ${why.returned} that are returned has ${figure(last.score)}`
          : ', and none is returned'
      }.`;
  }
}

function ownerOf({ agentId, userId }: { agentId: string | null; userId: string | null }): string {
  if (agentId && userId) return 'an agent and a user';
  return agentId ? 'an agent' : userId ? 'a user' : 'all of the tenant';
}

function ofMeaning(standings: readonly WhyNotStanding[]): string {
  const vector = standings.find(({ arm }) => arm === 'VECTOR');
  if (!vector) return 'and the query could not be compared by its meaning';
  if (vector.score === null || vector.place === null) return 'and it has no vector to be compared by';
  return `and ${standing(vector)}`;
}

const BY = {
  LEXICAL: ['by words', 'a score'],
  VECTOR: ['by meaning', 'a similarity'],
  IMPORTANCE: ['by importance', 'an importance'],
  RECENCY: ['by recency', 'a time'],
} as const satisfies Record<WhyNotStanding['arm'], readonly [string, string]>;

function standing({ arm, score, place, limit }: WhyNotStanding): string {
  const [by, what] = BY[arm];
  if (score === null || place === null) return `${by} it is not found`;
  return `${by} it is in place ${place}, of which ${limit} are looked at, with ${what} of ${figure(score)}`;
}

function told(time: Date | null): string {
  return time?.toISOString() ?? 'no time';
}

function figure(value: number): string {
  return String(Number(value.toPrecision(3)));
}
