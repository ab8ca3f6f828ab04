import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import { type GraphQLField, getNamedType, getNullableType, isListType } from 'graphql';
import { DateTimeResolver, JSONResolver } from 'graphql-scalars';
import { BadInputError, ForbiddenError, SalientError, UnauthenticatedError } from '../errors.js';
import type { ActorKind } from '../tenancy/index.js';
import type { GraphQLContext } from './context.js';
import { isNodeType, parseGlobalId, toGlobalId } from './global-id.js';
import { DEFAULT_PAGE, MAX_PAGE } from './page.js';

export interface SchemaTypes {
  Context: GraphQLContext;
  DefaultFieldNullability: false;
  DefaultInputFieldRequiredness: false;
  DefaultNodeNullability: false;
  DefaultEdgesNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    JSON: { Input: unknown; Output: unknown };
  };
  AuthScopes: { roles: readonly ActorKind[] };
}

const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** Most fields that one operation may cost: each field 1, each list times its size. Over it: LIMIT_EXCEEDED. */
export const MAX_COST = 10_000;

/** Who may call a root field; every one of them names one of these, and a test holds them to it. */
export const EVERYONE = [
  'PLATFORM_ADMIN',
  'TENANT_ADMIN',
  'TENANT_AUDITOR',
  'AGENT',
  'USER',
] as const satisfies ActorKind[];
export const PLATFORM = ['PLATFORM_ADMIN'] as const satisfies ActorKind[];
export const ADMINS = ['PLATFORM_ADMIN', 'TENANT_ADMIN'] as const satisfies ActorKind[];
export const OVERSEERS = ['PLATFORM_ADMIN', 'TENANT_ADMIN', 'TENANT_AUDITOR'] as const satisfies ActorKind[];
export const WRITERS = ['PLATFORM_ADMIN', 'TENANT_ADMIN', 'AGENT', 'USER'] as const satisfies ActorKind[];

/** How many rows a list counts for that is no connection and tells no cost of its own. */
const PLAIN_LIST = 5;

/** What a field costs where it tells nothing else: a connection counts its content once for every row asked for. */
function costOf(
  args: Record<string, unknown>,
  _context: GraphQLContext,
  field: GraphQLField<unknown, GraphQLContext, Record<string, unknown>>,
): { field: number; multiplier: number } {
  if (getNamedType(field.type).name.endsWith('Connection')) {
    const asked = args['first'] ?? args['last'] ?? DEFAULT_PAGE;
    // More than the most is refused when the list is read.
    const rows = typeof asked === 'number' ? Math.min(Math.max(asked, 1), MAX_PAGE) : DEFAULT_PAGE;
    return { field: 1, multiplier: rows };
  }
  const plainList = isListType(getNullableType(field.type)) && field.name !== 'edges';
  return { field: 1, multiplier: plainList ? PLAIN_LIST : 1 };
}

export const builder = new SchemaBuilder<SchemaTypes>({
  defaultFieldNullability: false,
  plugins: [ScopeAuthPlugin, ComplexityPlugin, RelayPlugin],
  scopeAuth: {
    authScopes: (context) => ({
      roles: (kinds) => context.actor !== null && kinds.includes(context.actor.kind),
    }),
    // A subscription's field is authorised when it begins; each event again, by the feed.
    authorizeOnSubscribe: true,
    treatErrorsAsUnauthorized: false,
    unauthorizedError: (_parent, context, info) => {
      if (!context.actor) return new UnauthenticatedError();
      return new ForbiddenError(
        `${context.actor.kind} may not use ${info.parentType.name}.${info.fieldName}`,
      );
    },
  },
  complexity: {
    fieldComplexity: costOf,
    limit: { complexity: MAX_COST, breadth: 1_000 },
    complexityError: (kind, result) =>
      new SalientError(
        'LIMIT_EXCEEDED',
        kind === 'Complexity'
          ? `The operation costs ${result.complexity}, more than ${result.maxComplexity}: ask for fewer rows or fields`
          : `The operation's ${kind.toLowerCase()} is more than is allowed`,
      ),
  },
  relay: {
    cursorType: 'String',
    encodeGlobalID: (typename, id) => toGlobalId(typename, String(id)),
    // An id that is none finds nothing, exactly as one of a row that does not exist: it is read as that of no tenant.
    decodeGlobalID: (text) => {
      const parsed = parseGlobalId(text);
      return parsed && isNodeType(parsed.type)
        ? { typename: parsed.type, id: parsed.id }
        : { typename: 'Tenant', id: NIL_UUID };
    },
    idFieldOptions: { description: 'Global id: opaque, stable, unique over all types.' },
    nodeTypeOptions: { description: 'Anything with a global id.' },
    pageInfoTypeOptions: { description: 'Where a page stands in its list (Relay).' },
    hasNextPageFieldOptions: { description: 'Whether rows follow this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether rows come before this page.' },
    startCursorFieldOptions: { description: "Cursor of the page's first row; null for an empty page." },
    endCursorFieldOptions: {
      description: "Cursor of the page's last row; pass it as `after` for the next page.",
    },
    edgesFieldOptions: { description: 'The rows of this page, in order.' },
    nodeFieldOptions: { description: 'The row itself.' },
    cursorFieldOptions: { description: "The row's place in the list, for `after` and `before`." },
    pageInfoFieldOptions: { description: 'Whether there is more, and from where.' },
    firstArgOptions: {
      description: `Rows from the beginning, or after \`after\`: 1 to ${MAX_PAGE}; ${DEFAULT_PAGE} by default.`,
    },
    lastArgOptions: { description: `Rows from the end, or before \`before\`: 1 to ${MAX_PAGE}.` },
    afterArgOptions: { description: 'Cursor after which to begin.' },
    beforeArgOptions: { description: 'Cursor before which to end.' },
    defaultConnectionTypeOptions: { description: 'One page of a list (Relay connection).' },
    defaultEdgeTypeOptions: { description: 'One row of a page.' },
    nodeQueryOptions: {
      description: "Anything by its global id; null where it does not exist or is not the caller's to see.",
      authScopes: { roles: EVERYONE },
      args: { id: { description: 'Its global id.' } },
    },
    nodesQueryOptions: {
      description: 'Several by their global ids, in the order asked for; null for each that is not found.',
      authScopes: { roles: EVERYONE },
      args: { ids: { description: `Their global ids, at most ${MAX_PAGE}.` } },
      complexity: ({ ids }) => ({ field: 1, multiplier: ids.length }),
      resolve: (_root, { ids }, _context, _info, resolveNodes) => {
        if (ids.length > MAX_PAGE)
          throw new BadInputError(`ids must be at most ${MAX_PAGE}, not ${ids.length}`, ['ids']);
        return resolveNodes(ids);
      },
    },
  },
});

/** PostgreSQL has no year 0, and JavaScript no sure form for years of five digits. */
function withinYears(time: Date): Date {
  const year = time.getUTCFullYear();
  if (year >= 1 && year <= 9999) return time;
  throw new BadInputError('a DateTime must be in the years 1 to 9999');
}

builder.addScalarType('DateTime', DateTimeResolver, {
  description:
    'A point in time, ISO 8601 with zone (`2026-11-30T13:14:45.000Z`), in the years 1 to 9999; kept and shown in UTC, to the millisecond.',
  parseValue: (value) => withinYears(DateTimeResolver.parseValue(value)),
  parseLiteral: (node, variables) => withinYears(DateTimeResolver.parseLiteral(node, variables)),
});
builder.addScalarType('JSON', JSONResolver, {
  description: 'Any JSON value; used for metadata of the host application only.',
});

builder.queryType({ description: 'Reads. Nothing here changes anything.' });
builder.mutationType({
  description: 'Writes. Each takes one `input` and answers with its entity and `errors`, empty on success.',
});
