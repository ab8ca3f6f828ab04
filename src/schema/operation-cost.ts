import { complexityFromQuery } from '@pothos/plugin-complexity';
import { type ExecutionArgs, getOperationAST, Kind } from 'graphql';
import { MAX_COST } from './builder.js';

/**
 * What an operation may cost at most, in points: a field 1, a list as much for each row that is asked for.
 * @returns undefined where it is not run: its variables do not fit, or it costs more than any may
 */
export function costOfOperation(args: ExecutionArgs): number | undefined {
  const operation = getOperationAST(args.document, args.operationName);
  if (!operation) return undefined;
  const fragments = args.document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  try {
    // Of a document with several operations the plugin takes the first.
    const { complexity } = complexityFromQuery(
      { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] },
      {
        schema: args.schema,
        variables: { ...args.variableValues },
        ctx: args.contextValue as object,
      },
    );
    return complexity > MAX_COST ? undefined : Math.ceil(complexity);
  } catch {
    return undefined;
  }
}
