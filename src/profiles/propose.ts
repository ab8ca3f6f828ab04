import {
  type ProfileOwner,
  type ProfileRow,
  readInTenant,
  readTenantProfiles,
  topicsWithoutVector,
  type Unit,
} from '../db/index.js';
import { ConflictError, ContentRefusedError } from '../errors.js';
import {
  type MergePolicy,
  mergeProfiles,
  type ProfileHierarchy,
  type ProfileSettings,
} from '../salience/index.js';
import type { Services } from '../services.js';
import type { TenantActor } from '../tenancy/index.js';
import { type ProfileChange, profileChanges } from './changes.js';
import { embedTopics, type TopicEncoder } from './embed-topics.js';
import { checkNumbers, type ProfileInput, refusedText, withChanges } from './input.js';
import { hierarchyOf, noSuchOwner, originOf, ownerOf, type ProfileOwnerInput } from './owner.js';
import { type PlacedEntries, placeEntries } from './place-entries.js';
import { type ProfileValues, valuesOf } from './values.js';
import { profileWarnings } from './warnings.js';

/** A profile as it would be, and all that saving or a dry run of it needs. */
export interface ProfileProposal extends PlacedEntries {
  readonly owner: ProfileOwner;
  /** As it is stored. */
  readonly profile: ProfileRow;
  readonly policy: MergePolicy;
  readonly before: ProfileSettings;
  readonly values: ProfileValues;
  /** The tenant's profile as stored, and the owner's as it would be. */
  readonly hierarchy: ProfileHierarchy;
  readonly changes: readonly ProfileChange[];
  readonly warnings: readonly string[];
  /** Vectors of what is new, and of what has none of the present model, by the ref's id. */
  readonly vectors: ReadonlyMap<string, Float32Array>;
}

export interface ProposalRequest {
  readonly owner: ProfileOwnerInput;
  readonly expectedVersion?: number | null;
}

export type ProposalDeps = Pick<Services, 'db' | 'embeddingModelId'> & { readonly embedding: TopicEncoder };

/** The changes, or how they follow from what is stored. */
export type ProposedInput = ProfileInput | ((unit: Unit, profile: ProfileRow) => Promise<ProfileInput>);

/**
 * What a profile would be after changes; nothing is stored. Vectors are computed here, with no transaction open, so
 * that a topic is never saved without one (SPEC §5, CASES 46).
 * @param inputOf the changes, or how they follow from what is stored
 * @throws BadInputError, ContentRefusedError, NotFoundError, ConflictError for another version than the expected one,
 *   ForbiddenError, UnavailableError when the encoder does not answer
 */
export async function proposeProfile(
  deps: ProposalDeps,
  actor: TenantActor,
  request: ProposalRequest,
  inputOf: ProposedInput,
): Promise<ProfileProposal> {
  const owner = ownerOf(actor, request.owner);
  const stored = await readInTenant(deps.db, actor.tenant, (unit) =>
    readStored(unit, deps, owner, request, inputOf),
  );
  return propose(deps, owner, stored);
}

/**
 * The same in the caller's transaction, on top of what it sees stored.
 * @param deps an encoder that answers at once, since locks are held
 */
export async function proposeProfileIn(
  unit: Unit,
  deps: Omit<ProposalDeps, 'db'>,
  actor: TenantActor,
  request: ProposalRequest,
  inputOf: ProposedInput,
): Promise<ProfileProposal> {
  const owner = ownerOf(actor, request.owner);
  return propose(deps, owner, await readStored(unit, deps, owner, request, inputOf));
}

/** What a proposal is made from. */
interface Stored {
  readonly input: ProfileInput;
  readonly policy: MergePolicy;
  readonly tenant: ProfileSettings;
  readonly profile: ProfileRow;
  readonly before: ProfileSettings;
  readonly unembedded: ReadonlySet<string>;
}

async function readStored(
  unit: Unit,
  deps: Pick<ProposalDeps, 'embeddingModelId'>,
  owner: ProfileOwner,
  request: ProposalRequest,
  inputOf: ProposedInput,
): Promise<Stored> {
  const { policy, profiles } = await readTenantProfiles(unit, [owner]);
  const stored = profiles.find((one) => one.agentId === owner.agentId && one.userId === owner.userId);
  if (!stored) throw noSuchOwner(owner);
  const { settings, ...profile } = stored;
  const tenant = profiles[0]?.settings;
  if (!settings || !tenant) throw new Error('a salience profile without its settings');
  if (request.expectedVersion != null && request.expectedVersion !== profile.version) {
    throw new ConflictError(`the profile is at version ${profile.version}, not ${request.expectedVersion}`, [
      'expectedVersion',
    ]);
  }
  const input = typeof inputOf === 'function' ? await inputOf(unit, profile) : inputOf;
  const unembedded = await topicsWithoutVector(unit, profile.id, deps.embeddingModelId);
  return { input, policy: policy as MergePolicy, tenant, profile, before: settings, unembedded };
}

async function propose(
  deps: Pick<ProposalDeps, 'embedding'>,
  owner: ProfileOwner,
  { input, policy, tenant, profile, before, unembedded }: Stored,
): Promise<ProfileProposal> {
  checkNumbers(input);
  const refusal = refusedText(input);
  if (refusal) throw new ContentRefusedError(refusal.category, refusal.reason, refusal.path);
  const storedValues = valuesOf(before);
  const values = withChanges(storedValues, input);
  const placed = placeEntries(before, values);
  const { after, added } = placed;
  const vectors = await embedTopics(deps, input, after, new Set(added.map(({ id }) => id)), unembedded);
  const hierarchy = hierarchyOf(owner, tenant, after);
  return {
    owner,
    profile,
    policy,
    before,
    ...placed,
    values,
    hierarchy,
    changes: profileChanges(storedValues, values),
    warnings: [
      ...profileWarnings(originOf(owner), after, mergeProfiles(policy, hierarchy)),
      ...vectorWarnings(after, unembedded, vectors),
    ],
    vectors,
  };
}

/** Topics that match nothing, for the encoder gave them no vector now either. */
function vectorWarnings(
  { interests, disinterests }: ProfileSettings,
  unembedded: ReadonlySet<string>,
  vectors: ReadonlyMap<string, Float32Array>,
): string[] {
  return [...interests, ...disinterests]
    .filter(({ ref }) => unembedded.has(ref.id) && !vectors.has(ref.id))
    .map(
      ({ topic }) =>
        `Topic "${topic}" has no vector of the present embedding model, so it matches nothing; saving the profile again tries to give it one.`,
    );
}
