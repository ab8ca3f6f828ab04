import { loadDocuments } from '../db/index.js';
import { newId } from '../ids.js';
import type { Services } from '../services.js';
import { changerOf, receiptDays, type TenantActor } from '../tenancy/index.js';
import { type AnswerDeps, answering } from './answer.js';
import { armsThatRan } from './arms.js';
import { type RecallInput, recallRequest } from './input.js';
import type { RankingOverrides } from './ranking.js';
import { leftOutOf, receiptRecord } from './receipt.js';
import type { RecallItem, RecallResult } from './result.js';

/** What a recall is given. */
export type RecallDeps = AnswerDeps & Pick<Services, 'learner'>;

/**
 * The facts and messages that are visible in the context and fit the query best (SPEC §8), in rank order, with how
 * each came by its rank. Four statements, however many rows there are; one more where profiles have changed since facts
 * were scored, and one more where direct hits leave room in k, see {@link answering}.
 *
 * Nothing is written here. What a LEARN recall strengthens is noted for the learner, which writes off the request's
 * path, and so is its receipt; OBSERVE leaves no trace whatever. A look at another time strengthens nothing (SPEC §6.2),
 * nor does what only fills the result: a tie that brought a fact would strengthen itself.
 *
 * @throws BadInputError naming the field that is out of range
 * @throws NotFoundError for an agent or user that this tenant does not have (paths `agentId`, `userId`)
 * @throws ForbiddenError when an agent or a user asks for another one's memory
 */
export async function recall(
  deps: RecallDeps,
  actor: TenantActor,
  input: RecallInput,
  options: RankingOverrides = {},
): Promise<RecallResult> {
  const request = recallRequest(actor, input);
  const { result, answer } = await answering(deps, actor, request, options, async (unit, answer) => {
    const { packed, scores } = answer;
    const documents = await loadDocuments(
      unit,
      packed.taken.map(({ candidate }) => candidate.id),
    );
    const items = packed.taken.map(
      ({ candidate, score, fused, icnu, arms, supplement }, index): RecallItem => {
        const vector = candidate.cosine === null ? null : deps.embedding.similarity(candidate.cosine);
        return scores.shown({
          rank: index + 1,
          score,
          scores: { lexical: candidate.lexical, vector, fused, icnu },
          arms,
          supplement,
          superseded: candidate.superseded,
          // There whatever is forgotten meanwhile: the transaction sees one state.
          ...documents.get(candidate.id)!,
        });
      },
    );
    const kept = request.mode === 'LEARN' && receiptDays(actor.tenant.settings) > 0;
    const receipt = {
      id: kept ? newId() : null,
      arms: armsThatRan(answer.searched, answer.found, answer.supplements),
      leftOut: leftOutOf(answer),
      skippedForBudget: packed.skipped.length,
      charactersUsed: packed.charactersUsed,
      mode: request.mode,
    };
    return { result: { items, receipt }, answer };
  });
  if (request.mode === 'LEARN') {
    const strengthens = !request.validAt && !request.knownAt;
    const facts = result.items.flatMap((item) => (item.source === 'FACT' ? [item] : []));
    const direct = facts.filter(({ supplement }) => !supplement).map(({ fact }) => fact.id);
    const stale = facts.map(({ fact }) => fact.id).filter((id) => answer.scores.staleIds.has(id));
    deps.learner.note(actor.tenant, changerOf(actor), {
      factIds: strengthens ? direct : [],
      stale: strengthens ? stale : [],
      receipt: receiptRecord(actor, request, answer, result, (cosine) => deps.embedding.similarity(cosine)),
    });
  }
  return result;
}
