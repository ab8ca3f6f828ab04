import {
  contentOf,
  countFacts,
  type FactListFilter,
  type FactPage,
  type FactRecord,
  listFacts,
  ownersExist,
  type Unit,
} from '../db/index.js';
import { BadInputError, NotFoundError } from '../errors.js';
import { findFactById } from '../facts/index.js';
import { readRange } from '../tenancy/index.js';
import { analyzeFilter, normalizeFactText } from '../text/index.js';
import { builder, EVERYONE } from './builder.js';
import { type GraphQLContext, readTenant, tenantActorOf } from './context.js';
import { FactKind, SortDirection } from './enums.js';
import { Fact, placeOf } from './facts.js';
import { idOf, optionalIdOf, parseGlobalId } from './global-id.js';
import { connectionOf, type Page, type PageArguments, pageOf } from './page.js';

const FactStatusFilter = builder.enumType('FactStatusFilter', {
  description: 'Which facts a list shows.',
  values: {
    LIVE: { description: 'Those that count today. The default.' },
    RETIRED: { description: 'Those that do not any more.' },
    ALL: { description: 'Both.' },
  },
});

export const TimeRange = builder.inputType('TimeRange', {
  description: 'A span of time; either end may be left open.',
  fields: (t) => ({
    from: t.field({ type: 'DateTime', description: 'Its beginning, included.' }),
    to: t.field({ type: 'DateTime', description: 'Its end, not included.' }),
  }),
});

export const FactFilter = builder.inputType('FactFilter', {
  description: 'Which facts. What is given must fit exactly; what is left out does not matter.',
  fields: (t) => ({
    agentId: t.id({ description: 'Facts of this agent.' }),
    userId: t.id({ description: 'Facts of this user.' }),
    kinds: t.field({ type: [FactKind], description: 'Facts of one of these kinds.' }),
    status: t.field({
      type: FactStatusFilter,
      description: 'LIVE when left out; with `validAt` or `knownAt` the times decide instead.',
    }),
    pinned: t.boolean({ description: 'Pinned facts, or those that are not.' }),
    text: t.string({
      description:
        'Facts that hold all words of this text, in any order and inflection; at most 500 characters.',
    }),
    entity: t.string({ description: 'Facts that mention the entity of this name; case does not matter.' }),
    recordedBetween: t.field({ type: TimeRange, description: 'Facts that became known in this span.' }),
    validAt: t.field({ type: 'DateTime', description: 'Facts that held in the world at this time.' }),
    knownAt: t.field({ type: 'DateTime', description: 'Facts as known at this time.' }),
  }),
});

const FactOrderField = builder.enumType('FactOrderField', {
  description: 'What a list of facts is ordered by; the id breaks ties.',
  values: {
    IMPORTANCE: { description: 'How much they matter now.' },
    RECORDED_AT: { description: 'When they became known.' },
    VALID_FROM: { description: 'Since when they hold.' },
  },
});

export const FactOrder = builder.inputType('FactOrder', {
  description: 'The order of a list of facts.',
  fields: (t) => ({
    field: t.field({ type: FactOrderField, required: true, description: 'What decides.' }),
    direction: t.field({ type: SortDirection, required: true, description: 'Which end comes first.' }),
  }),
});

type Arguments = PageArguments & {
  readonly filter?: typeof FactFilter.$inferInput | null;
  readonly orderBy?: typeof FactOrder.$inferInput | null;
};

/** Longest text filter and entity name, in characters. */
const MAX_FILTER_TEXT = 500;

/** A page of facts as the caller may see them, with their total on demand. */
export async function factsPage(context: GraphQLContext, args: Arguments) {
  const page = pageOf(args, 2);
  const filter = toFilter(context, args.filter ?? {});
  return rowsOf(context, page, filter, {
    orderBy: args.orderBy?.field ?? 'IMPORTANCE',
    descending: (args.orderBy?.direction ?? 'DESC') === 'DESC',
  });
}

/** A page of the facts that a filter lets through, in one order. */
export async function pageOfFacts(
  context: GraphQLContext,
  args: PageArguments,
  filter: FactListFilter,
  order: Pick<FactPage, 'orderBy' | 'descending'>,
) {
  return rowsOf(context, pageOf(args, 2), filter, order);
}

async function rowsOf(
  context: GraphQLContext,
  page: Page,
  filter: FactListFilter,
  by: Pick<FactPage, 'orderBy' | 'descending'>,
) {
  const order: FactPage = {
    limit: page.limit,
    after: placeOf(page.after, 'after'),
    before: placeOf(page.before, 'before'),
    backward: page.backward,
    ...by,
  };
  const rows = await readTenant(context, async (unit) => {
    await checkOwners(unit, filter);
    return listFacts(unit, filter, order);
  });
  return {
    ...connectionOf(page, rows, (row) => [sortValueOf(row, order), row.id]),
    count: () => readTenant(context, (unit) => countFacts(unit, filter)),
  };
}

/**
 * An agent or user that the caller does not know of is a mistake, not an empty list.
 * @throws NotFoundError
 */
export async function checkOwners(
  unit: Unit,
  { agentId, userId, range }: Pick<FactListFilter, 'agentId' | 'userId' | 'range'>,
): Promise<void> {
  if (!agentId && !userId) return;
  const known = await ownersExist(unit, { agentId, userId });
  const isOther = (id: string | null, own: string | undefined) =>
    id !== null && own !== undefined && id !== own;
  if (!known.agent || isOther(agentId, range.agentId))
    throw new NotFoundError('Agent', ['filter', 'agentId']);
  if (!known.user || isOther(userId, range.userId)) throw new NotFoundError('User', ['filter', 'userId']);
}

function sortValueOf(fact: FactRecord, { orderBy }: FactPage): number {
  if (orderBy === 'IMPORTANCE') return fact.salience.current;
  return (orderBy === 'RECORDED_AT' ? fact.recordedAt : fact.validFrom).getTime();
}

function toFilter(context: GraphQLContext, given: typeof FactFilter.$inferInput): FactListFilter {
  const actor = tenantActorOf(context);
  const content = contentOf(actor.tenant.hashKey);
  for (const field of ['text', 'entity'] as const) {
    const value = given[field];
    if (value == null) continue;
    if (value.trim() === '') throw new BadInputError(`${field} must not be blank`, ['filter', field]);
    if (value.length > MAX_FILTER_TEXT)
      throw new BadInputError(`${field} must have at most ${MAX_FILTER_TEXT} characters`, ['filter', field]);
  }
  if (given.kinds?.length === 0)
    throw new BadInputError('kinds must name at least one kind', ['filter', 'kinds']);
  const words = given.text == null ? null : analyzeFilter(given.text);
  if (words?.length === 0) throw new BadInputError('text must hold a word', ['filter', 'text']);
  return {
    agentId: optionalIdOf('Agent', given.agentId, ['filter', 'agentId']),
    userId: optionalIdOf('User', given.userId, ['filter', 'userId']),
    kinds: given.kinds ?? null,
    status: given.status ?? 'LIVE',
    pinned: given.pinned ?? null,
    words: words?.map((terms) => terms.map((term) => content.term(term))) ?? null,
    entityKey: given.entity == null ? null : content.hash('entity-name', normalizeFactText(given.entity)),
    recordedFrom: given.recordedBetween?.from ?? null,
    recordedTo: given.recordedBetween?.to ?? null,
    validAt: given.validAt,
    knownAt: given.knownAt,
    now: context.services.now(),
    range: readRange(actor),
  };
}

/** The total of a connection that `factsPage` made. */
export const TOTAL_COUNT = {
  description: 'How many facts the filter lets through, whatever the page.',
  // The page's connection carries its count; the plugin's type of a connection does not know of it.
  resolve: (connection: unknown) => (connection as Awaited<ReturnType<typeof factsPage>>).count(),
};

builder.queryFields((t) => ({
  fact: t.field({
    type: Fact,
    nullable: true,
    description:
      'A fact by global id, UUID, or at least 8 characters of its shortId where they are unambiguous. Null where there is none that the caller may see.',
    authScopes: { roles: EVERYONE },
    args: { id: t.arg.id({ required: true, description: 'Which fact.' }) },
    resolve: (_root, args, context) => {
      const id = factIdOf(args.id);
      return id === null
        ? null
        : readTenant(context, (unit) => findFactById(unit, tenantActorOf(context), id));
    },
  }),
  facts: t.connection(
    {
      type: Fact,
      description: "Facts of the caller's tenant that it may see, filtered exactly.",
      authScopes: { roles: EVERYONE },
      args: {
        filter: t.arg({ type: FactFilter, description: 'Which facts; live ones by default.' }),
        orderBy: t.arg({ type: FactOrder, description: 'Most important first by default.' }),
      },
      resolve: (_root, args, context) => factsPage(context, args),
    },
    {
      description: 'One page of facts.',
      fields: (c) => ({ totalCount: c.int(TOTAL_COUNT) }),
    },
  ),
}));

/** What a client names a fact by: a global id of the type Fact, or else what may be a UUID or the beginning of a shortId. */
export function factIdOf(text: string): string | null {
  const parsed = parseGlobalId(text);
  if (!parsed) return text;
  return parsed.type === 'Fact' ? idOf('Fact', text) : null;
}
