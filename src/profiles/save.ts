import {
  addMissingVectors,
  appendEvents,
  bumpSalienceRevision,
  enqueueRescore,
  insertRefusals,
  inTenant,
  type JobRow,
  type ProfileRow,
  profileSnapshot,
  type Unit,
  writeProfile,
} from '../db/index.js';
import { ConflictError, ContentRefusedError, ForbiddenError, NotFoundError } from '../errors.js';
import { newId } from '../ids.js';
import type { ProfileSettings } from '../salience/index.js';
import type { Services } from '../services.js';
import { audit, changerOf, keepFresh, type RescoreStrategy, type TenantActor } from '../tenancy/index.js';
import { changesScores } from './changes.js';
import { checkNumbers, type ProfileInput, refusedText, UNSET_ALL } from './input.js';
import { originOf, ownerOf } from './owner.js';
import { type ProfileProposal, type ProposalRequest, proposeProfile } from './propose.js';
import { fromSnapshot, type ProfileValues, toSnapshot } from './values.js';

interface SaveRequest extends ProposalRequest {
  /** BACKGROUND when left out. Has no meaning where no stored score depends on what changes. */
  readonly rescore?: RescoreStrategy | null;
}

export interface SetSalienceProfileInput extends SaveRequest, ProfileInput {}

export interface RestoreSalienceProfileInput extends SaveRequest {
  readonly version: number;
}

/** A profile as it is after saving. */
export interface SavedProfile {
  readonly profile: ProfileRow & { readonly settings: ProfileSettings };
  /** The job that rescores, where the change asks for one. */
  readonly rescoreJob: JobRow | null;
  /** What of the profile does nothing, or other than its words suggest. */
  readonly warnings: readonly string[];
}

type Deps = Pick<
  Services,
  'db' | 'embedding' | 'embeddingModelId' | 'feed' | 'now' | 'profiles' | 'rescorer'
>;

/** How often a change is made anew on top of another one that came in between; each time somebody's was saved. */
const ATTEMPTS = 10;

/**
 * Changes a profile (SPEC §5): a field left out stays, null unsets, lists replace. Saving what is already so changes
 * nothing, but gives topics a vector that have none of the present model, which is a change of scores under the same
 * version: a job recomputes them, unless RECALL_ONLY is asked. A change of scores makes stored facts stale (LAZY), and has a job recompute them besides (BACKGROUND, the
 * default), or leaves them (RECALL_ONLY); ICNU weights, the flashbulb threshold and the persona's name are in no stored
 * score, so a change of these alone leaves them too, whatever is asked.
 * @throws what `proposeProfile` does; ForbiddenError for an auditor. Nothing is stored then, of a refused text its hash
 */
export async function setSalienceProfile(
  deps: Deps,
  actor: TenantActor,
  input: SetSalienceProfileInput,
): Promise<SavedProfile> {
  requireWriter(actor, input);
  checkNumbers(input);
  await refuse(deps, actor, input);
  return save(deps, actor, input, input, 'setSalienceProfile');
}

/** Unsets everything in a profile; else like `setSalienceProfile`. */
export async function resetSalienceProfile(
  deps: Deps,
  actor: TenantActor,
  input: SaveRequest,
): Promise<SavedProfile> {
  requireWriter(actor, input);
  return save(deps, actor, input, UNSET_ALL, 'resetSalienceProfile');
}

/**
 * Brings back what a profile said at an earlier version, as a new one; else like `setSalienceProfile`.
 * @throws NotFoundError where the profile never had this version
 */
export async function restoreSalienceProfile(
  deps: Deps,
  actor: TenantActor,
  input: RestoreSalienceProfileInput,
): Promise<SavedProfile> {
  requireWriter(actor, input);
  const valuesAt = async (unit: Unit, profile: ProfileRow): Promise<ProfileInput> =>
    inputOf(await valuesOfVersion(unit, profile, input.version));
  return save(deps, actor, input, valuesAt, 'restoreSalienceProfile');
}

async function valuesOfVersion(unit: Unit, profile: ProfileRow, version: number): Promise<ProfileValues> {
  if (version < 1 || version > profile.version) throw new NotFoundError('Version', ['version']);
  return fromSnapshot(version === 1 ? null : await profileSnapshot(unit, profile.id, version));
}

/** The input that makes a profile say exactly this. */
function inputOf(values: ProfileValues): ProfileInput {
  return values;
}

function requireWriter(actor: TenantActor, request: ProposalRequest): void {
  if (actor.kind === 'TENANT_AUDITOR') throw new ForbiddenError('An auditor changes nothing');
  ownerOf(actor, request.owner);
}

/** Records a text that may not be stored, by its hash, and throws. */
async function refuse(deps: Deps, actor: TenantActor, input: ProfileInput): Promise<void> {
  const refusal = refusedText(input);
  if (!refusal) return;
  const { category, reason, path, text } = refusal;
  await inTenant(deps.db, actor.tenant, (unit) =>
    insertRefusals(unit, [{ scopeId: null, runId: null, path: 'PROFILE', category, text }], deps.now()),
  );
  throw new ContentRefusedError(category, reason, path);
}

/** Carries out of a transaction that another change came first. */
class Overtaken extends Error {}

async function save(
  deps: Deps,
  actor: TenantActor,
  request: SaveRequest,
  input: ProfileInput | ((unit: Unit, profile: ProfileRow) => Promise<ProfileInput>),
  operation: string,
): Promise<SavedProfile> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const proposal = await proposeProfile(deps, actor, request, input);
    const { profile, before, warnings } = proposal;
    const isSame = proposal.changes.length === 0;
    if (isSame && proposal.vectors.size === 0)
      return { profile: { ...profile, settings: before }, rescoreJob: null, warnings };
    const isScored = proposal.vectors.size > 0 || changesScores(proposal.changes);
    const strategy = isScored ? (request.rescore ?? 'BACKGROUND') : 'RECALL_ONLY';
    try {
      const saved = await inTenant(deps.db, actor.tenant, (unit) =>
        (isSame ? repair : store)(unit, deps, actor, proposal, strategy, operation),
      );
      deps.feed.wake(actor.tenant.id);
      if (saved.rescoreJob) deps.rescorer.wake(actor.tenant);
      return saved;
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
    }
  }
  throw new ConflictError('the profile was changed by others meanwhile', ['expectedVersion']);
}

/**
 * Gives topics the vectors that they lack. Fingerprints know nothing of these, so no read would find the facts stale:
 * LAZY is done by a job as well.
 */
async function repair(
  unit: Unit,
  deps: Deps,
  actor: TenantActor,
  { owner, profile, before, vectors, warnings }: ProfileProposal,
  strategy: RescoreStrategy,
  operation: string,
): Promise<SavedProfile> {
  const at = deps.now();
  const isRescored = strategy !== 'RECALL_ONLY';
  const revision = await bumpSalienceRevision(unit, isRescored);
  const isWritten = await addMissingVectors(unit, {
    id: profile.id,
    basedOn: profile.version,
    staleBelow: isRescored ? revision : null,
    vectors,
    modelId: deps.embeddingModelId,
  });
  if (!isWritten) throw new Overtaken();
  await audit(unit, actor, operation, [profile.id], at);
  const target = originOf(owner) === 'TENANT' ? null : owner;
  const rescoreJob = isRescored ? await enqueueRescore(unit, newId(), target, at) : null;
  return { profile: { ...profile, settings: before }, rescoreJob, warnings };
}

async function store(
  unit: Unit,
  deps: Deps,
  actor: TenantActor,
  proposal: ProfileProposal,
  strategy: RescoreStrategy,
  operation: string,
): Promise<SavedProfile> {
  const { owner, profile, after, removed, kept, added, vectors } = proposal;
  const at = deps.now();
  const stale = strategy !== 'RECALL_ONLY';
  const revision = await bumpSalienceRevision(unit, stale);
  const target = originOf(owner) === 'TENANT' ? null : owner;
  // Before the profile is another: it looks at what applied until now.
  if (!stale && changesScores(proposal.changes)) await keepFresh(unit, deps, target && [target], revision);
  const version = await writeProfile(unit, {
    id: profile.id,
    basedOn: profile.version,
    staleBelow: stale ? revision : null,
    settings: after,
    removed,
    kept,
    added,
    vectors,
    modelId: deps.embeddingModelId,
    snapshot: toSnapshot(proposal.values),
    changer: changerOf(actor),
    at,
  });
  if (version === null) throw new Overtaken();
  await audit(unit, actor, operation, [profile.id], at);
  const rescoreJob = strategy === 'BACKGROUND' ? await enqueueRescore(unit, newId(), target, at) : null;
  await appendEvents(
    unit,
    [{ type: 'PROFILE_CHANGED', ...owner, subjectId: profile.id }],
    changerOf(actor),
    at,
  );
  return {
    profile: { ...profile, version, updatedAt: at, settings: after },
    rescoreJob,
    warnings: proposal.warnings,
  };
}
