import {
  addMissingVectors,
  appendEvents,
  bumpSalienceRevision,
  enqueueRescore,
  insertRefusals,
  inTenant,
  type JobRow,
  lockProfiles,
  type ProfileRow,
  profileSnapshot,
  type Unit,
  writeProfile,
} from '../db/index.js';
import { ContentRefusedError, ForbiddenError, NotFoundError } from '../errors.js';
import { newId } from '../ids.js';
import type { ProfileSettings } from '../salience/index.js';
import type { Services } from '../services.js';
import { audit, changerOf, keepFresh, type RescoreStrategy, type TenantActor } from '../tenancy/index.js';
import { changesScores } from './changes.js';
import { checkNumbers, type ProfileInput, refusedText, UNSET_ALL } from './input.js';
import { originOf, ownerOf } from './owner.js';
import {
  type ProfileProposal,
  type ProposalRequest,
  type ProposedInput,
  proposeProfile,
  proposeProfileIn,
} from './propose.js';
import { RememberedVectors } from './remembered-vectors.js';
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

/**
 * How often a change is worked out with nobody waiting for it, and made anew when another one came in between. After that
 * it is worked out while others wait.
 */
const UNLOCKED_ATTEMPTS = 3;

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
  const valuesAt: ProposedInput = async (unit, profile) =>
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
  input: ProposedInput,
  operation: string,
): Promise<SavedProfile> {
  const embedding = new RememberedVectors(deps.embedding);
  const saved = await savedBy(deps, actor, request, input, operation, embedding);
  if (saved.isWritten) deps.feed.wake(actor.tenant.id);
  if (saved.answer.rescoreJob) deps.rescorer.wake(actor.tenant);
  return saved.answer;
}

/** What is answered, and whether anything was stored. */
interface Outcome {
  readonly answer: SavedProfile;
  readonly isWritten: boolean;
}

async function savedBy(
  deps: Deps,
  actor: TenantActor,
  request: SaveRequest,
  input: ProposedInput,
  operation: string,
  embedding: RememberedVectors,
): Promise<Outcome> {
  const write = (unit: Unit, proposal: ProfileProposal) =>
    repairOrStore(unit, deps, actor, proposal, request, operation);
  for (let attempt = 1; ; attempt += 1) {
    const proposal = await proposeProfile({ ...deps, embedding }, actor, request, input);
    if (changesNothing(proposal)) return unwritten(proposal);
    try {
      return await inTenant(deps.db, actor.tenant, (unit) => write(unit, proposal));
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error;
    }
    if (attempt < UNLOCKED_ATTEMPTS) continue;
    // Whatever of the change turns out to be new under the lock has its vector by then.
    await embedding.learn(proposal.values);
    return inTenant(deps.db, actor.tenant, async (unit) => {
      await lockProfiles(unit);
      const last = await proposeProfileIn(
        unit,
        { ...deps, embedding: embedding.known },
        actor,
        request,
        input,
      );
      return changesNothing(last) ? unwritten(last) : write(unit, last);
    });
  }
}

function changesNothing({ changes, vectors }: ProfileProposal): boolean {
  return changes.length === 0 && vectors.size === 0;
}

function unwritten({ profile, before, warnings }: ProfileProposal): Outcome {
  return {
    answer: { profile: { ...profile, settings: before }, rescoreJob: null, warnings },
    isWritten: false,
  };
}

/** @throws Overtaken, with which the transaction ends, where another change came first */
async function repairOrStore(
  unit: Unit,
  deps: Deps,
  actor: TenantActor,
  proposal: ProfileProposal,
  request: SaveRequest,
  operation: string,
): Promise<Outcome> {
  const isScored = proposal.vectors.size > 0 || changesScores(proposal.changes);
  const strategy = isScored ? (request.rescore ?? 'BACKGROUND') : 'RECALL_ONLY';
  const write = proposal.changes.length === 0 ? repair : store;
  return { answer: await write(unit, deps, actor, proposal, strategy, operation), isWritten: true };
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
  appendEvents(unit, [{ type: 'PROFILE_CHANGED', ...owner, subjectId: profile.id }], changerOf(actor), at);
  return {
    profile: { ...profile, version, updatedAt: at, settings: after },
    rescoreJob,
    warnings: proposal.warnings,
  };
}
