import { contentOf, findScope, lookUpFacts, ownersExist, readInTenant, type Unit } from '../db/index.js';
import { ContentRefusedError, NotFoundError } from '../errors.js';
import { effectiveOwnerOf } from '../profiles/index.js';
import type { ImportanceBreakdownAtEncoding, OfferedHints } from '../salience/index.js';
import type { Services } from '../services.js';
import { decayVariantOf, type TenantActor } from '../tenancy/index.js';
import type { FactKind } from '../text/index.js';
import { isRefusal, prepareFacts } from './draft.js';
import { newFact, renewed } from './fact-rows.js';
import { placeFact, planWrite } from './plan.js';
import { profileOfStatement, topicIdsOf } from './scope-profiles.js';

export interface PreviewImportanceInput {
  readonly text: string;
  /** FACT when left out: only a fact of the same kind can be repeated. */
  readonly kind?: FactKind | null;
  readonly agentId?: string | null;
  readonly userId?: string | null;
  readonly hints?: OfferedHints['caller'];
  readonly entities?: readonly string[] | null;
}

/** What a statement would score if it were remembered now. */
export interface PreviewedImportance {
  readonly breakdown: ImportanceBreakdownAtEncoding;
  /** Of the live fact that it would reaffirm; 1 for a new one. */
  readonly reinforcement: number;
  /** Importance right after it was remembered, 0.05 to 10. */
  readonly current: number;
}

type Deps = Pick<Services, 'db' | 'embedding' | 'embeddingModelId' | 'log' | 'now' | 'profiles'>;

/** No scope has this id: what nobody has written to yet holds nothing. */
const NO_SCOPE = 0;

/**
 * What `remember` would make of a statement, by the same code; nothing is written, whatever it says. A statement that a
 * live fact makes already is scored as its reaffirmation. A user asks for itself alone: from the factors of statements
 * of its choice, an agent's persona, topics and identity terms could be read off.
 * @throws ContentRefusedError for a text that could not be stored; BadInputError, NotFoundError, ForbiddenError
 */
export async function previewImportance(
  deps: Deps,
  actor: TenantActor,
  input: PreviewImportanceInput,
): Promise<PreviewedImportance> {
  const now = deps.now();
  const { tenant } = actor;
  const owner = effectiveOwnerOf(actor, input);
  const draft = {
    ...owner,
    text: input.text,
    kind: input.kind ?? ('FACT' as const),
    origin: 'CALLER' as const,
    saidAt: now,
    entities: input.entities ?? [],
    hints: { caller: input.hints ?? null },
  };
  const [prepared] = await prepareFacts(deps, tenant, contentOf(tenant.hashKey), [draft]);
  if (!prepared) throw new Error('a draft without an answer');
  if (isRefusal(prepared)) throw new ContentRefusedError(prepared.category, prepared.reason, prepared.path);

  return readInTenant(deps.db, tenant, async (unit) => {
    const scopeId = (await findScope(unit, owner))?.id ?? NO_SCOPE;
    if (scopeId === NO_SCOPE) await requireOwner(unit, owner);
    const [profile] = await deps.profiles.effectiveOf(unit, [owner]);
    if (!profile) throw new Error('an owner without an effective profile');
    const { kind, textHash, embedding, terms } = { ...prepared, kind: draft.kind };
    const lookup = {
      scopeId,
      kind,
      textHash,
      embedding,
      terms: terms.map(({ term }) => term),
      replaces: null,
    };
    const topics = new Map([[scopeId, topicIdsOf(profile.effective)]]);
    const found = await lookUpFacts(unit, [lookup], deps.embeddingModelId, now, topics);
    const [result] = found.results;
    if (!result) throw new Error('a statement that was not looked up');
    const placed = placeFact(prepared, scopeId, result, null);
    const { similarity } = deps.embedding;
    const plan = planWrite(
      [placed],
      found,
      (fact) => profileOfStatement(profile, fact, similarity),
      similarity,
      Number.POSITIVE_INFINITY,
    );
    const [decision] = plan.decisions;
    if (decision?.outcome !== 'ADD' && decision?.outcome !== 'REAFFIRM')
      throw new Error('a statement that is neither new nor known');
    const { scored } = decision;
    const variant = decayVariantOf(tenant.settings);
    const values = placed.duplicate
      ? renewed(placed, scored, profile, variant, now)
      : newFact(placed, scored, profile, now).salience;
    const { reinforcement } = placed.duplicate ?? { reinforcement: 1 };
    return { breakdown: scored.breakdown, reinforcement, current: values.current };
  });
}

async function requireOwner(
  unit: Unit,
  owner: { readonly agentId: string | null; readonly userId: string | null },
): Promise<void> {
  const known = await ownersExist(unit, owner);
  if (!known.agent) throw new NotFoundError('Agent', ['agentId']);
  if (!known.user) throw new NotFoundError('User', ['userId']);
}
