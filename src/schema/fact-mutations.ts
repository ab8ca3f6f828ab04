import type { FactRecord } from '../db/index.js';
import { BadInputError, NotFoundError } from '../errors.js';
import {
  type FactTarget,
  forgetFact,
  pinFact,
  reinforceFact,
  remember,
  replaceFact,
  retireFact,
  type Statement,
  unpinFact,
} from '../facts/index.js';
import { builder, type SchemaTypes, WRITERS } from './builder.js';
import { tenantActorOf } from './context.js';
import { FactKind } from './enums.js';
import { factIdOf } from './fact-lists.js';
import { Fact } from './facts.js';
import { idOf, optionalIdOf, toGlobalId } from './global-id.js';
import { checkJson } from './json-input.js';
import { defineMutation } from './mutation.js';

export const ImportanceHintsInput = builder.inputType('ImportanceHintsInput', {
  description:
    'What the caller knows of how much a statement matters. With interest or challenge these decide the base importance instead of novelty alone.',
  fields: (t) => ({
    interest: t.float({ description: 'How much it is cared about, 0 to 1.' }),
    challenge: t.float({ description: 'How hard a matter it is, 0 to 1.' }),
    urgency: t.float({ description: 'How pressing it is, 0 to 1.' }),
    valence: t.float({ description: 'From −1, bad, to 1, good.' }),
    arousal: t.float({ description: 'How stirring it is, 0 to 1: stirring facts fade more slowly.' }),
  }),
});

type InputFields = PothosSchemaTypes.InputFieldBuilder<
  PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>,
  'InputObject'
>;

/** The fields of a statement. */
export function statementFields(t: InputFields) {
  return {
    text: t.string({
      required: true,
      description: 'One declarative statement; at most 4,000 characters unless the tenant sets otherwise.',
    }),
    kind: t.field({ type: FactKind, description: 'What sort of statement it is; FACT when left out.' }),
    agentId: t.id({
      description: 'The agent it belongs to; left out: shared by all. An agent always writes its own.',
    }),
    userId: t.id({ description: 'The user it belongs to. A user always writes its own.' }),
    subject: t.string({ description: 'Whom or what it is about, at most 200 characters.' }),
    predicate: t.string({ description: 'What it says of the subject, at most 200 characters.' }),
    object: t.string({ description: 'The other side of the predicate, at most 200 characters.' }),
    entities: t.stringList({ description: 'Names that it mentions, at most 32 of at most 200 characters.' }),
    hints: t.field({
      type: ImportanceHintsInput,
      description: 'What the caller knows of how much it matters.',
    }),
    validFrom: t.field({ type: 'DateTime', description: 'Since when it holds; now when left out.' }),
    validTo: t.field({ type: 'DateTime', description: 'Until when it holds; open when left out.' }),
    confidence: t.float({ description: 'How sure it is, 0 to 1; 1 when left out.' }),
    sessionId: t.id({ description: 'The conversation that it comes from.' }),
    sourceMessageIds: t.idList({ description: 'The messages that it comes from, at most 50.' }),
    metadata: t.field({
      type: 'JSON',
      description: "The host application's own data; at most 4,000 characters and 16 levels deep.",
    }),
  };
}

const RememberInput = builder.inputType('RememberInput', {
  description: 'A statement to keep.',
  fields: (t) => ({
    ...statementFields(t),
    idempotencyKey: t.string({
      description:
        'The same key with the same request again does nothing and answers the same; at most 200 characters.',
    }),
  }),
});

const MAX_METADATA_DEPTH = 16;

/** A statement as services take it. @throws BadInputError, NotFoundError for ids that are none */
export function statementOf(input: Omit<typeof RememberInput.$inferInput, 'idempotencyKey'>): Statement {
  checkJson(input.metadata, MAX_METADATA_DEPTH, ['metadata']);
  checkJson(input.hints, 1, ['hints']);
  return {
    ...input,
    agentId: optionalIdOf('Agent', input.agentId, ['agentId']),
    userId: optionalIdOf('User', input.userId, ['userId']),
    sessionId: optionalIdOf('Session', input.sessionId, ['sessionId']),
    sourceMessageIds: input.sourceMessageIds?.map((id, index) =>
      idOf('Message', id, ['sourceMessageIds', index]),
    ),
  };
}

defineMutation<{ fact: FactRecord; reaffirmed: boolean }, typeof RememberInput.$inferInput>('remember', {
  description:
    'Keeps a statement as a fact; or reaffirms the live fact of the same agent, user and kind that says the same.',
  roles: WRITERS,
  input: RememberInput,
  fields: (t) => ({
    fact: t.field({
      type: Fact,
      nullable: true,
      description: 'The new or reaffirmed fact.',
      resolve: (payload) => payload.fact ?? null,
    }),
    reaffirmed: t.boolean({
      nullable: true,
      description: 'Whether it was known already.',
      resolve: (payload) => payload.reaffirmed ?? null,
    }),
  }),
  resolve: ({ idempotencyKey, ...input }, context) =>
    remember(context.services, tenantActorOf(context), { ...statementOf(input), idempotencyKey }),
});

const FactMatch = builder.inputType('FactMatch', {
  description:
    'A fact by a piece of its text: exactly one live fact of this kind must hold it, among those of the agent and of none that are of the user or of none.',
  fields: (t) => ({
    kind: t.field({ type: FactKind, required: true, description: 'Its kind.' }),
    text: t.string({ required: true, description: 'A piece of its text, letter by letter.' }),
    agentId: t.id({
      description:
        'The agent; left out: only facts of none, or those of the agent too that asks. An agent names itself only.',
    }),
    userId: t.id({
      description:
        'The user; left out: only facts of none, or those of the user that asks. A user names itself only, and never changes what all share.',
    }),
  }),
});

export const FactTargetInput = builder.inputType('FactTarget', {
  description: 'Which fact.',
  isOneOf: true,
  fields: (t) => ({
    id: t.id({
      description: 'Global id, UUID, or at least 8 characters of its shortId where they are unambiguous.',
    }),
    match: t.field({ type: FactMatch, description: 'A piece of its text.' }),
  }),
});

/**
 * The target as services take it.
 * @param parent path of the input that holds the target
 */
export function targetOf(
  given: typeof FactTargetInput.$inferInput,
  parent: readonly string[] = ['target'],
): FactTarget {
  if (given.id != null) return { id: requireFactId(given.id, [...parent, 'id']) };
  if (!given.match) throw new BadInputError('target must have id or match', parent);
  const { kind, text, agentId, userId } = given.match;
  return {
    match: {
      kind,
      text,
      agentId: optionalIdOf('Agent', agentId, [...parent, 'match', 'agentId']),
      userId: optionalIdOf('User', userId, [...parent, 'match', 'userId']),
    },
  };
}

function requireFactId(text: string, path: readonly string[]): string {
  if (text.trim() === '') throw new BadInputError('id must not be blank', path);
  const id = factIdOf(text);
  if (id === null) throw new NotFoundError('Fact', path);
  return id;
}

const ReplaceFactInput = builder.inputType('ReplaceFactInput', {
  description: 'What takes the place of what.',
  fields: (t) => ({
    target: t.field({ type: FactTargetInput, required: true, description: 'The live fact to replace.' }),
    text: t.string({ required: true, description: 'The statement that is true now.' }),
    kind: t.field({ type: FactKind, description: "Its kind; the replaced fact's when left out." }),
    subject: t.string({
      description: 'Whom or what it is about, at most 200 characters; none when left out.',
    }),
    predicate: t.string({
      description: 'What it says of the subject, at most 200 characters; none when left out.',
    }),
    object: t.string({
      description: 'The other side of the predicate, at most 200 characters; none when left out.',
    }),
    entities: t.stringList({
      description:
        "Names that it mentions, at most 32 of at most 200 characters; left out: the replaced fact's that are in the new text.",
    }),
  }),
});

defineMutation<{ fact: FactRecord }, typeof ReplaceFactInput.$inferInput>('replaceFact', {
  description:
    'Puts a new statement in the place of a live fact, which ends and stays readable. All or nothing: where the new one is refused, the old one stays.',
  roles: WRITERS,
  input: ReplaceFactInput,
  fields: (t) => ({
    fact: t.field({
      type: Fact,
      nullable: true,
      description: 'What holds now; the old fact itself when the text is the same.',
      resolve: (payload) => payload.fact ?? null,
    }),
  }),
  resolve: async (input, context) => ({
    fact: await replaceFact(context.services, tenantActorOf(context), {
      ...input,
      target: targetOf(input.target),
    }),
  }),
});

const RetireFactReason = builder.enumType('RetireFactReason', {
  description: 'Why a caller retires a fact.',
  values: {
    ENDED: { description: 'It was true and is no longer.' },
    WRONG: { description: 'It was never true.' },
    DUPLICATE: { description: 'Another fact says the same.' },
  },
});

const RetireFactInput = builder.inputType('RetireFactInput', {
  description: 'Which fact to retire, and why.',
  fields: (t) => ({
    target: t.field({ type: FactTargetInput, required: true, description: 'The live fact.' }),
    reason: t.field({ type: RetireFactReason, required: true, description: 'Why.' }),
    endedAt: t.field({
      type: 'DateTime',
      description: 'When it ceased to hold, with ENDED; now when left out.',
    }),
  }),
});

defineMutation<{ fact: FactRecord }, typeof RetireFactInput.$inferInput>('retireFact', {
  description: 'Takes a live fact out of recall. It stays readable, as what was known.',
  roles: WRITERS,
  input: RetireFactInput,
  fields: (t) => ({
    fact: t.field({
      type: Fact,
      nullable: true,
      description: 'The fact, retired.',
      resolve: (payload) => payload.fact ?? null,
    }),
  }),
  resolve: async (input, context) => ({
    fact: await retireFact(context.services, tenantActorOf(context), {
      ...input,
      target: targetOf(input.target),
    }),
  }),
});

export const SourceTreatment = builder.enumType('SourceTreatment', {
  description: 'What becomes of the messages that a forgotten fact was learned from.',
  values: {
    REDACT: { description: 'Their content is removed. The default.' },
    KEEP: { description: 'They stay as they are, and recall still finds them.' },
  },
});

const ForgetFactInput = builder.inputType('ForgetFactInput', {
  description: 'Which fact to forget.',
  fields: (t) => ({
    target: t.field({
      type: FactTargetInput,
      required: true,
      description: 'The fact, live or retired; by text only a live one.',
    }),
    sources: t.field({
      type: SourceTreatment,
      description: 'What becomes of the messages that it was learned from; REDACT when left out.',
    }),
  }),
});

defineMutation<{ forgottenId: string }, typeof ForgetFactInput.$inferInput>('forgetFact', {
  description:
    'Removes a fact for good, with all that hangs on it, and keeps it from being learned again unless somebody states it.',
  roles: WRITERS,
  input: ForgetFactInput,
  fields: (t) => ({
    forgottenId: t.id({
      nullable: true,
      description: 'Its global id, which finds nothing any more.',
      resolve: (payload) => payload.forgottenId ?? null,
    }),
  }),
  resolve: async (input, context) => {
    const target = targetOf(input.target);
    const id = await forgetFact(context.services, tenantActorOf(context), {
      target,
      sources: input.sources ?? 'REDACT',
    });
    return { forgottenId: toGlobalId('Fact', id) };
  },
});

const FACT_ID = 'The fact: global id, UUID, or at least 8 characters of its shortId.';

defineMutation<{ fact: FactRecord }, { id: string }>('pinFact', {
  description: 'Keeps a live fact from fading and from being forgotten by itself.',
  roles: WRITERS,
  input: builder.inputType('PinFactInput', {
    description: 'Which fact to pin.',
    fields: (t) => ({ id: t.id({ required: true, description: FACT_ID }) }),
  }),
  fields: (t) => ({
    fact: t.field({
      type: Fact,
      nullable: true,
      description: 'The fact, pinned.',
      resolve: (payload) => payload.fact ?? null,
    }),
  }),
  resolve: async (input, context) => ({
    fact: await pinFact(context.services, tenantActorOf(context), requireFactId(input.id, ['id'])),
  }),
});

defineMutation<{ fact: FactRecord }, { id: string }>('unpinFact', {
  description: 'Lets a live, pinned fact fade again; a flashbulb shows its encoded importance from then on.',
  roles: WRITERS,
  input: builder.inputType('UnpinFactInput', {
    description: 'Which fact to unpin.',
    fields: (t) => ({ id: t.id({ required: true, description: FACT_ID }) }),
  }),
  fields: (t) => ({
    fact: t.field({
      type: Fact,
      nullable: true,
      description: 'The fact, unpinned.',
      resolve: (payload) => payload.fact ?? null,
    }),
  }),
  resolve: async (input, context) => ({
    fact: await unpinFact(context.services, tenantActorOf(context), requireFactId(input.id, ['id'])),
  }),
});

defineMutation<{ fact: FactRecord }, { id: string; idempotencyKey?: string | null }>('reinforceFact', {
  description:
    'Makes a live fact matter more, as one recall that learns does, and lets it fade from now on only. Each call counts, without the five minutes between recalls.',
  roles: WRITERS,
  input: builder.inputType('ReinforceFactInput', {
    description: 'Which fact to reinforce.',
    fields: (t) => ({
      id: t.id({ required: true, description: FACT_ID }),
      idempotencyKey: t.string({
        description:
          'The same key with the same request again does nothing and answers the same; at most 200 characters.',
      }),
    }),
  }),
  fields: (t) => ({
    fact: t.field({
      type: Fact,
      nullable: true,
      description: 'The fact, reinforced.',
      resolve: (payload) => payload.fact ?? null,
    }),
  }),
  resolve: async ({ id, idempotencyKey }, context) => ({
    fact: await reinforceFact(context.services, tenantActorOf(context), {
      id: requireFactId(id, ['id']),
      idempotencyKey,
    }),
  }),
});
