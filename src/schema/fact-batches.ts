import { SalientError } from '../errors.js';
import {
  type ForgottenItem,
  forgetMany,
  type RememberedItem,
  rememberMany,
  UnreadableItem,
} from '../facts/index.js';
import { builder, WRITERS } from './builder.js';
import { tenantActorOf } from './context.js';
import {
  FactTargetInput,
  SourceTreatment,
  statementFields,
  statementOf,
  targetOf,
} from './fact-mutations.js';
import { Fact } from './facts.js';
import { toGlobalId } from './global-id.js';
import { type Boxed, defineMutation, MUTATION_COST, MutationError } from './mutation.js';

/** Most items of one request; more are refused when it is carried out. */
const MAX_ITEMS = 200;

/** Each item costs what a mutation of one costs, and what is asked of its result. */
function costOf(items: readonly unknown[]): { field: number; multiplier: number } {
  const count = Math.min(items.length, MAX_ITEMS);
  return { field: MUTATION_COST * count, multiplier: Math.max(count, 1) };
}

/** The results of a list count once for each item already. */
const ONCE = { field: 1, multiplier: 1 };

/** One item's result, and where in the input it stands. */
interface Result<T> {
  readonly index: number;
  readonly item: T;
}

const INDEX = 'Which item of the input it is about, from 0.';
const ERRORS = 'What is wrong with this item, `path` naming its index and field; empty on success.';

function errorsOf(list: string, { index, item }: Result<object | { readonly error: SalientError }>): Boxed[] {
  return 'error' in item ? [{ error: item.error as SalientError, at: [list, index] }] : [];
}

const RememberManyItem = builder.inputType('RememberManyItem', {
  description: 'One of several statements to keep.',
  fields: statementFields,
});

const RememberManyInput = builder.inputType('RememberManyInput', {
  description: 'Statements to keep.',
  fields: (t) => ({
    facts: t.field({
      type: [RememberManyItem],
      required: true,
      description: 'The statements, 1 to 200, taken in this order.',
    }),
    idempotencyKey: t.string({
      description:
        'The same key with the same request again does nothing and answers the same, refusals included; at most 200 characters.',
    }),
  }),
});

const RememberManyResult = builder.objectRef<Result<RememberedItem>>('RememberManyResult').implement({
  description: 'What became of one statement. On errors nothing of it was written.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: INDEX }),
    fact: t.field({
      type: Fact,
      nullable: true,
      description: 'The new or reaffirmed fact; several statements that say the same have the same one.',
      resolve: ({ item }) => ('fact' in item ? item.fact : null),
    }),
    reaffirmed: t.boolean({
      nullable: true,
      description: 'Whether it was known already, or from an earlier statement of the same request.',
      resolve: ({ item }) => ('fact' in item ? item.reaffirmed : null),
    }),
    errors: t.field({
      type: [MutationError],
      complexity: ONCE,
      description: ERRORS,
      resolve: (result) => errorsOf('facts', result),
    }),
  }),
});

defineMutation<{ results: Result<RememberedItem>[] }, typeof RememberManyInput.$inferInput>('rememberMany', {
  description:
    'Keeps many statements as `remember` keeps one, as if one after the other: each with its own result, one that is refused fails none of the others.',
  roles: WRITERS,
  input: RememberManyInput,
  cost: ({ facts }) => costOf(facts),
  fields: (t) => ({
    results: t.field({
      type: [RememberManyResult],
      nullable: true,
      complexity: ONCE,
      description: 'One for each statement, in their order.',
      resolve: (payload) => payload.results ?? null,
    }),
  }),
  resolve: async ({ facts, idempotencyKey }, context) => {
    const items = await rememberMany(context.services, tenantActorOf(context), {
      facts: facts.map((fact) => readItem(fact, statementOf)),
      idempotencyKey,
    });
    return { results: items.map((item, index) => ({ index, item })) };
  },
});

const ForgetManyInput = builder.inputType('ForgetManyInput', {
  description: 'Which facts to forget.',
  fields: (t) => ({
    targets: t.field({
      type: [FactTargetInput],
      required: true,
      description: 'The facts, 1 to 200, live or retired; by text only live ones. Taken in this order.',
    }),
    sources: t.field({
      type: SourceTreatment,
      description: 'What becomes of the messages that they were learned from; REDACT when left out.',
    }),
  }),
});

const ForgetManyResult = builder.objectRef<Result<ForgottenItem>>('ForgetManyResult').implement({
  description: 'What became of one target. On errors nothing of it was removed.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: INDEX }),
    forgottenId: t.id({
      nullable: true,
      description: "The fact's global id, which finds nothing any more.",
      resolve: ({ item }) => ('forgottenId' in item ? toGlobalId('Fact', item.forgottenId) : null),
    }),
    errors: t.field({
      type: [MutationError],
      complexity: ONCE,
      description: ERRORS,
      resolve: (result) => errorsOf('targets', result),
    }),
  }),
});

defineMutation<{ results: Result<ForgottenItem>[] }, typeof ForgetManyInput.$inferInput>('forgetMany', {
  description:
    'Removes many facts for good, as `forgetFact` removes one, as if one after the other: each with its own result, one that is not found fails none of the others.',
  roles: WRITERS,
  input: ForgetManyInput,
  cost: ({ targets }) => costOf(targets),
  fields: (t) => ({
    results: t.field({
      type: [ForgetManyResult],
      nullable: true,
      complexity: ONCE,
      description: 'One for each target, in their order.',
      resolve: (payload) => payload.results ?? null,
    }),
  }),
  resolve: async ({ targets, sources }, context) => {
    const items = await forgetMany(context.services, tenantActorOf(context), {
      targets: targets.map((target) => readItem(target, (one) => targetOf(one, []))),
      sources: sources ?? 'REDACT',
    });
    return { results: items.map((item, index) => ({ index, item })) };
  },
});

/** An item as services take it; what is wrong with how it is written is told in its own result. */
function readItem<Given, T>(given: Given, read: (given: Given) => T): T | UnreadableItem {
  try {
    return read(given);
  } catch (error) {
    if (error instanceof SalientError) return new UnreadableItem(error, given);
    throw error;
  }
}
