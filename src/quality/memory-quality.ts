import {
  ownersExist,
  type QualityFigures,
  qualityFigures,
  readInTenant,
  type ScopeOwner,
} from '../db/index.js';
import { NotFoundError } from '../errors.js';
import type { Services } from '../services.js';
import { resolveContext, type TenantActor } from '../tenancy/index.js';

/** Decisions and conventions among some facts. */
export interface ConclusionFigures {
  /** How many there are. */
  readonly guarded: number;
  /** How many of them do not say why. */
  readonly bare: number;
  /** bare ÷ guarded, 0 to 1; 0 where there are none. */
  readonly bareRatio: number;
}

/** How good a memory is (SPEC §10): a tenant's, or what of it belongs to an agent, a user, or an agent with a user. */
export interface MemoryQuality
  extends ConclusionFigures,
    Pick<QualityFigures, 'extraction' | 'refusals' | 'reaffirmed' | 'neverRecalled' | 'openQuarantines'> {
  /** Of the facts recorded in the last 30 days, the first moment included. */
  readonly last30Days: ConclusionFigures;
  /** Whose memory it is about; null: of any. */
  readonly owner: ScopeOwner;
}

const WINDOW_MS = 30 * 24 * 3_600_000;

/**
 * Counts over the live facts of the tenant, or of the agent and user that are named, which must fit exactly; an agent and a
 * user ask for their own. Two statements.
 * @throws NotFoundError for an unknown agent or user, ForbiddenError for another's
 */
export async function readMemoryQuality(
  deps: Pick<Services, 'db' | 'now'>,
  actor: TenantActor,
  asked: { readonly agentId?: string | null; readonly userId?: string | null },
): Promise<MemoryQuality> {
  const owner = resolveContext(actor, asked);
  const now = deps.now();
  const since = new Date(now.getTime() - WINDOW_MS);
  const figures = await readInTenant(deps.db, actor.tenant, async (unit) => {
    const known = await ownersExist(unit, owner);
    if (!known.agent) throw new NotFoundError('Agent', ['agentId']);
    if (!known.user) throw new NotFoundError('User', ['userId']);
    return qualityFigures(unit, owner, since, now);
  });
  const { recently, ...whole } = figures;
  return { ...whole, ...withRatio(figures), last30Days: withRatio(recently), owner };
}

function withRatio({ guarded, bare }: Omit<ConclusionFigures, 'bareRatio'>): ConclusionFigures {
  return { guarded, bare, bareRatio: guarded === 0 ? 0 : bare / guarded };
}
