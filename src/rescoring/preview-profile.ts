import {
  type FactPlace,
  largestChanges,
  nextStretch,
  type PreviewedChange,
  previewRescore,
  readInTenant,
  type ScopeOwner,
} from '../db/index.js';
import { BadInputError } from '../errors.js';
import {
  changesScores,
  maySeeProfileOf,
  type ProfileInput,
  type ProposalRequest,
  proposeProfile,
  type ScopeProfile,
  type Supposition,
} from '../profiles/index.js';
import type { BlockedSetting, MergePolicy } from '../salience/index.js';
import type { Services } from '../services.js';
import type { TenantActor } from '../tenancy/index.js';
import { groupScopes, scoringGroups } from './rescore-scopes.js';
import { scoringMeans, type UnsavedVectors } from './scoring-profile.js';

/** What a change of a profile or of the policy would do to the live facts: what its rescoring would tell now. */
export interface SalienceProfilePreview {
  /** Facts that the change reaches: raised, lowered and unchanged together. */
  readonly affected: number;
  readonly raised: number;
  readonly lowered: number;
  readonly unchanged: number;
  /** The largest changes first. */
  readonly changes: readonly PreviewedChange[];
  /** What agents and users have set, or would set, that would have no effect. */
  readonly blocked: readonly BlockedSetting[];
  /** What saving would warn of; none for a policy. */
  readonly warnings: readonly string[];
}

/** Changes shown when the client says nothing, and at most. */
export const DEFAULT_CHANGES = 20;
export const MAX_CHANGES = 100;
/** Most different blocked settings that are told. */
export const MAX_BLOCKED = 200;
/** Facts looked at by one statement. */
const FACTS_AT_A_TIME = 20_000;

type Deps = Pick<Services, 'db' | 'embedding' | 'embeddingModelId' | 'now' | 'profiles'>;

/**
 * What saving a profile would do, over all facts that it reaches, by the code that rescores them; nothing is written.
 * @param first how many of the largest changes are told: 0 to {@link MAX_CHANGES}
 * @throws as saving it would
 */
export async function previewSalienceProfile(
  deps: Deps,
  actor: TenantActor,
  input: ProposalRequest & ProfileInput,
  first: number = DEFAULT_CHANGES,
): Promise<SalienceProfilePreview> {
  checkFirst(first);
  const proposal = await proposeProfile(deps, actor, input, input);
  const { owner, after, vectors, warnings, changes } = proposal;
  const isScored = vectors.size > 0 || changesScores(changes);
  const targets = owner.agentId === null && owner.userId === null ? null : [owner];
  const supposing = { profile: { owner, settings: after } };
  return {
    ...(await preview(deps, actor, { targets, supposing, vectors, owner, isScored }, first)),
    warnings,
  };
}

/** What another override policy would do, over all facts of the tenant; nothing is written. */
export async function previewOverridePolicy(
  deps: Deps,
  actor: TenantActor,
  policy: MergePolicy,
  first: number = DEFAULT_CHANGES,
): Promise<SalienceProfilePreview> {
  checkFirst(first);
  const owner = { agentId: null, userId: null };
  const isScored = policy !== actor.tenant.overridePolicy;
  const change = { targets: null, supposing: { policy }, vectors: new Map(), owner, isScored };
  return { ...(await preview(deps, actor, change, first)), warnings: [] };
}

function checkFirst(first: number): void {
  if (Number.isInteger(first) && first >= 0 && first <= MAX_CHANGES) return;
  throw new BadInputError(`first must be from 0 to ${MAX_CHANGES}, not ${first}`, ['first']);
}

interface Change {
  /** Whose facts it reaches; null: all. */
  readonly targets: readonly ScopeOwner[] | null;
  readonly supposing: Supposition;
  readonly vectors: UnsavedVectors;
  /** Whose profile it is. */
  readonly owner: ScopeOwner;
  /** Whether saving it asks for a rescoring; one that does not leaves what is stale for other reasons as it is. */
  readonly isScored: boolean;
}

function preview(
  deps: Deps,
  actor: TenantActor,
  change: Change,
  first: number,
): Promise<Omit<SalienceProfilePreview, 'warnings'>> {
  const means = scoringMeans(deps, actor.tenant, deps.now());
  return readInTenant(deps.db, actor.tenant, async (unit) => {
    const total = { raised: 0, lowered: 0, unchanged: 0 };
    let changes: PreviewedChange[] = [];
    const blocked = new Map<string, BlockedSetting>();
    note(actor, blocked, await deps.profiles.effectiveOf(unit, [change.owner], change.supposing));
    let after: FactPlace | null = null;
    do {
      const stretch = await nextStretch(unit, change.targets, after, FACTS_AT_A_TIME);
      const profiles = await deps.profiles.effectiveOf(unit, stretch.scopes, change.supposing);
      note(actor, blocked, profiles);
      const scopeIds = stretch.scopes.map(({ scopeId }) => scopeId);
      const groups = groupScopes(profiles, scopeIds);
      const place = { after, through: stretch.through };
      const requests = await scoringGroups(
        unit,
        groups,
        (group) => ({ scopeIds: group.scopeIds, ...place }),
        change.vectors,
      );
      const { raised, lowered, unchanged, ...result } = await previewRescore(unit, means, requests, first);
      total.raised += change.isScored ? raised : 0;
      total.lowered += change.isScored ? lowered : 0;
      total.unchanged += change.isScored ? unchanged : raised + lowered + unchanged;
      if (change.isScored) changes = largestChanges([...changes, ...result.changes], first);
      after = stretch.through;
    } while (after !== null);
    const affected = total.raised + total.lowered + total.unchanged;
    return { affected, ...total, changes, blocked: [...blocked.values()] };
  });
}

/** The same setting of the same level is told once, however many scopes it is blocked in. */
function note(
  actor: TenantActor,
  blocked: Map<string, BlockedSetting>,
  profiles: readonly ScopeProfile[],
): void {
  for (const { owner, effective } of profiles) {
    // What an agent's profile keeps from having an effect tells what is in it.
    if (owner.agentId !== null && !maySeeProfileOf(actor, 'AGENT')) continue;
    for (const setting of effective.blocked) {
      if (blocked.size >= MAX_BLOCKED) return;
      if (!maySeeProfileOf(actor, setting.origin)) continue;
      const whose = setting.origin === 'AGENT' ? owner.agentId : owner.userId;
      blocked.set(JSON.stringify([whose, setting]), setting);
    }
  }
}
