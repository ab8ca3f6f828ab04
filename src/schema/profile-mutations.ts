import { BadInputError } from '../errors.js';
import {
  MAX_IDENTITY_TERMS,
  MAX_TOPICS,
  type ProfileOwnerInput,
  resetSalienceProfile,
  restoreSalienceProfile,
  type SavedProfile,
  type SetSalienceProfileInput as SetInput,
  setSalienceProfile,
  TOPIC_CHARACTERS,
} from '../profiles/index.js';
import { builder, type SchemaTypes, WRITERS } from './builder.js';
import { tenantActorOf } from './context.js';
import { idOf } from './global-id.js';
import { defineMutation, type Payload } from './mutation.js';
import { RescoreStrategy, TopicLevelEnum } from './profile-enums.js';
import { SalienceProfile } from './profiles.js';
import { RescoreJob } from './rescore-jobs.js';

const SalienceProfileOwner = builder.inputType('SalienceProfileOwner', {
  description:
    'Whose profile: exactly one of these. Administrators name anyone, an agent and a user themselves.',
  isOneOf: true,
  fields: (t) => ({
    tenant: t.boolean({ description: "`true` for the tenant's own." }),
    agentId: t.id({ description: "An agent's." }),
    userId: t.id({ description: "A user's." }),
  }),
});

const TopicInput = builder.inputType('TopicInput', {
  description: 'A topic, in natural language.',
  fields: (t) => ({
    topic: t.string({
      required: true,
      description: `1 to ${TOPIC_CHARACTERS} characters that the embedding model can read; once in a profile, whatever its case and spacing.`,
    }),
    level: t.field({ type: TopicLevelEnum, required: true, description: 'How much it matters.' }),
  }),
});

const IcnuWeightsInput = builder.inputType('IcnuWeightsInput', {
  description:
    'Shares of the four signals of recall, 0 to 1 each and not all 0; they count in proportion to their sum.',
  fields: (t) => ({
    importance: t.float({ required: true, description: "Share of a fact's importance." }),
    coactivation: t.float({
      required: true,
      description: 'Share of having been recalled together with other results.',
    }),
    novelty: t.float({ required: true, description: 'Share of freshness.' }),
    urgency: t.float({ required: true, description: 'Share of urgency.' }),
  }),
});

const PersonaInput = builder.inputType('PersonaInput', {
  description: 'Traits of the persona. One that is left out stays, null unsets it.',
  fields: (t) => ({
    name: t.string({ description: `Name for people, at most ${TOPIC_CHARACTERS} characters.` }),
    valenceBias: t.float({ description: 'From −100, attends to the bad, to 100, attends to the good.' }),
    arousalSensitivity: t.float({ description: 'How much longer stirring facts stay, 0.5 to 2.' }),
    selfRelevanceBoost: t.float({
      description: 'What facts that concern the identity are multiplied by, 1 to 2.',
    }),
    identity: t.stringList({
      description: `Words that tell who the owner is: at most ${MAX_IDENTITY_TERMS} of at most ${TOPIC_CHARACTERS} characters. Replaces the list.`,
    }),
  }),
});

const EXPECTED_VERSION = 'The version that the change is based on; another one stored gives CONFLICT.';
const RESCORE =
  'What becomes of stored scores; BACKGROUND when left out. Where nothing but `icnuWeights` and `persona.name` changes no score depends on it, and they stay.';

export const SetSalienceProfileInput = builder.inputType('SetSalienceProfileInput', {
  description: 'Changes of a salience profile. A field left out stays, null unsets it, a list replaces.',
  fields: (t) => ({
    owner: t.field({ type: SalienceProfileOwner, required: true, description: 'Whose profile.' }),
    interests: t.field({
      type: [TopicInput],
      description: `What matters more, at most ${MAX_TOPICS} topics. Replaces the list; the same topics in another order change nothing.`,
    }),
    disinterests: t.field({
      type: [TopicInput],
      description: `What matters less, at most ${MAX_TOPICS} topics. Replaces the list; the same topics in another order change nothing.`,
    }),
    icnuWeights: t.field({ type: IcnuWeightsInput, description: 'Weights of recall, as a whole.' }),
    alpha: t.float({ description: 'Weight of the spatial surprise of a familiar statement, 0 to 1.' }),
    beta: t.float({ description: 'Weight of the temporal surprise of a familiar statement, 0 to 1.' }),
    flashbulbThreshold: t.float({
      description: 'Standard deviations of surprise from which a new fact is pinned at once, 1.5 to 10.',
    }),
    similarityThreshold: t.float({
      description: 'Similarity that a fact must exceed to be of a topic, 0 to 1.',
    }),
    persona: t.field({ type: PersonaInput, description: 'Traits of the persona; null unsets all of them.' }),
    expectedVersion: t.int({ description: EXPECTED_VERSION }),
    rescore: t.field({ type: RescoreStrategy, description: RESCORE }),
  }),
});

const ResetSalienceProfileInput = builder.inputType('ResetSalienceProfileInput', {
  description: 'Which profile to unset.',
  fields: (t) => ({
    owner: t.field({ type: SalienceProfileOwner, required: true, description: 'Whose profile.' }),
    expectedVersion: t.int({ description: EXPECTED_VERSION }),
    rescore: t.field({ type: RescoreStrategy, description: RESCORE }),
  }),
});

const RestoreSalienceProfileInput = builder.inputType('RestoreSalienceProfileInput', {
  description: 'Which version of a profile to bring back.',
  fields: (t) => ({
    owner: t.field({ type: SalienceProfileOwner, required: true, description: 'Whose profile.' }),
    version: t.int({ required: true, description: 'The version to bring back; 1 is the empty one.' }),
    expectedVersion: t.int({ description: EXPECTED_VERSION }),
    rescore: t.field({ type: RescoreStrategy, description: RESCORE }),
  }),
});

/**
 * Whose profile a client means, its ids decoded.
 * @throws NotFoundError for what is no id of that type
 */
function ownerOf(given: typeof SalienceProfileOwner.$inferInput): ProfileOwnerInput {
  if (given.agentId != null) return { agentId: idOf('Agent', given.agentId, ['owner', 'agentId']) };
  if (given.userId != null) return { userId: idOf('User', given.userId, ['owner', 'userId']) };
  if (given.tenant == null) throw new BadInputError('owner must have tenant, agentId or userId', ['owner']);
  return { tenant: given.tenant };
}

/** The service's input of what a client sent. */
export function profileInputOf(given: typeof SetSalienceProfileInput.$inferInput): SetInput {
  return { ...given, owner: ownerOf(given.owner) };
}

const savedFields = (
  t: PothosSchemaTypes.ObjectFieldBuilder<
    PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>,
    Payload<SavedProfile>
  >,
) => ({
  salienceProfile: t.field({
    type: SalienceProfile,
    nullable: true,
    description: 'The profile as it is now.',
    resolve: (payload) => payload.profile ?? null,
  }),
  rescoreJob: t.field({
    type: RescoreJob,
    nullable: true,
    description: 'The job that rescores facts after the change; null when the change asks for none.',
    resolve: (payload) => payload.rescoreJob ?? null,
  }),
  warnings: t.stringList({
    nullable: true,
    description:
      "What of the profile does nothing, or other than its words suggest: levels without effect, and what the tenant's policy blocks at present.",
    resolve: (payload) => (payload.warnings ? [...payload.warnings] : null),
  }),
});

defineMutation<SavedProfile, typeof SetSalienceProfileInput.$inferInput>('setSalienceProfile', {
  description:
    'Changes what matters to the tenant, an agent or a user. Topics are embedded before anything is saved. Saving what is already so changes nothing.',
  roles: WRITERS,
  input: SetSalienceProfileInput,
  fields: savedFields,
  resolve: (input, context) =>
    setSalienceProfile(context.services, tenantActorOf(context), profileInputOf(input)),
});

defineMutation<SavedProfile, typeof ResetSalienceProfileInput.$inferInput>('resetSalienceProfile', {
  description: 'Unsets everything in a profile. Its versions stay.',
  roles: WRITERS,
  input: ResetSalienceProfileInput,
  fields: savedFields,
  resolve: (input, context) =>
    resetSalienceProfile(context.services, tenantActorOf(context), { ...input, owner: ownerOf(input.owner) }),
});

defineMutation<SavedProfile, typeof RestoreSalienceProfileInput.$inferInput>('restoreSalienceProfile', {
  description: 'Brings back what a profile said at an earlier version, as a new version.',
  roles: WRITERS,
  input: RestoreSalienceProfileInput,
  fields: savedFields,
  resolve: (input, context) =>
    restoreSalienceProfile(context.services, tenantActorOf(context), {
      ...input,
      owner: ownerOf(input.owner),
    }),
});
