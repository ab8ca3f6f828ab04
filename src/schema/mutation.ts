import type { FieldMap, InputRef } from '@pothos/core';
import {
  AlreadyExistsError,
  BudgetExceededError,
  ContentRefusedError,
  type InputPath,
  QuotaExceededError,
  SalientError,
} from '../errors.js';
import type { ActorKind } from '../tenancy/index.js';
import { builder, type SchemaTypes } from './builder.js';
import type { GraphQLContext } from './context.js';
import { toGlobalId } from './global-id.js';

/** Errors of these codes concern the request as a whole and stay at the top level of the answer. */
const TOP_LEVEL = new Set(['UNAUTHENTICATED', 'FORBIDDEN', 'LIMIT_EXCEEDED', 'UNAVAILABLE']);

/** A list of Error objects would be taken for failures of the resolver, so each travels in a box. */
export interface Boxed<E extends SalientError = SalientError> {
  readonly error: E;
  /** Of several items in the input: where the one is that the error's path begins at. */
  readonly at?: InputPath;
}

export const MutationError = builder.interfaceRef<Boxed>('MutationError').implement({
  description: 'Why a mutation did not do what was asked. Nothing was written then.',
  fields: (t) => ({
    code: t.string({
      description: 'Stable code, such as `NOT_FOUND` or `BAD_INPUT`.',
      resolve: ({ error }) => error.code,
    }),
    message: t.string({
      description: 'What is wrong, naming the field and the limit; never holds the content of a memory.',
      resolve: ({ error }) => error.message,
    }),
    path: t.stringList({
      description: 'The input at fault, from `input` on; empty where no single one is.',
      resolve: ({ error, at = [] }) => {
        const path = [...at, ...error.inputPath];
        return path.length === 0 ? [] : ['input', ...path.map(String)];
      },
    }),
  }),
  resolveType: ({ error }) => {
    if (error instanceof ContentRefusedError) return 'ContentRefused';
    if (error instanceof BudgetExceededError) return 'BudgetExceeded';
    if (error instanceof AlreadyExistsError) return 'AlreadyExists';
    if (error instanceof QuotaExceededError) return 'QuotaExceeded';
    return 'InputRejected';
  },
});

builder.objectRef<Boxed>('InputRejected').implement({
  description: 'An input is malformed, out of range, unknown, ambiguous or out of date; `code` says which.',
  interfaces: [MutationError],
});

builder.objectRef<Boxed<AlreadyExistsError>>('AlreadyExists').implement({
  description: 'There is one of this externalId already; `code` is `CONFLICT`. Go on with that one.',
  interfaces: [MutationError],
  fields: (t) => ({
    existingId: t.id({
      description: 'Its global id.',
      resolve: ({ error }) => toGlobalId(error.existing.type, error.existing.id),
    }),
  }),
});

builder.objectRef<Boxed<ContentRefusedError>>('ContentRefused').implement({
  description:
    'The text may not be stored: it holds instructions, credentials, control characters or the like.',
  interfaces: [MutationError],
  fields: (t) => ({
    category: t.string({
      description: 'What was found, such as `INSTRUCTION_OVERRIDE` or `TOO_LONG`.',
      resolve: ({ error }) => error.category,
    }),
  }),
});

builder.objectRef<Boxed<BudgetExceededError>>('BudgetExceeded').implement({
  description: 'A budget of the tenant has no room for the text. All figures in characters.',
  interfaces: [MutationError],
  fields: (t) => ({
    group: t.string({
      description: 'The kind of facts that the budget is for.',
      resolve: ({ error }) => error.group,
    }),
    limit: t.int({ description: 'The budget.', resolve: ({ error }) => error.limit }),
    current: t.int({ description: 'What is used of it.', resolve: ({ error }) => error.current }),
    requested: t.int({
      description: 'What the refused text needs.',
      resolve: ({ error }) => error.requested,
    }),
  }),
});

builder.objectRef<Boxed<QuotaExceededError>>('QuotaExceeded').implement({
  description: 'The tenant has as many as the platform lets it have.',
  interfaces: [MutationError],
  fields: (t) => ({
    group: t.string({
      description: 'What is counted: `agents`, `users`, `facts` or `messages`.',
      resolve: ({ error }) => error.group,
    }),
    limit: t.int({ description: 'How many it may have.', resolve: ({ error }) => error.limit }),
    current: t.int({ description: 'How many it has.', resolve: ({ error }) => error.current }),
    requested: t.int({
      description: 'How many more the request would have made.',
      resolve: ({ error }) => error.requested,
    }),
  }),
});

/** What a mutation of one thing costs, its payload not counted. */
export const MUTATION_COST = 10;

/** A payload as its resolvers see it: the result, or the errors. */
export type Payload<Result> = Partial<Result> & { readonly errors: readonly Boxed[] };

/** What a resolver is given for an input type; for a mutation without one, undefined. */
type Given<Input> = Input extends undefined ? undefined : NonNullable<Input>;

type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>;
type PayloadFields<Result> = (t: PothosSchemaTypes.ObjectFieldBuilder<Types, Payload<Result>>) => FieldMap;

/**
 * Defines a mutation by the house rules: one `input`, none where there is nothing to say, a payload of its own with
 * `errors`, domain errors as data.
 * @param name in camelCase; the payload is named after it
 */
export function defineMutation<Result extends object, Input = undefined>(
  name: string,
  options: {
    description: string;
    roles: readonly ActorKind[];
    input?: InputRef<Input>;
    fields: PayloadFields<Result>;
    /** What it costs, where its input decides that: itself, and how many rows its payload's fields count for. */
    cost?: (input: Given<Input>) => { readonly field: number; readonly multiplier: number };
    resolve: (input: Given<Input>, context: GraphQLContext) => Promise<Result>;
  },
): void {
  const { cost } = options;
  const payload = builder.objectRef<Payload<Result>>(`${name[0]?.toUpperCase()}${name.slice(1)}Payload`);
  payload.implement({
    description: `Answer of \`${name}\`. On errors every other field is null, and nothing was written.`,
    fields: options.fields,
  });
  builder.objectField(payload, 'errors', (t) =>
    t.field({
      type: [MutationError],
      // What concerns the request as a whole does not count once for each of its items.
      ...(cost ? { complexity: { field: 0, multiplier: 0 } } : {}),
      description: 'Empty on success.',
      resolve: (parent) => [...parent.errors],
    }),
  );
  builder.mutationField(name, (t) =>
    t.field({
      type: payload,
      description: options.description,
      authScopes: { roles: options.roles },
      // The plugins' types cannot follow an input that is generic.
      complexity: cost ? (args: object) => cost((args as { input: Given<Input> }).input) : MUTATION_COST,
      args: options.input
        ? { input: t.arg({ type: options.input, required: true, description: 'What to do.' }) }
        : {},
      // The plugins' types cannot follow a payload that is generic; the payload type above says the same.
      resolve: (async (_root: unknown, args: { input: Given<Input> }, context: GraphQLContext) => {
        try {
          return { ...(await options.resolve(args.input, context)), errors: [] };
        } catch (error) {
          if (error instanceof SalientError && !TOP_LEVEL.has(error.code)) return { errors: [{ error }] };
          throw error;
        }
      }) as never,
    }),
  );
}
